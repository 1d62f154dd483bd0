"""Taking an import back: what only it brought disappears, and what it closed is open again."""

import re
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from operator import itemgetter

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard_api import ended_decisions, limits, standing_decisions, triage
from dashboard_api.importing.journal import Changes
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
from tests.dashboard_api.importing.test_ingest_formats import bring_results, result_in
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.dashboard_api.searched import words_are_true
from tests.factories import make_finding, make_note, make_source, make_website

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def website():
    return make_website()


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


def test_the_same_report_can_be_imported_again(website):
    run = bring(website, row())
    before = state()
    take_back(run)
    bring(website, row())
    assert state()[1:] == before[1:]


def test_a_finding_that_a_later_import_reports_as_well_stays(website):
    wrong = bring(website, row("a"), row("b"))
    bring(website, row("a", day=1), row("a", path="/later", day=1))
    result = take_back(wrong)
    assert (result.deleted, result.kept) == (1, 1)
    (finding,) = Finding.objects.all()
    assert (finding.rule, finding.locations_count) == ("a", 2)


def test_a_finding_that_stays_loses_the_locations_that_only_the_import_brought(website):
    bring(website, row(path="/1"))
    wrong = bring(website, row(path="/wrong", day=1, response="theirs"))
    bring(website, row(path="/1", day=2, response="ours"))
    take_back(wrong)
    finding = Finding.objects.get()
    assert finding.location == "https://shop.example.com/1"
    assert (finding.locations_count, finding.other_locations) == (1, "")
    assert "theirs" not in finding.evidence
    assert list(Occurrence.objects.values_list("location", flat=True)) == ["https://shop.example.com/1"]


def test_a_finding_that_a_later_import_only_closed_is_deleted(website):
    wrong = bring(website, row("a", response="theirs"), row("b", response="theirs"))
    right = bring(website, row("b", day=1), complete=True)
    result = take_back(wrong)
    assert (result.deleted, result.kept) == (1, 1)
    assert list(Finding.objects.values_list("rule", "status")) == [("b", "open")]
    assert not Occurrence.objects.filter(evidence__contains="theirs").exists()
    assert words_are_true()
    take_back(right)
    assert not Finding.objects.exists()


def test_a_finding_that_came_back_after_a_later_import_closed_it_begins_with_that_report(website):
    wrong = bring(website, row("a", response="theirs"), row("b"))
    bring(website, row("b", day=1), complete=True)
    bring(website, row("a", day=2, response="ours"), row("b", day=2), complete=True)
    take_back(wrong)
    assert Finding.objects.filter(status="open").count() == 2
    assert not FindingEvent.objects.exists()
    assert "theirs" not in Occurrence.objects.get(finding__rule="a").evidence


def test_a_new_finding_that_stays_loses_the_locations_that_only_the_import_brought(website):
    wrong = bring(website, row(path="/theirs", response="theirs"), row(path="/both", response="theirs"))
    right = bring(website, row(path="/both", day=1, response="ours"))
    take_back(wrong)
    finding = Finding.objects.get()
    assert (finding.location, finding.locations_count) == ("https://shop.example.com/both", 1)
    assert finding.other_locations == ""
    (occurrence,) = Occurrence.objects.all()
    assert "theirs" not in finding.evidence + occurrence.evidence
    take_back(right)
    assert not Finding.objects.exists()


def test_a_location_goes_with_the_last_import_that_lists_it(website):
    first = bring(website, row(path="/1"), row(path="/2"))
    bring(website, row(path="/2", day=1))
    last = bring(website, row(path="/1", day=2))
    take_back(first)
    assert Occurrence.objects.count() == 2
    take_back(last)
    assert Occurrence.objects.get().location == "https://shop.example.com/2"


def test_a_known_finding_that_a_later_import_closed_has_the_values_of_before(website):
    bring(website, row("a", response="ours"), row("b"))
    before = Finding.objects.get(rule="a")
    wrong = bring(website, row("a", day=1, response="theirs", info={"name": "Theirs", "severity": "low"}))
    bring(website, row("b", day=2), complete=True)
    take_back(wrong)
    finding = Finding.objects.get(rule="a")
    assert (finding.status, finding.title, finding.evidence) == ("fixed", before.title, before.evidence)
    assert "theirs" not in Occurrence.objects.get(finding=finding).evidence


