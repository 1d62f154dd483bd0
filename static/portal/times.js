"use strict";
// Times in the reader's time zone, as the server writes them, also in what htmx brings.
(() => {
  const { dataset } = document.currentScript;
  // Intl.DateTimeFormat would do it, but a slow phone takes 100 ms to create one.
  const padded = (number) => String(number).padStart(2, "0");
  const dayOf = (at) => dataset.dateFormat.replace(/[djmMY]/g, (letter) => ({
    d: padded(at.getDate()),
    j: at.getDate(),
    m: padded(at.getMonth() + 1),
    M: dataset.months.split(" ")[at.getMonth()],
    Y: at.getFullYear(),
  })[letter]);
  const localise = (part) => {
    for (const time of part.querySelectorAll("time[datetime*=T]:not([title])")) {
      const at = new Date(time.dateTime);
      time.title = time.dateTime.replace("T", " ").replace(/(:\d\d)?Z$/, " UTC");
      const text = dayOf(at) + ("day" in time.dataset ? "" : `, ${padded(at.getHours())}:${padded(at.getMinutes())}`);
      if (time.textContent !== text) time.textContent = text; // the same text would be laid out again
    }
  };
  localise(document);
  document.addEventListener("htmx:load", ({ target }) => localise(target));
  // A response replaces the region as a whole, with its times in place before it is laid out: htmx alone would prepare
  // and clear up every element. Parts that load themselves are prepared here.
  window.htmx?.defineExtension("region", {
    handleSwap(style, region, fragment, settling) {
      if (style !== "region") return false;
      localise(fragment);
      settling.elts = [...fragment.children];
      region.replaceWith(fragment);
      for (const it of document.querySelectorAll("#results [hx-trigger=load]")) window.htmx.process(it);
      return true;
    },
  });
})();
