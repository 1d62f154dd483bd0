"""Scans of a website: the one that runs, a new one by hand, and what earlier ones found."""
