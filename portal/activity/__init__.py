"""The activity of an account: its audit events, for its owners (record 0087)."""
