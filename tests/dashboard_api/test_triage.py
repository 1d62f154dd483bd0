"""What analysts decide: on the record, respected, and over when its time is."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection

from dashboard_api import triage
from dashboard_api.backends import verify
from dashboard_api.models import Finding, Severity
from dashboard_api.triage import decide, expire_decisions, rate, reconsider
from tests.factories import make_finding, make_website

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
TODAY = NOW.date()
SAID = {"by": "ada", "reason": "We looked.", "now": NOW}


@pytest.fixture
def finding():
    return make_finding(make_website(), severity=Severity.MEDIUM)


def standing(finding):
    finding.refresh_from_db()
    return finding.status, finding.decided_until


def events(finding):
    return list(finding.events.values_list("event", "by", "reason"))


@pytest.mark.parametrize("status", triage.DECISIONS)
def test_a_decision_is_kept_with_who_when_and_why(finding, status):
    decide(finding, status, **SAID)
    assert standing(finding) == (status, None)
    assert events(finding) == [(triage.DECISIONS[status], "ada", "We looked.")]
    assert finding.looked_at == NOW


def test_only_a_fix_has_a_time(finding):
    decide(finding, "fixed", **SAID)
    finding.refresh_from_db()
    assert finding.fixed_at == NOW
    reconsider(finding, **SAID)
    finding.refresh_from_db()
    assert finding.fixed_at is None


@pytest.mark.parametrize("reason", ["", "  \n"])
@pytest.mark.parametrize("act", [decide, reconsider, rate])
def test_nothing_is_decided_without_a_reason(finding, act, reason):
    said = SAID | {"reason": reason}
    if act is reconsider:
        decide(finding, "accepted_risk", **SAID)
    before, known = standing(finding), events(finding)
    with pytest.raises(ValidationError, match="Say why"):
        act(finding, **said) if act is reconsider else act(finding, {decide: "fixed", rate: 4}[act], **said)
    assert (standing(finding), events(finding)) == (before, known)


def test_a_decision_can_be_changed_but_not_of_what_is_fixed(finding):
    decide(finding, "accepted_risk", until=TODAY, **SAID)
    decide(finding, "false_positive", **SAID)
    assert standing(finding) == ("false_positive", None)
    decide(finding, "fixed", **SAID)
    with pytest.raises(ValidationError, match="is fixed"):
        decide(finding, "accepted_risk", **SAID)


def test_open_is_no_decision_and_cannot_be_taken_back(finding):
    with pytest.raises(KeyError):
        decide(finding, "open", **SAID)
    with pytest.raises(ValidationError, match="open already"):
        reconsider(finding, **SAID)


def test_a_decision_holds_through_its_last_day_and_is_over_on_the_next(finding):
    decide(finding, "accepted_risk", until=TODAY, **SAID)
    assert expire_decisions(NOW + timedelta(hours=11)) == 0
    assert standing(finding) == ("accepted_risk", TODAY)
    assert expire_decisions(NOW + timedelta(hours=12)) == 1
    assert standing(finding) == ("open", None)
    assert events(finding)[-1] == ("decision_expired", "", "")
    assert expire_decisions(NOW + timedelta(days=9)) == 0


def test_a_decision_for_a_day_that_has_passed_is_refused(finding):
    with pytest.raises(ValidationError, match="This day has passed"):
        decide(finding, "accepted_risk", until=TODAY - timedelta(days=1), **SAID)


def test_decisions_expire_in_batches_and_the_counts_stay_true(finding, monkeypatch):
    monkeypatch.setattr(triage, "DECISION_BATCH", 2)
    for _ in range(5):
        decide(make_finding(finding.website), "false_positive", until=TODAY, **SAID)
    call_command("expire_decisions", verbosity=0)
    assert not Finding.objects.exclude(status="open").exists()
    assert verify.wrong_counts(connection) == {}


def test_a_rating_keeps_the_engines_and_knows_the_way_back(finding):
    rate(finding, Severity.CRITICAL, **SAID)
    rate(finding, Severity.LOW, **SAID)
    finding.refresh_from_db()
    assert (finding.severity, finding.engine_severity) == (Severity.LOW, Severity.MEDIUM)
    rate(finding, None, **SAID)
    finding.refresh_from_db()
    assert (finding.severity, finding.engine_severity) == (Severity.MEDIUM, None)
    assert [reason for _, _, reason in events(finding)] == [
        "Medium to Critical: We looked.",
        "Critical to Low: We looked.",
        "Low to Medium: We looked.",
    ]


def test_a_rating_that_changes_nothing_is_refused(finding):
    with pytest.raises(ValidationError, match="Medium already"):
        rate(finding, None, **SAID)


def test_the_command_tells_how_many(finding, capsys):
    decide(finding, "accepted_risk", until=date(2026, 3, 5), **SAID)
    call_command("expire_decisions", "--json")
    assert capsys.readouterr().out.strip() == '{"reopened": 1}'
