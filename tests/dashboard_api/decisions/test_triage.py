"""Decisions of analysts: recorded, respected by scans, and over after their last day."""

import json
from datetime import UTC, date, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command

from dashboard_api.decisions import triage
from dashboard_api.decisions.triage import (
    can_confirm,
    confirm,
    decide,
    override_severity,
    reopen,
    unconfirm,
)
from dashboard_api.importing import ended_decisions
from dashboard_api.importing.ended_decisions import expire_triage
from dashboard_api.models import Finding, Severity
from tests.dashboard_api.searched import words_are_true
from tests.factories import make_finding, make_occurrence, make_website

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
TODAY = NOW.date()
REASON = {"by": "ada", "reason": "We looked.", "now": NOW}


@pytest.fixture
def finding():
    return make_finding(make_website(), severity=Severity.MEDIUM)


def status_of(finding):
    finding.refresh_from_db()
    return finding.status, finding.triage_until


def events(finding):
    return list(finding.events.values_list("event", "by", "reason"))


@pytest.mark.parametrize("status", triage.EVENT_OF_STATUS)
def test_a_decision_is_recorded_with_who_when_and_why(finding, status):
    decide(finding, status, **REASON)
    assert status_of(finding) == (status, None)
    assert events(finding) == [(triage.EVENT_OF_STATUS[status], "ada", "We looked.")]
    assert finding.reviewed_at == NOW


def test_only_a_fix_has_a_time(finding):
    decide(finding, "fixed", **REASON)
    finding.refresh_from_db()
    assert finding.fixed_at == NOW
    reopen(finding, **REASON)
    finding.refresh_from_db()
    assert finding.fixed_at is None


def test_a_finding_that_is_reopened_has_a_location_also_where_the_last_one_went_before_the_fix(finding):
    make_occurrence(finding, gone_at=NOW - timedelta(days=9))
    last = make_occurrence(finding, gone_at=NOW - timedelta(days=2))
    decide(finding, "fixed", **REASON)
    reopen(finding, **REASON)
    assert list(finding.occurrences.filter(gone_at=None)) == [last]


@pytest.mark.parametrize("reason", ["", "  \n"])
@pytest.mark.parametrize(("act", "value"), [(decide, ["fixed"]), (reopen, []), (override_severity, [4])])
def test_nothing_is_decided_without_a_reason(finding, act, value, reason):
    arguments = REASON | {"reason": reason}
    if act is reopen:
        decide(finding, "accepted_risk", **REASON)
    before, history = status_of(finding), events(finding)
    with pytest.raises(ValidationError, match="Say why"):
        act(finding, **arguments) if act is reopen else act(
            finding, {decide: "fixed", override_severity: 4}[act], **arguments
        )
    assert (status_of(finding), events(finding)) == (before, history)


def test_a_decision_can_be_changed_but_not_of_what_is_fixed(finding):
    decide(finding, "accepted_risk", until=TODAY, **REASON)
    decide(finding, "false_positive", **REASON)
    assert status_of(finding) == ("false_positive", None)
    decide(finding, "fixed", **REASON)
    with pytest.raises(ValidationError, match="is fixed"):
        decide(finding, "accepted_risk", **REASON)


def test_open_is_no_decision_and_cannot_be_taken_back(finding):
    with pytest.raises(KeyError):
        decide(finding, "open", **REASON)
    with pytest.raises(ValidationError, match="open already"):
        reopen(finding, **REASON)


def test_a_decision_holds_through_its_last_day_and_is_over_on_the_next(finding):
    decide(finding, "accepted_risk", until=TODAY, **REASON)
    assert expire_triage(NOW + timedelta(hours=11)) == 0
    assert status_of(finding) == ("accepted_risk", TODAY)
    assert expire_triage(NOW + timedelta(hours=12)) == 1
    assert status_of(finding) == ("open", None)
    assert events(finding)[-1] == ("decision_expired", "", "")
    assert expire_triage(NOW + timedelta(days=9)) == 0


def test_a_decision_for_a_day_that_has_passed_is_refused(finding):
    with pytest.raises(ValidationError, match="This day has passed"):
        decide(finding, "accepted_risk", until=TODAY - timedelta(days=1), **REASON)


