"""Data of a website other than its findings: one statement that returns one row of JSON lists.

Separate statements would take a round trip each on PostgreSQL, and on SQLite each fetched row lets another
thread run first. Tests compare each list with an equivalent query of the ORM. Decision record 0051.
"""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import msgspec
from django.db import connection

from dashboard_api import limits
from dashboard_api.backends.statements import backend_for, moment, rows
from dashboard_api.models.findings import Finding, Kind, Severity


class Filters(NamedTuple):
    """Values of which findings must have one; None means any value."""

    severity: tuple[int, ...] | None = None
    source_id: tuple[int, ...] | None = None
    kind: tuple[str, ...] | None = None
    host: tuple[str, ...] | None = None

    def without(self, column: str) -> "Filters":
        """Return the other filters."""
        return self._replace(**{column: None})


NO_FILTERS = Filters()


class SourceRow(NamedTuple):
    """A source, like the model ``Source``."""

    pk: int
    slug: str
    name: str
    enabled: bool
    interval_days: int


class Run(NamedTuple):
    """The last run of a source, like ``Coverage``."""

    source_id: int
    state: str
    last_run_at: datetime
    completed_at: datetime | None
    urls_checked: int | None
    version: str
    detail: str
    ours_at: datetime | None  # the time of the newest import, if that is a scan by this deployment


class Bucket(NamedTuple):
    """The number of findings with the same status, severity, source and kind."""

    status: str
    severity: int
    source_id: int
    kind: str
    findings: int
    host: str = ""  # of the requested hosts only
    problem: str = ""  # of the requested problem only

    def passes(self, filters: Filters) -> bool:
        """Return whether the findings pass ``filters``; only buckets of the requested hosts have a host."""
        severity, source_id, kind, _ = filters
        return (
            (severity is None or self.severity in severity)
            and (source_id is None or self.source_id in source_id)
            and (kind is None or self.kind in kind)
        )


class ProblemTotals(NamedTuple):
    """The findings of a problem with one severity, by kind, and their locations."""

    severity: int
    problem: str
    source_id: int
    confirmed: int
    suspected: int
    informational: int
    locations: int
    newest: int = 0  # ids, only where an order needs them
    oldest: int = 0

    @property
    def findings(self) -> int:
        """The number of findings, of any kind."""
        return self.confirmed + self.suspected + self.informational

    def of_kinds(self, kinds: Collection[str]) -> "ProblemTotals":
        """Return the findings of these kinds; locations are not counted by kind."""
        others: dict[str, Any] = {kind: 0 for kind in Kind.values if kind not in kinds}
        return self._replace(**others)


class ProblemStatus(NamedTuple):
    """The findings of a problem with one status and severity, by kind."""

    status: str
    severity: int
    source_id: int
    problem: str
    confirmed: int
    suspected: int
    informational: int

    def buckets(self) -> Iterator[Bucket]:
        """Yield a bucket for each kind that has findings."""
        for kind in Kind.values:
            if findings := getattr(self, kind):
                yield Bucket(self.status, self.severity, self.source_id, kind, findings, problem=self.problem)


class HostTotal(NamedTuple):
    """The findings of a host under the other filters."""

    host: str
    findings: int


class Week(NamedTuple):
    """Numbers of filtered findings that were first seen, and fixed, in a week."""

    monday: date
    found: int
    fixed: int


class Recent(NamedTuple):
    """Numbers of findings first seen, and fixed, since a day; the oldest and newest day with open ones."""

    found: int
    fixed: int
    oldest_open: date | None
    newest_open: date | None


class Age(NamedTuple):
    """Open findings of an age: the index of its last day in ``limits.AGE_DAYS``, or the index after them."""

    age: int
    findings: int


class OpenDay(NamedTuple):
    """Open findings at the end of a day, like ``OpenCount``."""

    day: date
    critical: int
    high: int
    medium: int
    low: int
    info: int
    suspected_critical: int
    suspected_high: int
    suspected_medium: int
    suspected_low: int


class Note(NamedTuple):
    """A note, like ``AnalystNote``, with the key of the problem of its finding."""

    pk: int
    finding_id: int | None
    author: str
    body: str
    created_at: datetime
    updated_at: datetime
    problem: str | None
    pinned: int


