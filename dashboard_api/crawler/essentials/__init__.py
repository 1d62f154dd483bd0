"""The built-in engine: headers, cookies, the page, TLS and security.txt. Decision record 0107."""
