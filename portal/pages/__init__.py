"""The frame of every page: URLs, forms, access, errors and htmx; and the main pages."""
