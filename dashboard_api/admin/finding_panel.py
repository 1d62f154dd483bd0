"""The finding that is open in the workbench, as its template shows it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.utils.functional import Promise

from dashboard_api.admin.labels import EVENT_LABELS, KIND_LABELS, SEVERITY_LABELS, STATUS_LABELS
from dashboard_api.admin.queue import tone
from dashboard_api.models import Account, AnalystNote, Finding, FindingEvent, Occurrence

MAX_LOCATIONS, MAX_EVENTS, MAX_NOTES, MAX_ACCOUNTS = 20, 20, 20, 20
_CVE = re.compile(r"CVE-\d{4}-\d{4,19}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedText:
    """A text and its link; ``url`` is empty if the text is not a web address."""

    text: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingPanel:
    """The contents of the workbench's right side; ``accounts`` are the customers with the website.

    The scanner's severity and kind are empty unless an analyst has overridden or confirmed them.
    """

    finding: Finding
    severity: str | Promise
    tone: str
    status: str | Promise
    source_severity: str | Promise
    kind: str | Promise
    source_kind: str | Promise
    links: tuple[LinkedText, ...]
    locations: tuple[Occurrence, ...]
    more_locations: int
    events: tuple[tuple[str | Promise, FindingEvent, str], ...]  # with a label, and with the reason
    notes: tuple[AnalystNote, ...]
    accounts: tuple[Account, ...]


def finding_panel(finding: Finding) -> FindingPanel:
    """Return the panel of ``finding``, which has its website and source loaded."""
    locations = tuple(finding.shown_occurrences()[:MAX_LOCATIONS])
    accounts = Account.objects.filter(links__website=finding.website_id, links__revoked_at=None)
    source_severity, source_kind = finding.source_severity, finding.source_kind
    return FindingPanel(
        finding=finding,
        severity=SEVERITY_LABELS[finding.severity],
        tone=tone(finding.severity),
        status=STATUS_LABELS[finding.status],
        source_severity="" if source_severity is None else SEVERITY_LABELS[source_severity],
        kind=KIND_LABELS[finding.kind],
        source_kind="" if source_kind is None else KIND_LABELS[source_kind],
        links=tuple(_links(finding)),
        locations=locations,
        more_locations=max(finding.locations_count - len(locations), 0),
        events=tuple(
            (EVENT_LABELS[event.event], event, event.reason)
            for event in finding.events.order_by("-id")[:MAX_EVENTS]
        ),
        notes=tuple(finding.notes.select_related("account")[:MAX_NOTES]),
        accounts=tuple(accounts.order_by("ref")[:MAX_ACCOUNTS]),
    )


def _links(finding: Finding) -> Iterator[LinkedText]:
    for cve in _texts(finding.cve):
        url = f"https://nvd.nist.gov/vuln/detail/{cve}" if _CVE.fullmatch(cve) else ""
        yield LinkedText(text=cve, url=url)
    for number in _texts(finding.cwe):
        url = f"https://cwe.mitre.org/data/definitions/{number}.html" if number.isdecimal() else ""
        yield LinkedText(text=f"CWE-{number}", url=url)
    for reference in _texts(finding.references):
        yield LinkedText(text=reference, url=reference if _is_web_address(reference) else "")


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list) else []


def _is_web_address(text: str) -> bool:
    """Return whether a scanner's text may become a link: only with http or https."""
    try:
        return urlsplit(text).scheme in ("http", "https")
    except ValueError:
        return False
