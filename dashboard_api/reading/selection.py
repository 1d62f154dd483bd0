"""The findings that a call about many of them chooses, and whether they are still those of its preview."""

import hashlib
import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from dashboard_api.backends.statements import placeholders, select
from dashboard_api.errors import InvalidRequest, SelectionChanged, UnknownFinding
from dashboard_api.models import Finding
from dashboard_api.queries import overview
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading.answered import answered_by
from dashboard_api.reading.matching import Filters, Match, check_sources, whole_condition
from signed_api import limits as contract_limits
from signed_api.answering import AnswerRequest
from signed_api.findings import OPEN, DashboardRequest

_CHOSEN = "SELECT id FROM {tables} WHERE {condition} ORDER BY id LIMIT %s"
_LISTED = "SELECT id FROM dashboard_api_finding WHERE website_id = %s AND id IN ({ids}) ORDER BY id"


def chosen_ids(link: AccountSite, request: AnswerRequest, now: datetime) -> list[int]:
    """Return the ids of the chosen findings in ascending order.

    Raises UnknownFinding for listed ones that the website does not have, and InvalidRequest without a choice,
    or if filters match none or more than MAX_ANSWERED_AT_ONCE.
    """
    if request.finding_ids:
        ids = [int(each) for each in request.finding_ids.split(",")]
        found = [
            pk for (pk,) in select(Finding, _LISTED.format(ids=placeholders(ids)), [link.website_id, *ids])
        ]
        if len(found) < len(ids):
            raise UnknownFinding
        return found
    if not request.filters:
        raise InvalidRequest([{"field": "finding_ids", "message": "or filters is required"}])
    filters = DashboardRequest(**request.filters)
    sources, _runs = overview.sources(link.website_id)
    check_sources(filters, sources)
    answered = answered_by(link, now)
    columns = Filters.of(filters, sources)
    conditions = columns.condition(answered), Match.of(filters, now).condition()
    condition, parameters = whole_condition(link.website_id, OPEN, *conditions)
    most = contract_limits.MAX_ANSWERED_AT_ONCE
    statement = _CHOSEN.format(tables=columns.tables(answered), condition=condition)
    found = [pk for (pk,) in select(Finding, statement, [*parameters, most + 1])]
    if not found:
        raise InvalidRequest([{"field": "filters", "message": "match no open finding"}])
    if len(found) > most:
        message = f"match more than {most:,} open findings: add filters, and answer them in parts"
        raise InvalidRequest([{"field": "filters", "message": message}])
    return found


_SELECTION = re.compile(r"([0-9]{1,9})\.([0-9]{1,18})\.[0-9a-f]{32}", re.ASCII)


class Selection(NamedTuple):
    """The findings of a preview: their number, the newest id, and a digest of all ids."""

    total: int
    newest: int
    digest: str

    @classmethod
    def of(cls, ids: Sequence[int]) -> "Selection":
        """Return the selection of these ids."""
        digest = hashlib.sha256(",".join(map(str, sorted(ids))).encode()).hexdigest()[:32]
        return cls(len(ids), max(ids), digest)

    def __str__(self) -> str:
        return f"{self.total}.{self.newest}.{self.digest}"


def check_unchanged(selection: str, ids: Collection[int]) -> None:
    """Raise SelectionChanged unless ``selection``, if given, is of these ids."""
    now = Selection.of(sorted(ids))
    if not selection or selection == str(now):
        return
    known = _SELECTION.fullmatch(selection)
    total, newest = map(int, known.groups()) if known else (0, 0)
    added = sum(pk > newest for pk in ids)
    raise SelectionChanged(total=now.total, added=added, removed=max(total + added - now.total, 0))