def test_a_finding_that_was_fixed_before_is_fixed_since_then_again(website):
    bring(website, row("a"), row("b"))
    bring(website, row("b", day=1), complete=True)
    before = state()
    wrong = bring(website, row("a", day=2, response="theirs"), row("b", day=2))
    right = bring(website, row("b", day=3), complete=True)
    take_back(wrong)
    assert Finding.objects.get(rule="a").fixed_at == MARCH + DAY
    assert FindingEvent.objects.count() == 1
    take_back(right)
    assert state() == before


def test_findings_that_a_later_import_lists_unchanged_stay_with_their_notes(website):
    part = bring(website, row("a"), row("b"))
    whole = bring(website, row("a"), row("b"), row("c"))
    make_note(website, finding=Finding.objects.get(rule="a"))
    result = take_back(part)
    assert (result.deleted, result.with_work, result.kept) == (0, 0, 2)
    assert Finding.objects.count() == 3
    take_back(whole)
    assert not Finding.objects.exists()


def test_findings_that_a_later_import_of_an_older_scan_lists_stay(website):
    newer = bring(website, row("a", day=1), row("b", day=1))
    bring(website, row("a"), row("b"))
    assert take_back(newer).kept == 2
    assert Finding.objects.count() == 2


def test_a_finding_stays_fixed_if_a_later_complete_scan_does_not_list_it_either(website):
    first = bring(website, row("a"), row("b"))
    second = bring(website, row("a", day=1), complete=True)
    third = bring(website, row("a", day=2), complete=True)
    result = take_back(second)
    assert (result.opened, result.kept) == (0, 2)
    finding = Finding.objects.get(rule="b")
    assert (finding.status, finding.fixed_at) == ("fixed", MARCH + 2 * DAY)
    assert FindingEvent.objects.values_list("event", "at").get() == ("fixed", MARCH + 2 * DAY)
    assert take_back(third).opened == 1
    take_back(first)
    assert state() == ([], [], [], [], [])


def test_a_finding_is_fixed_since_a_scan_between_two_imports_that_were_taken_back(website):
    bring(website, row("a"), row("b"))
    closes, between = (bring(website, row("a", day=day), complete=True) for day in (1, 2))
    reopens = bring(website, row("b", day=3))
    take_back(closes)
    take_back(reopens)
    finding = Finding.objects.get(rule="b")
    assert (finding.status, finding.fixed_at) == ("fixed", MARCH + 2 * DAY)
    take_back(between)
    assert Finding.objects.get(rule="b").status == "open"


def test_a_finding_that_came_back_has_the_location_of_a_fix_that_was_taken_back_again(website):
    bring(website, row("b", path="/1"), row("b", path="/2"))
    wrong = bring(website, row("a", day=1), complete=True)
    bring(website, row("b", path="/1", day=2))
    finding = Finding.objects.get(rule="b")
    assert (finding.status, finding.locations_count) == ("open", 1)
    take_back(wrong)
    finding.refresh_from_db()
    assert (finding.locations_count, finding.other_locations) == (2, "https://shop.example.com/2")


def test_a_location_stays_gone_if_a_later_complete_scan_does_not_list_it_either(website):
    bring(website, row("a", path="/1"), row("a", path="/2"))
    second = bring(website, row("a", path="/1", day=1), complete=True)
    third = bring(website, row("a", path="/1", day=2), complete=True)
    take_back(second)
    assert Occurrence.objects.get(location__endswith="/2").gone_at == MARCH + 2 * DAY
    assert Finding.objects.get().locations_count == 1
    take_back(third)
    assert Finding.objects.get().locations_count == 2


def test_a_finding_is_open_again_if_later_complete_scans_do_not_cover_it(website):
    bring(website, row("a"), row("b"))
    wrong = bring(website, row("a", day=1), complete=True)
    bring(website, row("c", day=2), complete=True, category="other")
    bring(website, row("a", day=3))
    assert take_back(wrong).opened == 1
    assert Finding.objects.get(rule="b").status == "open"


def test_a_finding_that_a_wrong_category_closed_is_open_again(website):
    bring(website, row("a"), row("b", path="/1"), row("b", path="/2"))
    before = state()[:3]
    wrong = bring(website, row("a", day=1), row("b", path="/1", day=1), category="nightly")
    right = bring(website, row("c", day=2), complete=True, category="nightly")
    assert Finding.objects.get(rule="a").status == "fixed"
    assert take_back(wrong).opened == 1
    take_back(right)
    assert state()[:3] == before


