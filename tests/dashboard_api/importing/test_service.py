"""A report's file: read before the database is locked, stored and recorded in one transaction."""

import io
import json

import pytest
from django.db import connection

from dashboard_api import limits
from dashboard_api.importing import ingest
from dashboard_api.importing.ingest import ReportOptions
from dashboard_api.importing.service import EmptyRefusal, ImportOptions, RefusedReport, import_file
from dashboard_api.models import Coverage, Finding, ImportRun, Source
from tests.dashboard_api.scanners.samples import json_lines, make_result, make_row, make_tools
from tests.factories import make_website

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_report_is_read_before_the_database_is_locked_and_stored_as_a_whole(dry_run):
    reading, storing = [], []
    import_file(
        io.BytesIO(json_lines(make_row())),
        make_website(),
        ImportOptions(
            file_name="report.jsonl",
            by="tests",
            dry_run=dry_run,
            on_read=lambda _: reading.append(connection.in_atomic_block),
            before_commit=lambda _: storing.append(connection.in_atomic_block),
        ),
    )
    assert set(reading) == {False}
    assert storing == [True]
    assert Finding.objects.count() == ImportRun.objects.count() == int(not dry_run)


FOREIGN = [{"physicalLocation": {"artifactLocation": {"uri": "https://example.com/"}}}]


def ended(day):
    invocation = {"executionSuccessful": True, "endTimeUtc": f"2026-03-{day:02}T10:00:00Z"}
    return {"invocations": [invocation], "artifacts": [{"location": {"uri": "index.php"}}]}


def bring(website, *tools, options=None, **members):
    """Import a SARIF file with a run of each tool; what became of each, by its source."""
    file = io.BytesIO(json.dumps(make_tools(*tools, **members)).encode())
    report = options or ReportOptions()
    results = import_file(file, website, ImportOptions(file_name="all.sarif", by="tests", report=report))
    for result in results:
        assert result.rows == result.findings + result.occurrences + result.coverage + result.rejected
    return {result.source: result for result in results}


def test_reports_of_several_tools_are_imported_each_by_its_source_and_recorded():
    website = make_website()
    results = bring(website, ("One", [make_result()] * 2), ("Two", [make_result()]))
    assert [(name, result.rows, result.new) for name, result in results.items()] == [
        ("one", 2, 1),
        ("two", 1, 1),
    ]
    assert sorted(Finding.objects.values_list("source__slug", flat=True)) == ["one", "two"]
    assert sorted(Coverage.objects.values_list("source__slug", "state")) == [
        ("one", "partial"),
        ("two", "partial"),
    ]
    runs = ImportRun.objects.values_list("source__name", "rows", "file_name", "digest")
    assert sorted(run[:3] for run in runs) == [("One", 2, "all.sarif"), ("Two", 1, "all.sarif")]
    assert len({digest for *_, digest in runs}) == 1
    again = bring(website, ("One", [make_result()] * 2), ("Two", [make_result()]))
    assert [result.new for result in again.values()] == [0, 0]


def test_a_website_has_no_more_scanners_than_the_limit(monkeypatch):
    monkeypatch.setattr(limits, "MAX_SCANNERS", 2)
    website = make_website()
    bring(website, ("One", [make_result()]), ("Unusable", [make_result(locations=FOREIGN)]))
    with pytest.raises(RefusedReport, match="more than 2 scanners"):
        bring(website, ("One", [make_result()]), ("Three", [make_result()]))
    assert sorted(Source.objects.values_list("slug", flat=True)) == ["one", "unusable"]
    assert bring(website, ("One", [make_result()]))["one"].updated == 1
    assert bring(make_website("b.example.com"), ("Three", []), **ended(1))["three"].rows == 0


def test_a_tool_that_ended_fixes_its_own_findings_alone():
    website = make_website()
    bring(website, ("One", [make_result()]), ("Two", [make_result()]), **ended(1))
    results = bring(website, ("One", []), ("Two", [make_result()]), **ended(2))
    assert (results["one"].fixed, results["two"].fixed) == (1, 0)
    assert Finding.objects.get(status="fixed").source.slug == "one"


def test_an_empty_run_that_shows_nothing_of_its_work_fixes_only_by_the_word_of_its_sender():
    website = make_website()
    bring(website, ("Bandit", [make_result()]), **ended(1))
    invocation = ended(2)["invocations"][0]
    with pytest.raises(EmptyRefusal, match="say that it was complete"):
        bring(website, ("Bandit", []), invocations=[invocation])
    error = {"toolConfigurationNotifications": [{"level": "error"}]}
    for options in (ReportOptions(), ReportOptions(complete=True)):
        with pytest.raises(RefusedReport, match="empty, and says that the scan had errors") as refusal:
            bring(website, ("Bandit", []), options=options, invocations=[invocation | error])
        assert str(refusal.value).endswith("The scan is incomplete: the tool had an error.")
    assert Finding.objects.get().status == "open"
    assert bring(website, ("Bandit", []), options=options, invocations=[invocation])["bandit"].fixed == 1


