"""The queue of the workbench: its filters, its rows, and its addresses."""

import re
from dataclasses import asdict, dataclass, replace
from urllib.parse import urlencode

from django.db.models import Q
from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import Promise

from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.models import Finding, Severity, Source, Website
from dashboard_api.models.findings import FindingQuerySet
from foundation.addresses.hosts import MAX_HOST_LENGTH, searched_host

ROWS = 50  # on a page
MAX_ID = 2**63 - 1  # of a row in the database; a greater number in a URL would be an error
ALL_OPEN = "all"  # a value of ``queue`` in URLs
# The position of a row: its severity and its id.
_POSITION = re.compile(r"([0-4])-([0-9]{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFilters:
    """The filters of the queue, as text; ``after`` is the position of the previous page's last row.

    Without ``queue``, the list has only findings that no analyst has reviewed.
    """

    severity: str = ""
    source: str = ""
    website: str = ""
    queue: str = ""
    after: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> "QueueFilters":
        """Return the filters of a query string; unknown values count as absent."""
        severity, queue, after = (query.get(name, "") for name in ("severity", "queue", "after"))
        return cls(
            severity=severity if severity in map(str, Severity.values) else "",
            source=query.get("source", "")[:50],
            website=query.get("website", "").strip().lower()[:MAX_HOST_LENGTH],
            queue=queue if queue == ALL_OPEN else "",
            after=after if _POSITION.fullmatch(after) else "",
        )

    @property
    def query(self) -> str:
        """The query string of the filters, which forms send back."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    def url(self, finding: int | None = None) -> str:
        """Return the address of the workbench with these filters, and with ``finding`` open."""
        query = self.query if finding is None else "&".join(filter(None, (self.query, f"finding={finding}")))
        address = reverse("admin:dashboard_api_finding_workbench")
        return f"{address}?{query}" if query else address

    def findings(self) -> FindingQuerySet:
        """Return the findings of these filters, worst first; an index has this order."""
        findings = Finding.objects.filter(status=Finding.Status.OPEN, website__archived_at=None)
        if not self.queue:
            findings = findings.filter(reviewed_at__isnull=True)
        if self.severity:
            findings = findings.filter(severity=int(self.severity))
        if self.source:
            findings = findings.filter(source__in=list(Source.objects.filter(slug=self.source)))
        if self.website:
            websites = Website.objects.filter(host__contains=searched_host(self.website))
            findings = findings.filter(website__in=websites.values("pk"))
        if position := _POSITION.fullmatch(self.after):
            severity, pk = map(int, position.groups())
            later = Q(severity__lt=severity) | Q(severity=severity, pk__lt=pk)
            findings = findings.filter(later, severity__lte=severity)
        return findings.worst_first()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """A finding in the queue; ``tone`` is the CSS class of its severity."""

    id: int
    title: str
    severity: str | Promise
    tone: str
    host: str
    source: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A page of the queue, the finding that is open, and the one after it."""

    rows: tuple[QueueRow, ...]
    current: int | None
    next: int | None
    next_page_url: str
    first_page_url: str


def read_queue(filters: QueueFilters, open_id: int | None) -> Queue:
    """Return a page of the queue with the finding ``open_id`` open, by default the first one."""
    findings = list(filters.findings().select_related("website", "source")[: ROWS + 1])
    page = findings[:ROWS]
    ids = [finding.pk for finding in page]
    current = open_id if open_id is not None else next(iter(ids), None)
    last_position = f"{page[-1].severity}-{page[-1].pk}" if page else ""
    return Queue(
        rows=tuple(_row(finding, filters, current) for finding in page),
        current=current,
        next=following(ids, current),
        next_page_url=replace(filters, after=last_position).url() if len(findings) > ROWS else "",
        first_page_url=replace(filters, after="").url() if filters.after else "",
    )


def following(ids: list[int], current: int | None) -> int | None:
    """Return the id after ``current``, after the last one the previous; the first if it is not there."""
    position = ids.index(current) if current in ids else -1
    neighbours = ids[position + 1 : position + 2] or ids[max(position - 1, 0) : position]
    return neighbours[0] if neighbours else None


def as_id(text: str) -> int | None:
    """Return the id that ``text`` names, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _row(finding: Finding, filters: QueueFilters, current: int | None) -> QueueRow:
    return QueueRow(
        id=finding.pk,
        title=finding.title,
        severity=SEVERITY_LABELS[finding.severity],
        tone=tone(finding.severity),
        host=finding.website.host,
        source=finding.source.name,
        url=filters.url(finding.pk),
        is_current=finding.pk == current,
    )


def tone(severity: int) -> str:
    """Return the CSS class of a severity."""
    return Severity(severity).label.lower()
