"use strict";
// Behaviour beyond htmx: busy and failed requests, retry, focus.
// The region is replaced often, so nothing keeps a reference to it.
(() => {
  const find = (selector) => document.querySelector(selector);
  const on = (name, listener) => document.addEventListener(name, listener);
  const q = find("#q");
  let failed, origin, isLink;

  const setBusy = (isBusy) => find("#results")?.setAttribute("aria-busy", isBusy);
  const showError = (isShown) => {
    if (isShown) find(":popover-open")?.hidePopover(); // above it
    find("#connection-error")?.toggleAttribute("hidden", !isShown);
  };
  const fail = ({ detail }) => {
    failed = detail.requestConfig?.elt ?? detail.elt;
    failed.matches(".site-row") ? failed.toggleAttribute("data-failed", true) : showError(true);
  };

  // htmx requests the links of the region, by one listener: hx-boost would prepare each of every response. Links
  // that others wrote (noopener) or with data-full-page, and new tabs, are left to the browser.
  on("click", (event) => {
    const link = event.target.closest("#results a[href]:not([href^='#'], [rel~=noopener], [data-full-page], [data-full-page] *), #retry");
    if (!link || link.hostname !== location.hostname || event.defaultPrevented || event.button) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    htmx.ajax("get", link.getAttribute("href"), { source: link, event }).catch(() => {}); // see fail
  });

  // A link sends the text that was typed before it; text typed during its request is sent afterwards.
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
  // An error response for the region is shown there; other failures show the message above. So does a file,
  // whose texts of others would become markup that htmx obeys. A 204 has no type.
  on("htmx:beforeSwap", ({ detail }) => {
    const isPage = /^text\/html|^$/.test(detail.xhr.getResponseHeader("Content-Type") ?? "");
    if (detail.xhr.status < 400 && isPage) return;
    detail.shouldSwap = Boolean(isPage && detail.xhr.getResponseHeader("HX-Retarget"));
    detail.isError = !detail.shouldSwap;
    if (detail.isError) fail({ detail });
  });
  on("click", ({ target }) => {
    if (!target.closest("#connection-error button")) return;
    const elt = document.getElementById(failed.id) ?? failed;
    elt.requestSubmit ? elt.requestSubmit() : elt.click();
    (elt === q?.form ? q : elt).focus();
  });

  // A filter that was clicked stays where it is, while charts above it come or go.
  let top;
  on("htmx:beforeSwap", ({ detail }) => { top = detail.requestConfig.elt.getBoundingClientRect().top; });
  on("htmx:afterSwap", ({ detail }) => {
    const goal = document.getElementById(detail.requestConfig.elt.id);
    find(".skip[href='#finding-list']")?.toggleAttribute("hidden", !find("#finding-list"));
    if (goal?.closest(".findings")) scrollBy(0, goal.getBoundingClientRect().top - top);
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
})();
