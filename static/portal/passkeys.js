"use strict";
// allauth's script creates and uses passkeys; this one shows a message on the page when that fails: another one
// when the server did not say what a passkey has to answer.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const isOfDevice = event.detail.exception instanceof DOMException || !window.PublicKeyCredential;
  document.querySelector("#passkey-error").hidden = !isOfDevice;
  document.querySelector("#passkey-refused").hidden = isOfDevice;
});
