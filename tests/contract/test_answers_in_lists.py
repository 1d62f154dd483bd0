"""Answers in the portal's lists, as the service has them: only their own account sees them."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard_api.models import Finding, Severity
from foundation.texts.people import reference_of
from portal.answers import service
from portal.exports.as_csv import COLUMNS
from portal.files.spreadsheets import BYTE_ORDER_MARK
from signed_api.answering import AnswerRequest, AnswerRulesRequest
from tests.factories import (
    make_account,
    make_finding,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
)

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/sites/shop.example.com/"
# What differs in each response: the token of forms, and moments.
CHANGING = re.compile(
    r'csrfmiddlewaretoken" value="[^"]*"|<time .*?</time>|"(generated_at|endTimeUtc)":"[^"]*"'
)


@pytest.fixture
def websites(settings):
    """One website in two accounts, at the service in this process: 6 High and 4 Low findings."""
    settings.DASHBOARD_BASE_URL = ""
    settings.DASHBOARD_APPLICATION = "config.web.in_process.application"
    first = make_link(make_account("acct_0001"))
    second = make_link(make_account("acct_0002"), first.website)
    for number in range(10):
        severity = Severity.HIGH if number < 6 else Severity.LOW
        make_finding(first.website, severity=severity, rule="one" if number < 6 else "two")
    return [
        make_portal_website(make_portal_account(link.account.ref), link_id=link.link_id)
        for link in (first, second)
    ]


def browser_of(website, name, role="owner"):
    make_membership(user := make_user(name), website.account, role)
    browser = Client()
    browser.force_login(user)
    return browser


def answer(website, act, **fields):
    return service.answer(website, AnswerRequest(act=act, **fields))


@pytest.fixture
def answered(websites):
    """Let the first account accept the Low ones, fix two High ones, and dispute one."""
    today, own = timezone.now().date(), websites[0]
    ada, grace = (make_user(name) for name in ("ada", "grace"))
    for user in (ada, grace):
        make_membership(user, own.account)
    high = [str(each.pk) for each in Finding.objects.filter(severity=Severity.HIGH)]
    end = today + timedelta(days=90)
    answer(own, "accepted", filters={"severity": "Low"}, reason="Old pages.", until=end)
    answer(own, "will_fix", finding_ids=high[0], due=today, assignee=reference_of(ada.pk))
    due = today + timedelta(days=30)
    answer(own, "will_fix", finding_ids=high[1], due=due, assignee=reference_of(grace.pk))
    answer(own, "disputed", finding_ids=high[2], reason="Nobody can reach this page.")
    return own


def text_of(response):
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def body_of(response):
    assert response.status_code == 200
    return (b"".join(response) if response.streaming else response.content).decode()


def seen(browser):
    """Return the list, its problems and its files, without what differs in each response."""
    paths = ("", "?view=problems", "findings.csv", "findings.json", "findings.sarif", "report/")
    return [CHANGING.sub("", body_of(browser.get(PATH + path))) for path in paths]


def test_the_answers_of_one_account_change_no_byte_of_anothers_list_and_files(websites, request):
    other = browser_of(websites[1], "other")
    seen(other)
    before = seen(other)
    request.getfixturevalue("answered")
    assert seen(other) == before


def test_a_member_sees_each_answer_and_the_totals_stay_one_set(answered):
    browser = browser_of(answered, "viewer", "viewer")
    page = browser.get(PATH)
    text = text_of(page)
    for words in ("Risk accepted until", "Will be fixed Due by", "· grace", "Disputed", "2 will be fixed"):
        assert words in text
    assert "· Me" not in text
    for query, count in (
        ("answer=accepted", 4),
        ("answer=none,will_fix,waiting,disputed,fixed", 6),
        ("due=this_week", 1),
        ("due=later&severity=High", 1),
        ("assignee=none", 8),
    ):
        assert f"{count} of 10 findings" in text_of(browser.get(f"{PATH}?{query}")), query


@pytest.mark.parametrize("role", ["owner", "manager", "contributor"])
def test_people_who_answer_can_choose_findings(answered, role):
    page = browser_of(answered, "person", role).get(PATH).text
    assert page.count('name="ids"') == 10
    assert f'action="{PATH}answer/"' in page


def test_a_viewer_can_choose_none(answered):
    browser = browser_of(answered, "viewer", "viewer")
    for query in ("", "?view=problems", "?severity=High"):
        page = browser.get(PATH + query).text
        assert 'name="ids"' not in page
        assert f"{PATH}answer/" not in page


def test_the_same_address_lists_the_findings_of_each_reader(answered):
    for name in ("ada", "grace"):
        browser = Client()
        browser.force_login(answered.account.memberships.get(user__username=name).user)
        text = text_of(browser.get(f"{PATH}?assignee=me"))
        assert "1 of 10 findings" in text
        assert "· Me" in text
        page = browser.get(f"{PATH}findings.csv?assignee=me")
        assert name in b"".join(page).decode()


def test_the_name_of_someone_who_left_is_not_shown(answered):
    browser = browser_of(answered, "person")
    answered.account.memberships.get(user__username="grace").delete()
    page = browser.get(PATH)
    assert "A former member" in page.text
    assert "grace" not in page.text


def test_files_have_the_answer_the_day_and_the_name(answered):
    browser = browser_of(answered, "person")
    text = b"".join(browser.get(f"{PATH}findings.csv")).decode()
    rows = list(csv.DictReader(io.StringIO(text.removeprefix(BYTE_ORDER_MARK))))
    assert list(rows[0]) == list(COLUMNS)
    assert sorted(row["answer"] for row in rows) == [
        *["", "", ""], *["accepted"] * 4, "disputed", "will_fix", "will_fix",
    ]  # fmt: skip
    assert {row["assignee"] for row in rows} == {"", "ada", "grace"}
    assert all(bool(row["accepted_until"]) == (row["answer"] == "accepted") for row in rows)
    log = json.loads(b"".join(browser.get(f"{PATH}findings.sarif")))
    suppressed = [each for each in log["runs"][0]["results"] if each["suppressions"]]
    assert [each["properties"]["answer"]["answer"] for each in suppressed] == ["accepted"] * 4


def test_a_report_has_the_numbers_and_the_accepted_risks_with_their_ends(answered):
    text = text_of(browser_of(answered, "person").get(f"{PATH}report/"))
    assert "4 accepted · 1 disputed · 1 due this week" in text
    assert re.search(r"Accepted risks Low · \S.* · 4 findings · until \d+ \w+ 2", text)
    assert re.search(r"Will be fixed · Due by [\w ]+ · grace", text)


def test_the_list_of_websites_counts_what_is_due(answered):
    rules = AnswerRulesRequest(high_days=3, time_zone="UTC")
    service.answer_rules_of(answered.account, rules)
    high = answered.account.websites.get()
    browser = browser_of(high, "person")
    page = browser.get("/").text
    assert f'href="{PATH}?due=this_week"' in page
