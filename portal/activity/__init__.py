"""The activity of an account, for its owners: audit events (record 0087) and signed calls (record 0098)."""
