"""Texts: words, markup, translations of stored English, regions and time zones."""
