"use strict";
// Old rows of the list of websites refresh when they are seen, a few at a time, so that a long list never
// occupies the server. If some had no summary, a list of one page is sorted again after the last response, unless
// the focus is in it. The totals above the list are fetched again, too.
(() => {
  const MAX_REQUESTS = 2;
  const queue = [];
  const unfinished = new Set(); // rows in the queue, too
  const list = document.querySelector("#sites tbody");
  const sort = () => {
    if (!("sortsItself" in list.parentElement.dataset) || list.contains(document.activeElement)) return;
    list.append(...[...list.rows].sort((a, b) => a.dataset.riskRank.localeCompare(b.dataset.riskRank)));
  };
  const next = () => {
    while (queue.length && unfinished.size - queue.length < MAX_REQUESTS) queue.shift()();
    if (unfinished.size) return;
    sort();
    const totals = document.querySelector("#totals");
    if (totals && !totals.contains(document.activeElement)) htmx.trigger(totals, "refreshed");
    const status = document.querySelector("#status");
    const { failed, done } = status.dataset;
    status.textContent = list.querySelector("[data-failed]") ? failed : done;
  };
  document.addEventListener("htmx:confirm", (event) => {
    if (!event.target.matches(".site-row")) return;
    event.preventDefault();
    if (unfinished.has(event.target)) return;
    unfinished.add(event.target);
    queue.push(event.detail.issueRequest);
    next();
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (unfinished.delete(event.detail.requestConfig?.elt)) setTimeout(next);
  });
})();
