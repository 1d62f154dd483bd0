"""View models of the notifications' pages."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.models import Website, WebsiteSummary
from portal.models.summaries import Headline
from portal.notifications.emails import Item, due_items, note_item
from portal.notifications.forms import SubscriptionForm
from portal.pages.urls import Address, site_address
from portal.pages.view_models.findings import FindingRow, finding_rows
from portal.pages.view_models.overview import RECENT_DAYS
from portal.texts import labels
from signed_api.findings import Change, ChangesResponse, Threat

MAX_CHANGED_SITES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionSection:
    """The e-mails of one account, and the form to change them."""

    pk: int
    account: str
    form: SubscriptionForm


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFindingsPage:
    """Findings worst first, cut if ``is_cut``, and notes newest first.

    ``list_url``, labelled ``all_label``, is the list of all findings, if there is one.
    """

    host: str
    site_url: str
    text: str
    is_cut: bool
    list_url: str
    all_label: str
    findings: tuple[FindingRow, ...]
    notes: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSite:
    """A website with changes, or with findings ``due``; the portal received the numbers at ``updated_at``.

    ``url`` is the page of its new findings, ``fixed_url`` the list of its fixed ones.
    """

    host: str
    account: str
    url: str
    fixed_url: str
    new: int
    fixed: int
    due: tuple[Item, ...]
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIsNewPage:
    """The websites that changed in the last ``days`` or have findings due, most new findings first.

    ``unlisted`` counts changed websites beyond the page's limit, ``unchanged`` those without changes, and
    ``unknown`` websites without stored numbers. The oldest numbers were received at ``oldest_at``.
    """

    days: int
    rows: tuple[ChangedSite, ...]
    unlisted: int
    unchanged: int
    unknown: int
    oldest_at: datetime | None


def what_is_new_page(websites: Iterable[Website], summaries: Mapping[int, WebsiteSummary]) -> WhatIsNewPage:
    """Return the page of a person's ``websites``; ``summaries`` by website id."""
    websites = list(websites)
    host_counts = Counter(website.host for website in websites)
    with_numbers = []
    for website in websites:
        summary = summaries.get(website.pk)
        headline = summary.headline if summary else None
        if summary and headline:
            names_account = host_counts[website.host] > 1
            with_numbers.append(_changed_site(website, summary, headline, names_account=names_account))
    changed = (row for row in with_numbers if row.new or row.fixed or row.due)
    rows = sorted(changed, key=lambda row: (-row.new, -row.fixed, row.host))
    return WhatIsNewPage(
        days=RECENT_DAYS,
        rows=tuple(rows[:MAX_CHANGED_SITES]),
        unlisted=max(0, len(rows) - MAX_CHANGED_SITES),
        unchanged=len(with_numbers) - len(rows),
        unknown=len(websites) - len(with_numbers),
        oldest_at=min((site.updated_at for site in with_numbers), default=None),
    )


def _changed_site(
    website: Website, summary: WebsiteSummary, headline: Headline, *, names_account: bool
) -> ChangedSite:
    address = site_address(website, names_account=names_account)
    return ChangedSite(
        host=website.host,
        account=str(website.account),
        url=str(replace(address, path=reverse("portal:new_findings", args=[website.host]))),
        fixed_url=address.with_filters(status="fixed", fixed=str(RECENT_DAYS)),
        new=headline.summary.new_7d,
        fixed=headline.summary.fixed_7d,
        due=due_items(headline.summary, address),
        updated_at=summary.updated_at,
    )


def new_findings_page(changes: ChangesResponse, address: Address, *, list_url: str = "") -> NewFindingsPage:
    """Return the page of ``changes`` on the website at ``address``."""
    is_since_email = changes.first_seen_count is None
    return NewFindingsPage(
        host=changes.host,
        site_url=str(address),
        text=_text_since_email(changes) if is_since_email else _text_of_last_days(changes),
        is_cut=changes.total > len(changes.findings),
        list_url=list_url,
        all_label=_("All %(count)s findings") % {"count": _count(changes)},
        findings=_finding_rows(changes, address),
        notes=tuple(note_item(note, address) for note in changes.analyst_notes),
    )


def _text_since_email(changes: ChangesResponse) -> str:
    text = ngettext("%(shown)s finding", "%(shown)s findings", changes.total) % {"shown": _count(changes)}
    explanation = _("Everything from the e-mail and everything new since then, if it is still open.")
    return f"{text}. {explanation}"


def _text_of_last_days(changes: ChangesResponse) -> str:
    """Return the text with two numbers: new findings as on the dashboard, and findings on this page."""
    first_seen = changes.first_seen_count or 0
    new = ngettext(
        "%(count)s finding was first seen in the last 7 days.",
        "%(count)s findings were first seen in the last 7 days.",
        first_seen,
    ) % {"count": localize(first_seen)}
    listed = ngettext(
        "%(shown)s that was new or came back in that time is open now.",
        "%(shown)s that were new or came back in that time are open now.",
        changes.total,
    ) % {"shown": _count(changes)}
    return f"{new} {listed}"


def _threat(change: Change) -> Threat:
    """Return a finding with the fields of a change; the others are empty."""
    return Threat(
        id=change.id,
        severity=change.severity,
        title=change.title,
        location=change.location,
        problem=change.problem,
        first_seen=change.at,
        last_seen=change.at,
        status="open",
        locations_count=0,
        evidence_truncated=False,
        verified=False,
        topic=None,
        source="",
        source_name="",
        kind="",
        description="",
        evidence="",
        remediation="",
        rule="",
        references=[],
        cwe=[],
        cve=[],
    )


def _count(changes: ChangesResponse) -> str:
    count = localize(changes.total)
    is_cut = changes.total_relation == "at_least"
    return _("%(count)s or more") % {"count": count} if is_cut else count


def _finding_rows(changes: ChangesResponse, address: Address) -> tuple[FindingRow, ...]:
    """Return rows as in the website's list, with the fields that changes have."""
    threats = [_threat(change) for change in changes.findings]
    return tuple(
        row if change.event == "new" else replace(row, status=labels.label(labels.EVENTS, change.event))
        for row, change in zip(finding_rows(threats, [], address), changes.findings, strict=True)
    )
