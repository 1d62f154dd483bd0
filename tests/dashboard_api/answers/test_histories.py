"""Histories by chance of acts, scans, decisions and days: each answer ends as a small model says."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import settings as limits_of
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dashboard_api.answers import settling
from dashboard_api.answers.acts import AlreadyAnswered
from dashboard_api.answers.records import WrongState
from dashboard_api.decisions import cases, triage
from dashboard_api.models import Answer, Case, Finding
from tests.dashboard_api.answers.acting import NOW, act, scan
from tests.factories import make_account, make_link, make_website

RULES = ("a", "b", "c")
LEVELS = {"medium": 2, "high": 3, "critical": 4}
WHEN_FIXED = {"will_fix": "fixed", "disputed": "overtaken", "fixed": "gone"}
days, people = st.integers(0, 30), st.sampled_from(["user-1", "user-2"])
accounts, findings = st.integers(0, 1), st.sampled_from(RULES)
chosen = st.lists(findings, min_size=1, max_size=3, unique=True)
ACTS = ("will_fix", "accepted", "disputed", "fixed")


class Answers(RuleBasedStateMachine):
    """Two accounts of a website answer three findings, while scans, analysts and days go on.

    The model has the status and severity of each finding, and by account and finding the open answer and
    the outcomes of the ended ones. The first account needs a second person for high risks.
    """

    def __init__(self):
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()
        self.now, name = NOW, f"{timezone.now().timestamp()}"
        website = make_website(f"{name}.example.com")
        self.links = [
            make_link(make_account(f"acct_{name}_{number}", secrets=(), second_person=not number), website)
            for number in range(2)
        ]
        self.website = website
        scan(website, *RULES, at=self.now - timedelta(days=1))
        self.found = {finding.rule: finding for finding in website.findings.all()}
        self.status, self.severity = dict.fromkeys(RULES, "open"), dict.fromkeys(RULES, 2)
        self.open = {}  # by account and rule: kind, severity then, last day, who
        self.ended = {(account, name): [] for account in range(2) for name in RULES}

    def end(self, account, name, outcome):
        self.open.pop((account, name))
        self.ended[account, name].append(outcome)

    def settle(self):
        """End the open answers that the findings decide."""
        for (account, name), (kind, then, *_) in list(self.open.items()):
            status, is_risk = self.status[name], kind in ("accepted", "waiting")
            if status == "fixed" and kind in WHEN_FIXED:
                self.end(account, name, WHEN_FIXED[kind])
            elif status in ("false_positive", "accepted_risk"):
                is_agreed = kind == "disputed" and status == "false_positive"
                self.end(account, name, "agreed" if is_agreed else "decided")
            elif status == "open" and is_risk and self.severity[name] > then:
                self.end(account, name, "worse")

    def attempt(self, allowed, *arguments, **fields):
        """Act, which must be refused unless it is allowed; return whether it was done."""
        try:
            with transaction.atomic():
                act(*arguments, now=self.now, **fields)
        except (WrongState, AlreadyAnswered):
            assert not allowed
        else:
            assert allowed
        return allowed

    @rule(
        account=accounts,
        names=chosen,
        kind=st.sampled_from(ACTS),
        gently=st.booleans(),
        days=st.integers(0, 30),
    )
    def answer(self, account, names, kind, gently, days):
        link, until = self.links[account], self.now.date() + timedelta(days=days)
        disagreed = max(self.ended[account, name].count("disagreed") for name in names)
        allowed = all(self.status[name] == "open" for name in names)
        allowed = allowed and not (gently and any((account, name) in self.open for name in names))
        allowed = allowed and not (kind == "disputed" and disagreed >= 2)
        fields = {"until": until.isoformat()} if kind == "accepted" else {}
        if kind == "disputed" and disagreed:
            fields["evidence"] = "Something new"
        subjects = [self.found[name] for name in names]
        if not self.attempt(allowed, link, kind, *subjects, only_unanswered=gently, **fields):
            return
        for name in names:
            if (account, name) in self.open:
                self.end(account, name, "replaced")
            waits = kind == "accepted" and not account and self.severity[name] >= 3
            self.open[account, name] = ("waiting" if waits else kind, self.severity[name], until, self.now)

    @rule(account=accounts, names=chosen)
    def withdraw(self, account, names):
        own = [name for name in names if (account, name) in self.open]
        if self.attempt(bool(own), self.links[account], "withdraw", *(self.found[name] for name in names)):
            for name in own:
                self.end(account, name, "withdrawn")

    @rule(account=accounts, name=findings, person=people, confirms=st.booleans())
    def second_person(self, account, name, person, confirms):
        kind, then, *rest = self.open.get((account, name), ("none", 0))
        allowed = kind == "waiting" and person == "user-2"
        what = "confirm" if confirms else "decline"
        if self.attempt(allowed, self.links[account], what, self.found[name], by=person):
            if confirms:
                self.open[account, name] = ("accepted", then, *rest)
            else:
                self.end(account, name, "declined")

    @rule(names=st.lists(findings, max_size=3, unique=True), level=st.sampled_from(list(LEVELS)))
    def scan(self, names, level):
        """A complete scan finds these at this severity, and no others."""
        self.now += timedelta(hours=2)
        scan(self.website, *names, at=self.now, severity=level)
        for finding in Finding.objects.filter(website=self.website):  # what scans do is tested elsewhere
            self.status[finding.rule], self.severity[finding.rule] = finding.status, finding.severity
        self.settle()
        for (account, name), (kind, _, _, at) in list(self.open.items()):
            if kind == "fixed" and name in names and self.now > at:
                self.end(account, name, "still_there")

    @rule(name=findings, status=st.sampled_from(["false_positive", "accepted_risk", "fixed"]))
    def decide(self, name, status):
        if self.status[name] == "open":
            triage.decide(self.found[name], status, by="ada", reason="We looked.", now=self.now)
            self.status[name] = status
            self.settle()

    @rule(name=findings)
    def reopen(self, name):
        if self.status[name] != "open":
            triage.reopen(self.found[name], by="ada", reason="Not so.", now=self.now)
            self.status[name] = "open"
            self.settle()

    @precondition(lambda self: any(kind == "disputed" for kind, *_ in self.open.values()))
    @rule(agrees=st.booleans())
    def decide_dispute(self, agrees):
        case = Case.objects.open().filter(website=self.website, kind="dispute").first()
        own = [self.links[account].account_id for account in range(2)].index(case.account_id)
        names = {answer.finding.rule for answer in case.answers.open()}
        assert names
        decide = cases.agree if agrees else cases.disagree
        decide(case, by="ada", person="", text="We looked.", now=self.now)
        for name in names:
            self.end(own, name, "agreed" if agrees else "disagreed")
            if agrees:
                self.status[name] = "false_positive"
        self.settle()

    @rule(days=st.integers(1, 20))
    def days_pass(self, days):
        self.now += timedelta(days=days)
        settling.end_accepted(self.now)
        for (account, name), (kind, _, until, _) in list(self.open.items()):
            if kind in ("accepted", "waiting") and until < self.now.date():
                self.end(account, name, "expired")

    @invariant()
    def answers_are_those_of_the_model(self):
        for account, link in enumerate(self.links):
            for name, finding in self.found.items():
                answers = Answer.objects.filter(account=link.account, finding=finding).order_by("pk")
                still_open = [answer for answer in answers if answer.ended_at is None]
                expected = self.open.get((account, name))
                assert [answer.answer for answer in still_open] == ([expected[0]] if expected else [])
                outcomes = [answer.outcome for answer in answers if answer.ended_at is not None]
                assert outcomes == self.ended[account, name]

    @invariant()
    def a_case_is_open_as_long_as_one_of_its_findings_is_disputed(self):
        of_answers = Answer.objects.open().filter(website=self.website, answer="disputed")
        disputes = Case.objects.open().filter(website=self.website)
        assert set(of_answers.values_list("case", flat=True)) == set(disputes.values_list("pk", flat=True))

    def teardown(self):
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)


@pytest.mark.slow
@pytest.mark.django_db
def test_every_answer_ends_as_the_model_says():
    run_state_machine_as_test(Answers, settings=limits_of(max_examples=13, stateful_step_count=20))


def test_the_model_knows_every_kind_and_outcome():
    assert {*ACTS, "waiting"} == set(Answer.Kind.values)
    assert {*WHEN_FIXED.values(), "replaced", "withdrawn", "declined", "expired", "worse", "agreed"} | {
        *("disagreed", "still_there", "decided")
    } == set(Answer.Outcome.values)
