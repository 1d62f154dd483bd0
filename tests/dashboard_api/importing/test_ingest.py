from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard_api import limits
from dashboard_api.decisions import triage
from dashboard_api.importing import ingest
from dashboard_api.importing.service import EmptyRefusal, RefusedReport
from dashboard_api.models import Coverage, Finding, Occurrence, Source
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.dashboard_api.searched import words_are_true
from tests.factories import make_coverage, make_finding, make_source, make_website

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def website():
    return make_website()


def row(rule="panel", path="/admin", *, day=0, **members):
    seen = (MARCH + day * DAY).isoformat()
    location = f"https://shop.example.com{path}"
    return make_row(template_id=rule, **({"timestamp": seen, "matched_at": location} | members))


def bring(website, *rows, **options):
    data = json_lines(*rows) if rows else b""
    result = import_bytes(data, website, format_name="nuclei", **options)
    assert result.findings + result.occurrences + result.coverage + result.rejected == result.rows
    assert result.new + result.updated + result.reopened == result.findings
    return result


def stored():
    """Everything that an import writes, without keys."""
    findings = Finding.objects.order_by("fingerprint").values()
    occurrences = Occurrence.objects.order_by("finding__fingerprint", "location_digest").values()
    rows = [*findings, *occurrences, *Coverage.objects.order_by("website", "source").values()]
    return [{name: value for name, value in values.items() if name != "id"} for values in rows]


def test_report_becomes_findings_with_their_places(website):
    result = bring(
        website,
        row(path="/a", response="first"),
        row(path="/b", response="second"),
        row("version", path="/a", info={"name": "Old version", "severity": "low"}),
    )
    assert (result.rows, result.findings, result.occurrences, result.new) == (3, 2, 1, 2)
    assert (result.host, result.source, result.state) == ("shop.example.com", "nuclei", "partial")
    panel = Finding.objects.get(rule="panel")
    assert (panel.title, panel.severity, panel.kind, panel.status) == (
        "Exposed panel",
        3,
        "confirmed",
        "open",
    )
    assert (panel.location, panel.locations_count) == ("https://shop.example.com/a", 2)
    assert panel.evidence.endswith("first")
    assert [(location.location, location.evidence[-6:]) for location in panel.occurrences.all()] == [
        ("https://shop.example.com/a", "\nfirst"),
        ("https://shop.example.com/b", "second"),
    ]
    assert panel.website == website
    assert (panel.source.slug, panel.source.name) == ("nuclei", "Nuclei")


def test_every_field_of_a_finding_is_stored(website):
    info = {
        "name": "Log4Shell",
        "severity": "critical",
        "description": "Remote code.",
        "remediation": "Update.",
        "reference": ["https://a.example/"],
        "classification": {"cwe-id": ["CWE-502"], "cve-id": ["CVE-2021-44228"]},
    }
    bring(website, row("log4j", info=info, matcher_name="header"))
    stored = Finding.objects.values().get()
    assert (
        stored
        | {
            "rule": "log4j",
            "title": "Log4Shell [header]",
            "severity": 4,
            "severity_raw": "critical",
            "description": "Remote code.",
            "remediation": "Update.",
            "references": ["https://a.example/"],
            "cwe": [502],
            "cve": ["CVE-2021-44228"],
            "first_seen": MARCH,
            "last_seen": MARCH,
            "fixed_at": None,
        }
        == stored
    )


def test_findings_are_found_by_the_words_of_every_place(website):
    bring(website, row(path="/cellar"))
    bring(website, row(path="/attic", day=1))
    for word in ("cellar", "attic", "exposed", "panel"):
        assert website.findings.filter(words__contains=f" {word} ").count() == 1


def test_second_import_changes_nothing(website):
    rows = [row(path="/a"), row(path="/b"), row("version"), row("version", matcher_status=False), b"broken"]
    first = bring(website, *rows)
    before = stored()
    second = bring(website, *rows)
    assert stored() == before
    assert (first.new, first.updated) == (2, 0)
    assert (second.new, second.updated, second.reopened, second.fixed) == (0, 2, 0, 0)


