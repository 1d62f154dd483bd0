from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from portal.models import Membership, WebsiteSummary
from portal.view_models import sites_page
from portal.view_models.sites import STALE_DAYS, site_card
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_clean_dashboard, make_dashboard, make_page, make_summary

pytestmark = pytest.mark.django_db


def stored(website, dashboard):
    WebsiteSummary.objects.store(website, dashboard=dashboard)
    return WebsiteSummary.objects.get(website_id=website.pk)


def graded(grade, **by_severity):
    summary = make_summary(open=sum(by_severity.values()), by_severity=by_severity)
    return make_dashboard(dashboard=make_page(grade=grade), summary=summary)


def test_the_worst_website_is_first_and_an_ungraded_one_before_good_ones():
    account = make_portal_account()
    make_membership(make_user(), account)
    dashboards = {
        "a-fine": make_clean_dashboard(),
        "b-middling": graded("C", Medium=3),
        "c-unseen": None,
        "d-minor": graded("B", Low=40),
        "e-critical": graded("F", Critical=1),
        "f-critical-and-more": graded("F", Critical=1, High=2),
        "g-refused": "revoked_link",
        "h-critical": graded("F", Critical=1),
    }
    websites = [make_portal_website(account, f"{name}.example.com") for name in dashboards]
    summaries = {}
    for website, dashboard in zip(websites, dashboards.values(), strict=True):
        if isinstance(dashboard, str):
            WebsiteSummary.objects.store(website, refusal=dashboard)
        elif dashboard:
            WebsiteSummary.objects.store(website, dashboard=dashboard)
    summaries = WebsiteSummary.objects.in_bulk()
    page = sites_page(websites, Membership.objects.all(), summaries)
    assert [row.host.partition(".")[0] for row in page.rows] == [
        "f-critical-and-more",
        "e-critical",
        "h-critical",
        "b-middling",
        "c-unseen",
        "g-refused",
        "d-minor",
        "a-fine",
    ]


@pytest.mark.parametrize(
    ("ago", "stale"),
    [(timedelta(days=STALE_DAYS, minutes=-1), ""), (timedelta(days=STALE_DAYS, minutes=1), "7 days ago")],
)
def test_a_last_check_is_stale_after_some_days(ago, stale):
    website = make_portal_website()
    figures = make_summary(last_scan_at=timezone.now() - ago)
    summary = site_card(website, stored(website, make_dashboard(summary=figures)), is_shared=False).summary
    assert summary.stale.endswith(stale)
    assert bool(summary.stale) == bool(stale)


def test_the_day_of_the_newest_finding_is_relative_to_the_response():
    website = make_portal_website()
    page = make_page(generated_at=datetime(2026, 11, 20, 0, 30, tzinfo=UTC))
    dashboard = make_dashboard(dashboard=page, summary=make_summary(newest_open_days=2))
    summary = site_card(website, stored(website, dashboard), is_shared=False).summary
    assert summary.newest_on.isoformat() == "2026-11-18"


def test_a_refusal_that_the_portal_has_no_words_for_is_still_one():
    website = make_portal_website()
    WebsiteSummary.objects.store(website, refusal="moved_away")
    card = site_card(website, WebsiteSummary.objects.get(), is_shared=False)
    assert card.refusal == "No results"
    assert card.summary is None
