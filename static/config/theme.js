"use strict";
// The admin's pages have no place for the server to write the theme: this does it before they are drawn.
document.documentElement.dataset.theme = document.currentScript.dataset.theme;
