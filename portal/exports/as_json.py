"""Findings as one JSON document, its members named as the signed API names them."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from portal.exports.selection import Selected
from portal.gateway.messages import Threat


def write_json(selected: Selected) -> Iterator[str]:
    """What is said of the website, then the findings, one to a line; ``complete`` ends the document."""
    yield opened(_head(selected), "threats")
    yield from elements(selected, lambda threat: _threat(threat, selected.finding_url(threat.id)))
    yield '],"complete":true}\r\n'


def json(value: Any) -> str:
    """``value`` as JSON in one line."""
    return msgspec.json.encode(value).decode()


def opened(head: Any, name: str) -> str:
    """The object ``head``, left open in the middle of its last member, the list ``name``."""
    return f'{json(head).removesuffix("}")},"{name}":[\r\n'


def elements(selected: Selected, element: Callable[[Threat], Any]) -> Iterator[str]:
    """The elements of a list, one to a line, page by page; no other line ends in CR LF."""
    separator = ""
    for page in selected.pages:
        rows = [f"{json(element(threat))}\r\n" for threat in page]
        yield separator + ",".join(rows) if rows else ""
        separator = ","


def _head(selected: Selected) -> dict[str, Any]:
    first = selected.first
    return {
        "host": first.host,
        "link": selected.list_url,
        "dashboard": {
            "generated_at": first.dashboard.generated_at,
            "grade": first.dashboard.grade,
            "grade_provisional": first.dashboard.grade_provisional,
            "filters": selected.filters,
            "total": selected.total,
        },
        "summary": first.summary,
        "coverage": first.coverage,
        "analyst_notes": first.analyst_notes,
    }


def _threat(threat: Threat, link: str) -> dict[str, Any]:
    return {**msgspec.structs.asdict(threat), "link": link}
