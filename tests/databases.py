"""The address of the test database, for other processes."""


def url_of(connection):
    """Return the DATABASE_URL of the test database."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    password = f":{database['PASSWORD']}" if database["PASSWORD"] else ""
    address = f"{database['HOST']}:{database['PORT'] or 5432}"
    return f"postgres://{database['USER']}{password}@{address}/{database['NAME']}"
