"""Hand-written SQL, each statement with a twin in the ORM among the tests."""
