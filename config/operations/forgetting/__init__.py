"""Delete people and accounts for good, with their names in the audit."""
