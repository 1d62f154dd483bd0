"""The measured data: 2,000,000 findings of 2,000 websites; the five measured ones have 50 to 100,000.

A dataset is built once for each backend,
scale and schema, and reused for two weeks; ``--scale 0.1`` has a tenth of the findings.
"""

import argparse
import hashlib
import sys
import time
from datetime import UTC, datetime, timedelta

from django.db import DatabaseError, connection, connections

from benchmarks import databases
from benchmarks.command_line import BACKENDS, Unavailable

MAX_AGE = timedelta(days=14)
# The code that determines the rows of a dataset.
_INPUTS = (
    "benchmarks/dataset_tables.py",
    "benchmarks/rows.py",
    "dashboard_api/backends/*.py",
    "*/migrations/0*",
    "dashboard_api/models/words.py",
    "foundation/words.py",
)


def prepare(backend: str, scale: float) -> str:
    """Set up Django on the dataset of this scale and return its name; build it if it is missing or old."""
    name = databases.database_name("reads", scale)
    databases.use(backend, name)
    if not is_current(now := datetime.now(UTC)):
        connections.close_all()
        build(backend, name, scale, now)
    return name


def build(backend: str, name: str, scale: float, now: datetime) -> None:
    """Replace the database by a new dataset; the stamp, written last, marks it as complete."""
    from benchmarks import dataset_tables  # imports models: only after Django is set up

    print(f"Building {name} on {backend} ...", file=sys.stderr, flush=True)
    started = time.monotonic()
    databases.create(backend, name)
    dataset_tables.fill(scale, now=now)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE benchmark_stamp (inputs varchar(64), built_at varchar(32))")
        cursor.execute("INSERT INTO benchmark_stamp VALUES (%s, %s)", [inputs_digest(), now.isoformat()])
    print(f"... in {time.monotonic() - started:.0f} s.", file=sys.stderr, flush=True)


def is_current(now: datetime) -> bool:
    """Return whether the dataset is complete, has today's schema, and is recent enough for the charts."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT inputs, built_at FROM benchmark_stamp")
            digest, built_at = cursor.fetchone()
    except DatabaseError:
        return False
    return digest == inputs_digest() and now - datetime.fromisoformat(built_at) < MAX_AGE


def inputs_digest() -> str:
    """Return a digest of the code that determines the tables and the data."""
    files = sorted(file for pattern in _INPUTS for file in databases.ROOT.glob(pattern))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def main() -> None:
    """Build the dataset if it is missing, and print its name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=BACKENDS, default="sqlite")
    parser.add_argument("--scale", type=float, default=1)
    arguments = parser.parse_args()
    try:
        print(prepare(arguments.backend, arguments.scale))
    except Unavailable as error:
        sys.exit(f"Skipped: {error}")


if __name__ == "__main__":
    main()
