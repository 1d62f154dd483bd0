"use strict";
// Keys of members' pages: j, k, Escape, "/", "?" and Ctrl-K. The dialogs have a script, styles and texts of their
// own, which are loaded when they are first opened.
(() => {
  const { dataset } = document.currentScript;
  const ROW = ".finding-row, .site-row, .changed-site";
  const find = (selector) => document.querySelector(selector);
  let loading;

  const load = () => loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(script, { src: dataset.script, integrity: dataset.scriptIntegrity, onload: resolve });
    script.onerror = () => {
      loading = undefined;
      reject();
    };
    Object.assign(script.dataset, dataset);
    document.head.append(script);
  });
  // Without the dialog, a link leads where it leads without scripts, and a key does nothing.
  const open = async (id, link) => {
    try {
      await load();
      await window.openDialog(id);
    } catch {
      if (link) location.assign(link.href);
    }
  };

  // Focus itself moves, so Enter opens a row and Tab goes on from there. The first row is one that is in sight.
  const move = (step) => {
    const links = [...document.querySelectorAll(ROW)].map((row) => row.querySelector(":is(h3, th) a[href]"))
      .filter((link) => link?.checkVisibility());
    const at = links.findIndex((link) => link.closest(ROW).contains(document.activeElement));
    const inSight = () => links.find((link) => link.getBoundingClientRect().top >= 0) ?? links[0];
    const link = at < 0 ? inSight() : links[at + step];
    if (link) link.focus();
    else if (!links.length) find(`.finding-nav [rel=${step > 0 ? "next" : "prev"}]`)?.click();
  };
  const search = () => {
    const field = find("#q, #site-search");
    field?.focus();
    field?.select();
    return field;
  };
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    Escape: () => find(".back-link a")?.click(),
    "/": search,
    "?": () => open("keys"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    if (event.target.closest("form, input, textarea, select, [contenteditable]")) return;
    if (find("dialog[open], :popover-open, details[open] > form")) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== "k" || event.shiftKey) return;
      event.preventDefault();
      open("palette");
    } else if (dataset.singleKeys === "on" && Object.hasOwn(keys, event.key)) {
      if (event.key === "/" && !find("#q, #site-search")) return;
      event.preventDefault();
      keys[event.key]();
    }
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-palette]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open("palette", link);
  });
})();
