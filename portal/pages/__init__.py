"""The main pages, and the frame of every page: URLs, forms, access, errors, htmx."""
