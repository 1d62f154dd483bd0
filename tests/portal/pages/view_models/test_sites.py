from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.translation import override

from portal.models import Membership, WebsiteSummary
from portal.pages.forms import SiteFilters
from portal.pages.view_models import site_row, sites_page
from portal.pages.view_models.site_rows import FRESH_TIME, STALE_DAYS
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import (
    make_clean_dashboard,
    make_coverage,
    make_dashboard,
    make_page,
    make_problem,
    make_summary,
)

pytestmark = pytest.mark.django_db


def stored(website, dashboard):
    WebsiteSummary.objects.store(website, dashboard=dashboard)
    return WebsiteSummary.objects.get(website_id=website.pk)


def graded(grade, **by_severity):
    summary = make_summary(open=sum(by_severity.values()), by_severity=by_severity)
    return make_dashboard(dashboard=make_page(grade=grade), summary=summary)


DASHBOARDS = {
    "a-fine": make_clean_dashboard(),
    "b-middling": graded("C", Medium=3),
    "c-unseen": None,
    "d-minor": graded("B", Low=40),
    "e-critical": graded("F", Critical=1),
    "f-critical-and-more": graded("F", Critical=1, High=2),
    "g-refused": "revoked_link",
    "h-critical": graded("F", Critical=1),
}


@pytest.fixture
def websites():
    account = make_portal_account(name="Example Shops")
    make_membership(make_user(), account)
    websites = [make_portal_website(account, f"{name}.example.com") for name in DASHBOARDS]
    for website, dashboard in zip(websites, DASHBOARDS.values(), strict=True):
        if isinstance(dashboard, str):
            WebsiteSummary.objects.store(website, refusal=dashboard)
        elif dashboard:
            WebsiteSummary.objects.store(website, dashboard=dashboard)
    return websites


def page_of(websites, **filters):
    summaries = WebsiteSummary.objects.in_bulk()
    return sites_page(websites, Membership.objects.all(), summaries, SiteFilters(**filters))


def names(page):
    return [row.host.partition(".")[0] for row in page.rows]


def test_the_worst_website_is_first_and_an_ungraded_one_before_good_ones(websites):
    assert names(page_of(websites)) == [
        "f-critical-and-more",
        "e-critical",
        "h-critical",
        "b-middling",
        "c-unseen",
        "g-refused",
        "d-minor",
        "a-fine",
    ]


def test_other_orders_are_by_name_and_by_the_oldest_check(websites):
    assert names(page_of(websites, sort="name")) == list(DASHBOARDS)
    WebsiteSummary.objects.store(websites[4], dashboard=checked(timezone.now() - timedelta(days=90)))
    assert names(page_of(websites, sort="checked"))[:3] == ["c-unseen", "g-refused", "e-critical"]


def test_a_scan_that_is_only_partly_complete_is_the_last_one_in_the_list_too():
    at, website = timezone.now(), make_portal_website()
    coverage = [make_coverage("partial", last_run_at=at), make_coverage("never", last_run_at=None)]
    dashboard = make_dashboard(summary=make_summary(last_scan_at=None), coverage=coverage)
    row = site_row(website, stored(website, dashboard), names_account=False)
    assert row.summary.overview.last_scan_at == at


def checked(at):
    return make_dashboard(coverage=[make_coverage(last_run_at=at)])


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"query": "CRITICAL"}, 3),
        ({"query": "example shops"}, 8),
        ({"query": "nothing"}, 0),
        ({"grade": "F"}, 3),
        ({"grade": "none"}, 2),
        ({"attention": True}, 4),
        ({"attention": True, "grade": "none"}, 1),
    ],
)
def test_filters_narrow_the_list_and_not_the_totals(websites, filters, found):
    page = page_of(websites, **filters)
    assert len(page.rows) == found
    assert page.totals.websites == 8
    assert page.count == f"{found} of 8 websites"


def test_overdue_findings_are_counted_and_filter_the_list(websites):
    totals = page_of(websites).totals
    assert totals.overdue is None
    for website, overdue in zip(websites[:2], (3, 4), strict=True):
        WebsiteSummary.objects.store(
            website, dashboard=make_dashboard(summary=make_summary(overdue=overdue, due_this_week=1))
        )
    page = page_of(websites)
    assert (page.totals.overdue.label, page.totals.overdue.url) == ("7 overdue", "/?overdue=1")
    page = page_of(websites, overdue=True)
    assert sorted(names(page)) == ["a-fine", "b-middling"]
    assert (page.count, page.totals.overdue.url) == ("2 of 8 websites", "/")
    due = {each.text: each.url for row in page.rows for each in row.summary.due if row.host.startswith("a")}
    assert due == {
        "3 overdue": "/sites/a-fine.example.com/?due=overdue",
        "1 due this week": "/sites/a-fine.example.com/?due=this_week",
    }


def test_the_totals_add_up_every_website_with_results(websites):
    totals = page_of(websites).totals
    counts = {severity.label: severity.count for severity in totals.severities}
    assert counts == {"Critical": 3, "High": 2, "Medium": 3, "Low": 40, "Info": 0}
    assert totals.open.count == 48
    assert [(grade.label, grade.count) for grade in totals.grades] == [
        ("F", 3), ("C", 1), ("B", 1), ("A", 1), ("Not graded", 2),
    ]  # fmt: skip
    assert totals.attention.label == "4 websites need attention"
    assert totals.remark == "1 website has no results now."
    assert totals.pending == "Counted so far: 7 of 8 websites."


