"""The calls that the benchmarks send, as bodies for the server and as functions in this process."""

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
from dashboard_api.queries import change_feed
from dashboard_api.queries.credentials import read_credentials
from dashboard_api.reading.changes import build_changes
from dashboard_api.reading.dashboard import build_dashboard

SEARCHES = {
    "a common word": rows.COMMON,
    "a medium word": rows.MEDIUM,
    "a rare word": rows.RARE,
    "no such word": "unheardof",
    "the start of a word": rows.COMMON[:3],
    "two letters": rows.MEDIUM[:2],
    "two words": f"{rows.COMMON} {rows.MEDIUM}",
}


def body_about(website: int, **fields: Any) -> dict[str, Any]:
    """Return the body of a call about a website, with further fields."""
    link = SiteLink.objects.get(account__ref=ACCOUNT, website__host=host(website))
    return {"host": host(website), "link_id": link.link_id, "portal_account_ref": ACCOUNT} | fields


def dashboard_call(website: int, **fields: Any) -> Callable[[], object]:
    """Return a function that reads credentials and dashboard as the API does."""
    request = read_dashboard_request(body_about(website, **fields))
    now = datetime.now(UTC)

    def call() -> object:
        credentials = read_credentials(ACCOUNT, request.link_id, now)
        return build_dashboard(authorize(credentials.link, request, now), request, now)

    return call


def changes_call(website: int, since: str) -> Callable[[], object]:
    """Return a function that reads credentials and changes since a cursor as the API does."""
    request = read_changes_request(body_about(website, since=since))
    now = datetime.now(UTC)

    def call() -> object:
        credentials = read_credentials(ACCOUNT, request.link_id, now)
        return build_changes(authorize(credentials.link, request, now), request, now)

    return call


def newest_cursor(website: int) -> str:
    """Return the cursor of a client that has read all changes of a website."""
    link = SiteLink.objects.get(account__ref=ACCOUNT, website__host=host(website))
    return str(Cursor(finding_id=change_feed.newest(link.website_id).finding_id))


# By what there is to read after the cursor.
CURSORS: dict[str, Callable[[int], str]] = {
    "nothing": newest_cursor,
    "everything": lambda _: str(Cursor()),
}


def rarest_three(website: int) -> dict[str, Any]:
    """Return the combination of the three filters that matches the fewest open findings, but at least one."""
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
    """Return the id of the problem with most open findings."""
    counts = ProblemCount.objects.filter(website_id=website, status=Finding.Status.OPEN)
    totals = counts.values_list("problem").annotate(total=Sum("confirmed")).order_by("-total")
    return str(totals[0][0])


def deep_page(website: int, share: float, **fields: Any) -> dict[str, Any]:
    """Return the fields of the page at this share of the open findings that the API lists."""
    findings = Finding.objects.filter(website__host=host(website), status=Finding.Status.OPEN, **fields)
    rows_above = min(findings.count(), limits.MAX_PAGE_DEPTH) * share
    return fields | {"page": max(int(rows_above / limits.DEFAULT_PAGE_SIZE), 1)}


FILTERS: dict[str, Callable[[int], dict[str, Any]]] = {
    "severity": lambda _: {"severity": "High"},
    "source": lambda _: {"source": "scanner-3"},
    "kind": lambda _: {"kind": "suspected"},
    "severity + kind": lambda _: {"severity": "Medium", "kind": "confirmed"},
    "severity + source": lambda _: {"severity": "Low", "source": "scanner-2"},
    "all three": lambda _: {"severity": "Low", "source": "scanner-2", "kind": "confirmed"},
    "the rarest three": rarest_three,
}
