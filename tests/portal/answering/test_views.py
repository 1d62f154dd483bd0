"""The pages of answers with a service that refuses, is away, or responds as the test says."""

import html
import re
from datetime import date

import pytest

from portal.answers import service
from portal.texts import topics
from signed_api.answering import AnswerResponse, AnswerRulesResponse, MessageResponse, NextLook
from signed_api.answers import Answer, Message
from signed_api.errors import (
    AlreadyAnswered,
    CannotConnect,
    FieldError,
    InvalidRequest,
    RateLimited,
    ReusedKey,
    SelectionChanged,
    TimedOut,
    TooManyDisputes,
    UnknownFinding,
    WrongState,
)
from tests.portal.sharing.conftest import CONTRIBUTOR, OWNER, VIEWER
from tests.structs import build, refused

pytestmark = pytest.mark.django_db

SITE = "/sites/shop.example.com/"
ACCEPTED = {"act": "accepted", "reason": "A test system.", "until": "2099-01-01"}
SEVERITIES = {"Critical": 2, "High": 1, "Medium": 0, "Low": 0, "Info": 0}


class Service:
    """Records requests; raises or returns what the test sets."""

    def __init__(self):
        self.requests = []
        self.preview = self.done = build(
            AnswerResponse, total=3, by_severity=SEVERITIES, selection="3.9.ab", answer=None, next_look=None
        )
        self.rules = build(AnswerRulesResponse)
        self.sent = build(MessageResponse, message=build(Message), promised_on=None)

    def answer(self, _website, request):
        self.requests.append(request)
        return result(self.preview if request.preview else self.done)

    def answer_rules_of(self, _account, _request):
        return result(self.rules)

    def write_message(self, _website, request):
        self.requests.append(request)
        return result(self.sent)


def result(response):
    if isinstance(response, Exception):
        raise response
    return response


@pytest.fixture
def answers(monkeypatch, stub):
    answers = Service()
    for name in ("answer", "answer_rules_of", "write_message"):
        monkeypatch.setattr(service, name, getattr(answers, name))
    return answers


def shown(response):
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", response.text)).split())


def test_the_page_shows_the_numbers_before_anything_changes(browser, answers):
    page = browser(CONTRIBUTOR).get(f"{SITE}answer/?severity=Critical,High&query=login")
    assert "3 open findings · 2 Critical · 1 High" in shown(page)
    assert "Severity: Critical · Severity: High · Search: login" in shown(page)
    assert [(each.preview, each.filters) for each in answers.requests] == [
        (True, {"severity": "Critical,High", "query": "login"})
    ]


def test_the_page_names_the_problem(browser, answers):
    page = browser(OWNER).get(f"{SITE}answer/?problem=tls-1-0-offered")
    assert f"shop.example.com · {topics.title_of('tls-1-0-offered')}" in shown(page)
    assert "Finding 1" in shown(browser(OWNER).get(f"{SITE}answer/?problem=0123456789abcdef"))


def test_a_day_by_the_rules_is_offered_in_words(browser, answers):
    answers.rules = build(AnswerRulesResponse, critical_days=1, high_days=30)
    page = browser(OWNER).get(f"{SITE}answer/?severity=High")
    assert "Without a day: Critical 1 day, High 30 days from today." in shown(page)


@pytest.mark.parametrize("ids", ["ids=4,5", "ids=4&ids=5", "ids=4,,5,4"])
def test_findings_are_chosen_by_ids_in_one_field_or_in_several(browser, answers, ids):
    browser(OWNER).post(f"{SITE}answer/?{ids}&severity=High", {"act": "fixed", "selection": "2.5.cd"})
    (request,) = answers.requests
    assert (request.finding_ids, request.filters, request.selection) == ("4,5", {}, "2.5.cd")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "Choose findings first, or filter the list."),
        ("severity=Bogus", "Choose findings first, or filter the list."),
        ("ids=" + ",".join(map(str, range(1, 102))), "Choose at most 100 findings"),
    ],
)
def test_without_a_choice_the_page_leads_back_to_the_list(browser, answers, query, message):
    page = browser(OWNER).get(f"{SITE}answer/?{query}", follow=True)
    assert page.redirect_chain == [(SITE, 302)]
    assert message in shown(page)
    assert answers.requests == []


