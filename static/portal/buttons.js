"use strict";
// The buttons that copy a field, such as a finding's link, print a report, and mention a member in a message; the
// numbers of charts; the box that chooses all findings of a page; on a phone, the sheet of filters and later rows.
(() => {
  // If the browser refuses to copy, the field or text appears and is selected.
  const copy = async (button) => {
    const field = document.getElementById(button.dataset.field);
    try {
      await navigator.clipboard.writeText(field.value ?? field.textContent);
      document.querySelector("#status").textContent = button.textContent = button.dataset.copy;
    } catch {
      field.closest(".without-script")?.classList.remove("without-script");
      field.select ? field.select() : getSelection().selectAllChildren(field);
    }
  };
  const mention = ({ dataset }) => {
    const field = document.getElementById(dataset.field);
    const { value, selectionStart: start, selectionEnd: end } = field;
    const space = /\S$/.test(value.slice(0, start)) ? " " : "";
    field.setRangeText(`${space}${dataset.mention} `, start, end, "end");
    field.focus();
  };
  // A chart's slider chooses a week: the legend shows its numbers, and a line marks it. The table has the numbers.
  const choose = (slider, index) => {
    const chart = slider.closest(".chart");
    const { cells } = chart.querySelector("tbody").rows[index];
    const amounts = [...cells].slice(1).map((cell) => cell.textContent);
    const names = chart.querySelectorAll(".legend li");
    names.forEach((name, number) => (name.querySelector("b").textContent = amounts[number]));
    slider.value = index;
    slider.ariaValueText = `${cells[0].textContent}: ${[...names].map((name) => name.textContent.trim()).join(", ")}`;
    const mark = chart.querySelector(".chosen");
    for (const end of ["x1", "x2"]) mark.setAttribute(end, `${(100 * index) / slider.max}%`);
    mark.nextElementSibling.textContent = cells[0].textContent;
  };
  const isWeek = ({ target }) => target.matches?.(".week");
  for (const name of ["input", "focusin"]) {
    document.addEventListener(name, (event) => isWeek(event) && choose(event.target, event.target.value));
  }
  document.addEventListener("pointermove", (event) => {
    if (!isWeek(event)) return;
    const { left, width } = event.target.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - left) / width, 0), 1);
    choose(event.target, Math.round(part * event.target.max));
  });
  // The sheet stays open while filters are chosen, and a row that gets the focus is shown. Both happen before
  // portal.js moves the focus.
  const reveal = (id) => {
    const row = document.getElementById(id);
    if (row?.checkVisibility()) return;
    row?.closest(".finding-list")?.querySelector(".show-more")?.toggleAttribute("open", true);
  };
  let scrolled;
  reveal(history.state?.focus);
  document.addEventListener("htmx:beforeSwap", () => {
    scrolled = document.querySelector(".facets:popover-open")?.scrollTop;
  }, true);
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    const sheet = document.querySelector(".facets");
    if (sheet && scrolled !== undefined) {
      sheet.showPopover();
      sheet.scrollTop = scrolled;
    }
    reveal(detail.requestConfig.elt.closest("[data-focus]")?.dataset.focus);
  }, true);
  document.addEventListener("change", ({ target }) => {
    if (!target.matches("[data-choose-all]")) return;
    for (const box of document.querySelectorAll("[name=ids]")) box.checked = target.checked && box.checkVisibility();
  });
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-copy]")) copy(target);
    else if (target.closest("[data-print]")) print();
    else if (target.closest("[data-mention]")) mention(target);
  });
})();
