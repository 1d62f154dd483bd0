"""Import reports of scanners as findings."""
