"""Taking the newest import of a scanner back: all is as before it, but decisions of analysts stay."""

import re
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dashboard_api.decisions import standing, triage
from dashboard_api.importing import ended_decisions
from dashboard_api.importing.undo import preview, undo
from dashboard_api.models import (
    Coverage,
    CoverageScope,
    Finding,
    FindingEvent,
    ImportChange,
    ImportRun,
    Occurrence,
    Severity,
    Source,
    StandingDecision,
)
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.dashboard_api.searched import words_are_true
from tests.factories import make_finding, make_note, make_source, make_website

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def website():
    return make_website()


MANUAL = {
    "finding": "p",
    "title": "P",
    "severity": "high",
    "location": "https://shop.example.com/",
}


def row(rule="panel", path="/admin", *, day=0, **members):
    seen = (MARCH + day * DAY).isoformat()
    location = f"https://shop.example.com{path}"
    return make_row(template_id=rule, matched_at=location, timestamp=seen, **members)


def bring(website, *rows, **options):
    """Import these rows; return the record of the import."""
    import_bytes(json_lines(*rows) if rows else b"", website, format_name="nuclei", **options)
    return ImportRun.objects.order_by("pk").last()


def take_back(run, **options):
    """Take an import back, after a preview that says the same and changes nothing."""
    options = {"by": "ann", "reason": "The wrong file", "now": timezone.now()} | options
    before = state()
    expected = preview(run, now=options["now"])
    assert state() == before
    result = undo(run, **options)
    assert result == expected
    return result


def state():
    """Everything that imports write, without keys."""
    findings = list(Finding.objects.order_by("fingerprint").values())
    numbers = {finding.pop("id"): finding["fingerprint"] for finding in findings}
    occurrences = list(Occurrence.objects.order_by("finding__fingerprint", "location_digest").values())
    events = list(FindingEvent.objects.order_by("pk").values())
    for each in (*occurrences, *events):
        each.pop("id")
        each["finding"] = numbers[each.pop("finding_id")]
    coverage = list(Coverage.objects.order_by("source__slug").values())
    scopes = list(CoverageScope.objects.order_by("category", "target").values())
    for each in (*coverage, *scopes):
        each.pop("id")
        each.pop("coverage_id", None)
    return findings, occurrences, events, coverage, scopes


def test_everything_is_as_before_the_import(website):
    bring(website, row("a"), row("b", path="/1", response="old"), row("c"), complete=True)
    bring(website, row("a", day=1), row("b", path="/1", day=1), complete=True)  # c is fixed
    before = state()
    changed = row("b", path="/1", day=2, response="new", info={"name": "Other", "severity": "critical"})
    run = bring(website, changed, row("b", path="/2", day=2), row("c", day=2), row("d", day=2), complete=True)
    assert state() != before
    result = take_back(run)
    assert state() == before
    assert (result.deleted, result.opened, result.closed, result.restored) == (1, 1, 1, 1)
    assert words_are_true()


def test_the_import_stays_on_record_with_who_took_it_back_and_why(website):
    run = bring(website, row())
    take_back(run, by="ann", reason=" Another customer's report ")
    run.refresh_from_db()
    assert (run.undone_by, run.undone_reason) == ("ann", "Another customer's report")
    assert run.undone_at is not None
    assert not ImportChange.objects.exists()
    with pytest.raises(ValidationError, match=r"It was taken back on .* by ann"):
        take_back(run)


def test_imports_of_other_scanners_are_not_touched(website):
    other = make_finding(website, source=make_source("zap"))
    wrong = bring(website, row("a"))
    take_back(wrong)
    assert Finding.objects.get() == other


def refuted_elsewhere(website):
    """Import a false positive and, as a wrong report, a further location; return that import."""
    bring(website, row("a", path="/1"))
    until = timezone.now().date() + DAY
    decision = {"by": "ann", "reason": "Checked by hand", "until": until, "now": timezone.now()}
    triage.decide(Finding.objects.get(), "false_positive", **decision)
    return bring(website, row("a", path="/1", day=1), row("a", path="/2", day=1))


def test_a_false_positive_that_the_import_opened_is_as_before_it(website):
    wrong = refuted_elsewhere(website)
    assert Finding.objects.get().status == "open"
    result = take_back(wrong)
    assert (result.restored, result.opened, result.closed) == (1, 0, 0)
    finding = Finding.objects.get(status="false_positive", triage_until=timezone.now().date() + DAY)
    assert finding.reviewed_at is not None
    assert list(finding.events.values_list("event", flat=True)) == ["false_positive"]


