import gzip
import hashlib
import io
import json
import sys

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.management.commands.import_report import Command
from dashboard_api.models import Coverage, Finding, ImportRun, Source
from dashboard_api.scanners import read_report
from tests.commands import run, run_json
from tests.dashboard_api.scanners.samples import json_lines, make_result, make_row, make_tools
from tests.factories import make_account, make_link, make_website

pytestmark = pytest.mark.django_db

HOST = ["--host", "shop.example.com"]
FOREIGN = make_row(matched_at="https://example.com/")


@pytest.fixture
def website():
    return make_website()


@pytest.fixture
def report(tmp_path):
    """Writes a report of the rows and returns where."""

    def write(*rows):
        file = tmp_path / "report.jsonl"
        file.write_bytes(json_lines(*rows) if rows else b"")
        return str(file)

    return write


def refusal(*arguments):
    with pytest.raises(CommandError) as error:
        run("import_report", *arguments)
    assert not Finding.objects.exists()
    assert not Coverage.objects.exists()
    return str(error.value)


def test_report_is_imported_and_summed_up(website, report):
    output = run("import_report", report(make_row(), FOREIGN), "--host", "Shop.Example.com")
    assert output.splitlines() == [
        "nuclei on shop.example.com, scanned 2026-03-01 08:00 UTC: partial.",
        "Rows: 2. Findings: 1, further locations: 0, coverage: 0, rejected: 1.",
        "New: 1, updated: 0, reopened: 0, fixed: 0.",
        "Row 2 is of example.com, which is neither shop.example.com nor one of its subdomains.",
    ]
    assert Finding.objects.get().website == website


def test_result_is_printed_whole_for_scripts(website, report):
    rows = [make_row(), make_row(matcher_status=False, error="timeout"), *[FOREIGN] * 30]
    answer = run_json("import_report", report(*rows), *HOST)
    assert {name: answer[name] for name in ("rows", "findings", "occurrences", "coverage")} == {
        "rows": 32,
        "findings": 1,
        "occurrences": 0,
        "coverage": 1,
    }
    assert answer["rejected"] == len(answer["rejects"]) == 30
    assert answer["rejects"][0]["row"] == 3
    assert answer["failures"] == [{"row": 2, "reason": "reports a failed check: timeout"}]
    assert (answer["new"], answer["state"], answer["dry_run"]) == (1, "partial", False)
    assert answer["scanned_at"] == "2026-03-01T08:00:00.123Z"


def test_summary_lists_each_reason_once_with_its_number_of_rows(website, report):
    elsewhere = [make_row(matched_at=f"https://{number}.example.org/") for number in range(25)]
    lines = run("import_report", report(make_row(), *[FOREIGN] * 3, *elsewhere), *HOST).splitlines()
    rows = [line for line in lines if line.startswith("Row ")]
    assert rows[0].startswith("Row 2 is of example.com, which is")
    assert rows[0].endswith(" (and 2 more rows).")
    assert rows[-1].startswith("Row 23 is of 18.example.org")
    assert lines[-1] == "And 6 more."


def test_report_comes_from_standard_input(website, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json_lines(make_row()))))
    run("import_report", "-", *HOST)
    assert Finding.objects.count() == 1


def test_dry_run_prints_everything_and_stores_nothing(website, report):
    file = report(make_row(), FOREIGN)
    assert "Dry run: nothing was stored." in run("import_report", file, *HOST, "--dry-run")
    assert not Finding.objects.exists()
    assert not Source.objects.exists()
    rehearsed = run_json("import_report", file, *HOST, "--dry-run")
    assert rehearsed == run_json("import_report", file, *HOST) | {"dry_run": True}


def test_complete_scan_with_a_given_time_fixes(website, report):
    run("import_report", report(make_row()), *HOST)
    options = ("--format", "nuclei", "--complete", "--scanned-at", "2026-04-01")
    answer = run_json("import_report", report(), *HOST, *options)
    assert (answer["fixed"], answer["scanned_at"]) == (1, "2026-04-01T00:00:00Z")


def test_base_url_places_what_names_no_host(website, report):
    file = report(make_row(matched_at="/login"))
    assert "base_url" in refusal(file, *HOST)
    run("import_report", file, *HOST, "--base-url", "https://www.shop.example.com/")
    assert Finding.objects.get().location == "https://www.shop.example.com/login"


def test_account_that_links_the_website_is_accepted(website, report):
    make_link(make_account(), website)
    run("import_report", report(make_row()), *HOST, "--account", "acct_0001")
    assert Finding.objects.exists()


