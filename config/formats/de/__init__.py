"""German formats."""
