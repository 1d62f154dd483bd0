"""What the benchmarks ask about a measured website, and the product's own answer in this process."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Sum

from benchmarks import rows
from benchmarks.rows import ACCOUNT, host
from dashboard_api import limits
from dashboard_api.api.authorization import authorize
from dashboard_api.contract import Cursor, read_changes_request, read_dashboard_request
from dashboard_api.models import Finding, ProblemCount, Severity, SiteLink, Source
from dashboard_api.queries import change_feed, credentials
from dashboard_api.reading.changes import build_changes
from dashboard_api.reading.dashboard import build_dashboard

SEARCHES = {
    "a common word": rows.COMMON,
    "a medium word": rows.MEDIUM,
    "a rare word": rows.RARE,
    "no such word": "unheardof",
    "a word begun": rows.COMMON[:3],
    "two letters": rows.MEDIUM[:2],
    "two words": f"{rows.COMMON} {rows.MEDIUM}",
}


def about(website: int, **fields: Any) -> dict[str, Any]:
    """The body of a call that asks about the website."""
    link = SiteLink.objects.get(account__ref=ACCOUNT, website__host=host(website))
    return {"host": host(website), "link_id": link.link_id, "portal_account_ref": ACCOUNT} | fields


def asking(website: int, **fields: Any) -> Callable[[], object]:
    """The product's answer from within, the caller's secrets read along."""
    question = read_dashboard_request(about(website, **fields))
    now = datetime.now(UTC)

    def ask() -> object:
        claimed = credentials.read_credentials(ACCOUNT, question.link_id, now)
        return build_dashboard(authorize(claimed.link, question, now), question, now)

    return ask


def asking_what_changed(website: int, since: str) -> Callable[[], object]:
    """What is new for whoever was told up to ``since``, the caller's secrets read along."""
    question = read_changes_request(about(website, since=since))
    now = datetime.now(UTC)

    def ask() -> object:
        claimed = credentials.read_credentials(ACCOUNT, question.link_id, now)
        return build_changes(authorize(claimed.link, question, now), question, now)

    return ask


def cursor_of_now(website: int) -> str:
    """Up to where whoever asks now is told."""
    link = SiteLink.objects.get(account__ref=ACCOUNT, website__host=host(website))
    return str(Cursor(finding_id=change_feed.newest(link.website_id).finding_id))


CURSORS: dict[str, Callable[[int], str]] = {
    "nothing": cursor_of_now,
    "everything": lambda _: str(Cursor()),
}


def rarest_three(website: int) -> dict[str, Any]:
    """The combination of the three filters that leaves fewest findings, but one at least."""
    buckets = (
        Finding.objects.filter(website__host=host(website), status=Finding.Status.OPEN)
        .order_by()
        .values_list("severity", "source", "kind")
        .annotate(count=Count("*"))
    )
    severity, source, kind, _ = min(buckets, key=lambda bucket: bucket[-1])
    return {
        "severity": Severity(severity).label,
        "source": Source.objects.get(pk=source).slug,
        "kind": kind,
    }


def frequent_problem(website: int) -> str:
    """The problem with most open findings."""
    counts = ProblemCount.objects.filter(website_id=website, status=Finding.Status.OPEN)
    totals = counts.values_list("problem").annotate(total=Sum("confirmed")).order_by("-total")
    return str(totals[0][0])


def deep_page(website: int, share: float, **fields: Any) -> dict[str, Any]:
    """The page at ``share`` of what is open, or of what the contract lets a caller reach."""
    findings = Finding.objects.filter(website__host=host(website), status=Finding.Status.OPEN, **fields)
    rows_above = min(findings.count(), limits.MAX_PAGE_DEPTH) * share
    return fields | {"page": max(int(rows_above / limits.DEFAULT_PAGE_SIZE), 1)}


FILTERS: dict[str, Callable[[int], dict[str, Any]]] = {
    "severity": lambda _: {"severity": "High"},
    "source": lambda _: {"source": "engine-3"},
    "kind": lambda _: {"kind": "suspected"},
    "severity + kind": lambda _: {"severity": "Medium", "kind": "confirmed"},
    "severity + source": lambda _: {"severity": "Low", "source": "engine-2"},
    "all three": lambda _: {"severity": "Low", "source": "engine-2", "kind": "confirmed"},
    "the rarest three": rarest_three,
}
