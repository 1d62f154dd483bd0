"use strict";
// The keys of the workbench. They work while the focus is in it and no form is open; each has a link or a button.
(() => {
  let isBusy = false;
  const region = () => document.getElementById("workbench");
  const current = () => region().querySelector(".queue [aria-current]");
  const isTyping = (it) => it.matches("textarea, select, input:not([type=checkbox])");
  const forms = () => [...region().querySelectorAll(".panel details[open]")];
  const enter = (form) => form?.querySelector("[type=text], textarea").focus();

  const move = (step) => {
    const links = [...region().querySelectorAll(".queue li a")];
    const link = links[links.indexOf(current()) + step];
    if (!link) return step > 0 ? region().querySelector(".pages [rel=next]")?.click() : undefined;
    current()?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    link.focus();
    link.click();
  };
  const leave = () => {
    for (const it of forms()) it.open = false;
    current()?.focus();
  };
  const insert = (button) => {
    const details = button.closest("details");
    const field = details.querySelector("textarea");
    details.open = true;
    field.focus();
    const isAfterWord = /\S$/.test(field.value.slice(0, field.selectionStart));
    field.setRangeText((isAfterWord ? " " : "") + button.value, field.selectionStart, field.selectionEnd, "end");
  };
  const sentence = (number, inside) => inside.querySelector(`[data-sentence="${number}"]`);
  const use = (button) => {
    button.click();
    enter(forms()[0]);
  };

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.isComposing || !target.closest("#workbench")) return;
    const isModified = event.ctrlKey || event.metaKey || event.altKey;
    if (key === "Escape" && !isModified) return leave();
    if (forms().length) {
      const chosen = event.altKey && /^Digit[1-9]$/.test(event.code) && sentence(event.code.at(-1), forms()[0]);
      if (chosen) {
        event.preventDefault();
        return insert(chosen);
      }
      if (key !== "Enter" || !(event.ctrlKey || event.metaKey) || !target.closest(".panel details form")) return;
      event.preventDefault();
      return isBusy ? undefined : target.form.requestSubmit();
    }
    if (isModified || isTyping(target)) return;
    const button = /^[a-z]$/.test(key) && region().querySelector(`[data-key="${key}"]`);
    if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "x") current()?.parentElement.querySelector("[type=checkbox]")?.click();
    else if (key === "Enter" && target === current()) document.getElementById("finding-title")?.focus();
    else if (button && !isBusy) use(button);
    else if (/^[1-9]$/.test(key) && sentence(key, region()) && !isBusy) insert(sentence(key, region()));
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-sentence]");
    if (!button) return;
    event.preventDefault(); // without scripts, the service inserts the sentence
    insert(button);
  }, true);
  document.addEventListener("toggle", ({ target }) => {
    if (forms().includes(target) && document.activeElement.matches("summary")) enter(target);
  }, true);

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
    if (error) enter(error.closest("details"));
    else if (location.hash) current()?.focus({ preventScroll: true });
    else current()?.focus();
  });
})();
