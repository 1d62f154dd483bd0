"""The findings that describe problems, and the counts of a search's matches by problem."""

import pytest
from django.db.models import Count, Max, Min, Q, Sum
from django.db.models.functions import Left

from dashboard_api import limits
from dashboard_api.models import Finding, Kind
from dashboard_api.queries import problem_rows
from dashboard_api.queries.problem_rows import ProblemPart, ProblemSample
from tests.dashboard_api.queries.varied import make_varied_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def site():
    return make_varied_website()


@pytest.mark.parametrize("statuses", [["open"], Finding.Status.values])
def test_samples_are_the_newest_of_each_part_and_the_first(site, statuses, monkeypatch):
    monkeypatch.setattr(limits, "MAX_PROBLEM_SAMPLES", 2)
    monkeypatch.setattr(limits, "MAX_FIX_START", 4)
    site.findings.update(remediation="Update")
    parts = site.findings.order_by().values_list("problem", "severity").distinct()[::2]
    expected = set()
    for problem, severity in parts:
        ids = list(
            site.findings.filter(problem=problem, severity=severity, status__in=statuses)
            .order_by("pk")
            .values_list("pk", flat=True)
        )
        expected |= {*ids[:1], *ids[-2:]}
    twins = Finding.objects.filter(pk__in=expected).annotate(fix_start=Left("remediation", 4))
    found = problem_rows.samples(site.pk, [ProblemPart(*part) for part in parts], statuses=statuses)
    assert sorted(found) == sorted(twins.values_list(*ProblemSample._fields))
    assert {sample.fix_start for sample in found} == {"Upda"}
    assert problem_rows.samples(site.pk, [], statuses=statuses) == []


@pytest.mark.parametrize("statuses", [["fixed"], Finding.Status.values])
@pytest.mark.parametrize(("sort", "end"), [("newest", Max), ("oldest", Min)])
def test_ends_are_the_newest_or_oldest_finding_of_each_part_that_has_one(site, statuses, sort, end):
    by_part = site.findings.order_by().values_list("problem", "severity")
    twin = by_part.filter(status__in=statuses).annotate(end=end("pk"))
    expected = {(problem, severity): pk for problem, severity, pk in twin}
    parts = [*(ProblemPart(*part) for part in by_part.distinct()), ProblemPart("0" * 16, 4)]
    assert problem_rows.ends(site.pk, parts, statuses=statuses, sort=sort) == expected


def test_matches_are_counted_by_problem_and_severity(site):
    keys = list(site.findings.values_list("pk", flat=True)[:200])
    twin = (
        Finding.objects.filter(pk__in=keys)
        .order_by()
        .values_list("severity", "problem", "source_id")
        .annotate(
            **{kind: Count("pk", filter=Q(kind=kind)) for kind in Kind.values},
            locations=Sum("locations_count"),
            newest=Max("pk"),
            oldest=Min("pk"),
        )
    )
    assert sorted(problem_rows.totals_of(keys)) == sorted(twin)
    assert problem_rows.totals_of([]) == []