def test_a_false_positive_that_was_decided_about_again_keeps_that_decision(website):
    wrong = refuted_elsewhere(website)
    decision = {"by": "ann", "reason": "Known", "now": timezone.now()}
    triage.decide(Finding.objects.get(), "accepted_risk", **decision)
    take_back(wrong)
    assert Finding.objects.filter(status="accepted_risk", triage_until=None).exists()


def bring_kind(website, kind, *, day):
    """Import one finding of this kind; return the record of the import."""
    finding = {"finding": "panel", "title": "Panel", "severity": "high", "kind": kind}
    finding |= {"location": "https://shop.example.com/admin", "seen_at": (MARCH + day * DAY).isoformat()}
    rows = json_lines({"scan": "findings/1", "source": "by-hand"}, finding)
    import_bytes(rows, website, format_name="findings")
    return ImportRun.objects.order_by("pk").last()


def kinds():
    return Finding.objects.values_list("kind", "source_kind").get()


def confirm(rule="panel"):
    triage.confirm(Finding.objects.get(rule=rule), by="ann", reason="Reproduced", now=timezone.now())


def unconfirm(rule="panel"):
    triage.unconfirm(Finding.objects.get(rule=rule), by="ann", reason="A mistake", now=timezone.now())


def test_a_confirmation_since_stays_with_the_scanners_kind_of_before(website):
    bring_kind(website, "suspected", day=0)
    run = bring_kind(website, "confirmed", day=1)
    confirm()
    take_back(run)
    assert kinds() == ("confirmed", "suspected")
    unconfirm()
    assert kinds() == ("suspected", None)
    assert words_are_true()


def test_a_confirmation_that_was_taken_back_leaves_the_scanners_kind_of_before(website):
    bring_kind(website, "suspected", day=0)
    confirm()
    run = bring_kind(website, "informational", day=1)
    unconfirm()
    assert kinds() == ("informational", None)
    take_back(run)
    assert kinds() == ("suspected", None)


def test_the_preview_counts_work_of_analysts_that_would_disappear_and_changes_nothing(website):
    run = bring(website, row("a"), row("b"), row("c"))
    first, second, _ = Finding.objects.all()
    make_note(website, finding=first)
    triage.decide(second, "accepted_risk", by="ann", reason="Known", now=timezone.now())
    before = state()
    result = preview(run, now=timezone.now())
    assert (result.deleted, result.with_work) == (3, 2)
    assert "Deleted: 3 (2 with notes, answers or decisions)" in result.in_words()
    assert state() == before


def test_the_preview_writes_nothing_and_locks_nothing(website):
    bring(website, row("a"), row("b"))
    run = bring(website, row("b", day=2), row("c"), complete=True)
    with CaptureQueriesContext(connection) as queries:
        preview(run, now=timezone.now())
    assert {query["sql"].split()[0] for query in queries} <= {"SELECT", "DECLARE", "FETCH", "CLOSE"}
    assert not any("FOR UPDATE" in query["sql"] for query in queries)


@contextmanager
def at_most_two_ids_in_a_statement(monkeypatch):
    monkeypatch.setattr("dashboard_api.importing.undo._BATCH", 2)
    lengths: list[int] = []

    def measure(execute, sql, *others):
        lengths.extend(found.count("%s") for found in re.findall(r'id"? IN \(([%s, ]+)\)', sql))
        return execute(sql, *others)

    with connection.execute_wrapper(measure):
        yield
    assert max(lengths) == 2


def test_an_import_of_any_size_is_taken_back_by_statements_with_few_parameters(website, monkeypatch):
    bring(website, *(row(rule) for rule in "abcdef"))
    bring(website, *(row(rule, day=1) for rule in "abc"), complete=True)
    before = state()
    moved = (row(rule, path=f"/{n}", day=2) for rule in "def" for n in range(3))
    run = bring(website, *moved, *(row(rule, day=2) for rule in "ghi"), complete=True)
    with at_most_two_ids_in_a_statement(monkeypatch):
        undo(run, by="ann", reason="The wrong file", now=timezone.now())
    assert state() == before


