"""Hosts, domains and e-mail addresses, each in one normal form."""
