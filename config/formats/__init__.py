"""Formats of dates; times.js formats times the same way in the browser."""
