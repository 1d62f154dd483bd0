"use strict";
// Times in the reader's time zone, as the server writes them.
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
  const localiseAll = () => {
    for (const time of document.querySelectorAll("time[datetime*=T]:not([title])")) {
      const at = new Date(time.dateTime);
      time.title = time.dateTime.replace("T", " ").replace(/(:\d\d)?Z$/, " UTC");
      time.textContent = dayOf(at) + ("day" in time.dataset ? "" : `, ${padded(at.getHours())}:${padded(at.getMinutes())}`);
    }
  };
  localiseAll();
  document.addEventListener("htmx:load", localiseAll);
})();
