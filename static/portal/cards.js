"use strict";
// The cards of the list of websites refresh a few at a time, so that a long list never occupies the server.
// If some had no summary, the list is sorted again after the last response, unless the focus is in it.
(() => {
  const MAX_REQUESTS = 3;
  const queue = [];
  const unfinished = new Set(); // cards in the queue, too
  const list = document.querySelector(".sites");
  const needsSorting = Boolean(list.querySelector(".skeleton"));
  const riskRank = (site) => site.querySelector(".site-summary").dataset.riskRank;
  const sort = () => {
    if (!needsSorting || list.contains(document.activeElement)) return;
    list.append(...[...list.children].sort((a, b) => riskRank(a).localeCompare(riskRank(b))));
  };
  const next = () => {
    while (queue.length && unfinished.size - queue.length < MAX_REQUESTS) queue.shift()();
    if (unfinished.size) return;
    sort();
    const status = document.querySelector("#status");
    const { failed, done } = status.dataset;
    status.textContent = document.querySelector(".site-summary[data-failed]") ? failed : done;
  };
  document.addEventListener("htmx:confirm", (event) => {
    if (!event.target.matches(".site-summary")) return;
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
