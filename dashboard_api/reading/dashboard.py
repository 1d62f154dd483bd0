"""The dashboard response: reads the data, and builds the nine members in their order."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from dashboard_api import limits
from dashboard_api.models import Finding
from dashboard_api.queries import overview
from dashboard_api.queries.credentials import AccountSite, ScheduleRow
from dashboard_api.queries.overview import SourceRow
from dashboard_api.reading import grading, problems, rows, sections
from dashboard_api.reading.answered import NOT_ANSWERED, Opened, answered_by, answers_of_rows
from dashboard_api.reading.found import Found
from dashboard_api.reading.matching import check_sources
from dashboard_api.reading.website import Website, WebsiteOfAccount, read_of_account, read_website
from signed_api import findings as contract
from signed_api.findings import DashboardRequest


def build_dashboard(
    link: AccountSite,
    request: DashboardRequest,
    now: datetime,
    schedules: Mapping[str, Sequence[ScheduleRow]] = MappingProxyType({}),  # empty, and not to be changed
    scanners: Collection[str] = (),
) -> contract.DashboardResponse:
    """Return the dashboard of the linked website at ``now``.

    ``schedules`` maps the slug of each scanner of our own to the schedules that run it. ``scanners`` has the
    slugs of scanners that this deployment can run for the website.
    """
    today = now.date()
    website = read_website(link.website_id, today)
    sources, runs = overview.sources(link.website_id, scanners)
    sources = sections.applicable(sources, runs, scanners, schedules=schedules)
    sources.sort(key=lambda source: (source.name.lower(), source.slug))
    by_id = {source.pk: source for source in sources}
    check_sources(request, sources)
    answered = answered_by(link, now)
    of_account = read_of_account(website, link, answered) if answered.is_used else website
    found = Found(link.website_id, of_account.cells, answered, request, sources, now)
    history = overview.history(link.website_id, first_day=today - limits.HISTORY_PERIOD, today=today)
    history = sections.with_today(history, website.open, today)
    levels = grading.without_duplicates(
        grading.levels_of(website.open.by_kind_and_severity), website.duplicates
    )
    completed = grading.completed_on_pages(runs, by_id)
    graded = grading.grade(levels, completed)
    return contract.DashboardResponse(
        ok=True,
        host=link.host,
        dashboard=sections.page(
            request,
            found=found,
            sources=sources,
            grade=graded,
            tags=link.tags,
            do_first=_do_first(link, request, of_account, found, by_id),
            problem_page=_problem_page(link, request, website, found, by_id),
            answers_version=link.answers.version,
            now=now,
        ),
        summary=sections.summary(
            website,
            # Checks of pages count first: only they decide the grade.
            last_scan_at=max(
                (run.completed_at for run in completed or runs if run.completed_at), default=None
            ),
            first_check_by=sections.first_check_by(
                sources, runs, linked_on=link.linked_at.date(), schedules=schedules, today=today
            ),
            graded=graded,
            history=grading.history(
                history, first_day=today - limits.HISTORY_PERIOD, graded=graded, duplicates=website.duplicates
            ),
            cells=of_account.cells,
            now=now,
        ),
        threats=[] if request.group_by else _threats(link, request, found, by_id),
        charts=sections.charts(found, website, sources=sources, history=history, today=today),
        coverage=sections.coverage(sources, runs, website.open, schedules=schedules, today=today),
        analyst_notes=[sections.note(row) for row in overview.notes(link.website_id, link.account_id)],
        entitlement=sections.entitlement(link, today=today),
    )


def _threats(
    link: AccountSite, request: DashboardRequest, found: Found, sources: Mapping[int, SourceRow]
) -> list[contract.Threat]:
    """Return the requested page of findings with the account's answers."""
    page = rows.page(link.website_id, request, found.filters, found.match, found.answered, sources)
    opened = [Opened(row.pk, row.severity, row.status, row.first_seen) for row in page]
    answers = answers_of_rows(link, opened)
    return [sections.threat(row, answers.get(row.pk, NOT_ANSWERED)) for row in page]


def _do_first(
    link: AccountSite,
    request: DashboardRequest,
    of_account: Website | WebsiteOfAccount,
    found: Found,
    sources: Mapping[int, SourceRow],
) -> list[contract.Problem]:
    """Return the worst open problems, but only for the first page of a request without filters."""
    if request.page > 1 or request.status != Finding.Status.OPEN or not found.is_everything():
        return []
    if of_account.to_do is None:
        worst = problems.first_to_do(problems.group_by_problem(of_account.problems))
        of_account.to_do = _described(link, request, found, worst, sources)
    return of_account.to_do


def _described(
    link: AccountSite,
    request: DashboardRequest,
    found: Found,
    groups: Sequence[problems.ProblemGroup],
    sources: Mapping[int, SourceRow],
) -> list[contract.Problem]:
    return problems.describe_problems(
        link.website_id,
        groups,
        sources,
        status=request.status,
        filters=found.filters,
        match=found.match,
        answered=found.answered,
        account_id=link.account_id,
    )


def _problem_page(
    link: AccountSite,
    request: DashboardRequest,
    website: Website,
    found: Found,
    sources: Mapping[int, SourceRow],
) -> sections.ProblemPage | None:
    """Return the requested page of problems, unless the request lists findings."""
    if not request.group_by:
        return None
    if found.is_everything() and request.status == Finding.Status.OPEN:
        cells = website.problems
    else:
        cells = problems.read_problems(
            link.website_id, request.status, found.filters, found.match, found.answered
        )
    groups = problems.group_by_problem(cells, sort=request.sort)
    end = request.page * request.page_size
    shown = _described(link, request, found, groups[end - request.page_size : end], sources)
    return sections.ProblemPage(shown, total=len(groups))
