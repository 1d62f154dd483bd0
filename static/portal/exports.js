"use strict";
// What people take with them. Files come with their progress, and are saved only when they are whole; without
// this, the browser saves them.
(() => {
  const find = (selector) => document.querySelector(selector);
  const [box, bar, words] = ["#taking", "#taken", "#taking p"].map(find);
  const RETURN = 13; // ends a line of a file, and stands nowhere else in it
  let cancel, origin;

  const say = (text, isBad) => {
    words.textContent = text;
    box.hidden = !text;
    box.classList.toggle("bad", isBad);
    box.classList.toggle("ended", Boolean(text));
    find("#status").textContent = text;
  };
  const begin = (label) => {
    say("", false);
    box.hidden = false;
    bar.removeAttribute("value");
    find("#status").textContent = label;
  };
  const save = (parts, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  const receive = async (answer) => {
    const parts = [];
    let lines = 0;
    bar.max = answer.headers.get("X-Lines");
    for (const reader = answer.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      for (const byte of value) if (byte === RETURN) lines += 1;
      bar.value = lines;
    }
    if (lines !== bar.max) throw new Error("a part");
    return parts;
  };
  const refusal = async (answer) => {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return [...page.querySelectorAll(".problem > :is(h2, p):not(.actions)")].map((it) => it.textContent).join(" ");
  };
  const take = async (link) => {
    cancel?.abort();
    const { signal } = (cancel = new AbortController());
    begin(link.textContent);
    try {
      const answer = await fetch(link.href, { signal });
      if (!answer.ok) return say((await refusal(answer)) || box.dataset.torn, true);
      const [, name] = /filename="(.+)"/.exec(answer.headers.get("Content-Disposition")) ?? [];
      if (!name) return location.assign(link.href); // to sign in first
      const parts = answer.headers.has("X-Lines") ? await receive(answer) : [await answer.blob()];
      save(parts, name);
      say(box.dataset.done, false);
    } catch {
      if (!signal.aborted) say(box.dataset.torn, true);
    }
  };

  // Where copying is refused, its field appears.
  const copy = async (button) => {
    const field = find("#finding-link");
    try {
      await navigator.clipboard.writeText(field.value);
      find("#status").textContent = button.textContent = button.dataset.copy;
    } catch {
      field.parentElement.className = "";
      field.select();
    }
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-file]");
    if (link && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      take((origin = link));
    } else if (event.target.closest("#taking button")) {
      cancel.abort();
      say("", false);
      origin.focus();
    } else if (event.target.closest("[data-copy]")) copy(event.target);
    else if (event.target.closest("[data-print]")) print();
    else if (box.matches(".ended")) box.hidden = true; // it was read
  });
})();
