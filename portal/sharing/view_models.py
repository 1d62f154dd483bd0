"""View models of share links: the list for members, and the page for people without an account."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.models import Account, Badge, Membership, ShareLink, ShareOpening, WebsiteSummary
from portal.pages.forms import Filters
from portal.pages.urls import Address, site_address
from portal.pages.view_models import finding_view
from portal.pages.view_models.filters import chips
from portal.pages.view_models.finding import Link, LocationView
from portal.pages.view_models.findings import finding_rows, how_to_check, status_label
from portal.pages.view_models.site import problem_title
from portal.sharing.forms import IssueTrackerForm
from portal.texts import labels
from portal.texts.cvss import Cvss
from portal.texts.stacks import StackFix
from signed_api.findings import DashboardResponse, FindingDetail, FindingResponse, Threat

SHOWN_ENDED = 20

ThreatT = TypeVar("ThreatT", bound=Threat)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFinding:
    """A finding for a person without an account: no note, no decision, no link into the portal.

    Its fields are listed one by one, so that a new field of a finding is not shared by accident.
    """

    host: str
    title: str
    severity: str
    tone: str
    status: str
    kind: str
    kind_meaning: str
    source: str
    other_sources: str
    rule: str
    cvss: Cvss | None
    location: str
    description: str
    remediation: str
    fix: str
    fixes: tuple[StackFix, ...]
    check: str
    evidence: str
    is_evidence_cut: bool
    locations: tuple[LocationView, ...]
    more_locations: int
    references: tuple[Link, ...]
    weaknesses: tuple[Link, ...]
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRow:
    """A finding of a shared list."""

    severity: str
    tone: str
    kind: str
    status: str
    title: str
    location: str
    more_locations: int
    remediation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedList:
    """The worst findings under some filters, for a person without an account."""

    host: str
    title: str
    count: str
    generated_at: datetime
    findings: tuple[SharedRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLinkRow:
    """A share link in the list; ``url`` is the members' page of the finding or list.

    ``refusal`` says why the website has no results; the link does not work then.
    """

    pk: int
    host: str
    title: str
    url: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_opened_at: datetime | None
    includes_evidence: bool
    allows_fixed: bool
    refusal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeRow:
    """A badge that is on; ``url`` is its page, ``refusal`` says why the website has no results."""

    host: str
    url: str
    created_by: str
    created_at: datetime
    refusal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSection:
    """An account's working share links, the latest ended ones, its badges and its issue tracker."""

    pk: int
    account: str
    live: tuple[ShareLinkRow, ...]
    ended: tuple[ShareLinkRow, ...]
    badges: tuple[BadgeRow, ...]
    tracker_form: IssueTrackerForm


def shared_finding(response: FindingResponse, *, includes_evidence: bool, decides: str = "") -> SharedFinding:
    """Return the finding of ``response``; evidence is included only if that was chosen.

    ``decides`` says what shows whether a fix worked.
    """
    finding = response.finding if includes_evidence else without_evidence(response.finding)
    view = finding_view(msgspec.structs.replace(response, finding=finding), Address(path=""), link="")
    return SharedFinding(
        host=response.host,
        title=view.title,
        severity=view.severity,
        tone=view.tone,
        status=status_label(finding),
        kind=view.kind,
        kind_meaning=view.kind_meaning,
        source=view.source,
        other_sources=view.other_sources,
        rule=view.rule,
        cvss=view.cvss,
        location=view.location,
        description=view.description,
        remediation=view.remediation,
        fix=view.fix,
        fixes=view.fixes,
        check=how_to_check([response.finding], shows_evidence=includes_evidence, decides=decides),
        evidence=view.evidence,
        is_evidence_cut=view.is_evidence_cut,
        locations=view.locations,
        more_locations=view.more_locations,
        references=view.references,
        weaknesses=view.weaknesses,
        first_seen=finding.first_seen,
        last_seen=finding.last_seen,
    )


def without_evidence(finding: ThreatT) -> ThreatT:
    """Return a finding without evidence, also in its locations."""
    empty: dict[str, Any] = {"evidence": "", "evidence_truncated": False}
    changes = dict(empty)
    if isinstance(finding, FindingDetail):
        changes["locations"] = [msgspec.structs.replace(each, **empty) for each in finding.locations]
    return msgspec.structs.replace(finding, **changes)


def shared_list(dashboard: DashboardResponse, filters: Filters) -> SharedList:
    """Return the list of ``dashboard``, without facts about the website's other findings."""
    rows = finding_rows(dashboard.threats, [], Address(path=""))
    return SharedList(
        host=dashboard.host,
        title=list_title(dashboard, filters),
        count=count_text(dashboard),
        generated_at=dashboard.dashboard.generated_at,
        findings=tuple(
            SharedRow(
                severity=row.severity,
                tone=row.tone,
                kind=row.kind,
                status=row.status,
                title=row.title,
                location=row.location,
                more_locations=row.more_locations,
                remediation=threat.remediation,
            )
            for row, threat in zip(rows, dashboard.threats, strict=True)
        ),
    )


