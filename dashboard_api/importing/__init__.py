"""Import of scanner reports as findings."""
