"""The formats of days and numbers, equal to those of the page's script (portal.js)."""
