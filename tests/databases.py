"""The address of the test database, for other processes."""


def url_of(connection):
    """Return the DATABASE_URL of the test database."""
    told = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{told['NAME']}"
    password = f":{told['PASSWORD']}" if told["PASSWORD"] else ""
    address = f"{told['HOST']}:{told['PORT'] or 5432}"
    return f"postgres://{told['USER']}{password}@{address}/{told['NAME']}"
