"""The same answer with its findings counted and listed by plain ORM queries: right, indexed, and linear.

Free text is left out; signature, nonce, link, wording of the members and encoding are the product's own.
"""

from datetime import UTC, date, datetime, time, timedelta

import msgspec
from django.db.models import Count, Max, Min, Q
from django.db.models.functions import Left, TruncWeek
from django.http import HttpRequest

from dashboard_api import policy, sections
from dashboard_api.access import linked_site
from dashboard_api.authentication import authenticate
from dashboard_api.contract import DashboardAnswer, DashboardQuestion, read_question
from dashboard_api.endpoint import json_endpoint, receive
from dashboard_api.models import Finding, Source, Website
from dashboard_api.models.callers import Seen
from dashboard_api.models.findings import FindingQuerySet
from dashboard_api.models.overview import Recent, Week
from dashboard_api.tally import Tally

PATH = "/benchmark/plain"


@json_endpoint
def plain(request: HttpRequest) -> bytes:
    """The product's view, but for the queries."""
    call = receive(request, PATH)
    caller = authenticate(call)
    question = read_question(caller.fields)
    link = linked_site(caller.link, question, call.moment)
    return msgspec.json.encode(answer(link, question, call.moment))


def answer(link: Seen, question: DashboardQuestion, now: datetime) -> DashboardAnswer:
    """What ``build_dashboard`` answers."""
    website = Website.objects.get(pk=link.website_id)
    opened = _tally(website.findings.with_status(Finding.Status.OPEN))
    matching = website.findings.with_status(question.status)
    tally = opened if question.status == Finding.Status.OPEN else _tally(matching)
    runs = list(website.coverage.all())
    engines = list(Source.objects.filter(enabled=True).order_by("name", "slug"))
    names = {engine.slug: engine.name for engine in engines}
    weeks = sections.recent_weeks(now.date())
    history = _filtered(website.findings.all(), question)
    return DashboardAnswer(
        ok=True,
        host=website.host,
        dashboard=sections.page(
            question,
            counts=tally,
            by_status=_by_status(history),
            sources=names,
            grade=sections.grade(opened, runs),
            tags=link.tags,
            now=now,
        ),
        summary=sections.summary(
            opened,
            recent=_recent(website.findings.all(), now.date()),
            coverage=runs,
            first_check_by=sections.first_check_by(engines, runs, linked_on=link.linked_at.date()),
            now=now,
        ),
        threats=[sections.threat(finding) for finding in _page(matching, question)],
        charts=sections.charts(
            tally.filtered(question),
            sources=names,
            weeks=weeks,
            history=_history(history, weeks),
        ),
        coverage=sections.coverage(engines, runs, opened, today=now.date()),
        analyst_notes=[sections.note(row) for row in website.notes.visible_to(link.account_id)],
        entitlement=sections.entitlement(link, today=now.date()),
    )


def _tally(findings: FindingQuerySet) -> Tally:
    return Tally(
        findings.order_by().values_list("severity", "source__slug", "kind").annotate(count=Count("*"))
    )


def _by_status(findings: FindingQuerySet) -> dict[str, int]:
    return dict(findings.order_by().values_list("status").annotate(count=Count("*")))


def _filtered(findings: FindingQuerySet, question: DashboardQuestion) -> FindingQuerySet:
    wanted = {"severity": question.severity, "source__slug": question.source, "kind": question.kind}
    return findings.filter(**{name: value for name, value in wanted.items() if value is not None})


def _page(matching: FindingQuerySet, question: DashboardQuestion) -> FindingQuerySet:
    start = (question.page - 1) * question.page_size
    rows = _filtered(matching, question).worst_first().select_related("source").defer("evidence")
    beginning = Left("evidence", policy.MAX_EVIDENCE_BYTES + 1)
    return rows.annotate(evidence_start=beginning)[start : start + question.page_size]


def _recent(findings: FindingQuerySet, today: date) -> Recent:
    """The last seven days of the calendar, today included."""
    since = _midnight(today - policy.RECENT_PERIOD + timedelta(days=1))
    counts = findings.aggregate(
        new=Count("pk", filter=Q(first_seen__gte=since)),
        fixed=Count("pk", filter=Q(fixed_at__gte=since)),
        oldest=Min("first_seen", filter=Q(status=Finding.Status.OPEN)),
        newest=Max("first_seen", filter=Q(status=Finding.Status.OPEN)),
    )
    return Recent(
        counts["new"],
        counts["fixed"],
        *(counts[name] and counts[name].date() for name in ("oldest", "newest")),
    )


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def _history(findings: FindingQuerySet, weeks: list[date]) -> list[Week]:
    new, fixed = (_per_week(findings, field, weeks[0]) for field in ("first_seen", "fixed_at"))
    return [Week(week, new.get(week, 0), fixed.get(week, 0)) for week in weeks]


def _per_week(findings: FindingQuerySet, field: str, since: date) -> dict[date, int]:
    rows = (
        findings.filter(**{f"{field}__gte": _midnight(since)})
        .order_by()
        .values_list(TruncWeek(field, tzinfo=UTC))
        .annotate(count=Count("*"))
    )
    return {week.date(): count for week, count in rows}
