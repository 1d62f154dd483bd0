"""Databases of the benchmarks: SQLite files and PostgreSQL databases, separate from the product's."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
import psycopg
from django.conf import settings
from django.core.management import call_command

from benchmarks.command_line import Unavailable

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("BENCHMARK_FOLDER", ROOT / "var" / "bench"))
POSTGRESQL = os.environ.get("BENCHMARK_POSTGRESQL", "postgres://postgres@127.0.0.1:5432")


def database_name(purpose: str, scale: float) -> str:
    """Return the name of a database or SQLite file."""
    return f"threat_dashboard_{purpose}_{scale:g}".replace(".", "_")


def sqlite_file(name: str) -> Path:
    """Return the path of the SQLite file of the default database."""
    return FOLDER / f"{name}.sqlite3"


def environment(backend: str, name: str) -> dict[str, str]:
    """Return the environment variables of a deployment on the database ``name``."""
    url = f"sqlite:///{sqlite_file(name)}" if backend == "sqlite" else f"{POSTGRESQL}/{name}"
    return {
        "DJANGO_SETTINGS_MODULE": "benchmarks.settings",
        "DATABASE_URL": url,
        "SECRET_KEY": "only-for-benchmarks-0123456789-0123456789-0123456789",
        "MASTER_KEYS": "1:b25seS1mb3ItYmVuY2htYXJrcy0wMTIzNDU2Nzg5MDE=",
        "DEBUG": "false",
        "ALLOWED_HOSTS": "127.0.0.1",
        "REDIS_URL": "",
        # High enough that no benchmark meets the rate limit.
        "CALLS_PER_SECOND": "999",
        "CALLS_BURST": "9999",
    }


def use(backend: str, name: str) -> None:
    """Set up Django on the database ``name``; raise Unavailable without PostgreSQL."""
    os.environ.update(environment(backend, name))
    if backend == "postgresql":
        check_postgresql()
    django.setup()


def check_postgresql() -> None:
    """Raise Unavailable unless PostgreSQL accepts a connection."""
    try:
        psycopg.connect(f"{POSTGRESQL}/postgres", connect_timeout=3).close()
    except psycopg.OperationalError as error:
        raise Unavailable(
            f"no PostgreSQL at {without_password(POSTGRESQL)}; set BENCHMARK_POSTGRESQL to its URL."
        ) from error


def discard(backend: str, name: str) -> None:
    """Delete a database if it exists."""
    if backend == "sqlite":
        for file in FOLDER.glob(f"{name}.*"):
            file.unlink()
    else:
        _administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def create(backend: str, name: str) -> None:
    """Create an empty database, and replace an existing one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    discard(backend, name)
    if backend == "postgresql":
        _administer(f'CREATE DATABASE "{name}"')


@contextmanager
def temporary(backend: str, purpose: str, scale: float) -> Iterator[None]:
    """Set up Django on an empty database until the block ends; raise Unavailable without PostgreSQL."""
    if backend == "postgresql":
        check_postgresql()
    name = database_name(purpose, scale)
    create(backend, name)
    use(backend, name)
    try:
        yield
    finally:
        discard(backend, name)


def copy(backend: str, name: str, *, to: str) -> None:
    """Copy the database ``name``, and replace ``to`` if it exists."""
    discard(backend, to)
    if backend == "postgresql":
        _administer(f'CREATE DATABASE "{to}" TEMPLATE "{name}"')
    else:
        for file in FOLDER.glob(f"{name}.*"):
            shutil.copyfile(file, file.with_name(file.name.replace(name, to, 1)))


def _administer(statement: str) -> None:
    with psycopg.connect(f"{POSTGRESQL}/postgres", autocommit=True) as connection:
        connection.execute(statement)  # type: ignore[arg-type]


def without_password(url: str) -> str:
    """Return a database URL without its password."""
    return re.sub(r"//([^:/@]*):[^@]*@", r"//\1@", url)


def create_demo(backend: str, name: str, *, password: str) -> dict[str, str]:
    """Seed the demo into a new database; return the environment variables that serve it as shipped."""
    create(backend, name)
    use(backend, name)
    from config.demo.seeding import seed  # imports models: only after Django is set up

    for alias in settings.DATABASES:
        call_command("migrate", database=alias, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    seed(password)
    # The admin is also measured: staff sign in with a password alone.
    shipped = {"DJANGO_SETTINGS_MODULE": "config.settings", "STAFF_SECOND_FACTOR": "false"}
    return environment(backend, name) | shipped
