"use strict";
// What htmx leaves to the page: busy, failing, trying again, focus, the "/" key, local time.
// The region is replaced again and again: nothing holds on to it.
(() => {
  const find = (selector) => document.querySelector(selector);
  const on = (name, react) => document.addEventListener(name, react);
  const q = find("#q");
  let failed, asker, isLink;

  const busy = (is) => find("#results")?.setAttribute("aria-busy", is);
  const trouble = (is) => find("#trouble")?.toggleAttribute("hidden", !is);
  const fail = ({ detail }) => {
    failed = detail.requestConfig?.elt ?? detail.elt;
    failed.matches(".told") ? failed.toggleAttribute("data-failed", true) : trouble(true);
  };

  // A link asks with what was typed before it; what is typed until it is answered is asked after it.
  on("htmx:confirm", (event) => {
    const { elt, triggeringEvent } = event.detail;
    if (elt !== q?.form) return;
    if (isLink || (triggeringEvent.type === "input" && q.value === q.defaultValue)) event.preventDefault();
  });
  on("htmx:beforeRequest", ({ target }) => {
    trouble(false);
    busy(true);
    if (!q) return;
    isLink = target !== q.form;
    q.defaultValue = q.value;
  });
  on("htmx:afterRequest", () => { isLink = false; busy(false); });
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
    (again === q?.form ? q : again).focus();
  });

  // Focus stays in the search or (by htmx) on its id, goes where the link says, or to what took its place,
  // also when it was answered only at the second try.
  on("htmx:afterSwap", ({ detail }) => {
    let { elt, triggeringEvent } = detail.requestConfig;
    if (elt.id === "retry") elt = asker ?? elt;
    else asker = elt;
    if (q && elt !== q.form) {
      if (q.value !== q.defaultValue) q.dispatchEvent(new Event("input"));
      else q.value = q.defaultValue = find("#kept").dataset.query;
    }
    if (document.activeElement === q) return;
    const wanted = elt.closest("[data-focus]")?.dataset.focus;
    if (!wanted && !(triggeringEvent && document.activeElement === document.body)) return;
    const goal = document.getElementById(elt.dataset.refocus ?? wanted ?? elt.id) ?? find("#results");
    goal?.focus({ preventScroll: !goal.matches(".row a") });
  });

  // Back and Forward reload the page; each step of the history keeps its scroll position and focus.
  on("htmx:beforeHistoryUpdate", () => {
    history.replaceState({ ...history.state, y: scrollY, at: document.activeElement.id }, "");
  });
  addEventListener("popstate", (event) => {
    if (!event.state?.htmx) return;
    event.stopImmediatePropagation();
    history.scrollRestoration = "manual";
    location.reload();
  });
  if (history.scrollRestoration === "manual") {
    const { y, at } = history.state ?? {};
    addEventListener("load", () => setTimeout(() => (history.scrollRestoration = "auto")));
    scrollTo(0, y ?? 0);
    if (at) document.getElementById(at)?.focus({ preventScroll: true });
  }

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
