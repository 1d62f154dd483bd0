"""The answer: what is read from the database, and the nine members made of it, in their order."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time

from django.db.models import Count, Min, Q
from django.db.models.functions import Left, Lower, TruncWeek

from dashboard_api import policy, sections
from dashboard_api.contract import ChartAnswer, DashboardAnswer, DashboardQuestion, SummaryAnswer
from dashboard_api.found import Found
from dashboard_api.models import AnalystNote, Coverage, Finding, SiteLink, Source, Website
from dashboard_api.models.findings import FindingQuerySet
from dashboard_api.tally import Counts, Tally


def build_dashboard(link: SiteLink, question: DashboardQuestion, now: datetime) -> DashboardAnswer:
    """Everything about the linked website at ``now``; the number of statements does not depend on rows."""
    website = link.website
    open_tally = _tally(website.findings.with_status(Finding.Status.OPEN))
    counts: Counts = open_tally
    if question.query:
        counts = Found(website.pk, question, Source.objects.all())
    elif question.status != Finding.Status.OPEN:
        counts = _tally(website.findings.with_status(question.status))
    runs = list(website.coverage.all())
    engines = _engines(runs, counts, open_tally)
    names = {engine.slug: engine.name for engine in engines}
    return DashboardAnswer(
        ok=True,
        host=website.host,
        dashboard=sections.page(
            question, counts=counts, sources=names, grade=sections.grade(open_tally, runs), now=now
        ),
        summary=_summary(website, open_tally, runs, now),
        threats=[sections.threat(finding) for finding in _page_of_findings(website, question, counts)],
        charts=_charts(website, question, counts.filtered(question), names, now.date()),
        coverage=sections.coverage(engines, runs, open_tally),
        analyst_notes=[sections.note(row) for row in _notes(link)],
        entitlement=sections.entitlement(
            link.account.entitlement,
            sites_used=link.account.links.not_revoked().count(),
            today=now.date(),
        ),
    )


def _tally(findings: FindingQuerySet) -> Tally:
    return Tally(
        findings.order_by().values_list("severity", "source__slug", "kind").annotate(count=Count("*"))
    )


def _engines(runs: Sequence[Coverage], *counts: Counts) -> list[Source]:
    """Engines that are expected to check the website, and those that did or found something."""
    return list(
        Source.objects.filter(
            Q(enabled=True)
            | Q(pk__in=[run.source_id for run in runs])
            | Q(slug__in=set().union(*(each.sources() for each in counts)))
        ).order_by(Lower("name"), "slug")
    )


def _filtered(findings: FindingQuerySet, question: DashboardQuestion) -> FindingQuerySet:
    if question.severity is not None:
        findings = findings.filter(severity=question.severity)
    if question.source is not None:
        findings = findings.filter(source__slug=question.source)
    if question.kind is not None:
        findings = findings.filter(kind=question.kind)
    return findings


def _page_of_findings(website: Website, question: DashboardQuestion, counts: Counts) -> FindingQuerySet:
    start = (question.page - 1) * question.page_size
    page = slice(start, start + question.page_size)
    if isinstance(counts, Found):
        rows = website.findings.filter(pk__in=counts.ids()[page]).worst_first()
    else:
        rows = _filtered(website.findings.with_status(question.status), question).worst_first()[page]
    evidence_start = Left("evidence", policy.MAX_EVIDENCE_BYTES + 1)
    return rows.select_related("source").defer("evidence").annotate(evidence_start=evidence_start)


def _summary(website: Website, open_tally: Tally, runs: Sequence[Coverage], now: datetime) -> SummaryAnswer:
    recently = now - policy.RECENT_PERIOD
    counts = website.findings.aggregate(
        new=Count("pk", filter=Q(first_seen__gt=recently)),
        fixed=Count("pk", filter=Q(fixed_at__gt=recently)),
        oldest=Min("first_seen", filter=Q(status=Finding.Status.OPEN)),
    )
    return sections.summary(open_tally, coverage=runs, now=now, **counts)


def _charts(
    website: Website, question: DashboardQuestion, tally: Tally, names: dict[str, str], today: date
) -> list[ChartAnswer]:
    """History follows severity, source and kind, whatever the status and the words."""
    weeks = sections.recent_weeks(today)
    history = _filtered(website.findings.all(), question)
    return sections.charts(
        tally,
        sources=names,
        weeks=weeks,
        new=_per_week(history, "first_seen", weeks[0]),
        fixed=_per_week(history, "fixed_at", weeks[0]),
    )


def _per_week(findings: FindingQuerySet, field: str, since: date) -> dict[date, int]:
    start = datetime.combine(since, time.min, tzinfo=UTC)
    rows = (
        findings.filter(**{f"{field}__gte": start})
        .order_by()
        .values_list(TruncWeek(field, tzinfo=UTC))
        .annotate(count=Count("*"))
    )
    return {week.date(): count for week, count in rows}


def _notes(link: SiteLink) -> list[AnalystNote]:
    return list(link.website.notes.visible_to(link.account_id)[: policy.MAX_NOTES])
