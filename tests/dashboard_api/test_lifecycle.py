"""The lifecycle of findings as a state machine: scans, decisions and days, in any order."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
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

from dashboard_api.decisions import triage
from dashboard_api.importing import ended_decisions
from dashboard_api.models import Finding, FindingEvent, Severity, Website
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines
from tests.dashboard_api.searched import words_are_true

pytestmark = pytest.mark.django_db
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
RULES = ("panel", "version", "cookie")
PATHS = ("/a", "/b", "/c")
SEVERITIES = {"low": 1, "medium": 2, "high": 3}
KINDS = ("confirmed", "suspected", "informational")

rules = st.sampled_from(RULES)
reports = st.dictionaries(rules, st.sets(st.sampled_from(PATHS), min_size=1), max_size=3)
ratings = st.sampled_from(sorted(SEVERITIES))
kinds = st.sampled_from(KINDS)
decided = st.sampled_from(["false_positive", "accepted_risk", "fixed"])


@dataclass
class Lifecycle:
    """The expected state of one finding."""

    severity: int
    kind: str  # the scanner's
    is_confirmed: bool = False  # by an analyst
    rated: int | None = None
    status: str = "open"
    until: object = None
    places: set = field(default_factory=set)
    ever: set = field(default_factory=set)
    went: set = field(default_factory=set)  # places that went with the last fix
    steps: list = field(default_factory=list)
    was_missing: bool = False  # in a complete scan since the last decision
    missing: set = field(default_factory=set)  # places that such scans prove gone


class Lifecycles(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.savepoint = transaction.savepoint()
        self.website = Website.objects.create(host="shop.example.com")
        self.now = START
        self.lifecycles = {}

    def teardown(self):
        transaction.savepoint_rollback(self.savepoint)

    def finding(self, name):
        return Finding.objects.get(website=self.website, rule=name)

    def arguments(self):
        return {"by": "ada", "reason": "We looked.", "now": self.now}

    @rule(days=st.integers(1, 3))
    def time_passes(self, days):
        self.now += timedelta(days=days)
        for lifecycle in self.lifecycles.values():
            if lifecycle.until is not None and lifecycle.until < self.now.date():
                lifecycle.status, lifecycle.until = "open", None
                lifecycle.steps.append("decision_expired")
                self.expect_gone_meanwhile(lifecycle)
        ended_decisions.expire_triage(self.now)

    @rule(report=reports, severity=ratings, kind=kinds, complete=st.booleans())
    def scan(self, report, severity, kind, complete):
        self.now += timedelta(hours=1)
        for name, paths in report.items():
            self.expect_reported(name, paths, SEVERITIES[severity], kind, complete)
        if complete:
            self.expect_gone(set(self.lifecycles) - set(report))
        self.bring(report, severity, kind, complete)

    def expect_reported(self, name, paths, severity, kind, complete):
        lifecycle = self.lifecycles.setdefault(name, Lifecycle(severity=severity, kind=kind))
        lifecycle.severity, lifecycle.kind = severity, kind
        if lifecycle.status == "fixed" or (lifecycle.status == "false_positive" and paths - lifecycle.ever):
            lifecycle.places -= lifecycle.went
            lifecycle.status, lifecycle.until, lifecycle.went = "open", None, set()
            lifecycle.steps.append("regressed")
        lifecycle.places = set(paths) if complete else lifecycle.places | paths
        lifecycle.ever |= paths
        lifecycle.missing = lifecycle.missing & lifecycle.places - paths

    def expect_gone(self, names):
        for name in names:
            lifecycle = self.lifecycles[name]
            if lifecycle.status == "open":
                lifecycle.status, lifecycle.went = "fixed", set(lifecycle.places)
                lifecycle.steps.append("fixed")
            elif lifecycle.status != "fixed":
                lifecycle.was_missing, lifecycle.missing = True, set(lifecycle.places)

    def expect_gone_meanwhile(self, lifecycle):
        if lifecycle.places and lifecycle.places == lifecycle.missing:
            lifecycle.status, lifecycle.went = "fixed", set(lifecycle.places)
            lifecycle.steps.append("fixed")
        else:
            lifecycle.places -= lifecycle.missing

    def bring(self, report, severity, kind, complete):
        rows = [
            {
                "finding": name,
                "title": name,
                "severity": severity,
                "kind": kind,
                "location": f"https://shop.example.com{path}",
                "seen_at": self.now.isoformat(),
            }
            for name, paths in report.items()
            for path in paths
        ]
        if rows or complete:
            data = json_lines({"scan": "findings/1", "source": "by-hand"}, *rows)
            options = {"format_name": "findings", "complete": complete, "scanned_at": self.now}
            import_bytes(data, self.website, **options)

    @rule(report=reports, severity=ratings, kind=kinds, complete=st.booleans())
    def old_scan(self, report, severity, kind, complete):
        """An old scan may add locations; it changes no stored values."""
        known = {name: paths for name, paths in report.items() if name in self.lifecycles}
        if not known:
            return
        then, self.now = self.now, START - timedelta(days=9)
        for name, paths in known.items():
            lifecycle = self.lifecycles[name]
            lifecycle.places |= paths - lifecycle.ever
            if lifecycle.was_missing:
                lifecycle.missing |= paths - lifecycle.ever
            lifecycle.ever |= paths
        self.bring(known, severity, kind, complete)
        self.now = then

    @precondition(lambda self: self.lifecycles)
    @rule(data=st.data(), status=decided, days=st.none() | st.integers(0, 4))
    def decide(self, data, status, days):
        name = data.draw(st.sampled_from(sorted(self.lifecycles)))
        lifecycle = self.lifecycles[name]
        if lifecycle.status == "fixed":
            return
        self.now += timedelta(minutes=1)  # a location of that very time would be one that went with the fix
        until = None if days is None or status == "fixed" else self.now.date() + timedelta(days=days)
        triage.decide(self.finding(name), status, until=until, **self.arguments())
        lifecycle.status, lifecycle.until = status, until
        lifecycle.was_missing, lifecycle.missing = False, set()
        lifecycle.went = set(lifecycle.places) if status == "fixed" else set()
        lifecycle.is_confirmed = lifecycle.is_confirmed and status != "false_positive"
        lifecycle.steps.append(status)

    @precondition(lambda self: any(lifecycle.status != "open" for lifecycle in self.lifecycles.values()))
    @rule(data=st.data())
    def reopen(self, data):
        closed = sorted(name for name, lifecycle in self.lifecycles.items() if lifecycle.status != "open")
        name = data.draw(st.sampled_from(closed))
        triage.reopen(self.finding(name), **self.arguments())
        self.lifecycles[name].status, self.lifecycles[name].until = "open", None
        self.lifecycles[name].went = set()
        self.lifecycles[name].steps.append("reconsidered")

    @precondition(lambda self: self.lifecycles)
    @rule(data=st.data(), severity=st.none() | st.sampled_from([0, 4]))
    def override_severity(self, data, severity):
        name = data.draw(st.sampled_from(sorted(self.lifecycles)))
        lifecycle = self.lifecycles[name]
        if severity == lifecycle.rated:
            return
        triage.override_severity(self.finding(name), severity, **self.arguments())
        lifecycle.rated = severity
        lifecycle.steps.append("rated")

    @precondition(lambda self: self.lifecycles)
    @rule(data=st.data())
    def confirm_or_unconfirm(self, data):
        name = data.draw(st.sampled_from(sorted(self.lifecycles)))
        lifecycle, finding = self.lifecycles[name], self.finding(name)
        if lifecycle.is_confirmed:
            triage.unconfirm(finding, **self.arguments())
        elif lifecycle.status in ("open", "accepted_risk") and lifecycle.kind != "informational":
            triage.confirm(finding, **self.arguments())
        else:
            return
        lifecycle.steps.append("unconfirmed" if lifecycle.is_confirmed else "confirmed")
        lifecycle.is_confirmed = not lifecycle.is_confirmed

    @invariant()
    def findings_are_as_expected(self):
        found = {finding.rule: finding for finding in Finding.objects.filter(website=self.website)}
        assert found.keys() == self.lifecycles.keys()
        for name, lifecycle in self.lifecycles.items():
            finding = found[name]
            of_source = finding.severity if finding.source_severity is None else finding.source_severity
            assert (finding.status, finding.triage_until) == (lifecycle.status, lifecycle.until)
            assert (finding.severity, of_source) == (
                lifecycle.severity if lifecycle.rated is None else lifecycle.rated,
                lifecycle.severity,
            )
            of_analyst = ("confirmed", lifecycle.kind) if lifecycle.is_confirmed else (lifecycle.kind, None)
            assert (finding.kind, finding.source_kind) == of_analyst
            there = finding.shown_occurrences().values_list("location", flat=True)
            assert {place.removeprefix("https://shop.example.com") for place in there} == lifecycle.places
            assert finding.locations_count == len(lifecycle.places)
            events = FindingEvent.objects.filter(finding=finding)
            # Severities are compared above, so their events need no model.
            steps = events.exclude(event="scanner_rated").values_list("event", flat=True)
            assert list(steps) == lifecycle.steps

    @invariant()
    def counts_are_true(self):
        assert words_are_true()


def test_scans_and_decisions_alone_determine_the_lifecycle():
    run_state_machine_as_test(
        Lifecycles,
        settings=settings(
            max_examples=13, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_severities_of_the_model_are_those_of_the_machine():
    assert {name: Severity[name.upper()] for name in SEVERITIES} == SEVERITIES
