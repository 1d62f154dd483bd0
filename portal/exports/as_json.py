"""Findings as one JSON document, with the member names of the signed API."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from portal.exports.selection import Selection
from signed_api.findings import Threat


def write_json(selection: Selection) -> Iterator[str]:
    """Yield the website's figures, then the findings, one on each line; ``complete`` ends the document."""
    yield open_list(_head(selection), "threats")
    yield from elements(
        selection,
        lambda threat: (
            msgspec.structs.asdict(threat)
            | {"link": selection.finding_url(threat.id), "assignee": selection.assignee_of(threat)}
        ),
    )
    yield '],"complete":true}\n'


def to_json(value: Any) -> str:
    """Return ``value`` as JSON in one line."""
    return msgspec.json.encode(value).decode()


def open_list(head: Any, name: str) -> str:
    """Return the object ``head`` as JSON, open at the start of its last member, the list ``name``."""
    return f'{to_json(head).removesuffix("}")},"{name}":[\n'


def elements(selection: Selection, element: Callable[[Threat], Any]) -> Iterator[str]:
    """Yield the elements of a list, one on each line, page by page."""
    separator = ""
    for page in selection.pages:
        rows = [f"{to_json(element(threat))}\n" for threat in page]
        yield separator + ",".join(rows) if rows else ""
        separator = ","


def _head(selection: Selection) -> dict[str, Any]:
    first = selection.first
    return {
        "host": first.host,
        "link": selection.list_url,
        "dashboard": {
            "generated_at": first.dashboard.generated_at,
            "grade": first.dashboard.grade,
            "grade_provisional": first.dashboard.grade_provisional,
            "filters": selection.filters,
            "total": selection.total,
        },
        "summary": first.summary,
        "coverage": first.coverage,
        "analyst_notes": first.analyst_notes,
    }
