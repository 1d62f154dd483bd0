"""A decision that is made while a report is imported holds, whichever of the two comes first."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from time import sleep

import pytest
from django.db import connections

from dashboard_api.decisions import triage
from dashboard_api.importing import apply
from dashboard_api.models import Finding
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_website

pytestmark = pytest.mark.django_db(transaction=True)

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
APRIL = datetime(2026, 4, 1, tzinfo=UTC)


def bring(website, *rules, at, **options):
    info = {"name": f"Seen in {at:%B}", "severity": "high"}
    rows = [make_row(template_id=rule, timestamp=at.isoformat(), info=info) for rule in rules]
    return import_bytes(json_lines(*rows), website, format_name="nuclei", **options)


@pytest.fixture
def pool():
    """Two threads that decide while the import runs."""
    with ThreadPoolExecutor(2) as threads:
        yield threads


def decided_between(monkeypatch, name, decision, pool):
    """Let a decision begin after the import has read what it plans with, and before it writes."""
    plan, futures = getattr(apply, name), []

    def decide():
        try:
            decision()
        finally:
            connections.close_all()

    def slow(*arguments, **named):
        futures.append(pool.submit(decide))
        sleep(0.3)
        return plan(*arguments, **named)

    monkeypatch.setattr(apply, name, slow)
    return futures


def accept(finding):
    triage.decide(finding, "accepted_risk", by="ann", reason="Known.", now=APRIL)


@pytest.mark.parametrize("name", ["plan_reported", "plan_absent"])
def test_a_decision_during_an_import_is_not_overwritten(name, monkeypatch, pool):
    website = make_website()
    bring(website, "panel", "other", at=MARCH)
    panel = Finding.objects.get(rule="panel")
    futures = decided_between(monkeypatch, name, lambda: accept(panel), pool)
    reported = ["panel", "other"] if name == "plan_reported" else ["other"]
    bring(website, *reported, at=APRIL, complete=True)
    errors = [future.exception() for future in futures]
    panel.refresh_from_db()
    events = list(panel.events.values_list("event", flat=True))
    if name == "plan_reported":
        assert (errors, panel.status) == ([None], "accepted_risk")
    else:  # it was fixed first, and then there was nothing to decide
        assert panel.status == "fixed"
        assert "accepted_risk" not in events
        assert "nothing to decide" in str(errors[0])
