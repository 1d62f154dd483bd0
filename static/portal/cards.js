"use strict";
// The cards of the list of websites ask a few at a time: a long list never takes up the server.
// Where nothing was known of some, the worst come first once all have answered, unless somebody is at the list.
(() => {
  const ABREAST = 3;
  const waiting = [];
  const busy = new Set(); // those that wait, too
  const list = document.querySelector(".sites");
  const isUnknown = Boolean(list.querySelector(".bones"));
  const badness = (site) => site.querySelector(".told").dataset.badness;
  const order = () => {
    if (!isUnknown || list.contains(document.activeElement)) return;
    list.append(...[...list.children].sort((one, other) => badness(one).localeCompare(badness(other))));
  };
  const ask = () => {
    while (waiting.length && busy.size - waiting.length < ABREAST) waiting.shift()();
    if (busy.size) return;
    order();
    const status = document.querySelector("#status");
    const { failed, done } = status.dataset;
    status.textContent = document.querySelector(".told[data-failed]") ? failed : done;
  };
  document.addEventListener("htmx:confirm", (event) => {
    if (!event.target.matches(".told")) return;
    event.preventDefault();
    if (busy.has(event.target)) return;
    busy.add(event.target);
    waiting.push(event.detail.issueRequest);
    ask();
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (busy.delete(event.detail.requestConfig?.elt)) setTimeout(ask);
  });
})();
