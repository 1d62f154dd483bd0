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
from dashboard_api.backends.statements import rows, stored
from dashboard_api.contract.fields import ALL
from dashboard_api.models import Finding, Kind, Severity
from dashboard_api.queries.finding_rows import OLDEST, WORST, Period, buckets_of, traits_of
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
_MATCHING = """
SELECT json_group_array(id) FROM (
    SELECT dashboard_api_search.rowid AS id FROM dashboard_api_search{findings}
    WHERE dashboard_api_search MATCH %s{period} ORDER BY dashboard_api_search.rowid {order} LIMIT %s
) AS found
"""
_FINDINGS = " CROSS JOIN dashboard_api_finding AS finding ON finding.id = dashboard_api_search.rowid"
_IN_PERIOD = " AND dashboard_api_search.rowid > %s AND first_seen >= %s"
_WORST_ON_POSTGRESQL = """
SELECT id, severity, source_id, kind, host
FROM dashboard_api_search(%s, %s::smallint[], %s, %s, %s, %s::timestamptz)
"""
_BY_ID_ON_POSTGRESQL = """
SELECT id FROM dashboard_api_search_by_id(%s, %s::smallint[], %s, %s, %s, %s::timestamptz, %s)
"""
_decode_ids = msgspec.json.Decoder(list[int]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search: each word must occur, the last one at least as a prefix.

    ``problems`` are the keys of which a finding must have one, ``period`` the time of its first sight; empty
    and None mean any. Words may be None where there is a filter by host or a problem.
    """

    website_id: int
    words: Sequence[str] | None
    status: str = Finding.Status.OPEN
    filters: Filters = NO_FILTERS
    problems: Sequence[str] = ()
    period: Period | None = None

    @property
    def severities(self) -> list[int]:
        """The severities to look for, worst first."""
        wanted = Severity if self.filters.severity is None else self.filters.severity
        return sorted(map(int, wanted), reverse=True)

    def scope_beginnings(self) -> list[str]:
        """Return the first two letters of each status, which begin the scopes."""
        return [status[:2] for status in Finding.Status.values if self.status in (status, ALL)]

    def entries(self, scope: str) -> list[list[str]]:
        """Return the index entries to look for in ``scope``, one of each list; a last word is a prefix."""
        _, source_ids, kinds, hosts = self.filters
        wanted = [[f"s{source_id}" for source_id in source_ids]] if source_ids is not None else []
        wanted += [[f"k{kind}" for kind in kinds]] if kinds is not None else []
        wanted += [[f"h{host}" for host in hosts]] if hosts is not None else []
        wanted += [[f"p{problem}" for problem in self.problems]] if self.problems else []
        wanted += [[f".{word}"] for word in self.words or ()]
        return [[scope + entry for entry in entries] for entries in wanted]


class Matches:
    """The first matches of a search in the order of its list.

    ``traits`` are their severities, source ids, kinds and hosts, if the database returned them with the ids.
    """

    def __init__(self, ids: list[int], traits: list[tuple[int, int, str, str]] | None = None) -> None:
        self.ids = ids
        self._traits = traits

    def confirmed_first(self) -> list[int]:
        """Return the ids with confirmed findings before suspected ones of the same severity."""
        if self._traits is None:
            found = {row[0]: row[1:] for row in traits_of(self.ids)}
            self._traits = [found[pk] for pk in self.ids]
        traits = dict(zip(self.ids, self._traits, strict=True))
        return sorted(self.ids, key=lambda pk: (-traits[pk][0], Kind.values.index(traits[pk][2])))

    def passing(self, filters: Filters) -> "Matches | None":
        """Return the matches that pass the filters, or None if their traits were not returned."""
        if self._traits is None:
            return None
        wanted = [(column, {*values}) for column, values in enumerate(filters) if values is not None]
        kept = [
            (pk, traits)
            for pk, traits in zip(self.ids, self._traits, strict=True)
            if all(traits[column] in values for column, values in wanted)
        ]
        return Matches([pk for pk, _ in kept], [traits for _, traits in kept])

    def counted(self, most: int) -> list[tuple[int, int, str, int, str]]:
        """Count the first ``most`` matches by severity, source id, kind and host."""
        if self._traits is None:
            return buckets_of(self.ids[:most])
        counts = Counter(self._traits[:most])
        return [(*traits, number, host) for (*traits, host), number in counts.items()]  # type: ignore[misc]


def find_matches(query: SearchQuery, *, limit: int, sort: str = WORST) -> Matches:
    """Return the first matches in the order ``sort``, at most ``limit``; of no words there are none."""
    if query.words is not None and not query.words:
        return Matches([])
    ask = {"sqlite": _ask_sqlite, "postgresql": _ask_postgresql}[connection.vendor]
    return ask(query, limit, sort)


def _ask_sqlite(query: SearchQuery, limit: int, sort: str) -> Matches:
    """Search severity by severity until ``limit`` is reached, or all together; the index has their order."""
    found: list[int] = []
    steps = [[severity] for severity in query.severities] if sort == WORST else [query.severities]
    period = (query.period.after, stored(query.period.since)) if query.period else ()
    statement = _MATCHING.format(
        findings=_FINDINGS if period else "",
        period=_IN_PERIOD if period else "",
        order="ASC" if sort == OLDEST else "DESC",
    )
    for severities in steps:
        if expression := _sqlite_expression(query, severities):
            ((more,),) = rows(Finding, statement, [expression, *period, limit - len(found)])
            found += _decode_ids(more)
        if len(found) == limit:
            break
    return Matches(found)


def _sqlite_expression(query: SearchQuery, severities: Iterable[int]) -> str:
    """Return the index expression of a search among some severities; empty if nothing can match."""
    scopes = [
        query.entries(f"{query.website_id}{status}{severity}")
        for severity in severities
        for status in query.scope_beginnings()
    ]
    if not query.words:
        return " OR ".join(f"({' AND '.join(map(_any_of, whole))})" for whole in scopes)
    endings = _sqlite_endings([last for *_, (last,) in scopes])
    return " OR ".join(
        f"({' AND '.join([*map(_any_of, whole), endings[last]])})"
        for *whole, (last,) in scopes
        if last in endings
    )


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


def _ask_postgresql(query: SearchQuery, limit: int, sort: str) -> Matches:
    """Search with the SQL functions, which replace each # by the number of a block."""
    scopes = [query.entries(f"{status}#") for status in query.scope_beginnings()]
    expression = " | ".join(f"({_postgresql_expression(query, entries)})" for entries in scopes)
    period = (query.period.after, stored(query.period.since)) if query.period else (0, "-infinity")
    parameters = [query.website_id, query.severities, expression, limit, *period]
    if sort == WORST:
        found = rows(Finding, _WORST_ON_POSTGRESQL, parameters)
        return Matches([row[0] for row in found], [row[1:] for row in found])
    found = rows(Finding, _BY_ID_ON_POSTGRESQL, [*parameters, sort == OLDEST])
    return Matches([number for (number,) in found])


def _postgresql_expression(query: SearchQuery, entries: Sequence[list[str]]) -> str:
    """Return the tsquery for the entries of one scope."""
    if not query.words:
        return " & ".join(map(_one_of_entries, entries))
    *whole, (last,) = entries
    return " & ".join([*map(_one_of_entries, whole), f"'{last}':*"])


def _one_of_entries(entries: Iterable[str]) -> str:
    return "(" + " | ".join(f"'{entry}'" for entry in entries) + ")"


def rebuild() -> None:
    """Build the index again, which is needed only after a change of ``words_of``."""
    with transaction.atomic(), connection.cursor() as cursor:
        backend = backend_of(connection)
        for statement in (*backend.REBUILD_SEARCH, backend.BUMP_EVERY_WEBSITE):
            cursor.execute(statement)


def sqlite_entries(
    website: int, status: str, severity: int, source: int, kind: str, problem: str, host: str, *texts: str
) -> str:
    """Return the index entries of a finding; the triggers of SQLite call this."""
    title, location, rule, cve, description, other_locations = texts
    if "\\" in cve:  # stored in ASCII
        cve = json.dumps(json.loads(cve), ensure_ascii=False)
    words = words_of(" ".join((title, location, rule, cve, description, other_locations))[:SEARCHED_LENGTH])
    scope = f"{website}{status[:2]}{severity}"
    filters = f"{scope}s{source} {scope}k{kind} {scope}p{problem} {scope}h{host}"
    return f" {scope}.".join((filters, *words))


def prepare_sqlite(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Register the function that SQLite's triggers call, and let them see rows that REPLACE deletes."""
    if connection.vendor == "sqlite":
        connection.connection.create_function(
            "dashboard_api_search_entries", 13, sqlite_entries, deterministic=True
        )
        connection.connection.execute("PRAGMA recursive_triggers = ON")
