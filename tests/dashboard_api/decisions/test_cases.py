"""Decisions about questions and disputes: one for each, by an analyst who did not open it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from audit.models import AuditEvent
from dashboard_api.decisions import cases, triage
from dashboard_api.models import Answer, Case, Message
from tests.dashboard_api.disputes import ask, dispute
from tests.factories import make_account, make_finding, make_link

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
BY = {"by": "grace", "person": "user-1", "text": "We looked.", "now": NOW}
ACTS = {"agree": "dispute", "disagree": "dispute", "ask": "dispute", "reply": "question"}


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def finding(link):
    return make_finding(link.website)


def opened(kind, link, finding, **fields):
    return (dispute if kind == "dispute" else ask)(link, finding, **fields)


def do(act, case, **fields):
    return getattr(cases, act)(case, **(BY | fields))


def ends(case):
    case.refresh_from_db()
    return case.outcome, case.closed_by, case.decision


def test_agreeing_makes_all_findings_of_the_dispute_false_positives(link, finding):
    other, untouched = make_finding(link.website), make_finding(link.website)
    case = dispute(link, finding, other)
    assert do("agree", case) == 2
    for each, status in ((finding, "false_positive"), (other, "false_positive"), (untouched, "open")):
        each.refresh_from_db()
        assert each.status == status
    assert ends(case) == ("agreed", "grace", "We looked.")
    assert set(Answer.objects.values_list("outcome", flat=True)) == {"agreed"}
    assert finding.events.get().reason == cases.AGREED_REASON  # every account reads it


def test_agreeing_ends_the_answers_of_other_accounts_to_the_same_finding(link, finding):
    other = make_link(make_account("acct_0002"), link.website)
    theirs = dispute(other, finding)
    do("agree", dispute(link, finding))
    assert ends(theirs) == ("agreed", "", "")


def test_disagreeing_leaves_the_finding_open_and_ends_the_answer(link, finding):
    case = dispute(link, finding)
    do("disagree", case)
    finding.refresh_from_db()
    assert finding.status == "open"
    assert ends(case) == ("disagreed", "grace", "We looked.")
    assert Answer.objects.get().outcome == "disagreed"


def test_asking_waits_for_the_customer_and_their_message_brings_the_dispute_back(link, finding):
    case = dispute(link, finding)
    do("ask", case)
    assert list(Case.objects.for_analysts()) == []
    assert ask(link, finding) == case
    assert list(Case.objects.for_analysts()) == [case]
    do("agree", case)
    assert ends(case)[0] == "agreed"


def test_a_reply_closes_the_question(link, finding):
    case = ask(link, finding)
    do("reply", case)
    assert ends(case) == ("answered", "grace", "We looked.")


@pytest.mark.parametrize(("act", "kind"), ACTS.items())
def test_the_customer_reads_the_words_and_the_act_is_on_record(link, finding, act, kind):
    do(act, opened(kind, link, finding), text="  We looked. ")
    message = Message.objects.get(side="analyst")
    assert (message.by, message.text, message.finding) == ("grace", "We looked.", finding)
    assert AuditEvent.objects.filter(action__startswith="case.").count() == 1


@pytest.mark.parametrize(("act", "kind"), ACTS.items())
@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"person": "user-900"}, "another analyst must decide"),
        ({"by": " "}, "Say who decides"),
        ({"text": " "}, "Write 1 to 4,000 characters"),
        ({"text": "x" * 4_001}, "Write 1 to 4,000 characters"),
    ],
    ids=["their own", "nobody", "no text", "too long"],
)
def test_a_refused_act_changes_nothing(link, finding, act, kind, fields, refusal):
    case = opened(kind, link, finding)
    with pytest.raises(ValidationError, match=refusal):
        do(act, case, **fields)
    assert list(Case.objects.for_analysts()) == [case]
    assert not Message.objects.filter(side="analyst").exists()


@pytest.mark.parametrize(("act", "kind"), ACTS.items())
def test_an_act_suits_the_kind_of_the_case(link, finding, act, kind):
    other = "question" if kind == "dispute" else "dispute"
    with pytest.raises(ValidationError, match=f"It is not a {kind}"):
        do(act, opened(other, link, finding))


@pytest.mark.parametrize(
    ("closes", "refusal"),
    [
        (lambda case: do("disagree", case, by="bob"), "closed meanwhile by bob: disagreed"),
        (
            lambda case: triage.decide(
                case.finding, "false_positive", by="bob", reason="We looked.", now=NOW
            ),
            "closed meanwhile: agreed",
        ),
    ],
    ids=["a colleague", "the workbench"],
)
def test_the_second_decision_is_refused_and_names_the_first(link, finding, closes, refusal):
    case = dispute(link, finding)
    closes(case)
    with pytest.raises(ValidationError, match=refusal):
        do("agree", case)
    assert ends(case)[2] == ("We looked." if "bob" in refusal else "")


@pytest.mark.django_db(transaction=True)
def test_two_analysts_at_once_make_one_decision(link, finding):
    case, both = dispute(link, finding), Barrier(2)

    def decide(act, name):
        both.wait()
        try:
            do(act, case, by=name)
        except ValidationError as refusal:
            return " ".join(refusal.messages)
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(2) as analysts:
        answers = list(analysts.map(decide, ("agree", "disagree"), ("ada", "bob")))
    outcome, winner, _ = ends(case)
    assert sorted(answers) == ["", f"It was closed meanwhile by {winner}: {outcome}."]
    finding.refresh_from_db()
    assert finding.status == {"agreed": "false_positive", "disagreed": "open"}[outcome]
    assert Message.objects.filter(side="analyst").count() == 1
