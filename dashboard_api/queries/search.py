"""The findings that contain the words of a search, worst first, up to a limit.

Both databases keep an index of words true by themselves (migration 0002). Every entry begins with a scope,
so that what other websites, statuses and severities have is never read. All that differs between the
databases when they are asked is here. Decision record 0012.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard_api.backends import engine_of
from dashboard_api.backends.statements import rows
from dashboard_api.contract.requests import ALL
from dashboard_api.models import Finding, Severity
from dashboard_api.queries.finding_rows import buckets_of
from dashboard_api.queries.overview import NO_FILTERS, Filters
from foundation.words import words_of

SEARCHED_LENGTH = 12_000  # characters of a finding's texts together
MOST_SPELLINGS = 32  # of a beginning in one scope; more are asked for at once

_SPELLINGS = """
WITH RECURSIVE spelling (beginning, entry) AS (
    SELECT value, (SELECT term FROM dashboard_api_search_vocabulary WHERE term >= value LIMIT 1)
    FROM json_each(%s)
    UNION ALL
    SELECT beginning,
    (SELECT term FROM dashboard_api_search_vocabulary WHERE term >= entry || char(1) LIMIT 1)
    FROM spelling WHERE entry < beginning || char(1114111)
)
SELECT beginning, entry FROM spelling WHERE entry < beginning || char(1114111) LIMIT %s
"""
# In one row: to hand Python a thousand takes longer than to find them.
_NEWEST = """
SELECT json_group_array(id) FROM (
    SELECT rowid AS id FROM dashboard_api_search WHERE dashboard_api_search MATCH %s
    ORDER BY rowid DESC LIMIT %s
) AS found
"""
_decode_ids = msgspec.json.Decoder(list[int]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What findings are looked for: each word occurs in them, the last one at least as a beginning."""

    website_id: int
    words: Sequence[str]
    status: str = Finding.Status.OPEN
    filters: Filters = NO_FILTERS

    def scope_beginnings(self) -> list[str]:
        """A status has two letters there."""
        return [status[:2] for status in Finding.Status.values if self.status in (status, ALL)]

    def entries(self, scope: str) -> list[str]:
        """What the index must hold in ``scope``; the last entry may go on."""
        _, source_id, kind = self.filters
        filters = [f"s{source_id}"] if source_id is not None else []
        filters += [f"k{kind}"] if kind is not None else []
        return [scope + entry for entry in (*filters, *(f".{word}" for word in self.words))]


class Matches:
    """The first findings that a search finds, in the order of every list: worst first, then the newest.

    ``traits`` are their severities, source ids and kinds, where the database gave them with the ids.
    """

    def __init__(self, ids: list[int], traits: list[tuple[int, int, str]] | None = None) -> None:
        self.ids = ids
        self._traits = traits

    def counted(self, most: int) -> list[tuple[int, int, str, int]]:
        """Count the first ``most`` matches by severity, source id and kind."""
        if self._traits is None:
            return buckets_of(self.ids[:most])
        return [(*traits, number) for traits, number in Counter(self._traits[:most]).items()]


def matches(sought: Sought, *, limit: int) -> Matches:
    """Return the first matches, at most ``limit``; without words there are none."""
    if not sought.words:
        return Matches([])
    return {"sqlite": _ask_sqlite, "postgresql": _ask_postgresql}[connection.vendor](sought, limit)


def _ask_sqlite(sought: Sought, limit: int) -> Matches:
    """One severity after the other until enough is found: within one, the index gives the newest first."""
    found: list[int] = []
    wanted = sought.filters.severity
    for severity in sorted(Severity, reverse=True) if wanted is None else [wanted]:
        scopes = [
            sought.entries(f"{sought.website_id}{status}{severity}") for status in sought.scope_beginnings()
        ]
        endings = _sqlite_endings([entries[-1] for entries in scopes])
        asked = [
            f"({' AND '.join([*map(_quoted, whole), endings[last]])})"
            for *whole, last in scopes
            if last in endings
        ]
        if asked:
            ((more,),) = rows(Finding, _NEWEST, [" OR ".join(asked), limit - len(found)])
            found += _decode_ids(more)
        if len(found) == limit:
            break
    return Matches(found)


def _sqlite_endings(beginnings: list[str]) -> dict[str, str]:
    """What to ask the index for each beginning that some entry has.

    Whole entries are read one match at a time, whereas all that begins so is first put together: that is
    left for a beginning, such as a single letter, of more entries than can be asked for.
    """
    most = MOST_SPELLINGS * len(beginnings)
    spelled = rows(Finding, _SPELLINGS, [json.dumps(beginnings), most + 1])
    if len(spelled) > most:
        return {beginning: f"{_quoted(beginning)} *" for beginning in beginnings}
    spellings = defaultdict(list)
    for beginning, entry in spelled:
        spellings[beginning].append(_quoted(entry))
    return {beginning: f"({' OR '.join(entries)})" for beginning, entries in spellings.items()}


def _quoted(entry: str) -> str:
    return f'"{entry}"'


def _ask_postgresql(sought: Sought, limit: int) -> Matches:
    """The database's own function asks block after block, whose number it puts in place of each #."""
    scopes = [sought.entries(f"{status}#") for status in sought.scope_beginnings()]
    expression = " | ".join("(" + " & ".join(f"'{entry}'" for entry in entries) + ":*)" for entries in scopes)
    found = rows(
        Finding,
        "SELECT id, severity, source_id, kind FROM dashboard_api_search(%s, %s::smallint, %s, %s)",
        [sought.website_id, sought.filters.severity, expression, limit],
    )
    return Matches([row[0] for row in found], [row[1:] for row in found])


def rebuild() -> None:
    """Make the index anew: it is true by itself, unless what a word is has changed."""
    with transaction.atomic(), connection.cursor() as cursor:
        engine = engine_of(connection)
        for statement in (*engine.REBUILD_SEARCH, engine.BUMP_EVERY_WEBSITE):
            cursor.execute(statement)


def sqlite_entries(website: int, status: str, severity: int, source: int, kind: str, *texts: str) -> str:
    """The index entries of a finding, as the triggers of SQLite ask for them."""
    title, location, rule, cve, description, other_locations = texts
    if "\\" in cve:  # stored in ASCII
        cve = json.dumps(json.loads(cve), ensure_ascii=False)
    words = words_of(" ".join((title, location, rule, cve, description, other_locations))[:SEARCHED_LENGTH])
    scope = f"{website}{status[:2]}{severity}"
    return f" {scope}.".join((f"{scope}s{source} {scope}k{kind}", *words))


def teach_sqlite(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Give a new connection what the triggers call, and let them see what a REPLACE removes."""
    if connection.vendor == "sqlite":
        connection.connection.create_function(
            "dashboard_api_search_entries", 11, sqlite_entries, deterministic=True
        )
        connection.connection.execute("PRAGMA recursive_triggers = ON")