class Overview(NamedTuple):
    """The data of a website that is read at once; ``recent`` is one row."""

    sources: list[SourceRow]
    runs: list[Run]
    buckets: list[Bucket]
    statuses: list[tuple[str, int]]
    weeks: list[Week]
    recent: list[Recent]
    ages: list[Age]
    notes: list[Note]
    history: list[OpenDay]
    problems: list[ProblemTotals]
    problem_statuses: list[ProblemStatus]
    hosts: list[HostTotal]
    host_buckets: list[Bucket]
    topic_totals: list[ProblemTotals]

    @property
    def problem_buckets(self) -> list[Bucket]:
        """The buckets of the requested problem, of any status."""
        return [bucket for row in self.problem_statuses for bucket in row.buckets()]


# A request with one of these filters has them all, each with a parameter that says whether any value passes.
# So there are few different texts: PostgreSQL plans each one again for every connection, which takes longer
# than to run it. Most requests have no filter, and compare nothing.
_FILTERS = {
    "severity": " AND (%(any_severity)s OR severity {one_of})",
    "source": """ AND (
        %(any_source)s OR source_id IN (SELECT id FROM dashboard_api_source WHERE slug {one_of})
    )""",
    "kind": " AND (%(any_kind)s OR kind {one_of})",
}
# Never empty: a statement with a parameter of another type is planned again, too.
_UNUSED: Mapping[str, Sequence[Any]] = {"severity": [0], "source": [""], "kind": [""]}
_NOTES = """
    SELECT id, finding_id, author, body, created_at, updated_at,
    (SELECT problem FROM dashboard_api_finding AS its WHERE its.id = finding_id) AS problem,
    CASE WHEN is_pinned THEN 1 ELSE 0 END AS pinned
    FROM dashboard_api_analystnote
    WHERE website_id = %(website)s AND NOT is_internal
    AND (account_id = %(account)s OR account_id IS NULL){about}
    ORDER BY pinned DESC, created_at DESC, id DESC LIMIT %(notes)s
"""
_RUNS = """
    SELECT source_id, state, last_run_at, completed_at, urls_checked, version, detail,
    (
        SELECT scanned_at FROM dashboard_api_importrun AS newest WHERE newest.id = (
            SELECT imported.id FROM dashboard_api_importrun AS imported
            WHERE imported.website_id = coverage.website_id AND imported.source_id = coverage.source_id
            AND undone_at IS NULL ORDER BY imported_at DESC, imported.id DESC LIMIT 1
        ) AND EXISTS (SELECT 1 FROM dashboard_api_enginerun WHERE import_run_id = newest.id)
    ) AS ours_at
    FROM dashboard_api_coverage AS coverage WHERE website_id = %(website)s
"""
_OPEN_DAY = ", ".join(OpenDay._fields)


def _ages() -> str:
    """Return a SELECT of the open findings of each age: each sum reads a range of days by the primary key."""
    starts = [f" AND day >= %(age_{age})s" for age in range(len(limits.AGE_DAYS))]
    ends = [f" AND day < %(age_{age})s" for age in range(len(limits.AGE_DAYS))]
    return " UNION ALL ".join(
        f"""SELECT {age} AS age, COALESCE(SUM(still_open), 0) AS findings FROM dashboard_api_daycount
        WHERE website_id = %(website)s AND still_open > 0{start}{end}"""  # noqa: S608  # constant text
        for age, (start, end) in enumerate(zip([*starts, ""], ["", *ends], strict=True))
    )


# Both databases read the severities one after another, and stop at the limit; to order the rows, they would
# read those of all statuses first.
_PROBLEMS_OF_SEVERITY = """
    SELECT severity, problem, source_id, confirmed, suspected, informational, locations
    FROM dashboard_api_problemcount
    WHERE website_id = %(website)s AND status IN ({statuses})
        AND severity = {severity}{wanted}
"""
_PROBLEMS = "{worst_first} LIMIT %(most_problems)s"
_ALL_STATUSES = ", ".join(f"'{status}'" for status in Finding.Status.values)
# All statuses and severities are named to find each problem by the primary key.
_PROBLEM_STATUSES = """
    SELECT status, severity, source_id, problem, confirmed, suspected, informational
    FROM dashboard_api_problemcount
    WHERE website_id = %(website)s AND status IN ('open', 'fixed', 'false_positive', 'accepted_risk')
        AND severity IN (0, 1, 2, 3, 4) AND problem IN ({keys})
"""


