"""The requests of pages and calls: guards, errors, headers, and what a browser chooses."""
