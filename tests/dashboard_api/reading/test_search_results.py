"""A search counts its matches exactly up to a bound, and lists all of them on its pages."""

import pytest

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Finding, Kind, Severity
from dashboard_api.queries.overview import Filters
from dashboard_api.queries.search import Matches
from dashboard_api.reading.facet_counts import FACETS
from dashboard_api.reading.search_results import SearchResults
from tests.dashboard_api.calls import answer
from tests.factories import make_finding, make_link, make_source

pytestmark = pytest.mark.django_db

BOUND = 6


@pytest.fixture(autouse=True)
def _bound(monkeypatch):
    """A thousand matches take long to make."""
    monkeypatch.setattr(limits, "MAX_COUNTED_MATCHES", BOUND)


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


def total(link, **filters):
    page = answer(link, **filters).dashboard
    return page.total, page.total_relation, page.page_count


def make_matches(link, number):
    Finding.objects.bulk_create(
        Finding(
            website=link.website,
            source=make_source(),
            fingerprint=f"{position}",
            severity=position % 5,
            kind=Kind.CONFIRMED,
            title=f"weak {position}",
        )
        for position in range(number)
    )


@pytest.mark.parametrize(
    ("matches", "expected"),
    [
        (0, (0, "exact", 0)),
        (1, (1, "exact", 1)),
        (BOUND - 1, (BOUND - 1, "exact", 2)),
        (BOUND, (BOUND, "exact", 2)),
        (BOUND + 1, (BOUND, "at_least", 2)),
        (3 * BOUND, (BOUND, "at_least", 2)),
    ],
)
def test_matches_are_counted_exactly_up_to_the_bound(link, matches, expected):
    make_matches(link, matches)
    assert total(link, query="weak", page_size=4) == expected


def test_a_thousand_matches_are_counted_exactly_and_one_more_is_listed(link, monkeypatch):
    monkeypatch.undo()
    make_matches(link, 999)
    make_finding(link.website, severity=Severity.INFO, title="weak cipher")
    assert total(link, query="weak", page_size=100) == (1000, "exact", 10)
    oldest = link.website.findings.worst_first().last()
    make_finding(link.website, severity=Severity.CRITICAL, title="weak header")
    assert total(link, query="weak", page_size=100) == (1000, "at_least", 11)
    shown = answer(link, query="weak", page_size=100, page=11).threats
    assert [threat.id for threat in shown] == [str(oldest.pk)]


def test_a_search_is_counted_alike_whatever_the_page(link, varied):
    for page, page_size in ((1, 1), (1, 50), (3, 5), (9, 4), (40, 1)):
        page = answer(link, query="weak", page=page, page_size=page_size).dashboard
        assert (page.total, page.total_relation) == (BOUND, "at_least")
        assert sum(value.count for value in page.facets.severity) == BOUND


def test_a_question_without_words_is_counted_exactly(link, varied):
    assert total(link)[:2] == (36, "exact")


@pytest.mark.parametrize("page_size", [1, 4, 5, 36, 50])
@pytest.mark.parametrize("filters", [{}, {"severity": "Low"}, {"source": "zap", "kind": "suspected"}])
def test_the_pages_of_a_search_list_every_match_worst_first(link, varied, filters, page_size):
    listed, page, page_count = [], 1, 1
    while page <= page_count:
        shown = answer(link, query="weak", page=page, page_size=page_size, **filters)
        listed += [threat.id for threat in shown.threats]
        page, page_count = page + 1, shown.dashboard.page_count
    assert listed == [str(finding.pk) for finding in plain_list(link, **filters)]


def plain_list(link, *, severity=None, source=None, kind=None):
    """Return the matches in the order of the list, by the ORM."""
    wanted = {
        "severity": None if severity is None else Severity[severity.upper()],
        "source__slug": source,
        "kind": kind,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    return link.website.findings.filter(**given).worst_first()


def test_a_page_past_the_end_is_empty_and_knows_how_many_pages_there_are(link, varied):
    past = answer(link, query="weak", page=99, page_size=7)
    assert (past.threats, past.dashboard.page_count, past.dashboard.total) == ([], 6, BOUND)


def test_more_matches_than_can_be_listed_are_a_page_more_than_can_be_reached(link, varied, monkeypatch):
    monkeypatch.setattr(limits, "MAX_PAGE_DEPTH", 35)
    assert answer(link, query="weak", page=5, page_size=7).dashboard.page_count == 6
    with pytest.raises(InvalidRequest):
        answer(link, query="weak", page=6, page_size=7)


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
        ({"query": "weak"}, ["severity", "source", "kind", "hosts"]),
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


def asked_for(matches, filters, *, has_facets=True):
    """Return the severities, sources and kinds of the searches for the total and every facet."""
    asked = []

    def find(filters, limit, sort):
        asked.append(filters[:3])
        return Matches(list(range(matches)), [(4, 1, "confirmed", "")] * matches)

    request = DashboardRequest(host="shop.example.com", link_id="link_1", portal_account_ref="acct_1")
    results = SearchResults(request, filters, find, has_facets=has_facets)
    assert results.known_total() == matches
    for facet in FACETS.values() if has_facets else ():
        results.facet_counts(without=facet)
    return asked


def test_matches_of_all_filters_are_taken_from_a_facet_that_has_them_all():
    filters = Filters(severity=(4,), kind=("confirmed",))
    assert asked_for(BOUND, filters) == [(None, None, ("confirmed",)), ((4,), None, None)]


def test_matches_of_all_filters_are_sought_where_no_facet_has_them_all():
    filters = Filters(severity=(4,), kind=("confirmed",))
    facets = [(None, None, ("confirmed",)), ((4,), None, None)]
    assert asked_for(BOUND + 1, filters) == [*facets, ((4,), None, ("confirmed",))]


def test_no_facet_is_sought_that_is_not_shown():
    filters = Filters(severity=(4,), host=("shop.example.com",))
    assert asked_for(BOUND, filters, has_facets=False) == [((4,), None, None)]