def test_decisions_expire_in_batches(finding, monkeypatch):
    monkeypatch.setattr(ended_decisions, "TRIAGE_BATCH", 2)
    for _ in range(5):
        decide(make_finding(finding.website), "false_positive", until=TODAY, **REASON)
    call_command("end_day", verbosity=0)
    assert not Finding.objects.exclude(status="open").exists()
    assert words_are_true()


def test_an_override_stores_the_scanners_severity_and_can_be_undone(finding):
    override_severity(finding, Severity.CRITICAL, **REASON)
    override_severity(finding, Severity.LOW, **REASON)
    finding.refresh_from_db()
    assert (finding.severity, finding.source_severity) == (Severity.LOW, Severity.MEDIUM)
    override_severity(finding, None, **REASON)
    finding.refresh_from_db()
    assert (finding.severity, finding.source_severity) == (Severity.MEDIUM, None)
    assert [reason for _, _, reason in events(finding)] == [
        "Medium to Critical: We looked.",
        "Critical to Low: We looked.",
        "Low to Medium: We looked.",
    ]


def test_an_override_that_changes_nothing_is_refused(finding):
    with pytest.raises(ValidationError, match="Medium already"):
        override_severity(finding, None, **REASON)


def kinds_of(finding):
    finding.refresh_from_db()
    return finding.kind, finding.source_kind


@pytest.mark.parametrize("kind", ["suspected", "confirmed"])
def test_a_confirmation_stores_the_scanners_kind_and_can_be_taken_back(kind):
    finding = make_finding(make_website(), kind=kind)
    confirm(finding, **REASON)
    assert kinds_of(finding) == ("confirmed", kind)
    assert finding.reviewed_at == NOW
    unconfirm(finding, **REASON)
    assert kinds_of(finding) == (kind, None)
    assert events(finding) == [("confirmed", "ada", "We looked."), ("unconfirmed", "ada", "We looked.")]
    assert words_are_true()


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"kind": "informational"}, "It is informational"),
        ({"kind": "suspected", "status": "fixed", "fixed_at": NOW}, "It is fixed"),
        ({"kind": "suspected", "status": "false_positive"}, "It is a false positive"),
        ({"kind": "confirmed", "source_kind": "suspected"}, "An analyst has confirmed it already"),
    ],
)
def test_what_no_analyst_can_confirm_is_refused(fields, refusal):
    finding = make_finding(make_website(), **fields)
    assert not can_confirm(finding)
    with pytest.raises(ValidationError, match=refusal):
        confirm(finding, **REASON)
    assert kinds_of(finding) == (fields["kind"], fields.get("source_kind"))
    assert not finding.events.exists()


def test_an_accepted_risk_can_be_confirmed():
    finding = make_finding(make_website(), kind="suspected", status="accepted_risk")
    assert can_confirm(finding)
    confirm(finding, **REASON)
    assert kinds_of(finding) == ("confirmed", "suspected")
    assert finding.status == "accepted_risk"


@pytest.mark.parametrize("act", [confirm, unconfirm])
def test_nothing_is_confirmed_or_taken_back_without_a_reason(act):
    fields = {"kind": "confirmed", "source_kind": "suspected"} if act is unconfirm else {"kind": "suspected"}
    finding = make_finding(make_website(), **fields)
    before = kinds_of(finding)
    with pytest.raises(ValidationError, match="Say why"):
        act(finding, **REASON | {"reason": " "})
    assert kinds_of(finding) == before


def test_a_scanners_confirmation_cannot_be_taken_back(finding):
    with pytest.raises(ValidationError, match="No analyst has confirmed it"):
        unconfirm(finding, **REASON)


@pytest.mark.parametrize(
    ("status", "kinds"),
    [
        ("false_positive", ("suspected", None)),
        ("accepted_risk", ("confirmed", "suspected")),
        ("fixed", ("confirmed", "suspected")),
    ],
)
def test_only_a_false_positive_ends_a_confirmation(status, kinds):
    finding = make_finding(make_website(), kind="suspected")
    confirm(finding, **REASON)
    decide(finding, status, **REASON)
    reopen(finding, **REASON)
    assert kinds_of(finding) == kinds
    assert words_are_true()


def test_the_command_prints_the_number(finding, capsys):
    decide(finding, "accepted_risk", until=date(2026, 3, 5), **REASON)
    call_command("end_day", "--json")
    assert json.loads(capsys.readouterr().out)["ended"] == 1
