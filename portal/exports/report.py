"""A report with the worst findings of a list in full, from one response, so that all parts agree."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

import msgspec
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.addresses.hosts import readable_host
from portal.answers import service
from portal.exports.files import MAX_ROWS
from portal.models import Website
from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models.answered import answer_badge
from portal.pages.view_models.export_links import pdf_available
from portal.pages.view_models.filters import Chip, chips
from portal.pages.view_models.finding import FindingView, finding_view
from portal.pages.view_models.findings import NoteView, note_view
from portal.pages.view_models.overview import (
    CoverageRow,
    EmptyState,
    Overview,
    coverage_rows,
    empty_state,
    overview,
)
from portal.pages.view_models.problems import DoFirst, do_first
from portal.pages.view_models.reader import VISITOR, Reader, reader_of
from portal.pages.view_models.site import count_text
from portal.texts import labels, topics
from signed_api.answering import AnsweredFinding, AnswersRequest
from signed_api.answers import ACCEPTED
from signed_api.findings import DashboardResponse, FindingDetail, FindingResponse, Note, Threat

MAX_FINDINGS = 100  # the most in one response of the service


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemPart:
    """The findings with one problem: the worst in full, and the others with their differences."""

    worst: FindingView
    others: tuple[FindingView, ...]

    @property
    def title(self) -> str:
        """The topic's title for several findings, else the title of the worst."""
        return self.worst.topic if self.is_title_translated else self.worst.title

    @property
    def is_title_translated(self) -> bool:
        """Whether the title is a topic's."""
        return bool(self.others and self.worst.topic)

    @property
    def count(self) -> str:
        """The number of findings as text; empty for one."""
        count = len(self.others) + 1
        text = ngettext("%(count)s finding", "%(count)s findings", count)
        return text % {"count": number_format(count)} if self.others else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRisk:
    """Accepted risks of one problem that end on the same day; ``count`` is text, and empty for one."""

    title: str
    is_translated: bool
    severity: str
    tone: str
    count: str
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The contents of a report.

    ``do_first`` has the worst problems, unless the list is filtered. ``limit`` says which findings are left
    out. ``accepted`` has the risks that the account accepts, the next end first. ``pdf_url`` is empty if this
    deployment makes no PDFs.
    """

    host: str
    account: str
    generated_at: datetime
    filters: tuple[Chip, ...]
    count: str
    limit: str
    overview: Overview
    do_first: DoFirst | None
    accepted: tuple[AcceptedRisk, ...]
    coverage: tuple[CoverageRow, ...]
    notes: tuple[NoteView, ...]
    findings: tuple[FindingView, ...]
    empty_state: EmptyState | None
    list_url: str
    pdf_url: str

    @property
    def title(self) -> str:
        """The title of the page and of the PDF."""
        return _("Security report: %(host)s") % {"host": readable_host(self.host)}

    @property
    def problems(self) -> list[ProblemPart]:
        """The findings grouped by problem, in the order of the list."""
        groups: dict[str, list[FindingView]] = {}
        for finding in self.findings:
            groups.setdefault(finding.problem_url or finding.row_key, []).append(finding)
        return [ProblemPart(worst=worst, others=tuple(others)) for worst, *others in groups.values()]


def get_report(request: HttpRequest, website: Website, address: Address) -> tuple[Report, DashboardResponse]:
    """Return the report and its dashboard; raises CallError."""
    reader = reader_of(website.account_id, request.user)
    filters = replace(address.filters.of_person(reader.me), page=1, page_size=MAX_FINDINGS)
    dashboard = service.get_dashboard(website, filters.to_request())
    accepted: list[AnsweredFinding] = []
    if dashboard.summary.answers.get(ACCEPTED):
        accepted = service.get_answers(
            website, AnswersRequest(answer=ACCEPTED, page_size=MAX_FINDINGS)
        ).answers
    absolute = request.build_absolute_uri
    report = build_report(dashboard, website, address, absolute=absolute, reader=reader, accepted=accepted)
    return report, dashboard


def build_report(
    dashboard: DashboardResponse,
    website: Website,
    address: Address,
    *,
    absolute: Callable[[str], str],
    reader: Reader = VISITOR,
    accepted: Sequence[AnsweredFinding] = (),
) -> Report:
    """Return the report of ``dashboard``; ``absolute`` makes a path an absolute URL."""
    list_address = replace(address, filters=address.filters.without_page)
    notes: Mapping[str, list[Note]] = defaultdict(list)
    for note in dashboard.analyst_notes:
        notes[note.finding_id or ""].append(note)
    today = dashboard.dashboard.generated_at.date()
    findings = tuple(
        replace(
            _finding_view(threat, notes[threat.id], list_address, absolute),
            answer=str(answer_badge(threat, reader, today) or ""),
        )
        for threat in dashboard.threats
    )
    ids = {threat.id for threat in dashboard.threats}
    pdf_url = str(replace(list_address, path=f"{list_address.path}report.pdf"))
    return Report(
        host=dashboard.host,
        account=str(website.account),
        generated_at=dashboard.dashboard.generated_at,
        filters=chips(dashboard.dashboard.facets, list_address, reader=reader),
        count=count_text(dashboard, list_address.filters),
        limit=_limit(dashboard, findings),
        overview=overview(dashboard, list_address),
        do_first=do_first(dashboard, list_address),
        accepted=_accepted_risks(accepted),
        coverage=coverage_rows(dashboard.coverage, list_address),
        notes=tuple(note_view(note) for note in dashboard.analyst_notes if note.finding_id not in ids),
        findings=findings,
        empty_state=None if findings else empty_state(dashboard, list_address),
        list_url=str(list_address),
        pdf_url=pdf_url if pdf_available() else "",
    )


def _finding_view(
    threat: Threat, notes: list[Note], list_address: Address, absolute: Callable[[str], str]
) -> FindingView:
    """Return a finding as on its own page, linked to that page."""
    path = replace(list_address, filters=Filters()).of_finding(threat.id)
    finding = FindingDetail(**msgspec.structs.asdict(threat), locations=[], timeline=[], decided_until=None)
    response = FindingResponse(
        ok=True, host="", finding=finding, analyst_notes=notes, can_retest=False, also_found_by=[]
    )
    return finding_view(response, list_address, link=absolute(path) if path else "")


def _accepted_risks(answers: Iterable[AnsweredFinding]) -> tuple[AcceptedRisk, ...]:
    """Return the accepted risks by end and problem, the next end first."""
    groups: dict[tuple[date, str], list[AnsweredFinding]] = defaultdict(list)
    for each in answers:
        if each.answer.until:
            groups[each.answer.until, each.problem].append(each)
    risks = []
    for (until, problem), same in sorted(groups.items()):
        worst = min(same, key=lambda each: labels.severity_rank(each.severity))
        count = ngettext("%(count)s finding", "%(count)s findings", len(same))
        risks.append(
            AcceptedRisk(
                title=topics.title_of(problem) or worst.title,
                is_translated=bool(topics.title_of(problem)),
                severity=labels.label(labels.SEVERITIES, worst.severity),
                tone=labels.tone(worst.severity),
                count=count % {"count": number_format(len(same))} if len(same) > 1 else "",
                end=_("until %(day)s") % {"day": labels.day(until)},
            )
        )
    return tuple(risks)


def _limit(dashboard: DashboardResponse, findings: Sequence[FindingView]) -> str:
    """Return a sentence about the findings that the report leaves out; empty if it has all."""
    if dashboard.dashboard.total <= len(findings):
        return ""
    text = _("This report has the worst %(shown)s. Files (CSV, JSON, SARIF) hold up to %(most)s findings.")
    return text % {"shown": number_format(len(findings)), "most": number_format(MAX_ROWS)}
