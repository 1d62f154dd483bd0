"""Hand-written SQL; tests compare each statement with an equivalent query of the ORM."""
