"use strict";
// The buttons that copy a finding's link and print a report.
(() => {
  // If the browser refuses to copy, the field with the link appears.
  const copy = async (button) => {
    const field = document.querySelector("#finding-link");
    try {
      await navigator.clipboard.writeText(field.value);
      document.querySelector("#status").textContent = button.textContent = button.dataset.copy;
    } catch {
      field.parentElement.className = "";
      field.select();
    }
  };
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-copy]")) copy(target);
    else if (target.closest("[data-print]")) print();
  });
})();
