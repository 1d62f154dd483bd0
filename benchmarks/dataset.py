"""What is measured: 2,000,000 findings of 500 websites, four of which have 1,000 to 1,000,000.

They go into the product's own tables, whose triggers keep counts and words. Built once for an engine, a scale
and a schema, and used again for two weeks; a smaller scale has so many fewer findings of each website.
"""

import argparse
import hashlib
import sys
import time
from datetime import UTC, datetime, timedelta

from django.db import DatabaseError, connection, connections

from benchmarks import records
from benchmarks.command_line import ENGINES, NotHere

KEPT = timedelta(days=14)
# What decides which rows, words and counts there are.
_MADE_OF = (
    "benchmarks/loading.py",
    "benchmarks/rows.py",
    "dashboard_api/backends/*.py",
    "dashboard_api/migrations/0*",
    "dashboard_api/queries/search.py",
    "foundation/words.py",
)


def prepare(engine: str, scale: float) -> str:
    """Django set up on the database of that scale, which is built first if missing or old; its name."""
    name = records.database_name("reads", scale)
    records.use(engine, name)
    if not is_current(now := datetime.now(UTC)):
        connections.close_all()
        build(engine, name, scale, now)
    return name


def build(engine: str, name: str, scale: float, now: datetime) -> None:
    """Make the database anew; nothing takes it for whole before its stamp is written."""
    from benchmarks import loading  # models can be imported only where Django is set up

    print(f"Building {name} on {engine} ...", file=sys.stderr, flush=True)
    started = time.monotonic()
    records.create(engine, name)
    loading.fill(scale, now=now)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE benchmark_stamp (made_of varchar(64), made_at varchar(32))")
        cursor.execute("INSERT INTO benchmark_stamp VALUES (%s, %s)", [made_of(), now.isoformat()])
    print(f"... in {time.monotonic() - started:.0f} s.", file=sys.stderr, flush=True)


def is_current(now: datetime) -> bool:
    """Whether the database is whole, of today's schema, and recent enough for its charts to have news."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT made_of, made_at FROM benchmark_stamp")
            digest, made_at = cursor.fetchone()
    except DatabaseError:
        return False
    return digest == made_of() and now - datetime.fromisoformat(made_at) < KEPT


def made_of() -> str:
    """Changes when the tables or the data do."""
    files = sorted(file for pattern in _MADE_OF for file in records.ROOT.glob(pattern))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def main() -> None:
    """Build what is missing, so that measuring need not wait for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="sqlite")
    parser.add_argument("--scale", type=float, default=1)
    arguments = parser.parse_args()
    try:
        print(prepare(arguments.engine, arguments.scale))
    except NotHere as error:
        sys.exit(f"Left out: {error}")


if __name__ == "__main__":
    main()
