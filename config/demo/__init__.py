"""A demo of the whole product on one machine: its own settings, its own data, nothing else touched."""