# An index has the keys. PostgreSQL reads all open problems of a small website instead; SQLite would do so for
# a large one, too, so its statement names the index.
_TOPIC_TOTALS = """
    SELECT severity, problem, source_id, confirmed, suspected, informational, locations
    FROM dashboard_api_problemcount{by_key}
    WHERE website_id = %(website)s AND status = 'open' AND problem {one_of}
"""


# In the order of the primary key; a website with very many hosts is not added up as a whole.
_HOSTS = """
    SELECT host, SUM(findings) AS findings FROM (
        SELECT host, findings FROM dashboard_api_hostcount
        WHERE website_id = %(website)s{status}{filters} LIMIT %(most_hosts)s
    ) AS counted GROUP BY host
"""
# The same for one status on SQLite, which sorts the rows of a limited list again.
_HOSTS_IN_ORDER = """
    SELECT host, SUM(findings) AS findings FROM dashboard_api_hostcount
    WHERE website_id = %(website)s{status}{filters} AND host <= COALESCE((
        SELECT host FROM dashboard_api_hostcount
        WHERE website_id = %(website)s{status}{filters} ORDER BY host LIMIT 1 OFFSET %(most_hosts)s
    ), char(1114111)) GROUP BY host
"""
# All statuses are named to find each host by the primary key.
_OF_HOSTS = """dashboard_api_hostcount WHERE website_id = %(website)s
    AND status IN ('open', 'fixed', 'false_positive', 'accepted_risk') AND host IN ({hosts})"""
_HOST_BUCKETS = "SELECT status, severity, source_id, kind, findings, host FROM {of_hosts}{status}"


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of the statement that depend on the request; lists that it does not need are empty texts."""

    status: str
    filters: str
    problems: str
    problem_statuses: str
    hosts: str
    host_buckets: str
    status_counts: str
    topic_totals: str


# Those of other websites, which are as many as other accounts have sent reports of, cost this one nothing.
_OWN_SOURCES = """
    WHERE enabled
    OR id IN (SELECT source_id FROM dashboard_api_coverage WHERE website_id = %(website)s)
    OR id IN (SELECT source_id FROM dashboard_api_bucketcount WHERE website_id = %(website)s)
