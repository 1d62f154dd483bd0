"use strict";
// What htmx leaves to the page: being busy, failing, trying again, focus, the "/" key, and local time.
// The region is replaced again and again, so nothing here holds on to an element of it.
(() => {
  const find = (selector) => document.querySelector(selector);
  const on = (name, react) => document.addEventListener(name, react);
  let failed = null;

  const busy = (is) => find("#results")?.setAttribute("aria-busy", is);
  const trouble = (is) => { if (find("#trouble")) find("#trouble").hidden = !is; };
  const fail = (event) => {
    failed = event.detail.requestConfig?.elt ?? event.detail.elt;
    trouble(true);
  };

  on("htmx:beforeRequest", () => { trouble(false); busy(true); });
  on("htmx:afterRequest", () => busy(false));
  on("htmx:sendError", fail);
  on("htmx:timeout", fail);
  // An answer made for the region is shown whatever its status; any other failure is told above it.
  on("htmx:beforeSwap", (event) => {
    const { detail } = event;
    if (detail.xhr.status < 400) return;
    detail.shouldSwap = detail.xhr.getResponseHeader("HX-Retarget") === "#results";
    detail.isError = !detail.shouldSwap;
    if (detail.isError) fail(event);
  });
  on("click", (event) => {
    if (!event.target.closest("#trouble button")) return;
    const again = document.getElementById(failed.id) ?? failed;
    again.requestSubmit ? again.requestSubmit() : again.click();
    again.focus();
  });

  // Focus goes where the link says; else it stays (htmx finds the same id); else to the region.
  on("htmx:afterSwap", (event) => {
    const wanted = event.detail.requestConfig?.elt.dataset.focus;
    const lost = document.activeElement === document.body;
    if (wanted || lost) find(wanted ? `#${wanted}` : "#results")?.focus({ preventScroll: true });
  });

  on("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = find("#q");
    if (!search || event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    search.focus();
    search.select();
  });

  const language = document.documentElement.lang;
  const locale = language === "en" ? "en-GB" : language; // as the server writes days
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const localise = () => {
    for (const time of document.querySelectorAll("time[datetime*=T]:not([title])")) {
      time.title = time.dateTime.replace("T", " ").replace(/(:\d\d)?Z$/, " UTC");
      time.textContent = ("day" in time.dataset ? day : moment).format(new Date(time.dateTime));
    }
  };
  localise();
  on("htmx:load", localise);
})();
