"use strict";
// What htmx leaves to the page: being busy, failing, trying again, focus, the "/" key, and local time.
// The region is replaced again and again, so nothing here holds on to an element of it.
(() => {
  const find = (selector) => document.querySelector(selector);
  const on = (name, react) => document.addEventListener(name, react);
  let failed = null;

  const busy = (is) => find("#results")?.setAttribute("aria-busy", is);
  const trouble = (is) => { if (find("#trouble")) find("#trouble").hidden = !is; };
  const isCard = (element) => element?.matches(".told");
  const fail = (event) => {
    failed = event.detail.requestConfig?.elt ?? event.detail.elt;
    isCard(failed) ? failed.toggleAttribute("data-failed", true) : trouble(true);
  };

  // Cards ask a few at a time, so that a long list never takes up the server.
  const ABREAST = 3;
  const waiting = [];
  const busyCards = new Set(); // those that wait, too
  const ask = () => {
    while (waiting.length && busyCards.size - waiting.length < ABREAST) waiting.shift()();
    if (busyCards.size) return;
    const status = find("#status");
    status.textContent = find(".told[data-failed]") ? status.dataset.failed : status.dataset.done;
  };
  on("htmx:confirm", (event) => {
    if (!isCard(event.target)) return;
    event.preventDefault();
    if (busyCards.has(event.target)) return;
    busyCards.add(event.target);
    waiting.push(event.detail.issueRequest);
    ask();
  });

  on("htmx:beforeRequest", () => { trouble(false); busy(true); });
  on("htmx:afterRequest", (event) => {
    busy(false);
    if (busyCards.delete(event.detail.requestConfig?.elt)) setTimeout(ask);
  });
  on("htmx:sendError", fail);
  on("htmx:timeout", fail);
  // An answer made for its place is shown whatever its status; any other failure is told above it.
  on("htmx:beforeSwap", (event) => {
    const { detail } = event;
    if (detail.xhr.status < 400) return;
    detail.shouldSwap = Boolean(detail.xhr.getResponseHeader("HX-Retarget"));
    detail.isError = !detail.shouldSwap;
    if (detail.isError) fail(event);
  });
  on("click", (event) => {
    if (!event.target.closest("#trouble button")) return;
    const again = document.getElementById(failed.id) ?? failed;
    again.requestSubmit ? again.requestSubmit() : again.click();
    again.focus();
  });

  // Focus goes where the link says; else it stays (htmx finds the same id); else to what took its place.
  on("htmx:afterSwap", (event) => {
    const { elt, triggeringEvent } = event.detail.requestConfig ?? {};
    const { focus, refocus = "results" } = elt?.dataset ?? {};
    const lost = triggeringEvent && document.activeElement === document.body;
    if (focus || lost) find(`#${focus ?? refocus}`)?.focus({ preventScroll: true });
  });

  // The page may have another address by now than when it was made.
  on("submit", ({ target }) => {
    if (target.matches(".themes")) target.elements.next.value = location.pathname + location.search;
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