def test_later_scan_moves_last_seen_and_updates_the_finding(website):
    bring(website, row(path="/a", response="old"))
    low = {"name": "Panel", "severity": "low"}
    result = bring(website, row(path="/b", day=1, info=low, response="new"))
    assert (result.new, result.updated) == (0, 1)
    finding = Finding.objects.get()
    assert (finding.first_seen, finding.last_seen) == (MARCH, MARCH + DAY)
    assert (finding.title, finding.severity, finding.locations_count) == ("Panel", 1, 2)
    assert (finding.location, finding.evidence[-3:]) == ("https://shop.example.com/b", "new")
    old, new = finding.occurrences.all()
    assert (old.last_seen, new.first_seen) == (MARCH, MARCH + DAY)


def test_of_an_unchanged_finding_only_the_time_is_written(website):
    fields = {"references": ["https://example.com/a"], "classification": {"cve-id": ["cve-2026-1"]}}
    rows = [{"rule": rule, "info": {"name": "Old", "severity": "low"} | fields} for rule in ("a", "b")]
    bring(website, *(row(**fields, day=0) for fields in rows))
    before = stored()
    with CaptureQueriesContext(connection) as captured:
        result = bring(website, *(row(**fields, day=1) for fields in rows))
    assert (result.updated, result.new) == (2, 0)
    written = [query["sql"] for query in captured if "dashboard_api_finding" in query["sql"]]
    assert not [sql for sql in written if "description" in sql and not sql.startswith("SELECT")]
    for old, new in zip(before, stored(), strict=True):
        assert {name for name in new if new[name] != old[name]} <= {"last_seen", "last_run_at"}
    assert {finding.last_seen for finding in Finding.objects.all()} == {MARCH + DAY}


