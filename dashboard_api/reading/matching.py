"""The conditions of a request: filters by columns of the cells, and matches that only SQL can decide."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from dashboard_api.backends.statements import placeholders, to_column
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Severity
from dashboard_api.queries.overview import SourceRow
from dashboard_api.reading import topics
from dashboard_api.reading.answered import TABLE, Answered
from dashboard_api.reading.days import midnight_days_ago
from dashboard_api.scanners import SOURCES
from foundation.texts.words import words_of
from signed_api.answers import NO_DAY, UNANSWERED, UNASSIGNED
from signed_api.findings import ALL, DashboardRequest

UNKNOWN_SOURCE = -1  # an id that does not exist
Condition = tuple[str, list[Any]]  # SQL that begins with AND, and its parameters
_CONTAINS = {"sqlite": "INSTR(words, %s) > 0", "postgresql": "STRPOS(words, %s) > 0"}


class Filters(NamedTuple):
    """The allowed values of each column; a column without a filter allows all."""

    severity: tuple[int, ...] | None = None
    source_id: tuple[int, ...] | None = None
    kind: tuple[str, ...] | None = None
    host: tuple[str, ...] | None = None
    answer: tuple[str, ...] | None = None
    assignee: tuple[str, ...] | None = None
    due: tuple[str, ...] | None = None

    @classmethod
    def of(cls, request: DashboardRequest, sources: Iterable[SourceRow]) -> "Filters":
        """Return the filters of the request; a source without a row becomes UNKNOWN_SOURCE."""
        ids = {source.slug: source.pk for source in sources}
        severities = tuple(int(Severity[name.upper()]) for name in split_commas(request.severity))
        source_ids = tuple(ids.get(slug, UNKNOWN_SOURCE) for slug in split_commas(request.source))
        return cls(
            severities or None,
            source_ids or None,
            split_commas(request.kind) or None,
            split_commas(request.hosts) or None,
            split_commas(request.answer) or None,
            split_commas(request.assignee) or None,
            split_commas(request.due) or None,
        )

    def without(self, column: str) -> "Filters":
        """Return the filters without the one on ``column``."""
        return self._replace(**{column: None})

    def allow(
        self,
        severity: int,
        source_id: int,
        kind: str,
        host: str = "",
        answer: str = UNANSWERED,
        assignee: str = UNASSIGNED,
        due: str = NO_DAY,
    ) -> bool:
        """Return whether a finding with these values passes."""
        return (
            (self.severity is None or severity in self.severity)
            and (self.source_id is None or source_id in self.source_id)
            and (self.kind is None or kind in self.kind)
            and (self.host is None or host in self.host)
            and (self.answer is None or answer in self.answer)
            and (self.assignee is None or assignee in self.assignee)
            and (self.due is None or due in self.due)
        )

    def tables(self, answered: Answered) -> str:
        """Return the tables from which a statement with these filters reads."""
        if self.due is not None:
            return answered.tables_for_days
        return TABLE if self.answer is None and self.assignee is None else answered.tables

    def condition(self, answered: Answered) -> Condition:
        """Return the filters as SQL, for a statement that reads from ``tables``."""
        columns = {"answer": answered.answer, "assignee": answered.assignee, "due": answered.due}
        return one_of(
            {columns.get(name, name): values for name, values in self._asdict().items() if values is not None}
        )


def split_commas(values: str) -> tuple[str, ...]:
    """Split a comma-separated field."""
    return tuple(values.split(",")) if values else ()


def check_sources(request: DashboardRequest, sources: Iterable[SourceRow]) -> None:
    """Raise InvalidRequest for a source that neither the website nor the product knows: it may be misspelt.

    Sources of other websites count as unknown, so the error does not reveal them.
    """
    known = SOURCES | {source.slug for source in sources}
    if unknown := [slug for slug in split_commas(request.source) if slug not in known]:
        message = f"has {', '.join(unknown)}, which is unknown; the sources are {', '.join(sorted(known))}"
        raise InvalidRequest([{"field": "source", "message": message}])


class Match(NamedTuple):
    """The other conditions of a request: words, keys of a problem, times; each is optional."""

    words: tuple[str, ...] | None = None
    problem_keys: tuple[str, ...] | None = None  # stored keys of one problem
    since: datetime | None = None  # first seen then or later
    before: datetime | None = None  # first seen earlier
    fixed_since: datetime | None = None

    @classmethod
    def of(cls, request: DashboardRequest, now: datetime) -> "Match":
        """Return the conditions of the request at ``now``."""
        since, before, fixed = (
            midnight_days_ago(now, days) if days else None
            for days in (request.since, request.older_than, request.fixed_since)
        )
        return cls(
            words=tuple(words_of(request.query)) if request.query else None,
            problem_keys=topics.keys_of(request.problem) if request.problem else None,
            since=since,
            before=before,
            fixed_since=fixed,
        )

    def condition(self) -> Condition:
        """Return the conditions as SQL; empty if everything matches."""
        condition, parameters = one_of({} if self.problem_keys is None else {"problem": self.problem_keys})
        for comparison, time in (
            ("first_seen >=", self.since),
            ("first_seen <", self.before),
            ("fixed_at >=", self.fixed_since),
        ):
            if time is not None:
                condition += f" AND {comparison} %s"
                parameters.append(to_column(time))
        if self.words is not None:
            contains = [_CONTAINS[connection.vendor]] * len(self.words)
            never = "1 = 0"  # a query without a word matches no finding
            condition += " AND " + (" AND ".join(contains) or never)
            # The column has a space before and after each word, so these parameters match whole words.
            parameters += [f" {word} " for word in self.words[:-1]]
            parameters += [f" {word}" for word in self.words[-1:]]  # the last may be the start of a word
        return condition, parameters


NO_FILTERS = Filters()
EVERYTHING = Match()


def whole_condition(website_id: int, status: str, *conditions: Condition) -> Condition:
    """Return a WHERE condition, without WHERE, for a website's findings with ``status``, or ``all``."""
    condition, parameters = "website_id = %s", [website_id]
    if status != ALL:
        conditions = (one_of({"status": (status,)}), *conditions)
    for more_sql, more_parameters in conditions:
        condition += more_sql
        parameters += more_parameters
    return condition, parameters


def one_of(columns: dict[str, Sequence[Any]]) -> Condition:
    """Return a condition that allows only these values of each column."""
    # IN () is no SQL; IN (NULL) matches no row.
    condition = "".join(
        f" AND {name} IN ({placeholders(values) or 'NULL'})" for name, values in columns.items()
    )
    return condition, [value for values in columns.values() for value in values]