def test_an_old_import_an_import_without_changes_and_an_empty_reason_are_refused(website):
    run = bring(website, row())
    with pytest.raises(ValidationError, match="Only imports of the last 30 days"):
        take_back(run, now=timezone.now() + 31 * DAY)
    with pytest.raises(ValidationError, match="Say why"):
        take_back(run, reason=" ")
    run.changes.all().delete()
    with pytest.raises(ValidationError, match="nothing to take back"):
        take_back(run)


def test_an_import_is_refused_with_the_newer_ones_of_its_scanner_and_then_taken_back(website):
    first = bring(website, row("a"))
    before = state()
    second = bring(website, row("a", day=1), row("b", day=1))
    third = bring(website, row("c", day=2))
    numbers = rf"Nuclei on shop.example.com, .* UTC \(import {third.pk}\); .*\(import {second.pk}\)\."
    for refuse in (preview, lambda run, now: undo(run, by="ann", reason="Wrong", now=now)):
        with pytest.raises(ValidationError, match=f"Take the newer imports .* back first, .*: {numbers}"):
            refuse(first, now=timezone.now())
    take_back(third)
    with pytest.raises(ValidationError, match=rf"UTC \(import {second.pk}\)"):
        take_back(first)
    take_back(second)
    assert state() == before
    take_back(first)
    assert state() == ([], [], [], [], [])


def test_a_refusal_names_some_of_many_newer_imports_and_counts_the_others(website):
    first, *_ = [bring(website, row("a", day=day)) for day in range(8)]
    with pytest.raises(ValidationError, match=r"(Nuclei[^;]*; ){5}and 2 more\."):
        preview(first, now=timezone.now())


def test_newer_imports_of_others_and_those_that_changed_nothing_are_no_reason_to_refuse(website):
    run = bring(website, row("a"))
    bring(make_website("other.example.com"), make_row(matched_at="https://other.example.com/"))
    import_bytes(json_lines({"scan": "findings/1", "source": "zap"}, MANUAL), website, format_name="findings")
    empty = bring(website, row("a", day=1))
    empty.changes.all().delete()
    take_back(run)
    assert not Finding.objects.filter(website=website, source__slug="nuclei").exists()


