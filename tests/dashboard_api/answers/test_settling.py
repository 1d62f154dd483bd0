"""Ends of answers: by scans, analysts, undone imports, and days in the time zone of the account."""

from datetime import UTC, date, datetime, timedelta

import pytest

from dashboard_api.answers import settling
from dashboard_api.decisions import cases, standing, triage
from dashboard_api.importing.ended_decisions import expire_triage
from dashboard_api.importing.undo import preview, undo
from dashboard_api.models import (
    Account,
    Answer,
    Case,
    Finding,
    FindingEvent,
    ImportRun,
    Message,
    Severity,
    SiteLink,
    StandingDecision,
)
from tests.commands import run_json
from tests.dashboard_api.answers.acting import DAY, NOW, act, open_answer, outcomes, scan, write
from tests.factories import make_account, make_finding, make_link, make_source, make_website

pytestmark = pytest.mark.django_db
BY = {"by": "ada", "reason": "We looked."}


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def finding(link):
    """A finding of a scan the day before."""
    scan(link.website, "panel", at=NOW - DAY)
    return Finding.objects.get()


def events(link=None):
    """The events by the service in conversations, oldest first."""
    messages = Message.objects.filter(side="service").order_by("pk")
    return list((messages.filter(account=link.account) if link else messages).values_list("event", flat=True))


def undo_newest(now=NOW + 2 * DAY):
    return undo(ImportRun.objects.order_by("pk").last(), by="ada", reason="The wrong file", now=now)


# Scans


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("will_fix", "fixed"), ("disputed", "overtaken"), ("fixed", "gone"), ("accepted", "")],
)
def test_a_complete_scan_without_the_finding_ends_the_answer(link, finding, name, outcome):
    act(link, name, finding)
    version = SiteLink.objects.get().answers_version
    scan(link.website, at=NOW + DAY)
    finding.refresh_from_db()
    assert finding.status == "fixed"
    assert outcomes(link, finding) == [outcome]
    assert events() == [outcome] * bool(outcome)
    assert not Case.objects.open().exists()
    assert (SiteLink.objects.get().answers_version > version) == bool(outcome)


@pytest.mark.parametrize("name", ["will_fix", "accepted", "disputed"])
def test_a_scan_that_finds_it_again_changes_no_answer_but_that_it_is_fixed(link, finding, name):
    act(link, name, finding)
    scan(link.website, "panel", at=NOW + DAY)
    assert outcomes(link, finding) == [""]
    assert events() == []


def test_a_later_scan_that_still_finds_it_ends_the_answer_that_it_is_fixed(link, finding):
    act(link, "fixed", finding)
    scan(link.website, "panel", at=NOW - timedelta(hours=1))  # before the answer
    assert outcomes(link, finding) == [""]
    scan(link.website, "other", at=NOW + timedelta(hours=1), complete=False)  # a part without it
    assert outcomes(link, finding) == [""]
    scan(link.website, "panel", at=NOW + DAY)
    assert outcomes(link, finding) == ["still_there"]
    assert events() == ["still_there"]


def test_an_accepted_risk_that_comes_back_is_accepted_until_it_is_worse(link, finding):
    act(link, "accepted", finding)
    scan(link.website, at=NOW + DAY)
    scan(link.website, "panel", at=NOW + 2 * DAY)
    assert outcomes(link, finding) == [""]
    scan(link.website, "panel", at=NOW + 3 * DAY, severity="low")
    scan(link.website, "panel", at=NOW + 4 * DAY)
    assert outcomes(link, finding) == [""]
    scan(link.website, "panel", at=NOW + 5 * DAY, severity="high")
    assert outcomes(link, finding) == ["worse"]
    assert events() == ["worse"]


def test_a_waiting_risk_ends_when_the_finding_is_worse(link, finding):
    Account.objects.update(second_person=True)
    scan(link.website, "panel", at=NOW - timedelta(hours=1), severity="high")
    assert act(link, "accepted", finding).answer == "waiting"
    triage.override_severity(finding, Severity.CRITICAL, now=NOW, **BY)
    assert outcomes(link, finding) == ["worse"]


def test_a_dispute_ends_with_the_last_of_its_findings(link):
    scan(link.website, "a", "b", at=NOW - DAY)
    first, second = Finding.objects.order_by("rule")
    act(link, "disputed", first, second)
    scan(link.website, "b", at=NOW + DAY)
    assert (outcomes(link, first), outcomes(link, second)) == (["overtaken"], [""])
    assert Case.objects.open().exists()
    scan(link.website, at=NOW + 2 * DAY)
    case = Case.objects.get()
    assert (case.outcome, case.closed_by) == ("overtaken", "")


