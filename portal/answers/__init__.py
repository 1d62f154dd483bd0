"""Answers of the service: calls for a website, and the last good answer during an outage."""
