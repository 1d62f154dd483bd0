"""HTTP requests: guards, errors, headers, and choices that a browser keeps in cookies."""
