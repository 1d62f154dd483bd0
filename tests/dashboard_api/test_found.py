"""What a question with words counts when more is found than is counted."""

import pytest
from django.utils import timezone

from dashboard_api import policy
from dashboard_api.contract import read_question
from dashboard_api.dashboard import build_dashboard
from dashboard_api.models import Kind, Severity
from tests.dashboard_api.calls import fields_for, seen
from tests.factories import make_finding, make_link, make_source

pytestmark = pytest.mark.django_db

BOUND = 6  # of pages of as many as there are by default, and of smaller ones


@pytest.fixture(autouse=True)
def _bound(monkeypatch):
    monkeypatch.setattr(policy, "MAX_COUNTED_PAGES", 1)
    monkeypatch.setattr(policy, "DEFAULT_PAGE_SIZE", BOUND)


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def varied(link):
    """Two of each combination, in no order."""
    for kind in Kind:
        for slug in ("zap", "nuclei"):
            for severity in (Severity.LOW, Severity.CRITICAL, Severity.INFO):
                for title in ("weak cipher", "weak header"):
                    make_finding(
                        link.website, severity=severity, source=make_source(slug), kind=kind, title=title
                    )


def answer(link, **filters):
    fields = fields_for(link, **{"page_size": BOUND} | filters)
    return build_dashboard(seen(link), read_question(fields), timezone.now())


def total(link, **filters):
    page = answer(link, **filters).dashboard
    return page.total, page.total_relation, page.page_count


def test_as_many_matches_as_are_counted_are_an_exact_total(link):
    for number in range(BOUND):
        make_finding(link.website, title=f"weak {number}")
    assert total(link, query="weak", page_size=4) == (BOUND, "exact", 2)


def test_one_match_more_makes_the_total_a_lower_bound(link):
    for number in range(BOUND + 1):
        make_finding(link.website, title=f"weak {number}")
    assert total(link, query="weak", page_size=4) == (BOUND, "at_least", 2)


def test_larger_pages_count_and_list_more(link, varied):
    assert total(link, query="weak", page_size=BOUND + 1) == (BOUND + 1, "at_least", 1)
    assert total(link, query="weak", page_size=36) == (36, "exact", 1)


def test_a_question_without_words_is_counted_exactly(link, varied):
    assert total(link)[:2] == (36, "exact")


def test_the_counted_matches_are_the_worst(link, varied):
    shown = answer(link, query="weak").threats
    worst = link.website.findings.worst_first()[:BOUND]
    assert [threat.id for threat in shown] == [str(finding.pk) for finding in worst]


def test_pages_end_with_the_counted_matches(link, varied):
    pages = [answer(link, query="weak", page=page, page_size=4).threats for page in (1, 2, 3)]
    assert [len(page) for page in pages] == [4, 2, 0]
    assert len({threat.id for page in pages for threat in page}) == BOUND


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"severity": "Info"},
        {"source": "zap"},
        {"kind": "suspected"},
        {"severity": "Low", "source": "nuclei", "kind": "confirmed"},
    ],
)
def test_every_facet_adds_up_to_the_total_that_leaving_it_out_gives(link, varied, filters):
    facets = answer(link, query="weak", **filters).dashboard.facets
    for name in ("severity", "source", "kind"):
        without = {key: value for key, value in filters.items() if key != name}
        counted = sum(value.count for value in getattr(facets, name))
        assert counted == total(link, query="weak", **without)[0], name


@pytest.mark.parametrize(
    ("filters", "bounded"),
    [
        ({"query": "weak"}, ["severity", "source", "kind"]),
        ({"query": "weak", "severity": "Low", "source": "zap", "kind": "confirmed"}, []),
        ({"query": "weak", "severity": "Low", "source": "zap"}, ["severity", "source"]),
        ({}, []),
    ],
)
def test_a_facet_that_counts_the_worst_alone_is_named(link, varied, filters, bounded):
    assert answer(link, **filters).dashboard.bounded_facets == bounded


@pytest.mark.parametrize("filters", [{}, {"severity": "Info"}, {"source": "zap", "kind": "suspected"}])
def test_charts_show_the_counted_matches(link, varied, filters):
    shown = answer(link, query="weak", **filters)
    for chart in shown.charts[:3]:
        assert sum(sum(series.values) for series in chart.series) == shown.dashboard.total, chart.id
