"use strict";
// What htmx leaves to the page: busy, failing, trying again, focus, copying, the "/" key, local time.
// The region is replaced again and again: nothing holds on to it.
(() => {
  const find = (selector) => document.querySelector(selector);
  const on = (name, react) => document.addEventListener(name, react);
  const q = find("#q");
  let failed;

  const busy = (is) => find("#results")?.setAttribute("aria-busy", is);
  const trouble = (is) => find("#trouble")?.toggleAttribute("hidden", !is);
  const fail = ({ detail }) => {
    failed = detail.requestConfig?.elt ?? detail.elt;
    failed.matches(".told") ? failed.toggleAttribute("data-failed", true) : trouble(true);
  };

  on("htmx:beforeRequest", () => { trouble(false); busy(true); });
  on("htmx:afterRequest", () => busy(false));
  on("htmx:sendError", fail);
  on("htmx:timeout", fail);
  // An answer made for its place is shown whatever its status; any other failure is told above.
  on("htmx:beforeSwap", ({ detail }) => {
    if (detail.xhr.status < 400) return;
    detail.shouldSwap = Boolean(detail.xhr.getResponseHeader("HX-Retarget"));
    detail.isError = !detail.shouldSwap;
    if (detail.isError) fail({ detail });
  });
  on("click", ({ target }) => {
    if (!target.closest("#trouble button")) return;
    const again = document.getElementById(failed.id) ?? failed;
    again.requestSubmit ? again.requestSubmit() : again.click();
    again.focus();
  });

  // Links set the search, too; what was typed meanwhile stays, and is searched for.
  const follow = () => {
    if (q.value !== q.defaultValue) q.dispatchEvent(new Event("input"));
    else q.value = q.defaultValue = find("#kept").dataset.query;
  };

  // Focus stays in the search or (by htmx) on its id, goes where the link says, or to what took its place.
  on("htmx:afterSwap", (event) => {
    const { elt, parameters, triggeringEvent } = event.detail.requestConfig;
    if (elt.id === "filters") q.defaultValue = parameters.query;
    else if (q) follow();
    if (document.activeElement === q) return;
    const wanted = elt.closest("[data-focus]")?.dataset.focus;
    if (!wanted && !(triggeringEvent && document.activeElement === document.body)) return;
    const goal = document.getElementById(wanted) ?? find(`#${elt.dataset.refocus ?? "results"}`);
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

  // The page may have another address by now.
  on("submit", ({ target }) => {
    if (target.matches(".themes, .languages")) target.elements.next.value = location.pathname + location.search;
  });

  on("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!q || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    q.focus();
    q.select();
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
