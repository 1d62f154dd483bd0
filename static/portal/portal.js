"use strict";
// What htmx leaves to the page: being busy, failing, trying again, focus, the "/" key, and local time.
(() => {
  const find = (selector) => document.querySelector(selector);
  const trouble = find("#trouble");
  let failed = null;

  const busy = (on) => find("#results")?.setAttribute("aria-busy", on);

  const fail = (event) => {
    failed = event.detail.elt;
    trouble.hidden = false;
  };

  // An answer that was made for the region is shown whatever its status; any other failure is told above it.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { detail } = event;
    if (detail.xhr.status < 400) return;
    detail.shouldSwap = detail.xhr.getResponseHeader("HX-Retarget") === "#results";
    if (!detail.shouldSwap) fail(event);
  });
  document.addEventListener("htmx:sendError", fail);
  document.addEventListener("htmx:timeout", fail);
  document.addEventListener("htmx:beforeRequest", () => {
    trouble.hidden = true;
    busy(true);
  });
  document.addEventListener("htmx:afterRequest", () => busy(false));

  trouble.querySelector("button").addEventListener("click", () => {
    const again = document.getElementById(failed.id) ?? failed;
    again.requestSubmit ? again.requestSubmit() : again.click();
  });

  // Focus stays where it was (htmx finds the same id), goes where the link says, or to the region.
  document.addEventListener("htmx:afterSwap", (event) => {
    const wanted = event.detail.elt?.dataset?.focus;
    if (wanted) document.getElementById(wanted)?.focus({ preventScroll: true });
    else if (document.activeElement === document.body) find("#results")?.focus({ preventScroll: true });
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const search = find("#q");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  });

  const language = document.documentElement.lang;
  const locale = navigator.languages.find((name) => name.split("-")[0] === language) ?? language;
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });

  const localise = (root) => {
    for (const time of root.querySelectorAll("time[datetime*=T]:not([title])")) {
      const at = new Date(time.dateTime);
      time.title = time.dateTime.replace("T", " ").replace(/(:\d\d)?Z$/, " UTC");
      time.textContent = (time.hasAttribute("data-day") ? day : moment).format(at);
    }
  };
  localise(document);
  document.addEventListener("htmx:load", (event) => localise(event.detail.elt));
})();
