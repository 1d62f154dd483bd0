"use strict";
// The keys of the workbench. They work while the focus is in it, and each has a link or a button, too.
(() => {
  let isBusy = false;
  const region = () => document.getElementById("workbench");
  const current = () => region().querySelector(".queue [aria-current]");
  const isTyping = (it) => it.matches("textarea, select, input:not([type=radio], [type=checkbox])");

  const move = (step) => {
    const links = [...region().querySelectorAll(".queue li a")];
    const link = links[links.indexOf(current()) + step];
    if (!link) return step > 0 ? region().querySelector(".pages [rel=next]")?.click() : undefined;
    current()?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    link.focus();
    link.click();
  };
  const leave = (it) => {
    it.closest(".panel details")?.removeAttribute("open");
    current()?.focus();
  };
  const choose = (it, number) => {
    const radio = it.closest("form")?.querySelectorAll("[type=radio]")[number - 1];
    radio?.click();
    radio?.focus();
  };
  const use = (button) => {
    if (button.matches("button")) return button.click();
    for (const it of region().querySelectorAll(".panel details")) it.open = it === button.parentElement;
    button.parentElement.querySelector("form :is([type=radio]:checked, textarea)").focus();
  };

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !target.closest("#workbench")) return;
    if (key === "Escape") return leave(target);
    if (isTyping(target)) return;
    const button = /^[a-z]$/.test(key) && region().querySelector(`[data-key="${key}"]`);
    if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "x") current()?.parentElement.querySelector("[type=checkbox]")?.click();
    else if (key === "Enter" && target === current()) document.getElementById("finding-title")?.focus();
    else if (/^[1-9]$/.test(key)) choose(target, Number(key));
    else if (button && !isBusy) use(button);
    else return;
    event.preventDefault();
  });

  // The rows' links end at the title of the finding, which small screens need; the keys begin in the queue.
  window.addEventListener("load", () => { if (location.hash) current()?.focus({ preventScroll: true }); });

  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, () => { document.getElementById("failed").hidden = false; });
  }

  // The next finding has the focus, unless a form came back with an error. The queue stays where it was scrolled,
  // with the rows that were selected.
  let scrolled = 0;
  let selected = [];
  const list = () => region().querySelector(".queue ol");
  document.addEventListener("htmx:beforeRequest", () => { isBusy = true; });
  document.addEventListener("htmx:afterRequest", () => { isBusy = false; });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr } = event.detail;
    if (xhr.status < 400 && !xhr.responseText.includes('id="workbench"')) {
      event.detail.shouldSwap = false; // the page to sign in: its address leads back here
      location.reload();
    }
    scrolled = list().scrollTop;
    selected = [...list().querySelectorAll(":checked")].map((it) => it.value);
  });
  document.addEventListener("htmx:afterSettle", () => {
    for (const it of list().querySelectorAll("[type=checkbox]")) it.checked = selected.includes(it.value);
    list().scrollTop = scrolled;
    const error = region().querySelector(".errorlist");
    const next = error?.closest("form").querySelector("[type=radio]:checked, textarea");
    if (next) next.focus();
    else if (location.hash) current()?.focus({ preventScroll: true });
    else current()?.focus();
  });
})();