def test_filters_that_match_nothing_lead_back_to_the_list(browser, answers):
    answers.preview = refused(InvalidRequest, errors=[])
    page = browser(OWNER).get(f"{SITE}answer/?severity=High", follow=True)
    assert page.redirect_chain == [(f"{SITE}?severity=High", 302)]
    assert "No open finding matches, or more than 5,000 do." in shown(page)


def test_only_the_fields_of_the_chosen_answer_are_sent(browser, answers):
    every = {
        "act": "will_fix",
        "due": "2099-02-03",
        "reason": "Typed before.",
        "until": "soon",
        "evidence": "x",
    }
    browser(OWNER).post(f"{SITE}answer/?ids=4", every | {"key": "k" * 24, "unanswered": "1"})
    (request,) = answers.requests
    assert (request.due, request.reason, request.until) == (date(2099, 2, 3), "", None)
    assert (request.request_key, request.only_unanswered) == ("k" * 24, True)
    assert request.by.startswith("user-")


def test_a_person_of_another_account_cannot_be_assigned(browser, answers, members):
    stranger = f"user-{members['stranger'].user_id}"
    page = browser(OWNER).post(f"{SITE}answer/?ids=4", {"act": "will_fix", "assignee": stranger})
    assert "Select a valid choice." in shown(page)
    assert [request.preview for request in answers.requests] == [True]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (refused(SelectionChanged, total=3, added=2, removed=1), "2 findings were added. 1 finding is gone."),
        (AlreadyAnswered(), "your answer replaces theirs"),
        (WrongState(), "not all of these are open now"),
        (TooManyDisputes(), "200 open disputes"),
        (ReusedKey(), "This form was sent before"),
        (RateLimited(retry_after=90), "Try again in 2 minutes."),
        (RateLimited(retry_after=5), "Try again in 5 seconds."),
        (CannotConnect(), "The service cannot be reached"),
        (TimedOut(), "The service is taking too long"),
        (refused(InvalidRequest, errors=[FieldError(field="until")]), "or it is too late"),
    ],
)
def test_a_refused_form_says_why_and_keeps_what_was_typed(browser, answers, error, message):
    answers.done = error
    page = browser(OWNER).post(
        f"{SITE}answer/?severity=High", {**ACCEPTED, "until": "2026-12-24", "key": "k"}
    )
    assert message in shown(page)
    assert "A test system.</textarea>" in page.text
    assert 'value="2026-12-24"' in page.text
    assert 'value="3.9.ab"' in page.text
    assert ('name="key" value="k"' in page.text) is not isinstance(error, ReusedKey)


def test_an_outage_loses_neither_the_words_nor_the_preview(browser, answers):
    answers.done = answers.preview = CannotConnect()
    fields = {
        "act": "disputed",
        "reason": "It never reaches the database.",
        "selection": "3.9.ab",
        "key": "k",
    }
    page = browser(OWNER).post(f"{SITE}answer/?severity=High", fields)
    assert (page.status_code, "It never reaches the database.</textarea>" in page.text) == (200, True)
    assert 'name="selection" value="3.9.ab"' in page.text
    away = browser(OWNER).get(f"{SITE}answer/?severity=High")
    assert (away.status_code, "The service cannot be reached" in shown(away)) == (502, True)


def test_a_deleted_finding_is_not_found(browser, answers):
    answers.done = answers.preview = answers.sent = UnknownFinding()
    owner = browser(OWNER)
    assert owner.get(f"{SITE}answer/?ids=4").status_code == 404
    assert owner.post(f"{SITE}answer/?ids=4", {"act": "fixed"}).status_code == 404
    assert owner.post(f"{SITE}findings/4/messages/", {"text": "Hello"}).status_code == 404


