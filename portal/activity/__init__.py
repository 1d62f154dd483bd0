"""The activity of an account, for its owners: audit events."""
