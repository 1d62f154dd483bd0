"""Saved views: filters of a dashboard with a name, for one member or for everyone in an account."""
