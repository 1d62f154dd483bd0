"use strict";
// The palette and the list of keys. Hits are links: arrows move the focus, and typing goes on in the search.
(() => {
  const { dataset } = document.currentScript;
  const PAUSE = 120; // milliseconds without a key before a search
  let dialogs, request, searching = Promise.resolve();

  const fetchText = async (url, signal) => {
    const response = await fetch(url, { signal });
    if (response.redirected) location.reload(); // signed out: the sign-in leads back here
    if (!response.ok || response.redirected) throw new Error(response.statusText);
    return response.text();
  };
  const loadStyles = () => new Promise((resolve, reject) => {
    const link = document.createElement("link");
    const { styles: href, stylesIntegrity: integrity } = dataset;
    document.head.append(Object.assign(link, { rel: "stylesheet", href, integrity, onload: resolve, onerror: reject }));
  });

  const prepare = (palette) => {
    const part = (selector) => palette.querySelector(selector);
    const input = part("input");
    const hits = part(".palette-hits");
    const all = hits.innerHTML;
    const links = () => [...hits.querySelectorAll("a")];
    const show = (text) => {
      hits.innerHTML = text;
      part("[role=status]").textContent = hits.firstElementChild?.dataset.status ?? "";
    };
    const search = async (pause) => {
      request?.abort();
      const { signal } = (request = new AbortController());
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (signal.aborted) return;
      try {
        show(input.value.trim() ? await fetchText(`${dataset.hits}?query=${encodeURIComponent(input.value)}`, signal) : all);
        part(".error").hidden = true;
      } catch {
        if (!signal.aborted) part(".error").hidden = false;
      }
    };
    input.addEventListener("input", () => { searching = search(PAUSE); });
    part("form").addEventListener("submit", async (event) => {
      event.preventDefault();
      let last;
      do await (last = searching); while (last !== searching);
      links()[0]?.click();
    });
    palette.addEventListener("keydown", (event) => {
      const { key, ctrlKey, metaKey, altKey } = event;
      const inLinks = links().indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (step) {
        event.preventDefault();
        (inLinks + step < 0 ? input : links()[inLinks + step])?.focus();
      } else if (inLinks >= 0 && (key.length === 1 || key === "Backspace") && !ctrlKey && !metaKey && !altKey) {
        input.focus(); // before the key is typed, so that it is typed there
      }
    });
    palette.reset = () => {
      request?.abort();
      input.value = "";
      show(all);
    };
  };

  const load = async () => {
    const [text] = await Promise.all([fetchText(dataset.dialogs), loadStyles()]);
    document.body.insertAdjacentHTML("beforeend", text);
    for (const dialog of document.querySelectorAll("dialog.palette")) {
      // The dialog itself is clicked only outside its contents.
      dialog.addEventListener("click", ({ target }) => {
        if (target !== dialog && !target.closest("[data-close]")) return;
        dialog.close();
        dialog.querySelector(":focus")?.blur(); // the next key is for the page, not for the hidden button
      });
    }
    prepare(document.getElementById("palette"));
  };
  window.openDialog = async (id) => {
    try {
      await (dialogs ??= load());
    } catch (error) {
      dialogs = undefined;
      throw error;
    }
    if (document.querySelector("dialog[open]")) return;
    const dialog = document.getElementById(id);
    dialog.reset?.();
    dialog.showModal();
  };
})();