@pytest.mark.parametrize(
    ("look", "words"),
    [
        ({"by": "retest", "job_id": "7"}, "A scan that begins now decides whether it is gone. See the scan"),
        ({"by": "scan", "job_id": "7"}, "A scan that begins now decides whether it is gone. See the scan"),
        (
            {"by": "scanner", "source_name": "ZAP", "on": date(2026, 12, 6)},
            "scan by ZAP decides whether it is gone. It is expected by 6 Dec 2026. Next scans",
        ),
        ({"by": "scanner", "source_name": "<b>", "on": None}, "scan by <b> decides whether it is gone. Next"),
        ({"by": "analyst"}, "No scanner looks at it again, so our analysts do."),
    ],
)
def test_what_was_fixed_says_which_scan_decides(browser, answers, look, words):
    answers.done = build(
        AnswerResponse, total=3, by_severity=SEVERITIES, answer=None, next_look=build(NextLook, **look)
    )
    page = browser(OWNER).post(f"{SITE}answer/?ids=4", {"act": "fixed"}, follow=True)
    assert "Your answer to 3 findings is saved." in shown(page)
    assert words in shown(page)


def test_who_must_confirm_and_who_answers_by_when_is_said(browser, answers):
    owner = browser(OWNER)
    answers.done = build(AnswerResponse, total=3, waiting=2, answer=None, next_look=None)
    page = owner.post(f"{SITE}answer/?severity=High", {**ACCEPTED, "until": "2026-12-24"}, follow=True)
    assert "2 of them wait for a second person." in shown(page)
    answer = build(Answer, promised_on=date(2026, 12, 1))
    answers.done = build(AnswerResponse, total=1, answer=answer, next_look=None)
    fields = {"act": "disputed", "reason": "It never reaches the database."}
    assert "An analyst answers by 1 Dec 2026." in shown(
        owner.post(f"{SITE}answer/?ids=4", fields, follow=True)
    )


def test_all_that_wait_are_confirmed_at_once(browser, answers):
    answers.preview = build(
        AnswerResponse,
        total=3,
        waiting=3,
        by_severity=SEVERITIES,
        selection="3.9.ab",
        answer=None,
        next_look=None,
    )
    assert 'value="confirm"' in browser(OWNER).get(f"{SITE}answer/?severity=High").text
    page = browser(OWNER).post(
        f"{SITE}answer/?severity=High", {"act": "confirm", "selection": "3.9.ab"}, follow=True
    )
    assert "You confirmed that the risk is accepted." in shown(page)
    assert (answers.requests[-1].act, answers.requests[-1].selection) == ("confirm", "3.9.ab")


def test_a_problem_offers_an_answer_to_all_its_open_findings_to_people_who_may(browser, stub):
    problem = f"{SITE}?problem=0123456789abcdef"
    page = browser(CONTRIBUTOR).get(problem)
    assert f'href="{SITE}answer/?problem=0123456789abcdef"' in page.text
    assert "Answer all 2" in shown(page)
    assert "Answer all" not in shown(browser(CONTRIBUTOR).get(f"{problem}&status=all"))
    assert "Answer all" not in shown(browser(VIEWER).get(problem))


def test_a_refused_message_says_why_and_keeps_what_was_typed(browser, answers):
    owner, url = browser(OWNER), f"{SITE}findings/4/messages/?severity=High"
    assert owner.get(url).url == f"{SITE}findings/4/?severity=High"
    assert "This field is required." in shown(owner.post(url, {"text": " "}))
    answers.sent = WrongState()
    page = owner.post(url, {"text": "Later", "message_id": "8"})
    assert "can be changed by its author for an hour" in shown(page)
    assert "Later</textarea>" in page.text
    assert 'name="message_id" value="8"' in page.text
    answers.sent = TimedOut()
    assert "The service is taking too long" in shown(owner.post(url, {"text": "Later"}))
