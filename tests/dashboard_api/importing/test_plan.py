"""The plan of an import as a value: nothing here uses a database."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from dashboard_api import limits
from dashboard_api.importing.plan import (
    AbsentFinding,
    StoredFinding,
    StoredOccurrence,
    plan_absent,
    plan_reported,
)
from dashboard_api.importing.scopes import Scan, Scope, Targets
from dashboard_api.importing.staging import GroupedFinding
from dashboard_api.scanners.report import ReportedFinding, Severity

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HOST = "shop.example.com"
COMPLETE = Scan(scope=Scope(targets=Targets([f"{HOST}:443"])), absent_at=MARCH + DAY)
PARTIAL = Scan(scope=Scope(), absent_at=None)


def url(path):
    return f"https://{HOST}/{path}"


def group(*paths, at=MARCH + DAY, is_sampled=False, is_sampled_row=False, **members):
    fields = {"rule": "panel", "severity": Severity.HIGH, "severity_raw": "high", "kind": "confirmed"}
    fields |= {"title": "Panel", "location": url(paths[0]), "is_sampled": is_sampled_row} | members
    row = ReportedFinding(row=1, identity=["panel"], **fields).cleaned()
    grouped = GroupedFinding(row=row, first_seen=at, last_seen=at, is_sampled=is_sampled)
    for path in paths:
        grouped.add(url(path), seen_at=at, evidence=f"evidence of {path}")
    grouped.locations_count = len(paths)
    return grouped


def stored(*paths, **fields):
    defaults = {
        "id": 7,
        "fingerprint": "f",
        "rule": "panel",
        "title": "Panel",
        "severity_raw": "high",
        "kind": "confirmed",
        "source_kind": None,
        "description": "",
        "remediation": "",
        "references": [],
        "cwe": [],
        "cve": [],
        "severity": 3,
        "source_severity": None,
        "status": "open",
        "triage_until": None,
        "reviewed_at": None,
        "fixed_at": None,
        "first_seen": MARCH,
        "last_seen": MARCH,
        "location": url(paths[0]),
        "other_locations": "\n".join(map(url, paths[1:])),
        "locations_count": len(paths),
        "evidence": f"evidence of {paths[0]}",
    }
    return StoredFinding(**(defaults | fields))


def occurrences(*paths, gone=(), seen=MARCH):
    return [
        StoredOccurrence(
            number, 7, digest(path), url(path), "", seen, seen, MARCH if path in gone else None, ""
        )
        for number, path in enumerate(paths, start=1)
    ]


def digest(path):
    return hashlib.sha256(url(path).encode()).hexdigest()


def plan(grouped, finding=None, own=(), scan=COMPLETE):
    findings = {finding.fingerprint: finding} if finding else {}
    by_digest = {each.location_digest: each for each in own}
    source = {"source_id": 2, "source_slug": "zap"}
    return plan_reported({"f": grouped}, findings, {7: by_digest}, scan, website_id=1, **source)


def test_an_unknown_finding_is_new_with_its_occurrences():
    ((finding, new),) = plan(group("a", "b")).new
    assert (finding.website_id, finding.source_id, finding.fingerprint, finding.status) == (1, 2, "f", "open")
    assert (finding.location, finding.other_locations, finding.locations_count) == (url("a"), url("b"), 2)
    assert [each.location for each in new] == [url("a"), url("b")]


def test_an_unchanged_finding_only_has_a_new_time():
    made = plan(group("a"), stored("a"), occurrences("a"))
    assert (made.new, made.changed, made.reopened, made.new_occurrences) == ([], [], [], [])
    assert made.seen_again == [(MARCH + DAY, 7)]
    (change,) = made.occurrences
    assert (change.first_seen, change.last_seen, change.gone_at) == (MARCH, MARCH + DAY, None)


def test_a_changed_finding_has_the_values_of_the_newest_report():
    made = plan(group("a", title="Admin panel", severity=Severity.LOW), stored("a"), occurrences("a"))
    (changed,) = made.changed
    assert (changed.title, changed.severity, changed.last_seen) == ("Admin panel", 1, MARCH + DAY)
    assert made.seen_again == []


def test_an_older_report_changes_no_value():
    made = plan(group("a", at=MARCH - DAY, title="Other"), stored("a"), occurrences("a"), PARTIAL)
    (changed,) = made.changed
    assert changed == stored("a", first_seen=MARCH - DAY)
    assert made.occurrences[0].evidence is None


def test_a_kind_that_an_analyst_confirmed_stays_with_the_scanners_newest_next_to_it():
    finding = stored("a", kind="confirmed", source_kind="suspected")
    (changed,) = plan(group("a", kind="informational"), finding, occurrences("a")).changed
    assert (changed.kind, changed.source_kind) == ("confirmed", "informational")


def test_without_a_confirmation_the_kind_is_the_scanners():
    (changed,) = plan(group("a", kind="suspected"), stored("a"), occurrences("a")).changed
    assert (changed.kind, changed.source_kind) == ("suspected", None)


def test_an_overridden_severity_stays():
    finding = stored("a", severity=4, source_severity=3)
    (changed,) = plan(group("a", severity=Severity.LOW), finding, occurrences("a")).changed
    assert (changed.severity, changed.source_severity) == (4, 1)


@pytest.mark.parametrize(("at", "status"), [(MARCH + DAY, "open"), (MARCH - DAY, "fixed")])
def test_a_fixed_finding_is_reopened_by_a_later_report_alone(at, status):
    finding = stored("a", status="fixed", fixed_at=MARCH)
    made = plan(group("a", at=at), finding, occurrences("a"))
    assert made.changed[0].status == status
    assert made.reopened == ([(7, at, "")] if status == "open" else [])


def refuted(*paths, **fields):
    return stored(*paths, status="false_positive", reviewed_at=MARCH, triage_until=MARCH.date(), **fields)


def test_a_false_positive_at_a_further_location_is_open_to_be_reviewed_and_shows_that_location():
    made = plan(group("a", "b"), refuted("a"), occurrences("a"), PARTIAL)
    assert made.reopened == [(7, MARCH + DAY, f"Also found at {url('b')}, which the decision was not about.")]
    (changed,) = made.changed
    assert (changed.status, changed.triage_until, changed.reviewed_at) == ("open", None, None)
    assert (changed.location, changed.other_locations, changed.evidence) == (
        url("b"),
        url("a"),
        "evidence of b",
    )


def test_the_reason_of_a_false_positive_that_is_open_again_is_short():
    made = plan(group("a", "b" * 1_000, "c", "d"), refuted("a"), occurrences("a"), PARTIAL)
    ((_, _, reason),) = made.reopened
    assert len(reason) <= 500
    assert reason.endswith("b… and 2 more, which the decision was not about.")


@pytest.mark.parametrize(
    ("grouped", "own"),
    [
        pytest.param(group("a"), occurrences("a"), id="the same location"),
        pytest.param(group("a", "b"), occurrences("a", "b", gone="b"), id="a location that is back"),
        pytest.param(group("a", "b", at=MARCH - DAY), occurrences("a"), id="an older report"),
        pytest.param(group("a", "b", is_sampled_row=True), occurrences("a"), id="samples"),
        pytest.param(group("a"), (), id="written down by an analyst"),
    ],
)
def test_a_false_positive_stays_where_no_further_location_is_known(grouped, own):
    made = plan(grouped, refuted("a"), own, PARTIAL)
    assert made.reopened == []
    assert {each.status for each in made.changed} <= {"false_positive"}


@pytest.mark.parametrize(("known", "count"), [(2, 1), (3, 0)])
def test_a_false_positive_stays_if_not_every_location_is_stored(known, count, monkeypatch):
    monkeypatch.setattr(limits, "MAX_OCCURRENCES", 2)
    finding = refuted("a", "b", locations_count=known)
    assert len(plan(group("a", "c"), finding, occurrences("a", "b"), PARTIAL).reopened) == count


@pytest.mark.parametrize("status", ["accepted_risk", "open"])
def test_further_locations_change_no_other_status(status):
    made = plan(group("a", "b"), stored("a", status=status), occurrences("a"), PARTIAL)
    assert (made.reopened, made.changed[0].status) == ([], status)


@pytest.mark.parametrize(
    ("scan", "is_sampled", "gone"), [(COMPLETE, False, [2]), (COMPLETE, True, []), (PARTIAL, False, [])]
)
def test_only_a_complete_report_proves_that_an_occurrence_is_gone(scan, is_sampled, gone):
    made = plan(group("a", is_sampled=is_sampled), stored("a", "b"), occurrences("a", "b"), scan)
    assert [change.id for change in made.occurrences if change.gone_at] == gone
    assert [finding.locations_count for finding in made.changed] == [1] * len(gone)


def test_locations_beyond_the_limit_are_only_counted(monkeypatch):
    monkeypatch.setattr(limits, "MAX_OCCURRENCES", 3)
    made = plan(group("c", "d", "e"), stored("a", "b"), occurrences("a", "b"), PARTIAL)
    assert [each.location for _, each in made.new_occurrences] == [url("c")]
    assert made.changed[0].locations_count == 5


def absent(*own, **fields):
    values = {"id": 7, "rule": "panel", "location": url("a"), "last_seen": MARCH}
    values |= {"reopened_at": None} | fields
    return plan_absent([(AbsentFinding(**values), own)], COMPLETE)


def test_a_finding_without_a_location_left_is_fixed():
    made = absent(*occurrences("a", "b"))
    assert (made.fixed, made.gone) == ([(7, MARCH + DAY)], {7: [1, 2]})
    assert absent().fixed == [(7, MARCH + DAY)]


def test_a_finding_that_is_newer_than_the_scan_stays():
    made = absent(*occurrences("a", seen=MARCH + 2 * DAY))
    assert (made.fixed, made.reduced, made.gone) == ([], [], {})


def test_a_finding_that_is_left_elsewhere_shows_another_location():
    elsewhere = occurrences("a")[0]._replace(id=2, location="https://mail.example.com/")
    made = absent(*occurrences("a"), elsewhere)
    assert (made.fixed, made.gone) == ([], {7: [1]})
    (reduced,) = made.reduced
    assert (reduced.shown, reduced.locations_count, reduced.other_locations) == (elsewhere, 1, "")
