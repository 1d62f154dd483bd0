"""A demo of the whole product on one machine, with its own settings and data."""
