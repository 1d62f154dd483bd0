"""The one safe way to reach an address that a customer typed."""
