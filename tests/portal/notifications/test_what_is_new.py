"""The page of changes on all websites, made from stored summaries."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from portal.models import WebsiteSummary
from portal.notifications import view_models
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_dashboard, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    return make_portal_account(name="Example Shops")


@pytest.fixture
def browser(client, account):
    make_membership(user := make_user(), account)
    client.force_login(user)
    return client


def changed(account, host, *, new=0, fixed=0):
    website = make_portal_website(account, host)
    dashboard = make_dashboard(summary=make_summary(new_7d=new, fixed_7d=fixed))
    WebsiteSummary.objects.store(website, dashboard=dashboard)
    return website


def rows_of(response):
    number = r"<td>(?:<a [^>]*>)?(\d+)(?:</a>)?</td>"
    return re.findall(rf'<th scope="row"><a href="([^"]*)">.*?{number}\s*{number}', response.text, re.DOTALL)


def test_websites_with_most_new_findings_come_first_and_lead_to_them(browser, account):
    changed(account, "a.example.com", new=1, fixed=2)
    changed(account, "b.example.com", new=7)
    changed(account, "c.example.com", fixed=3)
    assert rows_of(browser.get("/new/")) == [
        ("/sites/b.example.com/new/", "7", "0"),
        ("/sites/a.example.com/new/", "1", "2"),
        ("/sites/c.example.com/new/", "0", "3"),
    ]


def test_the_numbers_lead_to_the_findings_that_they_count(browser, account):
    changed(account, "a.example.com", new=1, fixed=2)
    changed(account, "b.example.com", new=7)
    cells = re.findall(r"<td>(<a.*?|0)</td>", browser.get("/new/").text)
    assert cells == [
        '<a href="/sites/b.example.com/new/">7</a>',
        "0",
        '<a href="/sites/a.example.com/new/">1</a>',
        '<a href="/sites/a.example.com/?status=fixed&amp;fixed=7">2</a>',
    ]


def test_websites_without_changes_are_counted_and_those_without_results_are_not(browser, account):
    changed(account, "a.example.com", new=1)
    changed(account, "b.example.com")
    make_portal_website(account, "never-refreshed.example.com")
    WebsiteSummary.objects.store(make_portal_website(account, "refused.example.com"), refusal="revoked_link")
    assert "1 website without changes." in browser.get("/new/").text


def test_without_changes_the_page_says_so_as_of_its_oldest_numbers(browser, account):
    old, new = changed(account, "a.example.com"), changed(account, "b.example.com")
    received = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    WebsiteSummary.objects.filter(pk=old.pk).update(updated_at=received)
    WebsiteSummary.objects.filter(pk=new.pk).update(updated_at=received + timedelta(days=1))
    page = browser.get("/new/").text
    assert "Nothing new" in page
    assert "By these numbers" in page
    assert 'Oldest numbers: <time datetime="2026-11-20T09:30:00' in page
    assert "no numbers here" not in page


def test_websites_without_numbers_are_counted_and_none_is_called_unchanged(browser, account):
    make_portal_website(account, "never-refreshed.example.com")
    page = browser.get("/new/").text
    assert "No numbers here" in page
    assert "Nothing new" not in page
    changed(account, "a.example.com")
    assert "1 website has no numbers here" in browser.get("/new/").text


def test_a_website_of_another_account_is_not_there(browser, account):
    changed(make_portal_account("acct_0002"), "theirs.example.com", new=5)
    assert "theirs.example.com" not in browser.get("/new/").text


def test_a_website_in_two_accounts_is_named_with_each(browser, account):
    second = make_portal_account("acct_0003")
    make_membership(browser_user(browser), second)
    changed(account, "a.example.com", new=2)
    changed(second, "a.example.com", new=1)
    paths = [path for path, _, _ in rows_of(browser.get("/new/"))]
    assert paths == [f"/sites/a.example.com/new/?account={ref}" for ref in (account.ref, second.ref)]


def test_a_long_list_ends_and_counts_the_rest(browser, account, monkeypatch):
    monkeypatch.setattr(view_models, "MAX_CHANGED_SITES", 2)
    for number in range(5):
        changed(account, f"shop{number}.example.com", new=number + 1)
    response = browser.get("/new/")
    assert [new for _, new, _ in rows_of(response)] == ["5", "4"]
    assert "3 more websites changed less." in " ".join(response.text.split())


def browser_user(client):
    from django.contrib.auth import get_user_model

    return get_user_model().objects.get(pk=client.session["_auth_user_id"])


def test_findings_that_are_due_are_named_with_their_lists(browser, account):
    website = make_portal_website(account, "a.example.com")
    summary = make_summary(new_7d=0, fixed_7d=0, overdue=1, due_this_week=2)
    WebsiteSummary.objects.store(website, dashboard=make_dashboard(summary=summary))
    page = browser.get("/new/").text
    for due, text in (("overdue", "1 finding is overdue"), ("this_week", "2 findings are due this week")):
        assert f'<a href="/sites/a.example.com/?due={due}#findings-title">{text}</a>' in page
