"use strict";
// allauth's script creates and uses passkeys; this one shows a message on the page when that fails.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  document.querySelector("#passkey-error").hidden = false;
});
