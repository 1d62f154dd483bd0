"""The audit log of an account, for its owners."""