def test_account_that_does_not_link_the_website_is_refused(website, report):
    account = make_account()
    arguments = [report(make_row()), *HOST, "--account", "acct_0001"]
    assert "link it in the admin or by 'manage.py onboard acct_0001 shop.example.com'" in refusal(*arguments)
    link = make_link(account, website)
    link.revoke(by="tests", reason="over", now=timezone.now())
    assert "is revoked: restore it in the admin" in refusal(*arguments)
    assert "no account acct_9" in refusal(*arguments[:-1], "acct_9")


@pytest.mark.parametrize(
    ("host", "advice"),
    [
        ("other.example.com", "add it in the admin or by 'manage.py onboard REF other.example.com'"),
        ("https://shop.example.com:8080", "must be a domain name"),
    ],
)
def test_unknown_host_is_refused_with_what_to_do(website, report, host, advice):
    assert advice in refusal(report(make_row()), "--host", host)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (["--scanned-at", "soon"], "not a time such as 2026-01-31T14:00:00Z"),
        (["--scanned-at", "2999-01-01"], "is in the future"),
        (["--scanned-at", "0001-01-01T00:00+05:00"], "not a time"),
        (["--base-url", "/app"], "does not start with http"),
        (["--base-url", "https://example.com"], "--base-url is of example.com, which is neither"),
        (["--format", "guess"], "invalid choice"),
    ],
)
def test_wrong_option_is_refused_with_what_to_do(website, report, options, advice):
    assert advice in refusal(report(make_row()), *HOST, *options)


def test_file_that_is_no_report_is_refused(website, tmp_path):
    assert "Cannot read" in refusal(str(tmp_path), *HOST)
    assert "No such file" in refusal(str(tmp_path / "none"), *HOST)
    other = tmp_path / "other"
    other.write_bytes(b"hello")
    assert "not a report of a known format (findings, csv, " in refusal(str(other), *HOST)
    assert "neither JSON nor JSON lines" in refusal(str(other), *HOST, "--format", "nuclei")


def test_empty_report_is_refused_with_what_to_say(website, report):
    assert "name its format (nuclei for an empty file). Add --complete and --format" in refusal(
        report(), *HOST
    )


def test_report_that_is_too_large_is_refused_as_a_whole(website, report, monkeypatch):
    file = report(make_row())
    monkeypatch.setattr(limits, "MAX_REPORT_BYTES", len(json_lines(make_row())))
    run("import_report", file, *HOST, "--dry-run")
    monkeypatch.setattr(limits, "MAX_REPORT_BYTES", len(json_lines(make_row())) - 1)
    assert "larger than" in refusal(file, *HOST)


def test_report_of_another_website_is_refused_with_every_reason(website, report):
    message = refusal(report(FOREIGN, b"{"), *HOST)
    assert message.startswith("Every row was rejected, so nothing was changed.")
    assert ": refused." in message
    assert ": ok." not in message
    assert "Row 1 is of example.com" in message
    assert "Row 2 is cut off" in message


def test_help_lists_the_exit_codes():
    help_text = Command().create_parser("manage.py", "import_report").format_help()
    assert "Exit code 0: imported" in " ".join(help_text.split())


def test_several_reports_are_imported_one_by_one(website, tmp_path):
    files = []
    for number, rows in enumerate([[make_row()], [FOREIGN], [make_row(template_id="other")]]):
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_bytes(json_lines(*rows))
    with pytest.raises(CommandError, match="Refused: 1 of 3 reports"):
        run("import_report", *map(str, files), *HOST)
    assert Finding.objects.count() == 2


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_of_several_reports_every_line_names_its_file(website, tmp_path, dry_run):
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(json_lines(make_row(), FOREIGN))
    bad.write_bytes(json_lines(FOREIGN))
    output, errors = io.StringIO(), io.StringIO()
    files = [str(good), str(bad)]
    with pytest.raises(CommandError):
        call_command("import_report", *files, *HOST, *dry_run, stdout=output, stderr=errors)
    assert len(output.getvalue().splitlines()) == 4 + len(dry_run)
    assert all(line.startswith(f"{good}: ") for line in output.getvalue().splitlines())
    assert "Row 1 is of example.com" in errors.getvalue()
    assert all(line.startswith(f"{bad}: ") for line in errors.getvalue().splitlines())


def test_strictly_a_report_with_rejected_rows_fails_and_the_others_are_imported(website, report):
    file = report(make_row(), FOREIGN)
    with pytest.raises(CommandError, match=r"Rejected rows: 1\."):
        run("import_report", file, *HOST, "--strict")
    assert Finding.objects.count() == ImportRun.objects.count() == 1
    run("import_report", file, *HOST)
    run("import_report", report(make_row()), *HOST, "--strict")


def test_strictly_all_of_several_reports_are_imported_and_their_rejected_rows_counted(website, tmp_path):
    files = []
    for number in range(3):
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_bytes(json_lines(make_row(template_id=f"rule-{number}"), *[FOREIGN] * number))
    files.append(tmp_path / "none")
    output = io.StringIO()
    with pytest.raises(CommandError, match=r"Refused: 1 of 4 reports\. Rejected rows: 3\."):
        call_command("import_report", *map(str, files), *HOST, "--strict", "--json", stdout=output)
    rows = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [row.get("rejected") for row in rows] == [0, 1, 2, None]
    assert Finding.objects.count() == 3


