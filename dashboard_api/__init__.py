"""The service: accounts, links, entitlements, findings, and the signed endpoint that answers with them."""