def test_a_scan_of_another_website_ends_nothing(link, finding):
    act(link, "fixed", finding)
    scan(make_website("other.example.com"), at=NOW + DAY)
    assert outcomes(link, finding) == [""]


# Undone imports


@pytest.mark.parametrize("name", ["will_fix", "disputed", "fixed"])
def test_an_undone_import_opens_the_answers_again_that_it_ended(link, finding, name):
    act(link, name, finding)
    scan(link.website, at=NOW + DAY)
    undo_newest()
    assert outcomes(link, finding) == [""]
    assert Case.objects.open().count() == (name == "disputed")
    scan(link.website, at=NOW + 3 * DAY)
    assert outcomes(link, finding) != [""]


def test_an_undone_import_that_still_found_it_opens_the_answer_again(link, finding):
    act(link, "fixed", finding)
    scan(link.website, "panel", at=NOW + DAY)
    assert outcomes(link, finding) == ["still_there"]
    undo_newest()
    assert outcomes(link, finding) == [""]


def test_an_undone_import_leaves_a_newer_answer_alone(link, finding):
    act(link, "fixed", finding)
    scan(link.website, "panel", at=NOW + DAY)
    act(link, "will_fix", finding, now=NOW + DAY)
    undo_newest()
    assert outcomes(link, finding) == ["still_there", ""]


def test_a_dispute_goes_on_about_the_findings_that_an_undone_import_leaves(link, finding):
    scan(link.website, "new", at=NOW, severity="high", complete=False)
    new = Finding.objects.get(rule="new")
    act(link, "disputed", new, finding)
    assert Case.objects.get().finding == new
    undo_newest()
    (case,) = Case.objects.open()
    assert (case.finding, case.messages.get().finding) == (finding, finding)
    assert open_answer(link, finding).case == case


def test_an_import_is_not_undone_without_a_word_about_answers_to_its_new_findings(link):
    scan(link.website, "answered", "asked", "neither", at=NOW)
    answered, asked, _ = Finding.objects.order_by("pk")
    act(link, "will_fix", answered)
    write(link, asked)
    run = ImportRun.objects.get()
    assert "Deleted: 3 (2 with notes, answers or decisions)" in preview(run, now=NOW).in_words()
    undo_newest()
    for model in (Finding, Answer, Message):
        assert not model.objects.exists()


# Analysts


@pytest.mark.parametrize("name", ["will_fix", "accepted", "fixed", "disputed"])
@pytest.mark.parametrize(
    ("status", "expected"), [("false_positive", "decided"), ("accepted_risk", "decided"), ("fixed", None)]
)
def test_an_analysts_decision_about_the_finding_ends_answers(link, finding, name, status, expected):
    act(link, name, finding)
    triage.decide(finding, status, now=NOW, **BY)
    by_fix = {"will_fix": "fixed", "disputed": "overtaken", "fixed": "gone", "accepted": ""}
    if status == "false_positive" and name == "disputed":
        expected = "agreed"
    assert outcomes(link, finding) == [by_fix[name] if expected is None else expected]
    assert not Case.objects.open().exists()


def test_an_analyst_who_agrees_makes_false_positives_and_answers_every_account(link, finding):
    others = [make_link(make_account(f"acct_{name}"), link.website) for name in ("disputes", "fixes")]
    act(link, "disputed", finding)
    act(others[0], "disputed", finding)
    act(others[1], "will_fix", finding)
    case = Case.objects.get(account=link.account)
    assert cases.agree(case, by="ada", person="", text="You are right.", now=NOW) == 1
    finding.refresh_from_db()
    assert finding.status == "false_positive"
    assert [outcomes(each, finding) for each in (link, *others)] == [["agreed"], ["agreed"], ["decided"]]
    assert not Case.objects.open().exists()
    assert (events(link), events(others[0]), events(others[1])) == ([], ["agreed"], ["decided"])


def test_a_suppression_rule_ends_answers(link, finding):
    act(link, "will_fix", finding)
    rule = StandingDecision(source=make_source(), severity=Severity.HIGH, website=link.website, **BY)
    standing.begin(rule, NOW)
    assert outcomes(link, finding) == ["decided"]


def test_a_finding_that_an_analyst_opens_again_needs_a_new_answer(link, finding):
    act(link, "will_fix", finding)
    triage.decide(finding, "accepted_risk", until=NOW.date(), now=NOW, **BY)
    expire_triage(NOW + DAY)
    finding.refresh_from_db()
    assert (finding.status, open_answer(link, finding)) == ("open", None)


