"""Topics: rules of several sources that report the same problem, listed in topics.toml."""

from pathlib import Path
from typing import NamedTuple

import msgspec


class Topic(NamedTuple):
    """Topic with its title, a fix in one line, and its rules by source."""

    id: str
    title: str
    fix: str
    rules: dict[str, list[str]]


def _load(path: Path) -> dict[str, Topic]:
    tables = msgspec.toml.decode(path.read_bytes(), type=dict[str, dict[str, str | list[str]]])
    return {
        name: Topic(
            name,
            str(table["title"]),
            str(table["fix"]),
            {source: list(rules) for source, rules in table.items() if source not in ("title", "fix")},
        )
        for name, table in tables.items()
    }


TOPICS = _load(Path(__file__).with_suffix(".toml"))
