"""A website without problems: a rule about a missing header adds its header here only."""

HOST = "shop.example.com"

HEADERS = {
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
}
# Rules that a page over http breaks without these headers, in the order of the checks.
MISSING = ["csp-missing", "framing-allowed", "nosniff-missing"]