def updates_of_findings():
    """Return the number of updates, and of those that touched no index, as PostgreSQL counts them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables "
            "WHERE relname = 'dashboard_api_finding'"
        )
        return cursor.fetchone()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite changes a row where it is")
def test_an_unchanged_finding_touches_no_index_of_postgresql(website):
    bring(website, *(row(f"rule-{number}", day=0) for number in range(100)))
    before = updates_of_findings()
    bring(website, *(row(f"rule-{number}", day=1) for number in range(100)))
    updates, without_index = (now - then for now, then in zip(updates_of_findings(), before, strict=True))
    assert (updates, without_index) == (100, 100)


def test_older_scan_only_moves_first_seen_back(website):
    low = {"name": "Panel", "severity": "low"}
    bring(website, row(path="/a", day=2, info=low, response="new"), complete=True)
    result = bring(website, row(path="/a", response="old"), row(path="/b"), complete=True)
    finding = Finding.objects.get()
    assert (result.updated, result.fixed) == (1, 0)
    assert (finding.first_seen, finding.last_seen) == (MARCH, MARCH + 2 * DAY)
    assert (finding.title, finding.severity, finding.evidence[-3:]) == ("Panel", 1, "new")
    location = finding.occurrences.get(location="https://shop.example.com/a")
    assert (location.first_seen, location.last_seen) == (MARCH, MARCH + 2 * DAY)
    assert location.evidence.endswith("new")
    assert finding.locations_count == 2
    coverage = Coverage.objects.get()
    assert coverage.last_run_at == coverage.completed_at == MARCH + 2 * DAY


def test_complete_scan_fixes_what_it_does_not_report(website):
    bring(website, row("panel"), row("version"))
    result = bring(website, row("version", day=1), complete=True)
    assert (result.state, result.updated, result.fixed) == ("ok", 1, 1)
    fixed = Finding.objects.get(rule="panel")
    assert (fixed.status, fixed.fixed_at, fixed.last_seen) == ("fixed", MARCH + DAY, MARCH)
    assert Finding.objects.get(rule="version").status == "open"


def test_complete_scan_fixes_nothing_of_other_websites_and_sources(website):
    old = {"first_seen": MARCH, "last_seen": MARCH}
    make_finding(website, source=make_source("zap"), **old)
    make_finding(make_website("other.example.com"), **old)
    assert bring(website, row(day=1), complete=True).fixed == 0


@pytest.mark.parametrize("status", ["false_positive", "accepted_risk"])
def test_what_an_analyst_decided_stays(website, status):
    bring(website, row("panel"), row("version"))
    Finding.objects.update(status=status)
    result = bring(website, row("version", day=1), complete=True)
    assert (result.updated, result.reopened, result.fixed) == (1, 0, 0)
    assert set(Finding.objects.values_list("status", flat=True)) == {status}
    assert Finding.objects.get(rule="version").last_seen == MARCH + DAY


def refute(website, **fields):
    bring(website, row("panel", path="/search"))
    Finding.objects.update(status="false_positive", reviewed_at=MARCH, **fields)


def test_a_false_positive_that_is_elsewhere_is_open_again_and_in_the_queue_and_says_where(website):
    refute(website, triage_until=MARCH.date())
    further = row("panel", path="/login?user=ada", day=1)
    result = bring(website, row("panel", path="/search", day=1), further)
    assert (result.new, result.updated, result.reopened, result.new_severities) == (0, 0, 1, {"High": 1})
    finding = Finding.objects.get(status="open", triage_until=None, reviewed_at=None)
    assert (finding.location, finding.locations_count) == ("https://shop.example.com/login", 2)
    (event,) = finding.events.all()
    assert (event.event, event.at, event.by) == ("regressed", MARCH + DAY, "")
    assert event.reason == "Also found at https://shop.example.com/login, which the decision was not about."
    assert words_are_true()


def test_what_opens_a_false_positive_follows_the_decision_that_was_made_after_the_scan(website):
    refute(website)
    decided = MARCH + 2 * DAY
    events = Finding.objects.get().events
    events.create(event="false_positive", at=decided, website_id=website.pk)
    bring(website, row("panel", path="/login", day=1))
    assert list(events.values_list("event", "at")) == [
        ("false_positive", decided),
        ("regressed", decided),
    ]


def test_the_same_report_and_other_spellings_of_a_location_leave_a_false_positive(website):
    refute(website)
    for location in (
        "https://shop.example.com/search;jsessionid=8F2A?q=1",
        "https://shop.example.com/search?q=other#top",
        "HTTPS://ada@Shop.Example.com:443/search",
    ):
        assert bring(website, row("panel", matched_at=location, day=1)).reopened == 0
    before = stored()
    bring(website, row("panel", path="/search", day=1))
    assert stored() == before


def test_an_unclear_location_alone_leaves_a_false_positive_and_hides_no_clear_one(website):
    refute(website)
    unclear = row("panel", matched_at="/login", host="", url="", day=1)
    assert bring(website, unclear, row("panel", path="/search", day=1)).reopened == 0
    assert bring(website, unclear, row("panel", path="/login", day=2)).reopened == 1


def test_another_scanner_at_another_location_leaves_a_false_positive(website):
    refute(website)
    data = json_lines(
        {"scan": "findings/1", "source": "by-hand"},
        {
            "finding": "panel",
            "title": "Panel",
            "severity": "high",
            "location": "https://shop.example.com/login",
        },
    )
    import_bytes(data, website, format_name="findings")
    assert set(Finding.objects.values_list("source__slug", "status")) == {
        ("nuclei", "false_positive"),
        ("by-hand", "open"),
    }


def test_partial_scan_fixes_nothing(website):
    bring(website, row("panel"))
    assert bring(website, row("version", day=1)).fixed == 0
    assert Finding.objects.get(rule="panel").status == "open"


def test_older_complete_scan_fixes_nothing(website):
    bring(website, row("version", day=1))
    make_finding(website, first_seen=MARCH - DAY, last_seen=MARCH - DAY)
    assert bring(website, row("panel"), complete=True).fixed == 0
    make_finding(website)
    assert bring(website, row("panel", day=2), complete=True).fixed == 2
    assert Finding.objects.filter(status="open", last_seen__gt=MARCH + 2 * DAY).count() == 1


@pytest.mark.parametrize("trouble", [b"broken", row("check", day=1, error="timeout")])
def test_scan_with_trouble_is_never_complete(website, trouble):
    bring(website, row("panel"))
    result = bring(website, row("version", day=1), trouble, complete=True)
    assert (result.state, result.fixed) == ("partial", 0)
    assert result.detail
    assert Coverage.objects.get().detail == result.detail


def test_row_of_another_host_does_not_make_a_scan_partial(website):
    foreign = make_row(matched_at="https://example.com/")
    assert bring(website, row(), foreign, complete=True).state == "ok"


UNCLEAR = [
    "/admin",
    "app/admin.php",
    "https://shop.example.com:99999/admin",
    "https://shop.example.com:8a/admin",
    "https://[::1/admin",
    "https:/shop.example.com/admin",
    "https:\\\\shop.example.com\\admin",
    "index.php/admin",
    "login.do",
    "file:///srv/admin",
]


@pytest.mark.parametrize("location", UNCLEAR)
def test_finding_that_is_listed_with_an_unclear_location_is_not_fixed(website, location):
    bring(website, row("panel"), row("version"), row("gone"))
    result = bring(website, row("panel", day=1, matched_at=location), row("version", day=1), complete=True)
    assert (result.state, result.detail, result.rejected) == ("partial", "Unreadable rows: 1.", 1)
    assert (result.updated, result.fixed) == (1, 1)
    assert Finding.objects.get(rule="panel").status == "open"
    assert Finding.objects.get(rule="gone").status == "fixed"


def test_finding_with_an_unclear_location_loses_none_of_its_others(website):
    bring(website, row(path="/a"), row(path="/b"), row("version", "/a"), row("version", "/b"))
    rows = [row(path="/a", day=1), row(day=1, matched_at="/b"), row("version", "/a", day=1)]
    bring(website, *rows, complete=True)
    counts = dict(Finding.objects.values_list("rule", "locations_count"))
    assert counts == {"panel": 2, "version": 1}
    result = bring(website, row(path="/a", day=2), row("version", "/a", day=2), complete=True)
    assert result.state == "ok"
    assert Finding.objects.get(rule="panel").locations_count == 1


def test_failed_check_with_an_unclear_location_closes_nothing(website):
    bring(website, row("panel"), row("version"))
    result = bring(website, row("version", day=1), row(matched_at="/a", error="timeout"), complete=True)
    assert (result.state, result.fixed) == ("partial", 0)


def test_check_with_an_unclear_location_hides_no_finding(website):
    bring(website, row("panel"), row("version"))
    checked = row(matched_at="/a", matcher_status=False)
    result = bring(website, row("version", day=1), checked, complete=True)
    assert (result.state, result.rejected, result.fixed) == ("partial", 1, 1)


def test_fixed_finding_that_is_seen_again_is_open_again(website):
    bring(website, row("panel"))
    bring(website, row("version", day=1), complete=True)
    result = bring(website, row("panel", day=2))
    assert (result.new, result.updated, result.reopened) == (0, 0, 1)
    finding = Finding.objects.get(rule="panel")
    assert (finding.status, finding.fixed_at, finding.first_seen) == ("open", None, MARCH)


def test_report_from_before_the_fix_reopens_nothing(website):
    bring(website, row("panel"))
    bring(website, row("version", day=1), complete=True)
    assert bring(website, row("panel")).reopened == 0
    assert Finding.objects.get(rule="panel").status == "fixed"


def test_report_from_before_the_fix_leaves_a_fixed_finding_its_locations(website):
    bring(website, row(path="/a", day=1), row(path="/b", day=1))
    bring(website, row("version", day=2), complete=True)
    bring(website, row(path="/a"))
    bring(website, row(path="/c"))
    finding = Finding.objects.get(rule="panel")
    assert (finding.status, finding.locations_count) == ("fixed", 3)
    assert finding.shown_occurrences().count() == 3


def test_scan_from_before_an_analyst_reopened_a_finding_fixes_it_no_more(website):
    bring(website, row("panel"))
    finding, by = Finding.objects.get(), {"by": "ada", "reason": "We looked."}
    triage.decide(finding, "fixed", now=MARCH + 2 * DAY, **by)
    triage.reopen(finding, now=MARCH + 3 * DAY, **by)
    assert bring(website, row("version", day=1), complete=True).fixed == 0
    assert bring(website, row("version", day=4), complete=True).fixed == 1


def test_rows_of_other_hosts_are_refused_one_by_one(website):
    www = make_row(template_id="www", matched_at="https://www.shop.example.com/")
    foreign = make_row(template_id="foreign", matched_at="https://example.com/")
    result = bring(website, row(), foreign, www)
    assert [(reject.row, "example.com" in reject.reason) for reject in result.rejects] == [(2, True)]
    assert set(Finding.objects.values_list("rule", flat=True)) == {"panel", "www"}


def test_report_without_any_usable_row_changes_nothing(website):
    with pytest.raises(RefusedReport, match=r"(?s)Row 1 .*Row 2 "):
        bring(website, make_row(matched_at="https://example.com/"), b"{")
    assert not Source.objects.exists()
    assert not Coverage.objects.exists()


def test_place_without_host_belongs_to_the_base(website):
    relative = make_row(matched_at="/login")
    bring(website, relative, base_url="https://shop.example.com")
    assert Finding.objects.get().location == "https://shop.example.com/login"


@pytest.mark.parametrize("options", [{}, {"scanned_at": MARCH}])
def test_empty_report_says_nothing(website, options):
    bring(website, row())
    with pytest.raises(EmptyRefusal):
        bring(website, **options)
    assert Finding.objects.get().status == "open"


def test_empty_report_of_a_complete_scan_fixes_everything(website):
    bring(website, row())
    result = bring(website, complete=True, scanned_at=MARCH + DAY)
    assert (result.rows, result.fixed) == (0, 1)
    assert Finding.objects.get().fixed_at == MARCH + DAY


def test_an_empty_report_without_a_time_is_of_now_where_the_call_names_its_scanner(website):
    bring(website, row())
    before = timezone.now()
    result = bring(website, complete=True)
    assert (result.state, result.fixed) == ("ok", 1)
    assert before <= result.scanned_at <= timezone.now()


@pytest.mark.parametrize("data", [b"", b" \n", b"[]"])
def test_an_empty_file_belongs_to_no_scanner_that_the_call_does_not_name(website, data):
    bring(website, row())
    with pytest.raises(EmptyRefusal, match="name its format"):
        import_bytes(data, website, complete=True, scanned_at=MARCH + DAY)
    with pytest.raises(RefusedReport, match=r"is empty\. Reports of zap never are"):
        import_bytes(data, website, format_name="zap", complete=True, scanned_at=MARCH + DAY)
    assert Finding.objects.get().status == "open"
    assert Coverage.objects.get().last_run_at == MARCH


def test_operators_time_replaces_the_reports(website):
    result = bring(website, row(), row("version", timestamp=None), scanned_at=MARCH + 5 * DAY)
    assert result.scanned_at == MARCH + 5 * DAY
    times = Finding.objects.values_list("first_seen", "last_seen")
    assert set(times) == {(MARCH + 5 * DAY, MARCH + 5 * DAY)}


def test_report_without_times_is_of_now(website):
    before = timezone.now()
    result = bring(website, row(timestamp=None))
    assert before <= Finding.objects.get().last_seen == result.scanned_at <= timezone.now()


def test_time_in_the_future_is_now(website):
    result = bring(website, row(timestamp="2999-01-01T00:00:00Z"))
    assert Finding.objects.get().last_seen == result.scanned_at <= timezone.now()


def test_coverage_shows_what_was_checked(website):
    checks = [row("check", path=f"/{n}", matcher_status=False) for n in range(3)]
    result = bring(website, row(path="/0"), *checks, complete=True)
    assert (result.coverage, result.failed) == (3, 0)
    coverage = Coverage.objects.get()
    assert (coverage.state, coverage.last_run_at, coverage.completed_at) == ("ok", MARCH, MARCH)
    assert (coverage.urls_checked, coverage.detail) == (3, "")


def test_coverage_of_matches_alone_does_not_count_addresses(website):
    bring(website, row())
    coverage = Coverage.objects.get()
    assert (coverage.state, coverage.completed_at, coverage.urls_checked) == ("partial", None, None)


def test_coverage_of_a_later_run_keeps_the_last_completion(website):
    bring(website, row(), complete=True)
    bring(website, row(day=1))
    coverage = Coverage.objects.get()
    assert (coverage.state, coverage.last_run_at, coverage.completed_at) == ("partial", MARCH + DAY, MARCH)


def test_coverage_of_an_older_complete_run_counts_only_as_completion(website):
    make_coverage(website, state="partial", last_run_at=MARCH + DAY, completed_at=None, urls_checked=9)
    bring(website, row(), complete=True)
    coverage = Coverage.objects.get()
    assert (coverage.state, coverage.last_run_at, coverage.completed_at) == ("partial", MARCH + DAY, MARCH)
    assert coverage.urls_checked == 9


def test_same_scan_said_to_be_complete_afterwards_is_complete(website):
    bring(website, row("panel", day=-1))
    bring(website, row("version"))
    assert bring(website, row("version"), complete=True).fixed == 1
    bring(website, row("version"))
    assert Coverage.objects.get().state == "ok"


def test_scan_whose_every_check_failed_has_failed(website):
    result = bring(website, row("a", error="timeout"), row("b", error="refused"), complete=True)
    assert result.state == Coverage.objects.get().state == "failed"
    assert [failure.reason for failure in result.failures] == [
        "reports a failed check: timeout",
        "reports a failed check: refused",
    ]
    assert Coverage.objects.get().completed_at is None


def test_long_location_is_cut_and_still_distinguishes_locations(website):
    long = "/" + "x" * 3000
    bring(website, row(path=long + "a"), row(path=long + "b"))
    assert Finding.objects.get().locations_count == 2
    assert {len(location) for location in Occurrence.objects.values_list("location", flat=True)} == {2000}
    assert len(Finding.objects.get().location) == 2000


@pytest.mark.django_db(transaction=True)
def test_failure_on_the_way_leaves_nothing(website, monkeypatch):
    monkeypatch.setattr(ingest, "BATCH", 1)
    batches = []
    apply_reported = ingest.apply_reported

    def break_on_the_second(*arguments, **options):
        batches.append(arguments)
        if len(batches) == 2:
            raise IntegrityError
        return apply_reported(*arguments, **options)

    monkeypatch.setattr(ingest, "apply_reported", break_on_the_second)
    with pytest.raises(IntegrityError):
        bring(website, row("panel"), row("version"))
    assert stored() == []


def test_batches_leave_nothing_out(website, monkeypatch):
    monkeypatch.setattr(ingest, "BATCH", 2)
    rows = [row(f"rule-{number}", path=f"/{number}") for number in range(5)]
    assert bring(website, *rows).new == 5
    assert bring(website, row("other", day=1), complete=True).fixed == 5


def test_statements_do_not_grow_with_rows_of_a_batch(website):
    def statements(count, day):
        rows = [row(f"rule-{number}", day=day) for number in range(count)]
        with CaptureQueriesContext(connection) as queries:
            bring(website, *rows, complete=True)
        return len(queries)

    statements(1, day=1)
    assert statements(2, day=2) == statements(20, day=3) == statements(40, day=4)


rows = st.lists(
    st.builds(
        row,
        st.sampled_from(["panel", "version"]),
        st.sampled_from(["/a", "/b?q=1", "/b?q=2"]),
        day=st.integers(0, 2),
        matcher_status=st.sampled_from([True, True, False]),
        response=st.sampled_from([None, "one", "two"]),
    )
    | st.sampled_from([make_row(matched_at="https://example.com/"), b"broken", b'{"template-id": "x"}']),
    min_size=1,
    max_size=6,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, st.booleans())
def test_importing_twice_is_importing_once(website, rows, complete):
    Finding.objects.all().delete()
    Coverage.objects.all().delete()
    try:
        bring(website, *rows, complete=complete)
    except RefusedReport:
        assert stored() == []
        return
    before = stored()
    assert bring(website, *rows, complete=complete).new == 0
    assert stored() == before


# Findings at more locations than are stored


def locations_count():
    """Return how many locations are counted, and how many of them are stored."""
    return Finding.objects.get().locations_count, Occurrence.objects.filter(gone_at=None).count()


def rows_at(paths, day):
    return [row(path=f"/{path}", day=day, response=f"{path} on {day}") for path in paths]


@pytest.fixture
def three_stored(monkeypatch):
    monkeypatch.setattr(limits, "MAX_OCCURRENCES", 3)


@pytest.mark.parametrize("complete", [True, False])
def test_locations_beyond_the_limit_are_counted_and_not_stored(website, three_stored, complete):
    for day in range(3):
        result = bring(website, *rows_at("abcdeab", day), complete=complete)
        assert (result.findings, result.occurrences) == (1, 6)
        assert locations_count() == (5, 3)
    assert not Occurrence.objects.exclude(gone_at=None).exists()


def test_the_count_is_that_of_the_newest_complete_scan(website, three_stored):
    for day, (paths, count) in enumerate([("abcdef", 6), ("hgfea", 5), ("abcd", 4), ("ab", 2), ("abc", 3)]):
        bring(website, *rows_at(paths, day), complete=True)
        assert locations_count() == (count, min(count, 3))


def test_a_partial_scan_takes_no_location_from_the_count(website, three_stored):
    bring(website, *rows_at("abcdef", 1), complete=True)
    for day, paths in enumerate(["a", "fg", "hijkl"], start=2):
        bring(website, *rows_at(paths, day))
        assert locations_count() == (6, 3)


def test_locations_of_two_targets_are_counted_together(website, three_stored):
    for day in range(1, 5):
        host = ("www", "mail")[day % 2]
        locations = [f"https://{host}.shop.example.com/{path}" for path in ("a", "b")]
        seen = (MARCH + day * DAY).isoformat()
        rows = [make_row(template_id="panel", matched_at=location, timestamp=seen) for location in locations]
        bring(website, *rows, complete=True)
        assert locations_count() == ((2, 2) if day == 1 else (4, 3))


def test_an_older_report_about_many_locations_only_adds(website, monkeypatch):
    bring(website, row(path="/a", day=5), row(path="/b", day=5), complete=True)
    monkeypatch.setattr(limits, "MAX_OCCURRENCES", 3)
    bring(website, *(row(path=f"/{path}", day=2) for path in "bcd"), complete=True)
    finding = Finding.objects.get()
    assert (finding.locations_count, finding.last_seen, finding.first_seen) == (
        4,
        MARCH + 5 * DAY,
        MARCH + 2 * DAY,
    )
    assert finding.location == "https://shop.example.com/a"
    assert Occurrence.objects.filter(gone_at=None).count() == 3
