"""Decisions of analysts wait for a running import of the website; PostgreSQL would let both write."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError, connection, connections, transaction

from dashboard_api.decisions import standing, triage
from dashboard_api.importing import ended_decisions, service
from dashboard_api.models import Finding, Severity, StandingDecision
from tests.factories import make_finding, make_source, make_website

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer"),
]
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
BY = {"by": "ada", "reason": "We looked."}


@pytest.fixture
def finding():
    return make_finding(
        make_website(),
        severity=Severity.MEDIUM,
        status="accepted_risk",
        triage_until=NOW.date() - timedelta(days=1),
    )


@pytest.fixture
def high_risks(finding):
    decision = StandingDecision(source=make_source(), severity=Severity.HIGH, website=finding.website, **BY)
    standing.begin(decision, NOW)
    return decision


@pytest.mark.parametrize(
    "decide",
    [
        lambda _: triage.decide(Finding.objects.get(), "false_positive", now=NOW, **BY),
        lambda _: ended_decisions.expire_triage(NOW),
        lambda decision: standing.begin(decision, NOW),
        lambda decision: ended_decisions.end(decision, now=NOW, **BY),
    ],
    ids=["about a finding", "that expires", "that stands", "that ends"],
)
def test_a_decision_waits_for_an_import_of_the_website(finding, high_risks, decide):
    other = connections.create_connection("default")
    own, connections["default"] = connections["default"], other
    try:
        transaction.set_autocommit(False)
        service._lock(finding.website)
        connections["default"] = own
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 100")
        with pytest.raises(OperationalError, match="lock timeout"):
            decide(high_risks)
    finally:
        connections["default"] = own
        other.rollback()
        other.close()
        own.close()
    decide(high_risks)
