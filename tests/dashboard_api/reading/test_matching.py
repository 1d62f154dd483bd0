"""Searches find findings by the words of their texts, whatever is typed."""

import pytest

from tests.dashboard_api.calls import answer
from tests.factories import make_finding, make_link, make_website

pytestmark = pytest.mark.django_db

HOSTILE = (
    "%", "_", "a_b", "' OR 1=1 --", '") OR 1', "a* OR b*", "NEAR(a b)", "col:x", '"', "\\", "{{7*7}}",
    "'; SELECT pg_sleep(9); --", "$17", "%sx", "%(website)s x", "e\u0301" * 60, "(" * 199, ":*|!&", "x" * 200,
    "\u202e", "a " * 99 + "a",
)  # fmt: skip


@pytest.fixture
def link():
    return make_link()


def found(link, query, **fields):
    return {row.title for row in answer(link, query=query, **fields).threats}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sql injection", {"SQL-Injection in Suche"}),
        ("SQL inj", {"SQL-Injection in Suche"}),
        ("sq", {"SQL-Injection in Suche"}),
        ("sq injection", set()),  # only the last word may be the start of one
        ("uberlauf", {"Überlauf"}),
        ("ÜBERLAUF", {"Überlauf"}),
        ("berlauf", set()),
        ("cve-2021-44228", {"Überlauf"}),
        ("2021 cve", {"Überlauf"}),
        ("login.php", {"SQL-Injection in Suche"}),
        ("cellar", {"SQL-Injection in Suche"}),
        ("remediation", set()),
        ("!!", set()),
    ],
)
def test_every_word_must_stand_in_a_text_and_the_last_may_be_typed_in_part(link, query, expected):
    make_finding(
        link.website,
        title="SQL-Injection in Suche",
        location="https://shop.example.com/login.php?q=1",
        other_locations="https://shop.example.com/cellar",
        remediation="Remediation is not searched",
    )
    make_finding(link.website, title="Überlauf", cve=["CVE-2021-44228"], description="A long text")
    make_finding(make_website("other.example.com"), title="SQL-Injection in Suche, Überlauf")
    assert found(link, query) == expected


@pytest.mark.parametrize("query", HOSTILE)
def test_nothing_that_is_typed_is_a_pattern_or_sql(link, query):
    make_finding(link.website, title="Plain")
    page = answer(link, query=query).dashboard
    assert (page.total, page.filters.query) == (0, query)


def test_a_search_follows_each_change_of_a_finding(link):
    finding = make_finding(link.website, title="Before")
    finding.title = "After"
    finding.save()
    assert (found(link, "before"), found(link, "after")) == (set(), {"After"})
    link.website.findings.update(title="Later")
    link.website.findings.all().rewrite_words()
    assert (found(link, "after"), found(link, "later")) == (set(), {"Later"})
