"""Categories: the only description of a finding that is ever published; categories.toml has the table."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from dashboard_api.reading.topics import topic_of

OTHER = "weakness"  # the category of all other findings


class _Category(msgspec.Struct, forbid_unknown_fields=True):
    cwe: list[int]
    topics: list[str]


_TABLE = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, _Category])
_BY_CWE = {number: name for name, category in _TABLE.items() for number in category.cwe}
_BY_TOPIC = {topic: name for name, category in _TABLE.items() for topic in category.topics}


def category_of(cwe: Iterable[object], problem: str) -> str:
    """Return the category of a finding by its CWE numbers, or else by the key of its problem."""
    for number in cwe:
        if isinstance(number, int) and number in _BY_CWE:
            return _BY_CWE[number]
    return _BY_TOPIC.get(topic_of(problem) or "", OTHER)