def test_a_finding_with_a_location_that_a_wrong_import_closed_is_open_again(website):
    bring(website, row("b"), elsewhere("b", day=0))
    before = state()[:3]
    wrong = bring(website, elsewhere("a", day=1), complete=True)
    right = bring(website, row("a", day=2), complete=True)
    assert Finding.objects.get(rule="b").status == "fixed"
    assert take_back(wrong).opened == 1
    finding = Finding.objects.get(rule="b")
    assert (finding.status, finding.locations_count) == ("open", 1)
    assert finding.location == "http://shop.example.com/elsewhere"
    assert not FindingEvent.objects.exists()
    take_back(right)
    assert state()[:3] == before


def test_a_finding_of_another_category_that_came_back_was_open_in_between(website):
    bring(website, row("a"))
    wrong = bring(website, row("a", day=1), category="nightly")
    bring(website, row("c", day=2), complete=True, category="nightly")
    right = bring(website, row("a", day=3))
    take_back(wrong)
    assert not FindingEvent.objects.exists()
    take_back(right)
    assert Finding.objects.get(rule="a").status == "open"


def test_a_finding_that_a_wrong_category_closed_keeps_a_decision_since(website):
    bring(website, row("a"))
    wrong = bring(website, row("a", day=1), category="nightly")
    bring(website, row("c", day=2), complete=True, category="nightly")
    reopen()
    decide("accepted_risk")
    take_back(wrong)
    assert Finding.objects.get(rule="a").status == "accepted_risk"


def test_a_finding_is_open_again_if_later_complete_scans_suppress_it(website):
    a, b = (result_in(f"{name}.c", fingerprints={"h": name}) for name in "ab")
    bring_results(website, a, b, day=1)
    bring_results(website, b, day=2)
    bring_results(website, {**a, "suppressions": [{"kind": "external"}]}, b, day=3)
    assert take_back(ImportRun.objects.order_by("pk")[1]).opened == 1
    assert set(Finding.objects.values_list("status", flat=True)) == {"open"}


def test_a_scan_that_suppresses_too_many_findings_to_name_is_not_asked(website, monkeypatch):
    monkeypatch.setattr("dashboard_api.importing.journal._MAX_SUPPRESSED", 1)
    a, b, *others = (result_in(f"{name}.c", fingerprints={"h": name}) for name in "abcd")
    bring_results(website, a, b, day=1)
    bring_results(website, b, day=2)
    bring_results(website, b, *({**each, "suppressions": [{"kind": "external"}]} for each in others), day=3)
    _first, second, third = ImportRun.objects.order_by("pk")
    assert not any(Changes.from_bytes(bytes(part.content)).scan for part in third.changes.all())
    assert take_back(second).opened == 1
    assert set(Finding.objects.values_list("status", flat=True)) == {"open"}


def test_a_location_is_back_if_a_later_complete_scan_does_not_list_all_of_them(website, monkeypatch):
    monkeypatch.setattr(limits, "MAX_OCCURRENCES", 2)
    bring(website, row("a", path="/1"), row("a", path="/2"))
    wrong = bring(website, row("a", path="/1", day=1), complete=True)
    bring(website, *(row("a", path=path, day=2) for path in ("/1", "/3", "/4")), complete=True)
    take_back(wrong)
    assert Occurrence.objects.get(location__endswith="/2").gone_at is None


def test_imports_of_other_scanners_are_not_touched(website):
    other = make_finding(website, source=make_source("zap"))
    wrong = bring(website, row("a"))
    take_back(wrong)
    assert Finding.objects.get() == other


def test_a_fix_and_a_return_that_a_wrong_import_caused_leave_the_timeline(website):
    bring(website, row("a"), row("b"), complete=True)
    wrong = bring(website, row("b", day=1), complete=True)
    bring(website, row("a", day=2), row("b", day=2), complete=True)
    assert FindingEvent.objects.count() == 2
    take_back(wrong)
    assert not FindingEvent.objects.exists()
    assert set(Finding.objects.values_list("status", flat=True)) == {"open"}


def test_a_return_that_a_later_import_lists_as_well_stays_in_the_timeline(website):
    bring(website, row("a"), row("b"), complete=True)
    bring(website, row("b", day=1), complete=True)
    wrong = bring(website, row("a", day=2))
    later = bring(website, row("a", day=3))
    take_back(wrong)
    assert severity_and_status("a")[2] == "open"
    assert timeline() == ["fixed", "regressed"]
    take_back(later)
    assert severity_and_status("a")[2] == "fixed"
    assert timeline() == ["fixed"]


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
    later = bring(website, row("a", path="/1", day=2))
    result = take_back(wrong)
    assert (result.restored, result.opened, result.closed) == (1, 0, 0)
    finding = Finding.objects.get(status="false_positive", triage_until=timezone.now().date() + DAY)
    assert finding.reviewed_at is not None
    assert list(finding.events.values_list("event", flat=True)) == ["false_positive"]
    take_back(later)
    assert Finding.objects.get().status == "false_positive"


