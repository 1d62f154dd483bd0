"""Where the benchmarks keep their data: a SQLite file or a PostgreSQL database of their own, never yours."""

import os
import re
import shutil
from pathlib import Path

import django
import psycopg

from benchmarks.command_line import NotHere

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("BENCHMARK_FOLDER", ROOT / "var" / "bench"))
POSTGRESQL = os.environ.get("BENCHMARK_POSTGRESQL", "postgres://postgres@127.0.0.1:5432")


def database_name(purpose: str, scale: float) -> str:
    """One name per scale and purpose, good for a file and for a database."""
    return f"threat_dashboard_{purpose}_{scale:g}".replace(".", "_")


def sqlite_file(name: str) -> Path:
    """The records; what is short-lived lies beside them."""
    return FOLDER / f"{name}.sqlite3"


def environment(engine: str, name: str) -> dict[str, str]:
    """The settings that a deployment would have, over the database ``name``."""
    url = f"sqlite:///{sqlite_file(name)}" if engine == "sqlite" else f"{POSTGRESQL}/{name}"
    return {
        "DJANGO_SETTINGS_MODULE": "benchmarks.settings",
        "DATABASE_URL": url,
        "SECRET_KEY": "only-for-benchmarks-0123456789-0123456789-0123456789",
        "MASTER_KEYS": "1:b25seS1mb3ItYmVuY2htYXJrcy0wMTIzNDU2Nzg5MDE=",
        "DEBUG": "false",
        "ALLOWED_HOSTS": "127.0.0.1",
        "REDIS_URL": "",
    }


def use(engine: str, name: str) -> None:
    """Make Django of this process work on the database ``name``; raises NotHere without PostgreSQL."""
    os.environ.update(environment(engine, name))
    if engine == "postgresql":
        check_postgresql()
    django.setup()


def check_postgresql() -> None:
    """Raise NotHere unless the server answers."""
    try:
        psycopg.connect(f"{POSTGRESQL}/postgres", connect_timeout=3).close()
    except psycopg.OperationalError as error:
        raise NotHere(
            f"no PostgreSQL at {without_password(POSTGRESQL)}; name one by BENCHMARK_POSTGRESQL."
        ) from error


def discard(engine: str, name: str) -> None:
    """Remove the database, if it exists."""
    if engine == "sqlite":
        for file in FOLDER.glob(f"{name}.*"):
            file.unlink()
    else:
        _administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def create(engine: str, name: str) -> None:
    """An empty database; one of that name is replaced."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    discard(engine, name)
    if engine == "postgresql":
        _administer(f'CREATE DATABASE "{name}"')


def copy(engine: str, name: str, *, to: str) -> None:
    """A second database with the records of ``name``, to be written to; one of that name is replaced."""
    discard(engine, to)
    if engine == "postgresql":
        _administer(f'CREATE DATABASE "{to}" TEMPLATE "{name}"')
    else:
        for file in FOLDER.glob(f"{name}.*"):
            shutil.copyfile(file, file.with_name(file.name.replace(name, to, 1)))


def _administer(statement: str) -> None:
    with psycopg.connect(f"{POSTGRESQL}/postgres", autocommit=True) as connection:
        connection.execute(statement)  # type: ignore[arg-type]


def without_password(url: str) -> str:
    """The address as it may be shown."""
    return re.sub(r"//([^:/@]*):[^@]*@", r"//\1@", url)
