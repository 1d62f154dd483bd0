"""Entries of testssl.sh's flat and pretty JSON, each with its server."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from dashboard_api.scanners.members import JsonObject, line_at, objects_in
from dashboard_api.scanners.report import BadRow
from dashboard_api.scanners.testssl.check_ids import CheckId
from dashboard_api.scanners.text import host_and_port


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Entry with its parsed id, testssl.sh's rating, the result and the server."""

    row: JsonObject
    check_id: CheckId
    rating: str
    result: str
    location: str  # empty if the entry names no server
    address: str

    @classmethod
    def parse(cls, row: JsonObject, *, host: str, address: str, port: str) -> Self:
        """Return the entry of ``row`` about the given server."""
        return cls(
            row=row,
            check_id=CheckId.parse(line_at(row, "id")),
            rating=line_at(row, "severity").upper(),
            result=line_at(row, "finding"),
            location=host_and_port(host, port) if host else "",
            address=address,
        )


def flat_entries(entries: list[Any]) -> Iterator[Entry | BadRow]:
    """Yield the entries of a report by --jsonfile."""
    for entry in objects_in(entries):
        if isinstance(entry, BadRow):
            yield entry
            continue
        host, _, address = line_at(entry, "ip").partition("/")
        yield Entry.parse(entry, host=host, address=address, port=line_at(entry, "port"))


def pretty_entries(document: JsonObject) -> Iterator[Entry | BadRow]:
    """Yield the entries of a report by --jsonfile-pretty, which has a list for each part of a scan."""
    for name, problems in document.items():
        if name.startswith("clientProblem"):
            yield from _entries_of(problems, {})
    for server in objects_in(document.get("scanResult")):
        if isinstance(server, BadRow):
            yield server
            continue
        if "id" in server:
            yield from _entries_of(server, server)
        for value in server.values():
            if isinstance(value, list):
                yield from _entries_of(value, server)


def _entries_of(value: object, server: JsonObject) -> Iterator[Entry | BadRow]:
    host, address, port = (line_at(server, key) for key in ("targetHost", "ip", "port"))
    for entry in objects_in(value):
        if isinstance(entry, BadRow):
            yield entry
        else:
            yield Entry.parse(entry, host=host, address=address, port=port)
