"""Hand-written SQL; tests compare each statement with an equivalent query of the ORM.

``select`` finds the database by the model that it gets, and returns the rows of the statement.
"""
