"""Scans of a website: the running one, starting one by hand, the schedule, and earlier results."""