def list_title(dashboard: DashboardResponse, filters: Filters) -> str:
    """Return the filters in words, such as "Findings: High · Confirmed"."""
    values, address = dashboard.dashboard.facets, Address(path="", filters=filters)
    active = chips(values, address, problem_title=problem_title(dashboard, filters.problem))
    if not active:
        return _("All open findings")
    return _("Findings: %(filters)s") % {"filters": " · ".join(chip.value for chip in active)}


def count_text(dashboard: DashboardResponse) -> str:
    """Return the number of matching findings as text, and how many are listed if not all."""
    total, listed_count = dashboard.dashboard.total, len(dashboard.threats)
    text = ngettext("%(count)s finding", "%(count)s findings", total) % {"count": number_format(total)}
    if listed_count < total:
        text += ", " + _("the worst %(count)s are listed") % {"count": number_format(listed_count)}
    return text


def account_sections(
    user: AbstractBaseUser | AnonymousUser, invalid_form: IssueTrackerForm | None = None
) -> tuple[AccountSection, ...]:
    """Return the accounts that ``user`` manages; ``invalid_form`` is shown in its account."""
    memberships = Membership.objects.of_user(user).managing().select_related("account")
    return tuple(_section(membership.account, invalid_form) for membership in memberships)


def _section(account: Account, invalid_form: IssueTrackerForm | None) -> AccountSection:
    now = timezone.now()
    share_links = ShareLink.objects.of_account(account).select_related("website__account")
    form = invalid_form if invalid_form and invalid_form.account == account else None
    return AccountSection(
        pk=account.pk,
        account=str(account),
        live=_rows(share_links.live(at=now)),
        ended=_rows(share_links.ended(at=now)[:SHOWN_ENDED]),
        badges=_badge_rows(account),
        tracker_form=form or IssueTrackerForm(account=account),
    )


def _badge_rows(account: Account) -> tuple[BadgeRow, ...]:
    badges = Badge.objects.filter(website__account=account, link_id=F("website__link_id"))
    badges = badges.select_related("website__account")
    refusal_of = refusals(badge.website_id for badge in badges)
    return tuple(
        BadgeRow(
            host=badge.website.host,
            url=f"{reverse('portal:badge', args=[badge.website.host])}?{urlencode({'account': account.ref})}",
            created_by=badge.created_by,
            created_at=badge.created_at,
            refusal=refusal_of.get(badge.website_id, ""),
        )
        for badge in badges
    )


def _rows(share_links: Iterable[ShareLink]) -> tuple[ShareLinkRow, ...]:
    share_links = list(share_links)
    openings = ShareOpening.objects.in_bulk(share_link.pk for share_link in share_links)
    refusal_of = refusals(share_link.website_id for share_link in share_links)
    return tuple(
        _row(share_link, openings.get(share_link.pk), refusal_of.get(share_link.website_id, ""))
        for share_link in share_links
    )


def refusals(website_ids: Iterable[int]) -> dict[int, str]:
    """Return the known reasons why websites have no results, by website id."""
    stored = WebsiteSummary.objects.filter(website_id__in=set(website_ids)).exclude(refusal="")
    codes = stored.values_list("website_id", "refusal")
    unknown = (_("No results"), "")  # reason and advice, as in the table
    return {website_id: str(labels.REFUSALS.get(code, unknown)[0]) for website_id, code in codes}


def _row(share_link: ShareLink, opening: ShareOpening | None, refusal: str) -> ShareLinkRow:
    is_of_old_link = share_link.link_id != share_link.website.link_id
    return ShareLinkRow(
        pk=share_link.pk,
        host=share_link.website.host,
        title=share_link.title,
        url=_page_url(share_link),
        created_by=share_link.created_by,
        created_at=share_link.created_at,
        expires_at=share_link.expires_at,
        revoked_at=share_link.revoked_at,
        last_opened_at=opening.last_opened_at if opening else None,
        includes_evidence=share_link.includes_evidence,
        allows_fixed=share_link.allows_fixed,
        refusal=str(labels.REFUSALS["revoked_link"][0]) if is_of_old_link else refusal,
    )


def _page_url(share_link: ShareLink) -> str:
    """Return the members' page of the finding or the list; empty for unknown filters."""
    address = site_address(share_link.website, names_account=True)
    if share_link.finding_id:
        return address.of_finding(share_link.finding_id)
    filters = Filters.from_text(share_link.filters)
    return "" if filters is None else str(replace(address, filters=filters))
