"""What every test shares."""


def pytest_collection_modifyitems(items):
    """Tests that use the database use all of it: SQLite keeps nonces and sessions in a second file."""
    for item in items:
        for marker in item.iter_markers("django_db"):
            marker.kwargs.setdefault("databases", "__all__")