def test_a_false_positive_that_a_later_import_opens_as_well_stays_open(website):
    wrong = refuted_elsewhere(website)
    later = bring(website, row("a", path="/2", day=2))
    take_back(wrong)
    assert Finding.objects.get().status == "open"
    assert list(FindingEvent.objects.values_list("event", flat=True)) == ["false_positive", "regressed"]
    take_back(later)
    assert Finding.objects.get().status == "false_positive"
    assert list(FindingEvent.objects.values_list("event", flat=True)) == ["false_positive"]


def test_a_false_positive_that_begins_with_an_import_that_opens_it_says_so_in_its_timeline(website):
    wrong = refuted_elsewhere(website)
    first = ImportRun.objects.earliest("pk")
    bring(website, row("a", path="/2", day=2))
    for run in (first, wrong):
        take_back(run)
    assert Finding.objects.get().status == "open"
    assert list(FindingEvent.objects.values_list("event", flat=True)) == ["false_positive", "regressed"]


def test_a_false_positive_that_was_decided_about_again_keeps_that_decision(website):
    wrong = refuted_elsewhere(website)
    decision = {"by": "ann", "reason": "Known", "now": timezone.now()}
    triage.decide(Finding.objects.get(), "accepted_risk", **decision)
    take_back(wrong)
    assert Finding.objects.filter(status="accepted_risk", triage_until=None).exists()


def test_a_false_positive_that_a_later_scan_closed_because_it_was_open_is_one_again(website):
    wrong = refuted_elsewhere(website)
    bring(website, row("b", day=2), complete=True)
    assert Finding.objects.get(rule="a").status == "fixed"
    take_back(wrong)
    finding = Finding.objects.get(rule="a", status="false_positive", fixed_at=None)
    assert list(finding.events.values_list("event", flat=True)) == ["false_positive"]


def test_decisions_of_analysts_stay(website):
    bring(website, row("a"))
    now = timezone.now()
    run = bring(website, row("a", day=1, info={"name": "Other", "severity": "high"}))
    finding = Finding.objects.get()
    triage.decide(finding, "false_positive", by="ann", reason="Checked by hand", now=now)
    triage.override_severity(finding, Severity.LOW, by="ann", reason="Not reachable", now=now)
    take_back(run)
    finding.refresh_from_db()
    assert (finding.status, finding.severity) == ("false_positive", Severity.LOW)
    assert finding.title != "Other"


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


def test_a_severity_decided_since_keeps_no_kind_of_the_import(website):
    bring_kind(website, "suspected", day=0)
    run = bring_kind(website, "confirmed", day=1)
    finding = Finding.objects.get()
    triage.override_severity(finding, Severity.LOW, by="ann", reason="Not reachable", now=timezone.now())
    take_back(run)
    assert kinds() == ("suspected", None)
    assert Finding.objects.get().severity == Severity.LOW


def test_a_confirmation_since_stays_with_the_scanners_kind_of_before(website):
    bring_kind(website, "suspected", day=0)
    run = bring_kind(website, "confirmed", day=1)
    confirm()
    take_back(run)
    assert kinds() == ("confirmed", "suspected")
    unconfirm()
    assert kinds() == ("suspected", None)
    assert words_are_true()


def test_a_confirmation_before_the_import_gets_the_scanners_kind_of_before_back(website):
    bring_kind(website, "suspected", day=0)
    confirm()
    run = bring_kind(website, "informational", day=1)
    assert kinds() == ("confirmed", "informational")
    take_back(run)
    assert kinds() == ("confirmed", "suspected")


def test_a_confirmation_that_was_taken_back_leaves_the_scanners_kind_of_before(website):
    bring_kind(website, "suspected", day=0)
    confirm()
    run = bring_kind(website, "informational", day=1)
    unconfirm()
    assert kinds() == ("informational", None)
    take_back(run)
    assert kinds() == ("suspected", None)


def test_imports_around_a_confirmation_leave_it_with_the_scanners_kind_before_the_first(website):
    bring_kind(website, "suspected", day=0)
    first = bring_kind(website, "confirmed", day=1)
    confirm()
    second = bring_kind(website, "informational", day=2)
    take_back(first)
    take_back(second)
    assert kinds() == ("confirmed", "suspected")