def at(path):
    return [{"physicalLocation": {"artifactLocation": {"uri": path}}}]


def test_a_file_that_semgrep_did_not_analyse_keeps_its_findings_and_the_others_are_fixed():
    website = make_website()
    options = ReportOptions(base_url="https://shop.example.com/", category="code")
    found = [make_result(ruleId=path, locations=at(path)) for path in ("src/a b.py", "src/a.py")]
    bring(website, ("Semgrep OSS", found), options=options, **ended(1))
    text = "Syntax error at line src/a b.py:16:\n `:` was unexpected"
    warning = {"descriptor": {"id": "Syntax error"}, "level": "warning", "message": {"text": text}}
    run = ended(2)
    run["invocations"][0]["toolExecutionNotifications"] = [warning]
    result = bring(website, ("Semgrep OSS", []), options=options, **run)["semgrep-oss"]
    assert (result.state, result.fixed, result.failed) == ("partial", 1, 1)
    assert Finding.objects.get(status="open").location == "https://shop.example.com/src/a b.py"
    assert bring(website, ("Semgrep OSS", []), options=options, **ended(3))["semgrep-oss"].fixed == 1


def test_a_semgrep_warning_that_names_no_file_lets_nothing_be_fixed_whatever_the_sender_says():
    website = make_website()
    options = ReportOptions(complete=True, base_url="https://shop.example.com/", category="code")
    bring(website, ("Semgrep OSS", [make_result()]), options=options, **ended(1))
    text = "Syntax error somewhere"
    warning = {"descriptor": {"id": "Syntax error"}, "level": "warning", "message": {"text": text}}
    invocations = [ended(2)["invocations"][0] | {"toolExecutionNotifications": [warning]}]
    result = bring(website, ("Semgrep OSS", []), options=options, invocations=invocations)["semgrep-oss"]
    assert (result.state, result.fixed, result.failed) == ("failed", 0, 1)
    assert "a failed check: Syntax error somewhere" in str(result.failures)
    other = [make_result(ruleId="another")]
    result = bring(website, ("Semgrep OSS", other), options=options, invocations=invocations)["semgrep-oss"]
    assert (result.state, result.fixed, result.detail) == ("partial", 0, "Failed checks: 1.")
    result = bring(website, ("Semgrep OSS", []), options=options, **ended(3))["semgrep-oss"]
    assert (result.state, result.fixed) == ("ok", 2)


def test_a_tool_without_a_usable_row_is_recorded_with_the_others_and_changes_nothing():
    website = make_website()
    results = bring(
        website, ("One", [make_result(locations=FOREIGN)]), ("Two", [make_result()]), ("Three", [])
    )
    assert {name: (result.rows, result.rejected, result.new) for name, result in results.items()} == {
        "one": (1, 1, 0),
        "two": (1, 0, 1),
        "three": (0, 0, 0),
    }
    assert results["one"].detail == "Every row was rejected: nothing was changed."
    assert (
        results["three"].detail
        == "It is empty, which proves nothing without confirmation: nothing was changed."
    )
    assert Coverage.objects.get().source.slug == "two"
    assert ImportRun.objects.get(source__slug="one").rejects[0]["row"] == 1
    assert not Source.objects.filter(enabled=True).exists()  # other websites wait for none of them


def test_a_file_without_a_usable_row_of_any_tool_is_refused_with_every_reason():
    website = make_website()
    with pytest.raises(RefusedReport, match=r"(?s)Every row was rejected.*one on shop.*two on shop"):
        bring(website, *((name, [make_result(locations=FOREIGN)]) for name in ("One", "Two")))
    with pytest.raises(RefusedReport, match="The report is empty"):
        bring(website, ("One", []), ("Two", []))
    assert not ImportRun.objects.exists()
    assert not Source.objects.exists()


def test_all_tools_of_a_file_are_stored_or_none(monkeypatch):
    website = make_website()
    apply_reported = ingest.apply_reported

    def break_on_the_second(batch, website, source, *others):
        if source.slug == "two":
            raise ArithmeticError
        return apply_reported(batch, website, source, *others)

    monkeypatch.setattr(ingest, "apply_reported", break_on_the_second)
    with pytest.raises(ArithmeticError):
        bring(website, ("One", [make_result()]), ("Two", [make_result()]))
    assert not any(model.objects.exists() for model in (Finding, Coverage, ImportRun, Source))
