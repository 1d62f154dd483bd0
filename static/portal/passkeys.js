"use strict";
// allauth's own script makes and uses passkeys; this one says on the page when that did not work.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  document.querySelector("#passkey-trouble").hidden = false;
});
