"""Answers of members to one finding or to many, and their messages to analysts."""
