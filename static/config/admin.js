"use strict";
// After a proof of identity, the page is at the address of the proof, where its forms cannot be sent.
{
  const { address } = document.body.dataset;
  if (!address.startsWith(location.pathname)) history.replaceState(null, "", address);
}

// What Django's pages leave out for screen readers: names of fields without a label, and empty parts of tables.
(() => {
  const text = (it) => it?.textContent.replace(/[:*\s]+$/, "").trim() ?? "";
  const column = (field) => {
    const cell = field.closest("td");
    return cell && text(cell.closest("table").querySelectorAll("thead th")[cell.cellIndex]);
  };
  const name = (field) => column(field) || text(field.closest(".form-row, .fieldBox")?.querySelector("label, legend"));

  const complete = () => {
    for (const field of document.querySelectorAll("main :is(input:not([type=hidden]), select, textarea)")) {
      if (field.labels?.length || field.ariaLabel || field.type === "submit") continue;
      if (name(field)) field.ariaLabel = name(field);
    }
    for (const box of document.querySelectorAll(".select2-container")) {
      const field = box.previousElementSibling;
      const label = [text(field.labels?.[0]) || name(field), text(box)].join(" ");
      for (const part of box.querySelectorAll("[role=combobox], [role=textbox]")) {
        part.removeAttribute("aria-labelledby");
        part.ariaLabel = label;
      }
    }
    for (const it of document.querySelectorAll("[aria-describedby]")) {
      if (!document.getElementById(it.getAttribute("aria-describedby"))) it.removeAttribute("aria-describedby");
    }
    for (const it of document.querySelectorAll("main span[aria-label]:not([role])")) it.setAttribute("role", "img");
    for (const it of document.querySelectorAll("main table:not(:has(td))")) it.hidden = true;
    for (const it of document.querySelectorAll("main thead th:empty")) {
      it.replaceWith(Object.assign(document.createElement("td"), { className: it.className }));
    }
    // Narrow screens show each row as a card, with the name of a column before each value.
    for (const it of document.querySelectorAll(":is(#result_list, .tabular table) > tbody > tr > *")) {
      const heading = it.closest("table").tHead?.rows[0].cells[it.cellIndex];
      const label = text(heading?.querySelector(".text") ?? heading);
      if (label && !it.matches(".original, .action-checkbox")) it.dataset.label = label;
    }
  };
  addEventListener("load", complete);
  window.django?.jQuery?.(complete); // after Django's own scripts, which wait for the same moment
  document.addEventListener("formset:added", complete);
})();
