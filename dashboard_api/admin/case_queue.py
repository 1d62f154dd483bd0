"""The queue of questions and disputes: its filters, its rows, and its addresses."""

from dataclasses import asdict, dataclass
from datetime import date
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise

from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.admin.queue import following, tone
from dashboard_api.models import Case
from dashboard_api.models.answers import CaseQuerySet

ROWS = 50
OVERDUE, ASKED = "overdue", "asked"  # values of ``show`` in URLs
SHOW = [("", "To answer"), (OVERDUE, "Overdue"), (ASKED, "Waiting for the customer")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilters:
    """The filters of the queue, as text; without ``show``, cases that wait for an analyst."""

    kind: str = ""
    show: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> "CaseFilters":
        """Return the filters of a query string; unknown values count as absent."""
        kind, show = query.get("kind", ""), query.get("show", "")
        return cls(
            kind=kind if kind in Case.Kind.values else "",
            show=show if show in (OVERDUE, ASKED) else "",
        )

    @property
    def query(self) -> str:
        """The query string of the filters, which forms send back."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    def url(self, case: int | None = None) -> str:
        """Return the address of the queue with these filters, and with ``case`` open."""
        query = "&".join(filter(None, (self.query, f"case={case}" if case is not None else "")))
        address = reverse("admin:dashboard_api_case_workbench")
        return f"{address}?{query}" if query else address

    def cases(self) -> CaseQuerySet:
        """Return the cases of these filters, the most urgent promise first."""
        if self.show == ASKED:
            cases = Case.objects.open().filter(waits_for_customer=True).order_by("promised_on", "pk")
        else:
            cases = Case.objects.for_analysts()
        if self.show == OVERDUE:
            cases = cases.overdue(timezone.localdate())
        return cases.filter(kind=self.kind) if self.kind else cases


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """A case in the queue; ``tone`` is the CSS class of its finding's severity."""

    id: int
    kind: str
    title: str
    severity: str | Promise
    tone: str
    host: str
    findings: int
    promised_on: date
    is_overdue: bool
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseQueue:
    """The first cases of the queue, the case that is open, and the one after it."""

    rows: tuple[CaseRow, ...]
    current: int | None
    next: int | None
    has_more: bool


def read_cases(filters: CaseFilters, open_id: int | None) -> CaseQueue:
    """Return the queue with the case ``open_id`` open, by default the first one."""
    cases = list(filters.cases().select_related("finding", "website")[: ROWS + 1])
    ids = [case.pk for case in cases[:ROWS]]
    current = open_id if open_id is not None else next(iter(ids), None)
    today = timezone.localdate()
    return CaseQueue(
        rows=tuple(_row(case, filters, current, today) for case in cases[:ROWS]),
        current=current,
        next=following(ids, current),
        has_more=len(cases) > ROWS,
    )


def is_overdue(case: Case, today: date) -> bool:
    """Return whether the case waits for an analyst, and its promised day has passed."""
    return case.closed_at is None and not case.waits_for_customer and case.promised_on < today


def _row(case: Case, filters: CaseFilters, current: int | None, today: date) -> CaseRow:
    return CaseRow(
        id=case.pk,
        kind=case.get_kind_display(),
        title=case.finding.title,
        severity=SEVERITY_LABELS[case.finding.severity],
        tone=tone(case.finding.severity),
        host=case.website.host,
        findings=case.findings,
        promised_on=case.promised_on,
        is_overdue=is_overdue(case, today),
        url=filters.url(case.pk),
        is_current=case.pk == current,
    )