def test_a_compressed_report_is_imported_as_what_is_in_it(website, tmp_path):
    file = tmp_path / "report.jsonl.gz"
    file.write_bytes(gzip.compress(json_lines(make_row())))
    run("import_report", str(file), *HOST)
    assert Finding.objects.count() == 1
    assert ImportRun.objects.get().digest == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_compressed_report_that_is_cut_off_changes_nothing(website, tmp_path):
    file = tmp_path / "report.jsonl.gz"
    rows = (make_row(template_id=f"rule-{number}") for number in range(3_000))
    file.write_bytes(gzip.compress(json_lines(*rows))[:-5])
    assert "cut off" in refusal(str(file), *HOST)


def test_json_of_several_reports_is_one_object_a_line(website, tmp_path, capsys):
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(json_lines(make_row()))
    bad.write_bytes(json_lines(FOREIGN))
    output = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_report", str(bad), str(good), *HOST, "--json", stdout=output)
    refused, imported = map(json.loads, output.getvalue().splitlines())
    assert (refused["file"], "Every row was rejected" in refused["error"]) == (str(bad), True)
    assert (imported["file"], imported["new"]) == (str(good), 1)


def test_a_file_with_reports_of_several_tools_is_summarised_by_tool(website, report):
    file = report(make_tools(("One", [make_result()]), ("Two", [make_result()])))
    output = run("import_report", file, *HOST, "--json", "--dry-run")
    sources = [(each["file"], each["source"], each["new"]) for each in map(json.loads, output.splitlines())]
    assert sources == [(file, "one", 1), (file, "two", 1)]
    assert "two on shop.example.com" in run("import_report", file, *HOST)


def test_an_import_is_kept_on_record_and_adds_up(website, report):
    check = make_row(matcher_status=False)
    run("import_report", report(make_row(), make_row(), FOREIGN, check), *HOST, "--by", "robin")
    run_record = ImportRun.objects.get()
    assert (
        run_record.rows,
        run_record.findings,
        run_record.occurrences,
        run_record.coverage,
        run_record.rejected,
    ) == (4, 1, 1, 1, 1)
    assert (run_record.by, run_record.file_name, run_record.new, run_record.state) == (
        "robin",
        "report.jsonl",
        1,
        "partial",
    )
    (reject,) = run_record.rejects
    assert (reject["row"], "example.com" in reject["reason"]) == (3, True)


def test_a_rehearsed_import_leaves_no_record(website, report):
    run("import_report", report(make_row()), *HOST, "--dry-run")
    assert not ImportRun.objects.exists()


def test_progress_is_shown_on_a_terminal_and_nowhere_else(website, report, monkeypatch, capsys):
    run("import_report", report(make_row()), *HOST)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    run("import_report", report(make_row()), *HOST)
    shown = capsys.readouterr().err
    assert "B/s]" in shown
    assert "findings/s]" in shown


def test_targets_and_a_category_that_the_report_does_not_name_are_said(website, report):
    run(
        "import_report",
        report(make_row(matched_at="https://www.shop.example.com/")),
        *HOST,
        "--category",
        "web",
    )
    options = ("--format", "nuclei", "--complete", "--scanned-at", "2026-04-01")
    assert "fixed: 0." in run("import_report", report(), *HOST, *options)
    targets = ("--target", "www.shop.example.com", "--target", "shop.example.com:8443")
    output = run("import_report", report(), *HOST, *options, *targets, "--category", "web")
    assert "fixed: 1." in output
    scope = "Scope of what is fixed: shop.example.com:8443, www.shop.example.com, category web."
    assert scope in output.splitlines()
    assert ImportRun.objects.get(fixed=1).scope == scope


def test_scope_that_the_report_does_not_name_is_the_websites_own_host(website, report):
    options = ("--format", "nuclei", "--complete", "--scanned-at", "2026-04-01")
    assert (
        "Scope of what is fixed: shop.example.com. The report names no target; name it if it was not the "
        "website itself." in run("import_report", report(), *HOST, *options)
    )


def test_target_of_another_website_is_refused(website, report):
    assert "--target is of example.com" in refusal(report(make_row()), *HOST, "--target", "example.com")


def test_template_is_a_csv_file_that_can_be_imported(capsys):
    with pytest.raises(SystemExit) as exit_:
        call_command("import_report", "--template")
    assert exit_.value.code == 0
    report = list(read_report(io.BytesIO(capsys.readouterr().out.encode())))
    assert [finding.title for finding in report] == ["Directory listing"]
