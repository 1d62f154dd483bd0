"""What PostgreSQL keeps on disk, by finding and by request: what a larger deployment is planned with."""

from collections.abc import Iterator

from django.db import connection

from benchmarks import dataset, rows
from benchmarks.command_line import run
from benchmarks.figures import Table

_FINDING = "dashboard_api_finding"
_WORDS = "dashboard_api_finding_search"
_COUNTS = ("bucketcount", "weekcount", "daycount")
PARTS = {
    "the findings": f"SELECT pg_table_size('{_FINDING}')",
    "their keys and lists": f"SELECT pg_indexes_size('{_FINDING}') - pg_relation_size('{_WORDS}')",
    "their words": f"SELECT pg_relation_size('{_WORDS}')",
    "their counts": "SELECT "
    + " + ".join(f"pg_total_relation_size('dashboard_api_{name}')" for name in _COUNTS),
}


def tables(*, rounds: int, engine: str, scale: float) -> Iterator[Table]:  # noqa: ARG001  # counted once
    """What a finding takes."""
    dataset.prepare(engine, scale)
    yield of_finding(scale)


def of_finding(scale: float) -> Table:
    """Bytes of one finding, by what they are for."""
    table = Table(
        "Disk of one finding",
        f"Of {rows.FINDINGS * scale:,.0f}, written by COPY; each has one place, and evidence has none.",
    )
    findings = _number(f"SELECT count(*) FROM {_FINDING}")  # noqa: S608  # our own name
    sizes = {part: _number(statement) / findings for part, statement in PARTS.items()}
    for part, size in sizes.items():
        table.add(part, "each", size, "bytes")
    table.add("all together", "each", sum(sizes.values()), "bytes")
    return table


def of_request(*, log_bytes: float) -> Table:
    """Bytes that one request leaves behind, given those of the log."""
    table = Table("Disk of one request", "Its nonce stays for six minutes; the log goes to every replica.")
    nonces = _number("SELECT count(*) FROM dashboard_api_nonce")
    kept = _number("SELECT pg_total_relation_size('dashboard_api_nonce')")
    table.add("a nonce", "each", kept / nonces, "bytes")
    table.add("write-ahead log", "each", log_bytes, "bytes")
    return table


def _number(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        (number,) = cursor.fetchone()
    return int(number)


if __name__ == "__main__":
    run(tables, __doc__, engines=["postgresql"])