"""


@functools.cache
def _statement(backend: ModuleType, parts: _Parts) -> str:
    """Return the one SELECT of all lists of an ``Overview``, each as a JSON list of rows."""
    rows_of, plain, utc = backend.AS_JSON.format, backend.plain_json, backend.UTC
    note = f"id, finding_id, author, body, created_at{utc}, updated_at{utc}, problem, pinned"
    run = (
        f"source_id, state, last_run_at{utc}, completed_at{utc}, urls_checked, version, detail, ours_at{utc}"
    )
    return f"""
        SELECT (
            SELECT {rows_of("id, slug, name, enabled, interval_days")} FROM dashboard_api_source{_OWN_SOURCES}
        ), (
            SELECT {rows_of(run)} FROM ({_RUNS}) AS runs
        ), (
            SELECT {plain("status, severity, source_id, kind, findings")}
            FROM dashboard_api_bucketcount WHERE website_id = %(website)s{parts.status}
        ), (
            SELECT {plain("status, findings")} FROM (
                SELECT status, SUM(findings) AS findings FROM {parts.status_counts}{parts.filters}
                GROUP BY status
            ) AS statuses
        ), (
            SELECT {rows_of("week, found, fixed")} FROM (
                SELECT week, SUM(found) AS found, SUM(fixed) AS fixed FROM dashboard_api_weekcount
                WHERE website_id = %(website)s AND week >= %(first_week)s{parts.filters} GROUP BY week
            ) AS weeks
        ), (
            SELECT {rows_of("found, fixed, oldest, newest")} FROM (
                SELECT COALESCE(SUM(found), 0) AS found, COALESCE(SUM(fixed), 0) AS fixed, (
                    SELECT MIN(day) FROM dashboard_api_daycount
                    WHERE website_id = %(website)s AND still_open > 0
                ) AS oldest, (
                    SELECT MAX(day) FROM dashboard_api_daycount
                    WHERE website_id = %(website)s AND still_open > 0
                ) AS newest
                FROM dashboard_api_daycount WHERE website_id = %(website)s AND day >= %(recent_day)s
            ) AS recent
        ), (
            SELECT {plain("age, findings")} FROM (
                {_ages()}
            ) AS ages
        ), (
            SELECT {rows_of(note)}
            FROM ({_NOTES.format(about="")}) AS notes
        ), (
            SELECT {rows_of(_OPEN_DAY)} FROM (
                SELECT {_OPEN_DAY} FROM dashboard_api_opencount
                WHERE website_id = %(website)s AND day >= COALESCE((
                    SELECT MAX(day) FROM dashboard_api_opencount
                    WHERE website_id = %(website)s AND day <= %(history_day)s
                ), %(history_day)s) ORDER BY day
            ) AS history
        ), (
            {_rows_if_wanted(plain, ProblemTotals._fields[:7], parts.problems)}
        ), (
            {_rows_if_wanted(plain, ProblemStatus._fields, parts.problem_statuses)}
        ), (
            {_rows_if_wanted(rows_of, HostTotal._fields, parts.hosts)}
        ), (
            {_rows_if_wanted(rows_of, Bucket._fields[:6], parts.host_buckets)}
        ), (
            {_rows_if_wanted(plain, ProblemTotals._fields[:7], parts.topic_totals)}
        )
    """  # noqa: S608  # constant text


def _rows_if_wanted(rows_of: Callable[[str], str], columns: Sequence[str], selected: str) -> str:
    rows = rows_of(", ".join(columns))
    return f"SELECT {rows} FROM ({selected}) AS wanted" if selected else "SELECT '[]'"  # noqa: S608  # constant text


_decoders = [msgspec.json.Decoder(rows, strict=False) for rows in Overview.__annotations__.values()]


def overview(
    website_id: int,
    account_id: int,
    *,
    status: str | None = None,
    filters: Mapping[str, Sequence[int] | Sequence[str]] = MappingProxyType({}),
    first_week: date,
    recent_day: date,
    age_days: Sequence[date],
    history_day: date,
    most_problems: int = 0,
    problem_keys: Sequence[str] = (),
    counts_hosts: bool = False,
    hosts: Sequence[str] = (),
    topic_keys: Sequence[str] = (),
) -> Overview:
    """Return the overview; ``filters`` has the values of ``severity``, ``source`` (slugs) and ``kind``.

    ``buckets`` are those of open findings and of ``status``, without the filters. ``statuses`` and ``weeks``
    count findings that pass the filters, of any status. ``first_week`` is a Monday; ``recent`` counts from
    ``recent_day`` on, ``age_days`` are the first days of the ages, and ``history`` begins with the last row
    until ``history_day``. ``problems`` are at most ``most_problems``, of ``status`` and under the filters;
    ``problem_statuses`` are those of the problems with ``problem_keys``, of any status. ``hosts`` are those
    of ``status`` under the filters if ``counts_hosts``; ``host_buckets`` are those of ``hosts`` with
    ``status``, and ``statuses`` theirs, too. ``topic_totals`` are those of open problems with ``topic_keys``,
    which are written into the statement: they are hexadecimal and the same in each call.

    Problems are not filtered by kind, which is a column of their counts.
    """
    parameters: dict[str, Any] = {
        **{f"age_{age}": day.isoformat() for age, day in enumerate(age_days)},
        "website": website_id,
        "account": account_id,
        "first_week": first_week.isoformat(),
        "recent_day": recent_day.isoformat(),
        "history_day": history_day.isoformat(),
        "notes": limits.MAX_NOTES,
        "status": status,
        "most_problems": most_problems,
        "most_hosts": limits.MAX_HOST_COUNTS,
    }
    backend = backend_for(Finding)
    for name in _FILTERS:
        parameters[f"any_{name}"] = name not in filters
        parameters[name] = backend.values([*filters.get(name, _UNUSED[name])])
    of_filters = "".join(_filters(backend).values()) if filters else ""
    of_status = "" if status is None else " AND status = %(status)s"
    of_hosts = _OF_HOSTS.format(hosts=_marks(parameters, "host", hosts)) if hosts else ""
    parts = _Parts(
        status="" if status is None else " AND status IN ('open', %(status)s)",
        filters=of_filters,
        problems=_problems(status, backend, is_filtered=bool(filters)) if most_problems else "",
        problem_statuses=_PROBLEM_STATUSES.format(keys=_marks(parameters, "problem", problem_keys))
        if problem_keys
        else "",
        hosts=_hosts(of_status, of_filters) if counts_hosts else "",
        host_buckets=_HOST_BUCKETS.format(of_hosts=of_hosts, status=of_status) if hosts else "",
        status_counts=of_hosts or "dashboard_api_bucketcount WHERE website_id = %(website)s",
        topic_totals=_topic_totals(tuple(topic_keys), backend),
    )
    (columns,) = rows(Finding, _statement(backend, parts), parameters)
    return Overview._make(decoder.decode(column) for decoder, column in zip(_decoders, columns, strict=True))


@functools.cache
def _filters(backend: ModuleType) -> Mapping[str, str]:
    return {name: template.format(one_of=backend.ONE_OF.format(name)) for name, template in _FILTERS.items()}


@functools.cache
def _problems(status: str | None, backend: ModuleType, *, is_filtered: bool) -> str:
    statuses = _ALL_STATUSES if status is None else "%(status)s"
    wanted = " AND (%(any_severity)s OR {severity} {one_of}){sources}" if is_filtered else ""
    one_of, sources = backend.ONE_OF.format("severity"), _filters(backend)["source"]
    worst_first = " UNION ALL ".join(
        _PROBLEMS_OF_SEVERITY.format(
            statuses=statuses,
            severity=severity,
            wanted=wanted.format(severity=severity, one_of=one_of, sources=sources),
        )
        for severity in sorted(map(int, Severity), reverse=True)
    )
    return _PROBLEMS.format(worst_first=worst_first)


def _hosts(of_status: str, of_filters: str) -> str:
    in_order = of_status and connection.vendor == "sqlite"
    return (_HOSTS_IN_ORDER if in_order else _HOSTS).format(status=of_status, filters=of_filters)


@functools.cache
def _topic_totals(keys: tuple[str, ...], backend: ModuleType) -> str:
    known = ",".join(f"{int(key, 16):016x}" for key in keys)
    return _TOPIC_TOTALS.format(by_key=backend.BY_KEY, one_of=backend.one_of_words(known)) if keys else ""


def _marks(parameters: dict[str, Any], name: str, values: Sequence[Any]) -> str:
    """Add ``values`` to the parameters, and return their placeholders."""
    named = {f"{name}_{number}": value for number, value in enumerate(values)}
    parameters |= named
    return ", ".join(f"%({key})s" for key in named)


def sources(website_id: int) -> list[SourceRow]:
    """Return the sources of a website, as in its ``Overview``."""
    statement = f"SELECT id, slug, name, enabled, interval_days FROM dashboard_api_source{_OWN_SOURCES}"  # noqa: S608  # constant text
    return [SourceRow._make(row) for row in rows(Finding, statement, {"website": website_id})]


def notes_about(finding_id: int, website_id: int, account_id: int) -> list[Note]:
    """Return the newest notes about a finding that the account may read, pinned ones first."""
    parameters = {
        "website": website_id,
        "account": account_id,
        "finding": finding_id,
        "notes": limits.MAX_NOTES,
    }
    return [
        Note(pk, about, author, body, moment(created_at), moment(updated_at), problem, pinned)
        for pk, about, author, body, created_at, updated_at, problem, pinned in rows(
            Finding, _NOTES.format(about=" AND finding_id = %(finding)s"), parameters
        )
    ]
