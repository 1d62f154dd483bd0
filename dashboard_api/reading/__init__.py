"""Builds the responses: reads the data for each, and makes its members."""