def test_the_total_of_open_findings_leads_to_the_websites_that_have_them(websites):
    assert page_of(websites, grade="F").totals.open.url == "/?grade=F&open=1"
    listed = page_of(websites, open=True)
    assert set(names(listed)) == {name for name in DASHBOARDS if name[0] in "bdefh"}
    open_findings = [row.summary.overview.open for row in listed.rows]
    assert sum(open_findings) == listed.totals.open.count
    assert (listed.totals.open.url, listed.totals.open.is_active) == ("/", True)


def test_the_total_leads_to_the_findings_where_one_page_has_them_all(websites):
    only = [website for website in websites if website.host.startswith(("a-", "c-", "e-"))]
    assert page_of(only).totals.open.url == f"/sites/{only[-1].host}/"
    clean = [website for website in websites if website.host.startswith(("a-", "c-"))]
    assert page_of(clean).totals.open.url == ""


def test_a_number_leads_to_its_websites_and_back(websites):
    grades = {grade.label: grade.url for grade in page_of(websites, sort="name").totals.grades}
    assert grades["F"] == "/?grade=F&sort=name"
    grades = {grade.label: grade.url for grade in page_of(websites, grade="F", page=2).totals.grades}
    assert grades["F"] == "/"
    assert page_of(websites).totals.attention.url == "/?attention=1"
    severities = {severity.label: severity.url for severity in page_of(websites).totals.severities}
    assert (severities["Low"], severities["Info"]) == ("/?severity=Low", "")
    low = page_of(websites, severity="Low")
    counts = [row.summary.overview.severities[3].count for row in low.rows]
    assert (sum(counts), min(counts) > 0) == (40, True)
    assert low.totals.severities[3].url == "/"


def test_one_website_needs_no_totals_and_few_need_no_search(websites):
    assert page_of(websites[:1]).totals is None
    assert page_of(websites[:2]).totals is not None
    assert page_of(websites[:2]).sorts == ()
    assert [sort.is_active for sort in page_of(websites).sorts] == [True, False, False]


def test_a_page_beyond_the_last_is_the_last():
    account = make_portal_account()
    websites = [make_portal_website(account, f"shop{number:02}.example.com") for number in range(51)]
    page = page_of(websites, page=99, sort="name")
    assert names(page) == ["shop50"]
    assert page.pager.previous_url == "/?sort=name"
    assert page.pager.next_url == ""


@pytest.mark.parametrize(("ago", "is_old"), [(timedelta(), False), (FRESH_TIME + timedelta(seconds=1), True)])
def test_a_row_is_refreshed_only_when_it_is_old(ago, is_old):
    website = make_portal_website()
    summary = stored(website, make_dashboard())
    summary.updated_at -= ago
    assert site_row(website, summary, names_account=False).is_old == is_old


def test_a_refused_website_is_asked_again_after_a_minute_because_its_owner_may_have_paid():
    website = make_portal_website()
    WebsiteSummary.objects.store(website, refusal="plan_suspended")
    summary = WebsiteSummary.objects.get(pk=website.pk)
    assert not site_row(website, summary, names_account=False).is_old
    summary.updated_at -= timedelta(minutes=1, seconds=1)
    assert site_row(website, summary, names_account=False).is_old


def test_a_summary_of_an_earlier_version_is_refreshed():
    website = make_portal_website()
    summary = stored(website, make_dashboard())
    summary.payload = "{}"
    row = site_row(website, summary, names_account=False)
    assert (row.summary, row.is_old) == (None, True)


@pytest.mark.parametrize(
    ("ago", "stale"),
    [(timedelta(days=STALE_DAYS, minutes=-1), ""), (timedelta(days=STALE_DAYS, minutes=1), "7 days ago")],
)
def test_a_last_check_is_stale_after_some_days(ago, stale):
    website = make_portal_website()
    summary = site_row(website, stored(website, checked(timezone.now() - ago)), names_account=False).summary
    assert summary.stale.endswith(stale)
    assert bool(summary.stale) == bool(stale)


def test_a_refusal_that_the_portal_has_no_words_for_is_still_one():
    website = make_portal_website()
    WebsiteSummary.objects.store(website, refusal="moved_away")
    row = site_row(website, WebsiteSummary.objects.get(), names_account=False)
    assert row.refusal == "No results"
    assert row.summary is None


def test_a_row_names_what_to_fix_first_if_it_is_urgent():
    website = make_portal_website()

    def first(*problems):
        dashboard = make_dashboard(dashboard=make_page(do_first=list(problems)))
        return site_row(website, stored(website, dashboard), names_account=False).summary.first

    topic = make_problem(1, id="tls-1-0-offered", title="TLS 1.0 is offered", severity="High")
    assert (
        first(topic, make_problem(2)).url == "/sites/shop.example.com/?problem=tls-1-0-offered#findings-title"
    )
    assert (first(topic).lead, first(topic).title) == ("Fix this week:", "TLS 1.0 is offered")
    assert first(make_problem(1, severity="Critical")).lead == "Fix today:"
    with override("de"):
        assert first(topic).title == "TLS 1.0 wird angeboten"
    assert first(make_problem(1, severity="Medium")) is None
    assert first() is None
