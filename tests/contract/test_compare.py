"""A member compares two scans in the portal: what the service knows is what the page and the file say."""

import csv
import io

import pytest

from dashboard_api.decisions import triage
from dashboard_api.models import Finding, ImportRun
from tests.dashboard_api.reading.test_compare import bring, finding
from tests.factories import (
    make_account,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/sites/shop.example.com/compare/"


@pytest.fixture
def link(settings):
    """A linked website; the portal calls the service in its own process."""
    settings.DASHBOARD_BASE_URL = ""
    return make_link(make_account())


@pytest.fixture
def owner(link, client):
    """The signed-in owner's browser, without JavaScript."""
    website = make_portal_website(make_portal_account(link.account.ref), link.website.host, link.link_id)
    user = make_user()
    make_membership(user, website.account)
    client.force_login(user)
    return client


@pytest.fixture
def runs(link):
    earlier = bring(link.website, finding("gone"), finding("stays"), finding("risk"), version="1")
    risk = Finding.objects.get(rule="risk")
    triage.decide(risk, "accepted_risk", by="ann", reason="Agreed", now=earlier.imported_at)
    later = bring(link.website, finding("=fresh"), finding("stays"), finding("risk"), version="2")
    return earlier, later


def text_of(response):
    return " ".join(response.content.decode().split())


def address(runs, end="/"):
    return f"{PAGE}{runs[0].pk}..{runs[1].pk}{end}"


def test_the_page_has_the_groups_in_their_order_without_scripts(owner, runs):
    page = text_of(owner.get(address(runs)))
    assert "<script" not in page.partition("<main")[2].partition("</main>")[0]
    groups = ("new", "came_back", "fixed", "answered", "re_rated", "not_reported", "still_open")
    places = [page.index(f'id="group-{name}"') for name in groups]
    assert places == sorted(places)
    assert "The scanner has another version" in page
    assert "New check" in page
    assert f"{PAGE.removesuffix('compare/')}?source=watch" in page


def test_the_page_speaks_german(owner, runs):
    page = text_of(owner.get(address(runs), headers={"Accept-Language": "de"}))
    for words in ("Zwei Scans im Vergleich", "Weiterhin offen", "Neue Prüfung", "andere Version"):
        assert words in page
    assert "Still open" not in page


def test_the_default_is_the_last_scan_and_has_a_permalink(owner, runs):
    page = text_of(owner.get(PAGE))
    assert f'href="{address(runs)}"' in page
    assert f'href="{address(runs)}"' in text_of(owner.get(PAGE, {"to": str(runs[1].pk)}))


def test_without_two_scans_the_page_says_so(owner):
    response = owner.get(PAGE)
    assert response.status_code == 200
    assert "There are no two complete scans" in text_of(response)


def test_scans_from_before_can_be_seen_but_not_compared(owner, runs):
    ImportRun.objects.update(last_event_id=None)
    page = text_of(owner.get(address(runs)))
    assert "what changed is not on record" in page
    assert 'id="group-new"' not in page


def test_scans_of_another_website_or_account_are_not_found(owner, runs):
    foreign = bring(
        make_website("secret.example.com"), finding("canary") | {"location": "https://secret.example.com/"}
    )
    for end in ("/", ".csv"):
        for pair in ((runs[0], foreign), (runs[1], runs[0])):
            response = owner.get(address(pair, end))
            assert response.status_code == 404
            assert b"canary" not in response.content
            assert b"secret" not in response.content


def test_the_file_has_every_finding_and_no_formula(owner, runs):
    response = owner.get(address(runs, ".csv"))
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert [(row["group"], row["title"]) for row in rows] == [
        ("new", "'=fresh"),
        ("fixed", "gone"),
        ("answered", "risk"),
    ]
    assert rows[0]["link"].endswith(f"/findings/{rows[0]['id']}/")
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]


def test_the_file_reads_a_large_group_page_by_page(owner, link):
    earlier = bring(link.website, finding("a"))
    later = bring(link.website, *(finding(f"r{number}") for number in range(130)))
    rows = csv.reader(io.StringIO(owner.get(address((earlier, later), ".csv")).content.decode()))
    assert len(list(rows)) == 1 + 130 + 1


def test_the_page_of_scans_leads_to_the_comparison_of_a_scanner_elsewhere(owner, runs):
    page = text_of(owner.get("/sites/shop.example.com/scans/"))
    assert f'<a href="{PAGE}?source=watch">Compare with the scan before</a>' in page
