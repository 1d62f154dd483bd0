"""The built-in engine: headers, cookies, the page, TLS and security.txt."""
