"""The test database, as another process finds it."""


def url_of(connection):
    """What DATABASE_URL must say."""
    told = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{told['NAME']}"
    password = f":{told['PASSWORD']}" if told["PASSWORD"] else ""
    address = f"{told['HOST']}:{told['PORT'] or 5432}"
    return f"postgres://{told['USER']}{password}@{address}/{told['NAME']}"
