"""Actions on record: who did what, when; kept 400 days, never changed, sealed each hour."""
