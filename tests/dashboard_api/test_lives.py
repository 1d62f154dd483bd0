"""The life of findings as a state machine: scans, decisions and the calendar, in any order."""

import io
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dashboard_api import triage
from dashboard_api.backends import verify
from dashboard_api.importing.ingest import import_report
from dashboard_api.models import Finding, FindingEvent, Severity, Website
from dashboard_api.scanners import nuclei
from tests.dashboard_api.scanners.samples import json_lines, make_row

pytestmark = pytest.mark.django_db
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
RULES = ("panel", "version", "cookie")
PATHS = ("/a", "/b", "/c")
SEVERITIES = {"low": 1, "medium": 2, "high": 3}

rules = st.sampled_from(RULES)
reports = st.dictionaries(rules, st.sets(st.sampled_from(PATHS), min_size=1), max_size=3)
ratings = st.sampled_from(sorted(SEVERITIES))
decided = st.sampled_from(["false_positive", "accepted_risk", "fixed"])


@dataclass
class Life:
    """What is expected of one finding."""

    severity: int
    rated: int | None = None
    status: str = "open"
    until: object = None
    places: set = field(default_factory=set)
    ever: set = field(default_factory=set)
    steps: list = field(default_factory=list)


class Lives(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.savepoint = transaction.savepoint()
        self.website = Website.objects.create(host="shop.example.com")
        self.now = START
        self.lives = {}

    def teardown(self):
        transaction.savepoint_rollback(self.savepoint)

    def finding(self, name):
        return Finding.objects.get(website=self.website, rule=name)

    def said(self):
        return {"by": "ada", "reason": "We looked.", "now": self.now}

    @rule(days=st.integers(1, 3))
    def time_passes(self, days):
        self.now += timedelta(days=days)
        for life in self.lives.values():
            if life.until is not None and life.until < self.now.date():
                life.status, life.until = "open", None
                life.steps.append("decision_expired")
        triage.expire_decisions(self.now)

    @rule(report=reports, severity=ratings, complete=st.booleans())
    def scan(self, report, severity, complete):
        self.now += timedelta(hours=1)
        for name, paths in report.items():
            self.expect_reported(name, paths, SEVERITIES[severity], complete)
        if complete:
            self.expect_gone(set(self.lives) - set(report))
        self.bring(report, severity, complete)

    def expect_reported(self, name, paths, severity, complete):
        life = self.lives.setdefault(name, Life(severity=severity))
        life.severity = severity
        if life.status == "fixed":
            life.status = "open"
            life.steps.append("regressed")
        life.places = set(paths) if complete else life.places | paths
        life.ever |= paths

    def expect_gone(self, names):
        for name in names:
            if self.lives[name].status == "open":
                self.lives[name].status = "fixed"
                self.lives[name].steps.append("fixed")

    def bring(self, report, severity, complete):
        rows = [
            make_row(
                template_id=name,
                info={"name": name, "severity": severity},
                matched_at=f"https://shop.example.com{path}",
                timestamp=self.now.isoformat(),
            )
            for name, paths in report.items()
            for path in paths
        ]
        if rows or complete:
            data = json_lines(*rows) if rows else b""
            import_report(nuclei.read(io.BytesIO(data)), self.website, complete=complete, scanned_at=self.now)

    @rule(report=reports, severity=ratings, complete=st.booleans())
    def old_scan(self, report, severity, complete):
        """It may tell of places that nobody knew; of what is known it changes nothing."""
        known = {name: paths for name, paths in report.items() if name in self.lives}
        if not known:
            return
        then, self.now = self.now, START - timedelta(days=9)
        for name, paths in known.items():
            self.lives[name].places |= paths - self.lives[name].ever
            self.lives[name].ever |= paths
        self.bring(known, severity, complete)
        self.now = then

    @precondition(lambda self: self.lives)
    @rule(data=st.data(), status=decided, days=st.none() | st.integers(0, 4))
    def decide(self, data, status, days):
        name = data.draw(st.sampled_from(sorted(self.lives)))
        life = self.lives[name]
        if life.status == "fixed":
            return
        until = None if days is None or status == "fixed" else self.now.date() + timedelta(days=days)
        triage.decide(self.finding(name), status, until=until, **self.said())
        life.status, life.until = status, until
        life.steps.append(status)

    @precondition(lambda self: any(life.status != "open" for life in self.lives.values()))
    @rule(data=st.data())
    def reconsider(self, data):
        closed = sorted(name for name, life in self.lives.items() if life.status != "open")
        name = data.draw(st.sampled_from(closed))
        triage.reconsider(self.finding(name), **self.said())
        self.lives[name].status, self.lives[name].until = "open", None
        self.lives[name].steps.append("reconsidered")

    @precondition(lambda self: self.lives)
    @rule(data=st.data(), severity=st.none() | st.sampled_from([0, 4]))
    def rate(self, data, severity):
        name = data.draw(st.sampled_from(sorted(self.lives)))
        life = self.lives[name]
        if severity == life.rated:
            return
        triage.rate(self.finding(name), severity, **self.said())
        life.rated = severity
        life.steps.append("rated")

    @invariant()
    def findings_are_as_expected(self):
        found = {finding.rule: finding for finding in Finding.objects.filter(website=self.website)}
        assert found.keys() == self.lives.keys()
        for name, life in self.lives.items():
            finding = found[name]
            engine = finding.severity if finding.engine_severity is None else finding.engine_severity
            assert (finding.status, finding.decided_until) == (life.status, life.until)
            assert (finding.severity, engine) == (
                life.severity if life.rated is None else life.rated,
                life.severity,
            )
            there = finding.occurrences.filter(gone_at=None).values_list("location", flat=True)
            assert {place.removeprefix("https://shop.example.com") for place in there} == life.places
            assert finding.locations_count == len(life.places)
            steps = FindingEvent.objects.filter(finding=finding).values_list("event", flat=True)
            assert list(steps) == life.steps

    @invariant()
    def counts_are_true(self):
        assert verify.wrong_counts(connection) == {}


def test_no_life_ends_otherwise_than_its_scans_and_decisions_say():
    run_state_machine_as_test(
        Lives,
        settings=settings(
            max_examples=25, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_severities_of_the_model_are_those_of_the_machine():
    assert {name: Severity[name.upper()] for name in SEVERITIES} == SEVERITIES
