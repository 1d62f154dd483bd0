"""Formats of days and numbers, the same as those of the page's script (portal.js)."""