def test_a_risk_of_a_finding_that_is_opened_again_as_a_worse_one_is_not_accepted(link, finding):
    act(link, "accepted", finding)
    triage.decide(finding, "fixed", now=NOW, **BY)
    triage.override_severity(finding, Severity.CRITICAL, now=NOW, **BY)
    assert outcomes(link, finding) == [""]
    triage.reopen(finding, now=NOW, **BY)
    assert outcomes(link, finding) == ["worse"]


# Days


@pytest.mark.parametrize(
    ("zone", "last_moment"),
    [
        ("UTC", datetime(2026, 4, 4, 23, 59, tzinfo=UTC)),
        ("Pacific/Auckland", datetime(2026, 4, 4, 10, 59, tzinfo=UTC)),
        ("America/Los_Angeles", datetime(2026, 4, 5, 6, 59, tzinfo=UTC)),
    ],
)
def test_a_risk_is_accepted_to_the_end_of_its_last_day_in_the_accounts_zone(link, finding, zone, last_moment):
    Account.objects.update(time_zone=zone)
    act(link, "accepted", finding, until="2026-04-04")
    act(link, "will_fix", make_finding(link.website), due="2026-03-05")
    assert settling.end_accepted(last_moment) == 0
    assert settling.end_accepted(last_moment + timedelta(minutes=1)) == 1
    assert outcomes(link, finding) == ["expired"]
    assert events() == ["expired"]
    assert settling.end_accepted(last_moment + DAY) == 0


def test_the_end_of_an_accepted_risk_is_announced_once_14_days_before(link, finding):
    act(link, "accepted", finding, until="2026-04-04")
    assert settling.announce_ends(datetime(2026, 3, 20, 23, 59, tzinfo=UTC)) == 0
    version = SiteLink.objects.get().answers_version
    assert settling.announce_ends(datetime(2026, 3, 21, tzinfo=UTC)) == 1
    assert settling.announce_ends(datetime(2026, 3, 22, tzinfo=UTC)) == 0
    assert events() == ["ends_soon"]
    assert SiteLink.objects.get().answers_version > version
    assert outcomes(link, finding) == [""]


@pytest.mark.parametrize(("until", "announced"), [("2026-03-18", 0), ("2026-03-19", 1)])
def test_risks_that_are_accepted_for_at_most_14_days_are_not_announced(link, finding, until, announced):
    act(link, "accepted", finding, until=until)
    numbers = [settling.announce_ends(NOW + days * DAY) for days in range(20)]
    assert sum(numbers) == announced


def test_a_risk_that_is_accepted_again_is_announced_again(link, finding):
    act(link, "accepted", finding, until="2026-04-04")
    assert settling.announce_ends(NOW + 20 * DAY) == 1
    act(link, "accepted", finding, until="2026-05-04", now=NOW + 21 * DAY)
    assert settling.announce_ends(NOW + 60 * DAY) == 1


def test_each_account_has_its_own_days(link, finding):
    other = make_link(make_account("acct_0002", time_zone="Pacific/Auckland"), link.website)
    for each in (link, other):
        act(each, "accepted", finding, until="2026-04-04")
    settling.end_accepted(datetime(2026, 4, 4, 20, tzinfo=UTC))
    assert (outcomes(link, finding), outcomes(other, finding)) == ([""], ["expired"])
    assert events(link) == []


def test_the_daily_command_ends_risks_and_announces_ends(link, finding, monkeypatch):
    act(link, "accepted", finding, until="2026-03-25")
    other = make_finding(link.website)
    act(link, "accepted", other, until="2026-04-05")
    monkeypatch.setattr("django.utils.timezone.now", lambda: datetime(2026, 3, 26, 0, 10, tzinfo=UTC))
    result = run_json("end_day")
    assert (result["risks_ended"], result["announced"]) == (1, 1)
    assert (outcomes(link, finding), outcomes(link, other)) == (["expired"], [""])


def test_a_day_of_will_fix_passes_without_an_end(link, finding):
    act(link, "will_fix", finding, due="2026-03-05")
    settling.end_accepted(NOW + 30 * DAY)
    assert open_answer(link, finding).due_on == date(2026, 3, 5)


def test_ended_answers_and_their_events_are_kept(link, finding):
    for name in ("will_fix", "accepted", "fixed"):
        act(link, name, finding)
    scan(link.website, at=NOW + DAY)
    assert outcomes(link, finding) == ["replaced", "replaced", "gone"]
    assert not Answer.objects.open().exists()
    assert FindingEvent.objects.filter(event="fixed").count() == 1
