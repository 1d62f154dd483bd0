"use strict";
// Old rows of the list of websites refresh when they are seen, a few at a time, so that a long list never
// occupies the server. After the last response the totals above the list are fetched again.
(() => {
  const MAX_REQUESTS = 2;
  const queue = [];
  const unfinished = new Set(); // rows in the queue, too
  const list = document.querySelector("#sites tbody");
  const next = () => {
    while (queue.length && unfinished.size - queue.length < MAX_REQUESTS) queue.shift()();
    if (unfinished.size) return;
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
