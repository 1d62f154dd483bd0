"""The formats of days and numbers, which the script of the page follows (times.js)."""
