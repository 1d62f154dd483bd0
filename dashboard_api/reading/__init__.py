"""Building of responses: what is read for each, and how its members are made."""
