"""Files that a page offers: how many are written at a time, and how cells are escaped."""
