"""Share links: a finding or a list for people without an account."""