def test_imports_around_the_end_of_a_confirmation_leave_the_scanners_kind_before_the_first(website):
    bring_kind(website, "suspected", day=0)
    confirm()
    first = bring_kind(website, "confirmed", day=1)
    unconfirm()
    second = bring_kind(website, "informational", day=2)
    take_back(first)
    take_back(second)
    assert kinds() == ("suspected", None)


def test_the_preview_counts_work_of_analysts_that_would_disappear_and_changes_nothing(website):
    run = bring(website, row("a"), row("b"), row("c"))
    first, second, _ = Finding.objects.all()
    make_note(website, finding=first)
    triage.decide(second, "accepted_risk", by="ann", reason="Known", now=timezone.now())
    before = state()
    result = preview(run, now=timezone.now())
    assert (result.deleted, result.with_work) == (3, 2)
    assert "Deleted: 3 (2 with notes or decisions)" in result.in_words()
    assert state() == before


def test_the_preview_writes_nothing_and_locks_nothing(website):
    run = bring(website, row("a"), row("b"))
    bring(website, row("b", day=2))
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


def test_many_findings_that_stay_lose_locations_by_statements_with_few_parameters(website, monkeypatch):
    bring(website, *(row(rule) for rule in "abc"))
    run = bring(website, *(row(rule, path="/wrong", day=1) for rule in "abc"))
    bring(website, *(row(rule, path="/later", day=2) for rule in "abc"))
    with at_most_two_ids_in_a_statement(monkeypatch):
        undo(run, by="ann", reason="The wrong file", now=timezone.now())
    assert set(Finding.objects.values_list("locations_count", flat=True)) == {2}


def test_an_old_import_an_import_without_changes_and_an_empty_reason_are_refused(website):
    run = bring(website, row())
    with pytest.raises(ValidationError, match="Only imports of the last 30 days"):
        take_back(run, now=timezone.now() + 31 * DAY)
    with pytest.raises(ValidationError, match="Say why"):
        take_back(run, reason=" ")
    run.changes.all().delete()
    with pytest.raises(ValidationError, match="nothing to take back"):
        take_back(run)


