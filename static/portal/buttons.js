"use strict";
// The buttons that copy a field, such as a finding's link, and print a report.
(() => {
  // If the browser refuses to copy, the field appears and its text is selected.
  const copy = async (button) => {
    const field = document.getElementById(button.dataset.field);
    try {
      await navigator.clipboard.writeText(field.value);
      document.querySelector("#status").textContent = button.textContent = button.dataset.copy;
    } catch {
      field.closest(".without-script")?.classList.remove("without-script");
      field.select();
    }
  };
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-copy]")) copy(target);
    else if (target.closest("[data-print]")) print();
  });
})();