@contextmanager
def rolled_back():
    """Leave nothing of an example to the next one, also if it fails."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def begin_decision(website, **fields):
    source = Source.objects.get()
    decision = StandingDecision(source=source, website=website, by="ann", reason="Agreed", **fields)
    standing.begin(decision, timezone.now())
    return decision


def severity_and_status(rule):
    return Finding.objects.values_list("severity", "source_severity", "status").get(rule=rule)


def test_a_minimum_severity_hides_no_severity_that_is_restored(website):
    bring(website, row("a"), row("b", info={"name": "B", "severity": "low"}))
    begin_decision(website, severity=Severity.MEDIUM)
    wrong = bring(website, row("a", day=1, info={"name": "A", "severity": "low"}))
    assert severity_and_status("a") == (Severity.LOW, None, "accepted_risk")
    worse = bring(website, row("b", day=2, info={"name": "B", "severity": "critical"}))
    take_back(worse)
    assert severity_and_status("b") == (Severity.LOW, None, "accepted_risk")
    take_back(wrong)
    assert severity_and_status("a") == (Severity.HIGH, None, "open")


def bring_severity(website, severity, *, day):
    return bring(website, row("a", day=day, info={"name": "A", "severity": severity}))


def test_imports_around_the_end_of_a_rating_leave_the_severity_of_the_scanner(website):
    bring_severity(website, "medium", day=0)
    decision = begin_decision(website, rule="a", severity=Severity.LOW)
    first = bring_severity(website, "critical", day=1)
    ended_decisions.end(decision, by="ann", reason="Over", now=timezone.now())
    assert severity_and_status("a") == (Severity.CRITICAL, None, "open")
    take_back(first)
    assert severity_and_status("a") == (Severity.MEDIUM, None, "open")
    for day in (2, 3):
        bring_severity(website, "medium", day=day)
        assert severity_and_status("a") == (Severity.MEDIUM, None, "open")


def decide(status, rule="a"):
    triage.decide(Finding.objects.get(rule=rule), status, by="ann", reason="Checked", now=timezone.now())


def reopen(rule="a"):
    triage.reopen(Finding.objects.get(rule=rule), by="ann", reason="Checked", now=timezone.now())


def rate(severity, rule="a"):
    finding = Finding.objects.get(rule=rule)
    triage.override_severity(finding, severity, by="ann", reason="Checked", now=timezone.now())


def bring_seen(website, severity, path="/a"):
    """Import a finding seen just now, or, without a severity, a complete report that lacks it."""
    now = timezone.now().isoformat()
    other = make_row(template_id="b", matched_at="https://shop.example.com/b", timestamp=now)
    if severity is None:
        return bring(website, other, complete=True)
    info = {"name": "A", "severity": severity}
    location = f"https://shop.example.com{path}"
    found = make_row(template_id="a", matched_at=location, timestamp=now, info=info)
    return bring(website, found, other)


def timeline():
    return list(Finding.objects.get(rule="a").events.values_list("event", flat=True))


@pytest.mark.parametrize(
    ("actions", "status"),
    [
        pytest.param([lambda: confirm("a"), lambda: unconfirm("a")], "open", id="confirmed"),
        pytest.param([lambda: decide("accepted_risk"), reopen], "open", id="accepted"),
        pytest.param([lambda: rate(Severity.MEDIUM), lambda: rate(None)], "open", id="rated"),
        pytest.param([lambda: decide("false_positive")], "false_positive", id="false positive"),
    ],
)
def test_decisions_since_keep_no_severity_of_the_import(website, actions, status):
    bring_seen(website, "low")
    wrong = bring_seen(website, "critical")
    for act in actions:
        act()
    take_back(wrong)
    assert severity_and_status("a") == (Severity.LOW, None, status)


def test_a_confirmation_since_keeps_no_reopening_of_the_import(website):
    bring_seen(website, "low")
    bring_seen(website, None)
    wrong = bring_seen(website, "critical")
    confirm("a")
    take_back(wrong)
    assert severity_and_status("a") == (Severity.LOW, None, "fixed")
    assert timeline() == ["fixed", "confirmed"]


def test_a_fix_by_an_analyst_stays_in_the_timeline(website):
    bring_seen(website, "low")
    bring_seen(website, None)
    wrong = bring_seen(website, "low")
    decide("fixed")
    take_back(bring_seen(website, "low"))
    assert timeline() == ["fixed", "regressed", "fixed"]
    take_back(wrong)
    assert (severity_and_status("a")[2], timeline()) == ("fixed", ["fixed", "fixed"])


def bring_at(website, paths, *, complete):
    """Import the finding at these locations, seen just now, and another; return the import."""
    now = timezone.now().isoformat()
    rows = [make_row(template_id="b", matched_at="https://shop.example.com/b", timestamp=now)]
    for path in sorted(paths):
        location = f"https://shop.example.com{path}"
        rows.append(make_row(template_id="a", matched_at=location, timestamp=now))
    return bring(website, *rows, complete=complete)


@pytest.mark.parametrize("decision", ["accepted_risk", "false_positive", "fixed"])
def test_a_finding_decided_since_is_where_its_status_says_after_the_import_is_taken_back(website, decision):
    """Open nowhere, it would be fixed by the next complete scan of any other port."""
    bring_at(website, ["/a"], complete=True)
    bring_at(website, [], complete=True)
    wrong = bring_at(website, ["/a"], complete=False)
    arguments = {"by": "ann", "reason": "We looked", "now": timezone.now()}
    triage.decide(Finding.objects.get(rule="a"), decision, **arguments)
    take_back(wrong)
    finding = Finding.objects.get(rule="a")
    assert (finding.occurrences.get().gone_at is None) == (decision != "fixed")
    triage.reopen(finding, **arguments)
    assert finding.occurrences.get().gone_at is None
    assert words_are_true()


ACTIONS = {
    "confirm": confirm,
    "unconfirm": unconfirm,
    "note": lambda rule: make_note(Finding.objects.get(rule=rule).website, finding=find(rule)),
    "rate": lambda rule: rate(Severity.MEDIUM, rule),
    "lift": lambda rule: rate(None, rule),
    "accept": lambda rule: decide("accepted_risk", rule),
    "refute": lambda rule: decide("false_positive", rule),
    "fix": lambda rule: decide("fixed", rule),
    "reopen": lambda rule: reopen(rule),
}
ABOUT_STATUS = {"accept", "refute", "fix", "reopen"}
REPORTS = st.tuples(
    st.dictionaries(st.sampled_from("ab"), st.sets(st.sampled_from(["/1", "/2", "/3"]), min_size=1)),
    st.sampled_from(["low", "critical"]),
    st.booleans(),  # complete
    st.sampled_from([0, 0, 0, 1]),  # its age in days
)
DECISIONS = st.tuples(st.sampled_from(sorted(ACTIONS)), st.sampled_from("ab"))
HISTORIES = st.lists(st.one_of(REPORTS, DECISIONS, st.none()), min_size=2, max_size=12)  # None: an undo


def find(rule):
    return Finding.objects.get(rule=rule)


def bring_report(website, paths_by_rule, severity, complete, age):
    """Import a report of now, or of some days ago, that lists these paths."""
    at = (timezone.now() - age * DAY).isoformat()
    info = {"name": f"Title of {at}", "severity": severity}
    rows = [row("other", path="/other") | {"timestamp": at}]
    rows += [
        row(rule, path, info=info, response=at) | {"timestamp": at}
        for rule, paths in sorted(paths_by_rule.items())
        for path in sorted(paths)
    ]
    return bring(website, *rows, complete=complete)


def things():
    """Everything that imports write, by rule, and the coverage."""
    findings, occurrences, events, *coverage = state()
    rules = {finding["fingerprint"]: finding["rule"] for finding in findings}
    by_rule = {
        finding["rule"]: (
            finding,
            [each for each in occurrences if rules[each["finding"]] == finding["rule"]],
            [each for each in events if rules[each["finding"]] == finding["rule"]],
        )
        for finding in findings
    }
    return by_rule, coverage


def check_undo(run, before, actions):
    """Take the newest import back: ``before`` is back, but what ``actions`` by rule decided stays."""
    (by_rule, coverage), (decided, _coverage) = before, things()
    notes = {rule: find(rule).notes.count() for rule in decided}
    take_back(run)
    after, coverage_after = things()
    assert (coverage_after, after.keys()) == (coverage, by_rule.keys())
    assert words_are_true()
    for rule, then in by_rule.items():
        assert find(rule).notes.count() == notes[rule]
        check_locations(rule)
        if not actions.get(rule):
            assert after[rule] == then
        else:
            check_decided(after[rule][0], then[0], decided[rule][0], actions[rule])


def check_locations(rule):
    """Check that the finding shows where it is, or was when it was fixed."""
    finding = find(rule)
    shown = finding.shown_occurrences()
    assert finding.locations_count == shown.count()
    assert finding.location in shown.values_list("location", flat=True)
    assert shown.filter(gone_at=None).exists() == (finding.status != "fixed")


def check_decided(after, then, decided, actions):
    """Check what a finding is ``after`` an undo that was ``decided`` since ``then``."""
    of_scanner = (
        "title",
        "description",
        "evidence",
        "first_seen",
        "last_seen",
        "location",
        "locations_count",
    )
    assert [after[name] for name in of_scanner] == [then[name] for name in of_scanner]
    for name in ("severity", "kind"):
        source = f"source_{name}"
        assert (after[source] is None) == (decided[source] is None)
        said = then[name] if then[source] is None else then[source]
        assert (after[name] if after[source] is None else after[source]) == said
        assert after[source] is None or after[name] == decided[name]
    assert after["status"] == (decided if actions & ABOUT_STATUS else then)["status"]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(history=HISTORIES)
@example(  # an older report adds a location to a finding that an analyst marked as fixed
    history=[
        ({"b": {"/1"}}, "low", True, 0),
        ("fix", "b"),
        ({"b": {"/1", "/2"}}, "low", False, 1),
        ({}, "low", False, 0),
    ]
)
def test_each_undo_of_the_newest_import_restores_what_was_before_it_but_decisions(history):
    with rolled_back():
        website = make_website()
        imports = []  # each with the things before it, and the decisions since
        for step in [*history, *(None for _ in history)]:
            if step is None:
                if imports:
                    check_undo(*imports.pop())
            elif isinstance(step[0], str):
                with suppress(ValidationError, Finding.DoesNotExist), transaction.atomic():
                    action, rule = step
                    ACTIONS[action](rule)
                    for *_, actions in imports:
                        actions.setdefault(rule, set()).add(action)
            else:
                before = things()
                imports.append((bring_report(website, *step), before, {}))
        assert state() == ([], [], [], [], [])
