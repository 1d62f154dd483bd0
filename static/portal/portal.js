"use strict";
// What htmx leaves to the page: being busy, failing, trying again, focus, copying, the "/" key, local time.
// The region is replaced again and again: nothing here holds on to it.
(() => {
  const find = (selector) => document.querySelector(selector);
  const on = (name, react) => document.addEventListener(name, react);
  let failed;

  const busy = (is) => find("#results")?.setAttribute("aria-busy", is);
  const trouble = (is) => find("#trouble")?.toggleAttribute("hidden", !is);
  const isCard = (element) => element?.matches(".told");
  const fail = (event) => {
    failed = event.detail.requestConfig?.elt ?? event.detail.elt;
    isCard(failed) ? failed.toggleAttribute("data-failed", true) : trouble(true);
  };

  on("htmx:beforeRequest", () => { trouble(false); busy(true); });
  on("htmx:afterRequest", () => busy(false));
  on("htmx:sendError", fail);
  on("htmx:timeout", fail);
  // An answer made for its place is shown whatever its status; any other failure is told above.
  on("htmx:beforeSwap", (event) => {
    const { detail } = event;
    if (detail.xhr.status < 400) return;
    detail.shouldSwap = Boolean(detail.xhr.getResponseHeader("HX-Retarget"));
    detail.isError = !detail.shouldSwap;
    if (detail.isError) fail(event);
  });
  on("click", ({ target }) => {
    if (!target.closest("#trouble button")) return;
    const again = document.getElementById(failed.id) ?? failed;
    again.requestSubmit ? again.requestSubmit() : again.click();
    again.focus();
  });

  // Focus goes where the link says, stays (htmx finds the same id), or goes to what took its place.
  on("htmx:afterSwap", (event) => {
    const { elt, triggeringEvent } = event.detail.requestConfig ?? {};
    const wanted = elt?.closest("[data-focus]")?.dataset.focus;
    if (!wanted && !(triggeringEvent && document.activeElement === document.body)) return;
    const goal = document.getElementById(wanted) ?? find(`#${elt?.dataset.refocus ?? "results"}`);
    goal?.focus({ preventScroll: !goal.matches(".row a") });
  });

  // Where copying is refused, its field appears.
  on("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (!button) return;
    const field = find("#finding-link");
    try {
      await navigator.clipboard.writeText(field.value);
      find("#status").textContent = button.textContent = button.dataset.copy;
    } catch {
      field.parentElement.className = "";
      field.select();
    }
  });

  // The page may have another address by now than when it was made.
  on("submit", ({ target }) => {
    if (target.matches(".themes, .languages")) target.elements.next.value = location.pathname + location.search;
  });

  on("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = find("#q");
    if (!search || event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    search.focus();
    search.select();
  });

  const { lang } = document.documentElement;
  const locale = lang === "en" ? "en-GB" : lang; // as the server writes days
  const formats = {};
  const localise = (which, timeStyle) => {
    for (const time of document.querySelectorAll(`time[datetime*=T]:not([title])${which}`)) {
      formats[which] ??= new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle });
      time.title = time.dateTime.replace("T", " ").replace(/(:\d\d)?Z$/, " UTC");
      time.textContent = formats[which].format(new Date(time.dateTime));
    }
  };
  // A format takes long to make, so neither keeps the page, or the other, waiting.
  const localiseAll = () => {
    setTimeout(localise, 0, "[data-day]");
    setTimeout(localise, 0, ":not([data-day])", "short");
  };
  localiseAll();
  on("htmx:load", localiseAll);
})();
