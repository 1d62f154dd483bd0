import secrets

import psycopg
import pytest
from django.conf import settings

from tests.deploy.production import Production, nginx


@pytest.fixture(scope="session")
def own_database():
    """The URL of an empty database on PostgreSQL; empty if the tests run on SQLite."""
    database = settings.DATABASES["default"]
    if "postgresql" not in database["ENGINE"]:
        yield ""
        return
    name = f"production_{secrets.token_hex(6)}"
    password = f":{database['PASSWORD']}" if database["PASSWORD"] else ""
    address = f"postgres://{database['USER']}{password}@{database['HOST']}:{database['PORT'] or 5432}/"
    with psycopg.connect(f"{address}postgres", autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield f"{address}{name}"
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def production(tmp_path_factory, own_database):
    return Production(tmp_path_factory.mktemp("production"), own_database)


@pytest.fixture(scope="session")
def link_id(production):
    return production.fill()


@pytest.fixture(scope="session")
def website(production, link_id, tmp_path_factory):
    """The product behind nginx, as browsers reach it."""
    with production.serving(), nginx(tmp_path_factory.mktemp("nginx"), production.port) as browser:
        yield browser
