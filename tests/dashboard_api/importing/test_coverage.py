"""The runs of a source by scope, and the summary that the dashboard shows."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from dashboard_api.models import Coverage, CoverageScope
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import make_item, make_nikto, make_row, make_sslyze, make_wapiti
from tests.factories import make_coverage, make_source, make_user, make_website

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
WWW, MAIL = "www.shop.example.com", "mail.shop.example.com"


@pytest.fixture
def website():
    return make_website()


def bring(website, document, *, day=0, **options):
    options = {"complete": True, "scanned_at": MARCH + day * DAY} | options
    return import_bytes(json.dumps(document).encode(), website, **options)


def crawl(host, pages=0):
    crawled = [{"request": {"url": f"https://{host}/{number}"}} for number in range(pages)]
    return make_wapiti(target=f"https://{host}/", crawled_pages=crawled)


def scopes():
    return {str(scope): (scope.state, scope.last_run_at) for scope in CoverageScope.objects.all()}


def test_each_target_keeps_its_last_run(website):
    bring(website, crawl(WWW), day=1)
    bring(website, crawl(MAIL), day=2, complete=False)
    bring(website, crawl(WWW), day=3)
    assert scopes() == {f"{WWW}:443": ("ok", MARCH + 3 * DAY), f"{MAIL}:443": ("partial", MARCH + 2 * DAY)}


def test_the_summary_is_the_worst_state_the_oldest_run_and_all_addresses(website):
    bring(website, crawl(WWW, pages=3), day=1, complete=False)
    bring(website, crawl(MAIL, pages=4), day=2)
    summary = Coverage.objects.get()
    assert (summary.state, summary.last_run_at, summary.completed_at) == (
        "partial",
        MARCH + DAY,
        MARCH + 2 * DAY,
    )
    assert summary.urls_checked == 4 + 5  # and the two targets themselves


def test_details_name_their_scope_where_there_are_several(website):
    failed = make_sslyze(WWW, robot={})
    failed["server_scan_results"][0]["scan_result"]["robot"] |= {"status": "ERROR", "result": None}
    bring(website, failed | {"server_scan_results": failed["server_scan_results"] * 1})
    text = "The scan is incomplete: robot: failed. Failed checks: 1."
    assert Coverage.objects.get().detail == text
    bring(website, make_sslyze(MAIL, robot={}))
    assert Coverage.objects.get().detail == f"{WWW}:443: {text}"


def test_addresses_of_a_report_of_several_targets_count_for_their_own(website):
    hosts = [make_nikto(make_item(url=f"/{host}"), host=host)[0] for host in (WWW, MAIL)]
    bring(website, [*hosts, make_nikto(host="shop.example.com")[0]])
    counts = CoverageScope.objects.values_list("target", "urls_checked")
    assert dict(counts) == {f"{WWW}:443": 1, f"{MAIL}:443": 1, "shop.example.com:443": 1}


def test_an_older_run_of_one_target_does_not_replace_a_newer_one_of_another(website):
    bring(website, crawl(WWW), day=5)
    bring(website, crawl(MAIL), day=2)
    assert scopes()[f"{MAIL}:443"] == ("ok", MARCH + 2 * DAY)
    bring(website, crawl(WWW), day=3)
    assert scopes()[f"{WWW}:443"] == ("ok", MARCH + 5 * DAY)


def test_a_category_is_a_scope_of_its_own(website):
    for day, category in enumerate(("nightly", "weekly", "nightly")):
        bring(website, crawl(WWW), day=day, category=category)
    assert scopes() == {
        f"nightly at {WWW}:443": ("ok", MARCH + 2 * DAY),
        f"weekly at {WWW}:443": ("ok", MARCH + DAY),
    }


def test_the_same_report_again_changes_no_scope(website):
    for _ in range(2):
        bring(website, crawl(WWW, pages=2))
        bring(website, crawl(MAIL))
    assert CoverageScope.objects.count() == 2
    assert Coverage.objects.get().urls_checked == 3 + 1


def test_a_coverage_without_scopes_is_replaced_and_keeps_its_last_completion(website):
    make_coverage(
        website, source=make_source("wapiti"), state="failed", last_run_at=MARCH, completed_at=MARCH
    )
    bring(website, crawl(WWW), day=1, complete=False)
    summary = Coverage.objects.get()
    assert (summary.state, summary.last_run_at, summary.completed_at) == ("partial", MARCH + DAY, MARCH)


def test_a_coverage_without_scopes_becomes_the_scope_of_the_first_category_that_is_scanned_again(website):
    make_coverage(website, source=make_source("nuclei"), last_run_at=MARCH, completed_at=MARCH)
    for day in (1, 2):
        bring(website, make_row(timestamp=None), day=day, category="weekly")
    assert scopes() == {"weekly": ("ok", MARCH + 2 * DAY)}


def test_a_scope_that_is_not_scanned_any_more_is_deleted_in_the_admin(website, client):
    bring(website, crawl(WWW), day=1, complete=False)
    bring(website, crawl(MAIL), day=9)
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    coverage = Coverage.objects.get()
    path = reverse("admin:dashboard_api_coverage_change", args=[coverage.pk])
    form = client.get(path).context["adminform"].form
    old = CoverageScope.objects.get(target=f"{WWW}:443")
    data = {name: form[name].value() or "" for name in form.fields}
    data |= {
        "last_run_at_0": "2026-03-02",
        "last_run_at_1": "00:00",
        "completed_at_0": "",
        "completed_at_1": "",
    }
    rows = CoverageScope.objects.order_by("category", "target")
    data |= {"scopes-TOTAL_FORMS": 2, "scopes-INITIAL_FORMS": 2}
    for number, scope in enumerate(rows):
        data |= {f"scopes-{number}-id": scope.pk, f"scopes-{number}-coverage": coverage.pk}
        data |= {f"scopes-{number}-DELETE": "on"} if scope == old else {}
    assert client.post(path, data).status_code == 302
    summary = Coverage.objects.get()
    assert (summary.state, summary.last_run_at) == ("ok", MARCH + 9 * DAY)
