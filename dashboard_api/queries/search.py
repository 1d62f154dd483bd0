"""Search: the findings that contain all words, worst first, up to a limit.

Each database updates its index of words itself (migration 0002). Each entry begins with a scope of website,
status and severity, so that a search reads no other entries. Decision record 0012.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard_api.backends import backend_of
from dashboard_api.backends.statements import rows
from dashboard_api.contract.requests import ALL
from dashboard_api.models import Finding, Severity
from dashboard_api.queries.finding_rows import buckets_of
from dashboard_api.queries.overview import NO_FILTERS, Filters
from foundation.words import words_of

SEARCHED_LENGTH = 12_000  # characters of all texts of a finding together
MOST_SPELLINGS = 32  # completions of a prefix in a scope; for more, a prefix query is used

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
# In one row, because fetching a thousand rows takes longer than finding them.
_NEWEST = """
SELECT json_group_array(id) FROM (
    SELECT rowid AS id FROM dashboard_api_search WHERE dashboard_api_search MATCH %s
    ORDER BY rowid DESC LIMIT %s
) AS found
"""
_decode_ids = msgspec.json.Decoder(list[int]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search: each word must occur, the last one at least as a prefix."""

    website_id: int
    words: Sequence[str]
    status: str = Finding.Status.OPEN
    filters: Filters = NO_FILTERS

    def scope_beginnings(self) -> list[str]:
        """Return the first two letters of each status, which begin the scopes."""
        return [status[:2] for status in Finding.Status.values if self.status in (status, ALL)]

    def entries(self, scope: str) -> list[list[str]]:
        """Return the index entries to look for in ``scope``, one of each list; the last one is a prefix."""
        _, source_ids, kinds = self.filters
        wanted = [[f"s{source_id}" for source_id in source_ids]] if source_ids is not None else []
        wanted += [[f"k{kind}" for kind in kinds]] if kinds is not None else []
        wanted += [[f".{word}"] for word in self.words]
        return [[scope + entry for entry in entries] for entries in wanted]


class Matches:
    """The first matches of a search, worst first, then newest.

    ``traits`` are their severities, source ids and kinds, if the database returned them with the ids.
    """

    def __init__(self, ids: list[int], traits: list[tuple[int, int, str]] | None = None) -> None:
        self.ids = ids
        self._traits = traits

    def counted(self, most: int) -> list[tuple[int, int, str, int]]:
        """Count the first ``most`` matches by severity, source id and kind."""
        if self._traits is None:
            return buckets_of(self.ids[:most])
        return [(*traits, number) for traits, number in Counter(self._traits[:most]).items()]


def find_matches(query: SearchQuery, *, limit: int) -> Matches:
    """Return the first matches, at most ``limit``; without words there are none."""
    if not query.words:
        return Matches([])
    return {"sqlite": _ask_sqlite, "postgresql": _ask_postgresql}[connection.vendor](query, limit)


def _ask_sqlite(query: SearchQuery, limit: int) -> Matches:
    """Search severity by severity until ``limit`` is reached; the index returns the newest first."""
    found: list[int] = []
    wanted = query.filters.severity
    for severity in sorted(Severity if wanted is None else wanted, reverse=True):
        scopes = [
            query.entries(f"{query.website_id}{status}{severity}") for status in query.scope_beginnings()
        ]
        endings = _sqlite_endings([last for *_, (last,) in scopes])
        expressions = [
            f"({' AND '.join([*map(_any_of, whole), endings[last]])})"
            for *whole, (last,) in scopes
            if last in endings
        ]
        if expressions:
            ((more,),) = rows(Finding, _NEWEST, [" OR ".join(expressions), limit - len(found)])
            found += _decode_ids(more)
        if len(found) == limit:
            break
    return Matches(found)


def _sqlite_endings(beginnings: list[str]) -> dict[str, str]:
    """Return an index expression for each prefix that has entries.

    FTS5 reads whole entries one match at a time, but first merges all entries of a prefix query. So a prefix
    query is used only for prefixes, such as single letters, with too many entries.
    """
    most = MOST_SPELLINGS * len(beginnings)
    spelled = rows(Finding, _SPELLINGS, [json.dumps(beginnings), most + 1])
    if len(spelled) > most:
        return {beginning: f"{_quoted(beginning)} *" for beginning in beginnings}
    spellings = defaultdict(list)
    for beginning, entry in spelled:
        spellings[beginning].append(entry)
    return {beginning: _any_of(entries) for beginning, entries in spellings.items()}


def _any_of(entries: Iterable[str]) -> str:
    return f"({' OR '.join(map(_quoted, entries))})"


def _quoted(entry: str) -> str:
    return f'"{entry}"'


def _ask_postgresql(query: SearchQuery, limit: int) -> Matches:
    """Search with the SQL function, which replaces each # by the number of a block."""
    scopes = [query.entries(f"{status}#") for status in query.scope_beginnings()]
    expression = " | ".join(
        "(" + " & ".join([*map(_one_of_entries, whole), f"'{last}':*"]) + ")" for *whole, (last,) in scopes
    )
    severities = list(Severity if query.filters.severity is None else query.filters.severity)
    found = rows(
        Finding,
        "SELECT id, severity, source_id, kind FROM dashboard_api_search(%s, %s::smallint[], %s, %s)",
        [query.website_id, [int(severity) for severity in severities], expression, limit],
    )
    return Matches([row[0] for row in found], [row[1:] for row in found])


def _one_of_entries(entries: Iterable[str]) -> str:
    return "(" + " | ".join(f"'{entry}'" for entry in entries) + ")"


def rebuild() -> None:
    """Build the index again, which is needed only after a change of ``words_of``."""
    with transaction.atomic(), connection.cursor() as cursor:
        backend = backend_of(connection)
        for statement in (*backend.REBUILD_SEARCH, backend.BUMP_EVERY_WEBSITE):
            cursor.execute(statement)


def sqlite_entries(website: int, status: str, severity: int, source: int, kind: str, *texts: str) -> str:
    """Return the index entries of a finding; the triggers of SQLite call this."""
    title, location, rule, cve, description, other_locations = texts
    if "\\" in cve:  # stored in ASCII
        cve = json.dumps(json.loads(cve), ensure_ascii=False)
    words = words_of(" ".join((title, location, rule, cve, description, other_locations))[:SEARCHED_LENGTH])
    scope = f"{website}{status[:2]}{severity}"
    return f" {scope}.".join((f"{scope}s{source} {scope}k{kind}", *words))


def prepare_sqlite(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Register the function that SQLite's triggers call, and let them see rows that REPLACE deletes."""
    if connection.vendor == "sqlite":
        connection.connection.create_function(
            "dashboard_api_search_entries", 11, sqlite_entries, deterministic=True
        )
        connection.connection.execute("PRAGMA recursive_triggers = ON")
