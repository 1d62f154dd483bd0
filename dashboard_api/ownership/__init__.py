"""Ownership: claims of accounts to websites, their checks and their calendar."""
