"""Decisions of analysts: about one finding, and for a rule or a scanner."""
