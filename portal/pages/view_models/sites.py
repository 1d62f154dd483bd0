"""The list of websites that a person sees: totals, and one page of rows, by default the worst first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.addresses.hosts import readable_host, searched_host
from portal.models import Membership, Website, WebsiteSummary
from portal.models.summaries import Headline
from portal.pages.forms import NO_GRADE, SITE_SORTS, SiteFilters
from portal.pages.urls import adding_url, site_address
from portal.pages.view_models.filters import Option, Pager, page_links
from portal.pages.view_models.overview import last_scan_at
from portal.pages.view_models.site_rows import SiteRow, needs_attention, risk_rank, site_row
from portal.texts import labels

PAGE_SIZE = 50
MIN_SITES_TO_SEARCH = 8  # shorter lists offer no sorting
GRADES = ("F", "D", "C", "B", "A", NO_GRADE)
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Totals over all websites of the person; the options are filters of the list.

    ``remark`` says how many websites have no results now. ``pending`` says how many are counted so far:
    until then, a zero would promise too much. ``open`` leads to the one website with open findings, or
    filters the list, and so does ``overdue``, which is None without overdue findings.
    """

    websites: int
    attention: Option
    open: Option
    overdue: Option | None
    severities: tuple[Option, ...]
    grades: tuple[Option, ...]
    remark: str
    pending: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesPage:
    """The list of websites; ``link_url``, the page for adding a website, is empty for viewers.

    ``totals`` is set for several websites only, and ``sorts`` for MIN_SITES_TO_SEARCH or more.
    """

    rows: tuple[SiteRow, ...]
    link_url: str
    totals: Totals | None
    filters: SiteFilters
    count: str
    sorts: tuple[Option, ...]
    clear_url: str
    pager: Pager

    @property
    def search_fields(self) -> Sequence[tuple[str, str]]:
        """The hidden fields of the search form: other filters and order."""
        fields = self.filters.fields(without="query")
        return [(name, value) for name, value in fields.items() if name != "page"]

    @property
    def severities(self) -> Sequence[str]:
        """The headings of the columns with counts."""
        return [str(label) for label in labels.SEVERITIES.values()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A website with its stored summary; ``headline`` has the summary's numbers, if there are any."""

    website: Website
    summary: WebsiteSummary | None
    headline: Headline | None

    @property
    def grade(self) -> str:
        return (self.headline.dashboard.grade if self.headline else None) or NO_GRADE

    @property
    def is_pending(self) -> bool:
        return self.headline is None and not (self.summary and self.summary.refusal)

    @property
    def needs_attention(self) -> bool:
        return needs_attention(self.summary, self.headline)

    @property
    def checked_at(self) -> datetime:
        return (self.headline and last_scan_at(self.headline)) or _NEVER

    def matches(self, filters: SiteFilters) -> bool:
        """Return whether ``filters`` keep this website in the list."""
        host, query = self.website.host, filters.query.casefold()
        texts = (readable_host(host), str(self.website.account))
        return (
            (searched_host(query) in host or any(query in text.casefold() for text in texts))
            and (not filters.grade or self.grade == filters.grade)
            and (not filters.attention or self.needs_attention)
            and (not filters.severity or self.count(filters.severity) > 0)
            and (not filters.open or self.open > 0)
            and (not filters.overdue or self.overdue > 0)
        )

    @property
    def open(self) -> int:
        """The number of open findings; 0 if unknown."""
        return self.headline.summary.open if self.headline else 0

    @property
    def overdue(self) -> int:
        """The number of overdue findings; 0 if unknown."""
        return self.headline.summary.overdue if self.headline else 0

    def count(self, severity: str) -> int:
        """Return the number of open findings of a severity; 0 if unknown."""
        return self.headline.summary.by_severity.get(severity, 0) if self.headline else 0


def sites_page(
    websites: Iterable[Website],
    memberships: Iterable[Membership],
    summaries: Mapping[int, WebsiteSummary],
    filters: SiteFilters,
) -> SitesPage:
    """Return the page of the person with ``memberships``; ``summaries`` are by website id."""
    with_summaries = [(website, summaries.get(website.pk)) for website in websites]
    entries = [
        _Entry(website=website, summary=summary, headline=summary.headline if summary else None)
        for website, summary in with_summaries
    ]
    matching = sorted((entry for entry in entries if entry.matches(filters)), key=_sort_key(filters.sort))
    page = Paginator(matching, PAGE_SIZE).get_page(filters.page)
    filters = replace(filters, page=page.number)
    host_counts = Counter(entry.website.host for entry in entries)
    is_long = len(entries) >= MIN_SITES_TO_SEARCH
    return SitesPage(
        rows=tuple(
            site_row(entry.website, entry.summary, names_account=host_counts[entry.website.host] > 1)
            for entry in page
        ),
        link_url=adding_url() if any(member.can_link_websites for member in memberships) else "",
        totals=_totals(entries, filters) if len(entries) > 1 else None,
        filters=filters,
        count=_count_text(len(matching), len(entries)) if filters.is_active else "",
        sorts=tuple(_sort_options(filters)) if is_long else (),
        clear_url=sites_url(SiteFilters(sort=filters.sort)) if filters.is_active else "",
        pager=_pager(filters, page.paginator.num_pages),
    )


def sites_url(filters: SiteFilters) -> str:
    """Return the URL of the list with these filters."""
    query = urlencode(filters.fields())
    return f"{reverse('portal:sites')}?{query}" if query else reverse("portal:sites")


def _sort_key(sort: str) -> Any:
    """Return the key function of an order; equal websites remain sorted by name."""
    return {
        "worst": lambda entry: risk_rank(entry.headline),
        "name": lambda entry: entry.website.host,
        "checked": lambda entry: entry.checked_at,
    }[sort]


def _totals(entries: Sequence[_Entry], filters: SiteFilters) -> Totals:
    counted = [entry.headline.summary for entry in entries if entry.headline]
    grades = Counter(entry.grade for entry in entries)
    pending = sum(entry.is_pending for entry in entries)
    refused = len(entries) - len(counted) - pending
    remark = ngettext(
        "%(count)s website has no results now.", "%(count)s websites have no results now.", refused
    )
    return Totals(
        websites=len(entries),
        attention=_attention_option(sum(entry.needs_attention for entry in entries), filters),
        open=_open_option(entries, filters),
        overdue=_overdue_option(entries, filters),
        severities=tuple(
            _severity_option(severity, sum(each.by_severity.get(severity, 0) for each in counted), filters)
            for severity in labels.SEVERITIES
        ),
        grades=tuple(_grade_option(grade, grades[grade], filters) for grade in GRADES if grades[grade]),
        remark=remark % {"count": number_format(refused)} if refused else "",
        pending=_pending_text(pending, len(entries)),
    )


def _pending_text(pending: int, total: int) -> str:
    """Say how many websites the totals cover; empty if they cover all."""
    if not pending:
        return ""
    text = _("Counted so far: %(count)s of %(total)s websites.")
    return text % {"count": number_format(total - pending), "total": number_format(total)}


def _open_option(entries: Sequence[_Entry], filters: SiteFilters) -> Option:
    """Return the number of open findings; its link opens the only website with some, or filters the list."""
    count = sum(entry.open for entry in entries)
    websites = [entry.website for entry in entries if entry.open]
    if len(websites) == 1:
        hosts = Counter(entry.website.host for entry in entries)
        url = str(site_address(websites[0], names_account=hosts[websites[0].host] > 1))
    else:
        url = sites_url(replace(filters, open=not filters.open, page=1)) if count else ""
    is_active = filters.open and len(websites) > 1
    label = ngettext("open finding", "open findings", count)
    return Option(key="total-open", label=label, count=count, url=url, is_active=is_active)


def _overdue_option(entries: Sequence[_Entry], filters: SiteFilters) -> Option | None:
    """Return the number of overdue findings, which filters the list; None without any."""
    count = sum(entry.overdue for entry in entries)
    if not count and not filters.overdue:
        return None
    text = ngettext("%(count)s overdue", "%(count)s overdue", count)
    return Option(
        key="total-overdue",
        label=text % {"count": number_format(count)},
        count=count,
        url=sites_url(replace(filters, overdue=not filters.overdue, page=1)),
        is_active=filters.overdue,
    )


def _attention_option(count: int, filters: SiteFilters) -> Option:
    text = ngettext("%(count)s website needs attention", "%(count)s websites need attention", count)
    return Option(
        key="attention",
        label=text % {"count": number_format(count)},
        count=count,
        url=sites_url(replace(filters, attention=not filters.attention, page=1)),
        is_active=filters.attention,
    )


def _severity_option(severity: str, count: int, filters: SiteFilters) -> Option:
    is_active = filters.severity == severity
    return Option(
        key=f"total-{severity.lower()}",
        label=labels.label(labels.SEVERITIES, severity),
        tone=labels.tone(severity),
        count=count,
        url=sites_url(replace(filters, severity="" if is_active else severity, page=1)) if count else "",
        is_active=is_active,
    )


def _grade_option(grade: str, count: int, filters: SiteFilters) -> Option:
    is_active = filters.grade == grade
    return Option(
        key=f"grade-{grade}",
        label=_("Not graded") if grade == NO_GRADE else grade,
        count=count,
        url=sites_url(replace(filters, grade="" if is_active else grade, page=1)),
        is_active=is_active,
    )


def _sort_options(filters: SiteFilters) -> Iterable[Option]:
    names = {"worst": _("Worst first"), "name": _("By name"), "checked": _("Oldest scan first")}
    for sort in SITE_SORTS:
        url = sites_url(replace(filters, sort=sort, page=1))
        yield Option(key=f"sort-{sort}", label=names[sort], url=url, is_active=sort == filters.sort)


def _count_text(shown: int, total: int) -> str:
    text = ngettext("%(shown)s of %(total)s website", "%(shown)s of %(total)s websites", total)
    return text % {"shown": number_format(shown), "total": number_format(total)}


def _pager(filters: SiteFilters, last: int) -> Pager:
    def url(page: int) -> str:
        return sites_url(replace(filters, page=page)) if 1 <= page <= last else ""

    return Pager(
        links=tuple(page_links(filters.page, last, url)) if last > 1 else (),
        sizes=(),
        previous_url=url(filters.page - 1),
        next_url=url(filters.page + 1),
        remark="",
    )
