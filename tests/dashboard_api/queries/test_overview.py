"""Each list of the overview is what its twin by the ORM finding_rows."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models import Count, Max, Min, Q, Sum, Value
from django.db.models.functions import TruncWeek

from dashboard_api import limits
from dashboard_api.models import (
    AnalystNote,
    Coverage,
    ImportRun,
    Kind,
    OpenCount,
    ProblemCount,
    ScanJob,
    Source,
)
from dashboard_api.queries import overview as reading
from dashboard_api.queries.overview import Filters, Note, OpenDay, ProblemTotals, Run
from dashboard_api.reading.dashboard import UNKNOWN_SOURCE
from tests.dashboard_api.queries.varied import FILTERS, HOSTS, STATUSES, TODAY, filtered, make_varied_website
from tests.factories import (
    make_account,
    make_coverage,
    make_engine_run,
    make_finding,
    make_import_run,
    make_link,
    make_note,
    make_source,
    make_website,
)

pytestmark = pytest.mark.django_db
MONDAY = (TODAY - timedelta(weeks=12, days=TODAY.weekday())).date()
RECENT = TODAY.date() - timedelta(days=6)
AGE_DAYS = [TODAY.date() - timedelta(days=days) for days in limits.AGE_DAYS]
NO_ACCOUNT = 0


@pytest.fixture
def site():
    """Findings far apart in time."""
    return make_varied_website()


def overview(
    website,
    account_id=NO_ACCOUNT,
    *,
    status=None,
    most_problems=0,
    problem_keys=(),
    topic_keys=(),
    hosts=(),
    **filters,
):
    filters = {name: [value] for name, value in filters.items() if value is not None}
    return reading.overview(
        website.pk,
        account_id,
        status=status,
        filters=filters,
        first_week=MONDAY,
        recent_day=RECENT,
        age_days=AGE_DAYS,
        history_day=RECENT,
        most_problems=most_problems,
        problem_keys=problem_keys,
        topic_keys=topic_keys,
        counts_hosts=not hosts,
        hosts=hosts,
    )


def by_id(filters):
    """Filters as the product has them: engines by their ids."""
    ids = dict(Source.objects.values_list("slug", "pk"))
    values = (filters["severity"], filters["source"], filters["kind"])
    severity, source, kind = (None if value is None else (value,) for value in values)
    source_ids = None if source is None else (ids.get(filters["source"], UNKNOWN_SOURCE),)
    return Filters(severity, source_ids, kind)


def midnight(day):
    return datetime.combine(day, datetime.min.time(), tzinfo=UTC)


def test_sources_and_their_runs_on_the_website(site):
    make_source("enabled", name="aaa", interval_days=3)
    make_coverage(site, source=make_source("zap"), urls_checked=7, detail='so "so"', completed_at=None)
    make_coverage(site, source=make_source("ran", enabled=False))
    make_finding(site, source=make_source("found", enabled=False), status="fixed", fixed_at=TODAY)
    make_finding(make_website("third.example.com"), source=make_source("another", enabled=False))
    read = overview(site).sources
    sources = Source.objects.exclude(slug="another")
    sources = sources.values_list("pk", "slug", "name", "enabled", "interval_days")
    assert sorted(read) == sorted(reading.sources(site.pk)) == sorted(sources)
    assert {type(source.enabled) for source in read} == {bool}
    runs = Coverage.objects.filter(website=site).values_list(*Run._fields[:-1])
    assert sorted(run[:-1] for run in overview(site).runs) == sorted(runs)


def test_a_run_is_ours_if_the_newest_import_is_that_of_a_scan(site):
    job = ScanJob.objects.create(website=site)
    for slug, imports in {"ours": (False, True), "theirs": (True, False)}.items():
        source = make_source(slug)
        make_coverage(site, source=source)
        for is_ours in imports:
            run = make_import_run(site, source=source)
            if is_ours:
                make_engine_run(job, import_run=run)
    make_coverage(site, source=make_source("never imported"))

    def ours():
        names = dict(Source.objects.values_list("pk", "slug"))
        return {names[run.source_id] for run in overview(site).runs if run.ours_at}

    assert ours() == {"ours"}
    undone = {"undone_at": TODAY, "undone_by": "ada", "undone_reason": "wrong file"}
    ImportRun.objects.filter(pk__in=site.imports.filter(source__slug="theirs")[:1]).update(**undone)
    assert ours() == {"ours", "theirs"}


@pytest.mark.parametrize("status", [*STATUSES, None])
def test_buckets_count_what_is_open_and_what_is_asked_for(site, status):
    statuses = STATUSES if status is None else ["open", status]
    twin = (
        site.findings.filter(status__in=statuses)
        .order_by()
        .values_list("status", "severity", "source_id", "kind")
        .annotate(findings=Count("*"))
    )
    assert sorted(bucket[:5] for bucket in overview(site, status=status).buckets) == sorted(twin)


@pytest.mark.parametrize("filters", FILTERS)
def test_every_status_is_counted_under_the_filters(site, filters):
    twin = filtered(site.findings, **filters).order_by().values_list("status").annotate(findings=Count("*"))
    assert dict(overview(site, status="open", **filters).statuses) == dict(twin)


@pytest.mark.parametrize("filters", FILTERS)
def test_buckets_pass_filters_as_findings_do(site, filters):
    twin = filtered(site.findings, **filters).count()
    passing = [bucket for bucket in overview(site).buckets if bucket.passes(by_id(filters))]
    assert sum(bucket.findings for bucket in passing) == twin


def test_a_statement_has_two_texts_whatever_the_filters(site):
    texts = set()

    def keep(execute, sql, parameters, many, context):
        texts.add(sql)
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(keep):
        for filters in [{}, *FILTERS]:
            overview(site, status="open", most_problems=5, **filters)
    assert len(texts) == 2


def by_kind():
    return {kind: Count("pk", filter=Q(kind=kind)) for kind in Kind.values}


@pytest.mark.parametrize("filters", [{}, {"severity": 2}, {"source": "zap"}, {"status": "fixed"}])
def test_problems_are_the_worst_under_the_filters(site, filters):
    rows = filtered(site.findings, **{name: value for name, value in filters.items() if name != "status"})
    twin = list(
        rows.filter(status=filters.get("status", "open"))
        .order_by("-severity")
        .values_list("severity", "problem", "source_id")
        .annotate(**by_kind(), locations=Sum("locations_count"))
    )
    filters = {"status": "open"} | filters
    read = overview(site, **filters, most_problems=1_000).problems
    assert sorted(row[:7] for row in read) == sorted(twin)
    worst = [row.severity for row in overview(site, **filters, most_problems=7).problems]
    assert worst == [row[0] for row in twin[:7]]
    assert overview(site, **filters).problems == []


def test_problems_of_all_statuses_are_the_worst(site):
    twin = (
        site.findings.order_by("-severity")
        .values_list("severity", "problem", "source_id", "status")
        .annotate(**by_kind(), locations=Sum("locations_count"))
    )
    read = overview(site, most_problems=1_000).problems
    assert sorted(row[:7] for row in read) == sorted(row[:3] + row[4:] for row in twin)
    worst = [row.severity for row in overview(site, most_problems=30).problems]
    assert worst == [row[0] for row in twin[:30]]


def test_problems_are_filtered_by_kind_afterwards(site):
    (first, *_) = overview(site, status="open", kind="suspected", most_problems=1).problems
    left = first.of_kinds(["suspected", "confirmed"])
    assert (left.confirmed, left.suspected, left.informational) == (first.confirmed, first.suspected, 0)
    assert left.findings == first.confirmed + first.suspected


def test_the_buckets_of_a_problem_are_those_of_its_findings(site):
    keys = list(site.findings.values_list("problem", flat=True).distinct()[:3])
    twin = (
        site.findings.filter(problem__in=keys)
        .order_by()
        .values_list("status", "severity", "source_id", "kind")
        .annotate(findings=Count("*"))
        .values_list("status", "severity", "source_id", "kind", "findings", Value(""), "problem")
    )
    assert sorted(overview(site, status="open", problem_keys=keys).problem_buckets) == sorted(twin)
    assert overview(site).problem_buckets == []


def test_topics_are_counted_by_the_keys_of_their_open_problems(site):
    keys = sorted(set(site.findings.values_list("problem", flat=True)))[:5]
    rows = ProblemCount.objects.filter(website_id=site.pk, status="open", problem__in=keys)
    names = ProblemTotals._fields[:7]
    assert sorted(row[:7] for row in overview(site, topic_keys=keys).topic_totals) == sorted(
        rows.values_list(*names)
    )
    assert overview(site).topic_totals == []


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("status", ["open", None])
def test_hosts_are_counted_under_the_filters(site, filters, status):
    rows = filtered(site.findings, **filters)
    rows = rows if status is None else rows.filter(status=status)
    twin = dict(rows.order_by().values_list("host").annotate(count=Count("*")))
    assert {each.host: each.findings for each in overview(site, status=status, **filters).hosts} == twin


@pytest.mark.parametrize("status", ["fixed", None])
def test_the_buckets_of_hosts_are_those_of_their_findings(site, status):
    rows = site.findings.filter(host__in=HOSTS[:2])
    twin = (
        rows.filter(status__in=STATUSES if status is None else [status])
        .order_by()
        .values_list("status", "severity", "source_id", "kind")
        .annotate(findings=Count("*"))
        .values_list("status", "severity", "source_id", "kind", "findings", "host")
    )
    read = overview(site, status=status, hosts=HOSTS[:2], severity=2)
    assert sorted(bucket[:6] for bucket in read.host_buckets) == sorted(twin)
    of_severity = rows.filter(severity=2).order_by().values_list("status").annotate(count=Count("*"))
    assert dict(read.statuses) == dict(of_severity)
    assert read.hosts == []


@pytest.mark.parametrize("filters", FILTERS)
def test_weeks_count_what_was_found_and_fixed_whatever_its_status(site, filters):
    twins = [
        dict(
            filtered(site.findings, **filters)
            .filter(**{f"{field}__gte": midnight(MONDAY)})
            .order_by()
            .values_list(TruncWeek(field, tzinfo=UTC))
            .annotate(count=Count("*"))
        )
        for field in ("first_seen", "fixed_at")
    ]
    found, fixed = ({week.date(): count for week, count in twin.items()} for twin in twins)
    weeks = overview(site, **filters).weeks
    assert {week.monday: week.found for week in weeks if week.found} == found
    assert {week.monday: week.fixed for week in weeks if week.fixed} == fixed


def test_recent_counts_whole_days_and_knows_the_oldest_and_the_newest_that_are_open(site):
    by_age = site.findings.filter(status="open").order_by("first_seen")
    by_age.first().delete()
    by_age.last().delete()
    twin = site.findings.aggregate(
        found=Count("pk", filter=Q(first_seen__gte=midnight(RECENT))),
        fixed=Count("pk", filter=Q(fixed_at__gte=midnight(RECENT))),
        oldest=Min("first_seen", filter=Q(status="open")),
        newest=Max("first_seen", filter=Q(status="open")),
    )
    (recent,) = overview(site).recent
    assert recent == (twin["found"], twin["fixed"], twin["oldest"].date(), twin["newest"].date())
    assert recent.found
    assert recent.fixed


def test_ages_count_the_open_findings_by_their_first_day(site):
    first_days = site.findings.filter(status="open").values_list("first_seen", flat=True)
    twin = Counter(sum(moment < midnight(day) for day in AGE_DAYS) for moment in first_days)
    assert Counter(dict(overview(site).ages)) == twin
    assert len(twin) > 2


def test_of_an_empty_website_nothing_is_read():
    read = overview(make_website())
    assert read.recent == [(0, 0, None, None)]
    assert (read.runs, read.buckets, read.statuses, read.weeks, read.notes) == ([], [], [], [], [])


def test_notes_about_a_finding_are_those_of_the_website_about_it(site):
    link = make_link(website=site)
    first, second = site.findings.all()[:2]
    for number in range(6):
        make_note(site, body=f"{number}", finding=[None, first, second][number % 3], is_internal=number == 1)
    notes = reading.notes_about(first.pk, site.pk, link.account_id)
    assert [note.body for note in notes] == ["4"]
    assert {note.finding_id for note in notes} == {first.pk}


def test_notes_are_the_pinned_and_the_newest_that_may_leave(monkeypatch):
    monkeypatch.setattr(limits, "MAX_NOTES", 3)
    link = make_link()
    other = make_account("acct_0002", secrets=[])
    for number in range(8):
        account = [None, link.account, other][number % 3]
        body = f'{number} "Grüße" \\ \n\t<b>'
        finding = make_finding(link.website, title=f"{number}") if number % 2 else None
        make_note(link.website, body=body, account=account, finding=finding, is_internal=number == 6)
    AnalystNote.objects.filter(body__startswith="0").update(is_pinned=True)
    twin = AnalystNote.objects.filter(website=link.website).visible_to(link.account_id)
    twin = twin.order_by("-is_pinned", "-created_at", "-id")[:3]
    notes = overview(link.website, link.account_id).notes
    columns = {"pk": "id", "problem": "finding__problem", "pinned": "is_pinned"}
    assert notes == list(twin.values_list(*(columns.get(name, name) for name in Note._fields)))
    assert len(notes) == 3


def test_the_history_begins_with_the_last_day_before_the_period(site):
    stranger = make_website("stranger.example.com")
    fields = OpenDay._fields
    OpenCount.objects.all().delete()
    for number, days_ago in enumerate((90, 30, 3, 1)):
        for website in (site, stranger):
            counts = dict.fromkeys(fields[1:], number + (website == stranger))
            OpenCount.objects.create(
                website_id=website.pk, day=TODAY.date() - timedelta(days=days_ago), **counts
            )
    twin = list(OpenCount.objects.filter(website_id=site.pk).order_by("day").values_list(*fields))
    assert overview(site).history == twin[1:]
    OpenCount.objects.filter(website_id=site.pk, day__lt=RECENT).delete()
    assert overview(site).history == twin[2:]
