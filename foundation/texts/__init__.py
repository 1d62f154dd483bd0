"""Texts: words, markup, stored English and its translations, and names that the world has published."""