REPORTS = st.lists(
    st.tuples(
        st.dictionaries(
            st.sampled_from(["a", "b", "c"]),
            st.sets(st.sampled_from(["/1", "/2", "/3"]), min_size=1),
            min_size=1,
        ),
        st.booleans(),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=5,
)


def import_all(reports):
    """Import reports of one website; yield each state and the import that followed."""
    website = make_website()
    for number, (report, complete, day) in enumerate(reports):
        before = state()
        rows = [
            row(rule, path, day=day, response=str(number))
            for rule, paths in sorted(report.items())
            for path in sorted(paths)
        ]
        yield before, bring(website, *rows, complete=complete)


@contextmanager
def rolled_back():
    """Leave nothing of an example to the next one, also if it fails."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.slow
@pytest.mark.once
@settings(max_examples=40, deadline=None)
@given(reports=REPORTS, data=st.data())
def test_all_imports_taken_back_in_any_order_leave_nothing(reports, data):
    with rolled_back():
        runs = [run for _, run in import_all(reports)]
        for run in data.draw(st.permutations(runs)):
            take_back(run)
        assert state() == ([], [], [], [], [])
        assert words_are_true()


@pytest.mark.slow
@pytest.mark.once
@settings(max_examples=40, deadline=None)
@given(reports=REPORTS)
def test_imports_taken_back_from_the_newest_to_the_oldest_restore_every_state(reports):
    with rolled_back():
        for before, run in reversed(list(import_all(reports))):
            take_back(run)
            assert state() == before


def contents():
    """The findings and locations as owners see them, without their first times."""
    findings = Finding.objects.order_by("rule")
    shown = findings.values_list("rule", "status", "fixed_at", "location", "evidence", "last_seen")
    locations = Occurrence.objects.order_by("finding__rule", "location")
    listed = locations.values_list("finding__rule", "location", "evidence", "last_seen", "gone_at")
    return list(shown), list(listed), list(findings.values_list("rule", "locations_count"))


def import_days(website, reports, numbers):
    """Import these reports, those of a day with the same times and texts; return the imports."""
    runs = []
    for number in numbers:
        report, complete, day = reports[number]
        rows = [
            row(rule, path, day=day, response=str(day))
            for rule, paths in sorted(report.items())
            for path in sorted(paths)
        ]
        runs.append(bring(website, *rows, complete=complete))
    return runs


@pytest.mark.slow
@pytest.mark.once
@settings(max_examples=100, deadline=None)
@given(reports=REPORTS, data=st.data())
def test_imports_in_the_order_of_their_scans_leave_what_the_others_bring_alone(reports, data):
    reports = sorted(reports, key=itemgetter(2))
    days = Counter(day for *_, day in reports)
    with rolled_back():
        # A whole report follows those that it is compared with: it is the only one of its day.
        reports = [(rows, complete and days[day] == 1, day) for rows, complete, day in reports]
        wrong = data.draw(st.lists(st.sampled_from(range(len(reports))), unique=True))
        if any(reports[each][1] for each in wrong):
            wrong.sort(reverse=True)  # what a whole report closed is exact from the newest to the oldest
        check_contents_without(wrong, reports)


def check_contents_without(wrong, reports):
    """Import these reports and take those numbers back: the others alone leave the same."""
    numbers = range(len(reports))
    with rolled_back():
        import_days(make_website(), reports, [each for each in numbers if each not in wrong])
        expected = contents()
    runs = import_days(make_website(), reports, numbers)
    for each in wrong:
        take_back(runs[each])
    assert contents() == expected
    assert words_are_true()


def test_a_finding_that_a_later_complete_scan_closes_after_all_keeps_its_locations():
    others = [({"a": {"/1"}}, False, 0), ({"b": {"/1", "/2"}}, False, 0)]
    at_the_same_time = [({"b": {"/1"}}, False, 1), ({"a": {"/1"}}, True, 1)]
    check_contents_without([0, 2], others + at_the_same_time)


@pytest.mark.parametrize("paths", [{"/1"}, {"/2"}])
def test_a_finding_that_is_closed_after_all_shows_the_location_of_before(paths):
    reports = [({"b": {"/1", "/2"}}, False, 0), ({"b": paths}, False, 1), ({"a": {"/1"}}, True, 1)]
    check_contents_without([1], reports)


def test_a_finding_that_is_closed_after_all_has_no_locations_of_imports_taken_back_before():
    reports = [({"b": {f"/{day}"}}, False, day) for day in range(3)]
    check_contents_without([0, 2], [*reports, ({"a": {"/1"}}, True, 2)])


def test_a_location_is_gone_since_the_complete_scan_that_lists_the_finding_again():
    wrong = ({"b": {"/2"}}, True, 1)
    closes_it = ({"a": {"/1"}}, True, 2)
    reopens_it = ({"b": {"/3"}}, True, 3)
    check_contents_without([1], [({"b": {"/1"}}, False, 0), wrong, closes_it, reopens_it])


def test_a_location_of_a_fixed_finding_is_gone_since_the_scan_that_still_listed_the_finding():
    wrong, right = ({"b": {"/2"}}, True, 1), ({"b": {"/2"}}, True, 2)
    check_contents_without([1], [({"b": {"/1"}}, False, 0), wrong, right, ({"a": {"/1"}}, True, 3)])


def elsewhere(rule, *, day, **members):
    """A row at a target that reports of ``row`` do not cover."""
    return row(rule, day=day, **members) | {"matched-at": "http://shop.example.com/elsewhere"}


def test_a_finding_is_closed_after_all_by_a_scan_that_only_changed_its_shown_location(website):
    bring(website, row("a"), row("b"))
    wrong = bring(website, row("b", day=1), elsewhere("b", day=1))
    bring(website, row("a", day=2), complete=True)
    assert Finding.objects.get(rule="b").location == "http://shop.example.com/elsewhere"
    take_back(wrong)
    finding = Finding.objects.get(rule="b")
    assert (finding.status, finding.fixed_at) == ("fixed", MARCH + 2 * DAY)
    assert (finding.location, finding.host) == ("https://shop.example.com/admin", "shop.example.com")
    assert Occurrence.objects.get(finding=finding).gone_at == MARCH + 2 * DAY


def test_a_finding_that_is_closed_after_all_shows_no_location_of_the_import(website):
    wrong = bring(website, elsewhere("b", day=0, response="theirs"))
    bring(website, row("b", day=1, response="ours"), complete=True)
    bring(website, row("a", day=2), complete=True)
    take_back(wrong)
    finding, occurrence = Finding.objects.get(rule="b"), Occurrence.objects.get(finding__rule="b")
    fixed_at = MARCH + 2 * DAY
    assert (finding.status, finding.fixed_at, occurrence.gone_at) == ("fixed", fixed_at, fixed_at)
    assert (finding.location, finding.evidence) == (occurrence.location, occurrence.evidence)
    assert "theirs" not in finding.evidence
    assert words_are_true()


def test_a_finding_without_present_locations_shows_those_that_went_last(website):
    bring(website, row("b", path="/1"), row("b", path="/2"), row("b", path="/3"))
    bring(website, row("b", path="/2", day=1), row("b", path="/3", day=1), complete=True)
    wrong = bring(website, elsewhere("b", day=2, response="theirs"))
    bring(website, row("b", path="/2", day=3), row("b", path="/3", day=3))
    bring(website, row("a", day=4), complete=True)
    decide("accepted_risk", rule="b")
    take_back(wrong)
    finding = Finding.objects.get(rule="b")
    assert (finding.status, finding.location) == ("accepted_risk", "https://shop.example.com/2")
    assert (finding.other_locations, finding.locations_count) == ("https://shop.example.com/3", 2)
    assert "theirs" not in finding.evidence
    assert words_are_true()


def begin_decision(website, **fields):
    source = Source.objects.get()
    decision = StandingDecision(source=source, website=website, by="ann", reason="Agreed", **fields)
    standing_decisions.begin(decision, timezone.now())
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


def test_a_severity_decided_since_stays_and_ends_with_that_of_the_import_before(website):
    bring(website, row("a"))
    wrong = bring(website, row("a", day=1, info={"name": "A", "severity": "low"}))
    decision = begin_decision(website, rule="a", severity=Severity.MEDIUM)
    take_back(wrong)
    assert severity_and_status("a") == (Severity.MEDIUM, Severity.HIGH, "open")
    ended_decisions.end(decision, by="ann", reason="Over", now=timezone.now())
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


def test_imports_around_a_rating_leave_the_severity_of_before_the_first(website):
    bring_severity(website, "medium", day=0)
    decision = begin_decision(website, rule="a", severity=Severity.LOW)
    first = bring_severity(website, "critical", day=1)
    ended_decisions.end(decision, by="ann", reason="Over", now=timezone.now())
    second = bring_severity(website, "info", day=2)
    begin_decision(website, rule="a", severity=Severity.LOW)
    take_back(first)
    take_back(second)
    assert severity_and_status("a") == (Severity.LOW, Severity.MEDIUM, "open")


def test_imports_taken_back_in_any_order_leave_what_the_others_brought(website):
    first, _second, third = (bring_severity(website, "high", day=day) for day in range(3))
    make_note(website, finding=Finding.objects.get(title="A"))
    take_back(first)
    take_back(third)
    assert Finding.objects.get(title="A").notes.count() == 1


def test_the_severity_of_the_newest_import_left_stays(website):
    imports = [
        bring_severity(website, severity, day=day)
        for day, severity in enumerate(("medium", "low", "high", "high", "medium"))
    ]
    take_back(imports[1])
    take_back(imports[4])
    assert severity_and_status("a")[0] == Severity.HIGH


def decide(status, rule="a"):
    triage.decide(Finding.objects.get(rule=rule), status, by="ann", reason="Checked", now=timezone.now())


def reopen():
    triage.reopen(Finding.objects.get(rule="a"), by="ann", reason="Checked", now=timezone.now())


def rate(severity):
    finding = Finding.objects.get(rule="a")
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


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_decision_between_imports_stays_in_any_order(website, order):
    bring_seen(website, "low")
    bring_seen(website, None)
    wrong = bring_seen(website, "critical")
    decide("accepted_risk")
    wrong = (wrong, bring_seen(website, "high"))
    for number in order:
        take_back(wrong[number])
    assert severity_and_status("a") == (Severity.LOW, None, "accepted_risk")


def test_a_fix_by_an_analyst_stays_in_the_timeline(website):
    bring_seen(website, "low")
    bring_seen(website, None)
    wrong = bring_seen(website, "low")
    decide("fixed")
    bring_seen(website, "low")
    take_back(wrong)
    assert timeline() == ["fixed", "fixed", "regressed"]


ACTIONS = {
    "confirm": lambda: confirm("a"),
    "unconfirm": lambda: unconfirm("a"),
    "accept": lambda: decide("accepted_risk"),
    "refute": lambda: decide("false_positive"),
    "fix": lambda: decide("fixed"),
    "reopen": reopen,
    "rate": lambda: rate(Severity.MEDIUM),
    "lift": lambda: rate(None),
}
STATUS_AFTER = {
    "regressed": "open",
    "reconsidered": "open",
    "rated": None,
    "confirmed": None,
    "unconfirmed": None,
}
FURTHER = {"further": ("low", "/further"), "elsewhere": ("critical", "/elsewhere")}
STEPS = [*ACTIONS, *FURTHER, "info", "low", "critical", None]
HISTORIES = st.lists(st.sampled_from(STEPS), min_size=1, max_size=10)


def live(history):
    """Import and act; return each import with the severity that it reports, None if it lacks the finding."""
    website = make_website()
    runs = [(bring_seen(website, "high"), "high")]
    for step in history:
        if step in ACTIONS:
            with suppress(ValidationError), transaction.atomic():
                ACTIONS[step]()
        else:
            severity, *path = FURTHER.get(step, [step])
            runs.append((bring_seen(website, severity, *path), severity))
    return runs


@pytest.mark.slow
@pytest.mark.once
@settings(max_examples=40, deadline=None)
@given(history=HISTORIES, data=st.data())
def test_what_remains_is_what_the_other_imports_and_the_analyst_say(history, data):
    outcomes = []
    with rolled_back():
        runs = live(history)
        rated = severity_and_status("a")
        wrong = data.draw(st.lists(st.sampled_from(range(len(runs))), min_size=1, unique=True))
        left = [number for number in range(len(runs)) if number not in wrong]
        for order in (wrong, data.draw(st.permutations(wrong))):
            with rolled_back():
                for run in (runs[number][0] for number in order):
                    if run.changes.exists():
                        take_back(run)
                assert words_are_true()
                found = Finding.objects.filter(rule="a")
                outcomes.append(list(found.values_list("severity", "source_severity", "status", "kind")))
                said = [runs[number][1] for number in left]
                if any(said):
                    check_severity(next(each for each in reversed(said) if each), rated)
                if found:
                    check_timeline()
    assert outcomes[0] == outcomes[1]


def check_severity(of_newest, rated):
    """Check that the severity is the rating, or that of the newest import left."""
    expected = Severity[of_newest.upper()]
    severities = (expected, None) if rated[1] is None else (rated[0], expected)
    assert severity_and_status("a")[:2] == severities


def check_timeline():
    """Check that the timeline explains the status."""
    steps = [STATUS_AFTER.get(step, step) for step in timeline()]
    assert severity_and_status("a")[2] == next((step for step in reversed(steps) if step), "open")


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


def state_after(reports, taken_back=(), *, decision="false_positive"):
    """Decide about a finding at /1, and import these; return what it is without those taken back.

    Together with its locations, unless it is open: then later scans are asked about it again.
    """
    website = make_website()
    bring_at(website, ["/1"], complete=True)
    until = timezone.now().date() + DAY
    finding = Finding.objects.get(rule="a")
    triage.decide(finding, decision, by="ann", reason="Checked", until=until, now=timezone.now())
    decided = Finding.objects.filter(rule="a")
    runs = [bring_at(website, paths, complete=complete) for paths, complete in reports]
    for number in taken_back:
        take_back(runs[number])
    assert words_are_true()
    check_timeline()
    status, ends_on, reviewed_at = decided.values_list("status", "triage_until", "reviewed_at").get()
    assert (ends_on, reviewed_at is None) == ((until, False) if status == decision else (None, True))
    present = Occurrence.objects.filter(finding__rule="a", gone_at=None)
    return status, set(present.values_list("location", flat=True)) if status == decision else None


def test_a_location_of_an_accepted_risk_that_a_later_scan_did_not_list_stays_gone():
    at_2 = ({"/2"}, True)
    expected = "accepted_risk", {"https://shop.example.com/2"}
    with rolled_back():
        assert state_after([at_2], decision="accepted_risk") == expected
    assert state_after([at_2, at_2], [0], decision="accepted_risk") == expected


AT_LOCATIONS = st.tuples(st.sets(st.sampled_from(["/1", "/2", "/3"])), st.booleans())


@pytest.mark.slow
@pytest.mark.once
@settings(max_examples=60, deadline=None)
@given(
    reports=st.lists(AT_LOCATIONS, min_size=1, max_size=5),
    decision=st.sampled_from(["false_positive", "accepted_risk"]),
    data=st.data(),
)
def test_a_decided_finding_is_what_and_where_the_other_imports_leave_it(reports, decision, data):
    wrong = data.draw(st.lists(st.sampled_from(range(len(reports))), min_size=1, unique=True))
    rest = [each for number, each in enumerate(reports) if number not in wrong]
    with rolled_back():
        expected = state_after(rest, decision=decision)
    with rolled_back():
        assert state_after(reports, wrong, decision=decision) == expected
