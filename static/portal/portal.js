"use strict";
// Behaviour that htmx does not have: busy and failed requests, retry, focus, the "/" key, local times.
// The region is replaced often, so nothing keeps a reference to it.
(() => {
  const find = (selector) => document.querySelector(selector);
  const on = (name, listener) => document.addEventListener(name, listener);
  const q = find("#q");
  let failed, origin, isLink;

  const setBusy = (isBusy) => find("#results")?.setAttribute("aria-busy", isBusy);
  const showError = (isShown) => find("#connection-error")?.toggleAttribute("hidden", !isShown);
  const fail = ({ detail }) => {
    failed = detail.requestConfig?.elt ?? detail.elt;
    failed.matches(".site-row") ? failed.toggleAttribute("data-failed", true) : showError(true);
  };

  // A link sends the text that was typed before it; text that is typed during its request is sent afterwards.
  on("htmx:confirm", (event) => {
    const { elt, triggeringEvent } = event.detail;
    if (elt !== q?.form) return;
    if (isLink || (triggeringEvent.type === "input" && q.value === q.defaultValue)) event.preventDefault();
  });
  on("htmx:beforeRequest", ({ target }) => {
    showError(false);
    setBusy(true);
    if (!q) return;
    isLink = target !== q.form;
    q.defaultValue = q.value;
  });
  on("htmx:afterRequest", () => { isLink = false; setBusy(false); });
  on("htmx:sendError", fail);
  on("htmx:timeout", fail);
  // An error response for the region is shown there; any other failure shows the message above.
  on("htmx:beforeSwap", ({ detail }) => {
    if (detail.xhr.status < 400) return;
    detail.shouldSwap = Boolean(detail.xhr.getResponseHeader("HX-Retarget"));
    detail.isError = !detail.shouldSwap;
    if (detail.isError) fail({ detail });
  });
  on("click", ({ target }) => {
    if (!target.closest("#connection-error button")) return;
    const elt = document.getElementById(failed.id) ?? failed;
    elt.requestSubmit ? elt.requestSubmit() : elt.click();
    (elt === q?.form ? q : elt).focus();
  });

  // Focus stays in the search or (by htmx) on its id; else it goes to the link's target or to the region, also
  // after a retry.
  on("htmx:afterSwap", ({ detail }) => {
    let { elt, triggeringEvent } = detail.requestConfig;
    if (elt.id === "retry") elt = origin ?? elt;
    else origin = elt;
    if (q && elt !== q.form) {
      if (q.value !== q.defaultValue) q.dispatchEvent(new Event("input"));
      else q.value = q.defaultValue = find("#search-fields").dataset.query;
    }
    if (document.activeElement === q) return;
    const wanted = elt.closest("[data-focus]")?.dataset.focus;
    if (triggeringEvent?.type === "intersect") return;
    if (!wanted && !(triggeringEvent && document.activeElement === document.body)) return;
    const goal = document.getElementById(elt.dataset.refocus ?? wanted ?? elt.id) ?? find("#results");
    goal?.focus({ preventScroll: !goal.matches(".finding-row a") });
  });

  // Back and Forward reload the page; each history entry has its scroll position and focus.
  on("htmx:beforeHistoryUpdate", () => {
    history.replaceState({ ...history.state, y: scrollY, focus: document.activeElement.id }, "");
  });
  addEventListener("popstate", (event) => {
    if (!event.state?.htmx) return;
    event.stopImmediatePropagation();
    history.scrollRestoration = "manual";
    location.reload();
  });
  if (history.scrollRestoration === "manual") {
    const { y, focus } = history.state ?? {};
    addEventListener("load", () => setTimeout(() => (history.scrollRestoration = "auto")));
    scrollTo(0, y ?? 0);
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }

  // The page's URL may have changed since it was loaded.
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
  const locale = lang === "en" ? "en-GB" : lang; // as on the server
  const formats = {};
  const localise = (selector, timeStyle) => {
    for (const time of document.querySelectorAll(`time[datetime*=T]:not([title])${selector}`)) {
      formats[selector] ??= new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle });
      time.title = time.dateTime.replace("T", " ").replace(/(:\d\d)?Z$/, " UTC");
      time.textContent = formats[selector].format(new Date(time.dateTime));
    }
  };
  // Creating a format is slow, so each has its own task.
  const localiseAll = () => {
    setTimeout(localise, 0, "[data-day]");
    setTimeout(localise, 0, ":not([data-day])", "short");
  };
  localiseAll();
  on("htmx:load", localiseAll);
})();
