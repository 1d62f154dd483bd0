from datetime import UTC, datetime
from pathlib import Path

import pytest

from dashboard_api.scanners import finding_csv
from dashboard_api.scanners.report import Severity, UnreadableReport
from tests.dashboard_api.scanners.samples import as_csv, make_line, read_whole

SAMPLE = Path(__file__).parents[3] / "docs" / "samples" / "findings.csv"


def read(*lines, **options):
    return read_whole(finding_csv, as_csv(lines, **options))


def read_one(**cells):
    report = read(make_line(**cells))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_the_sample_is_the_template():
    assert SAMPLE.read_text().splitlines() == finding_csv.template().splitlines()
    (finding,) = read_whole(finding_csv, SAMPLE.read_bytes()).findings
    assert (finding.rule, finding.cwe, finding.kind) == ("directory-listing", (548,), "confirmed")


def test_every_column_is_read():
    finding = read_one(
        finding="listing",
        matcher="a",
        kind="Suspected",
        description="Two\nlines",
        remediation="Turn it off.",
        references="https://a.example/ https://b.example/",
        cwe="CWE-548, 200",
        cve="cve-2024-12345",
        seen_at="2026-03-01T10:00:00+01:00",
    )
    assert (finding.identity, finding.rule, finding.kind) == (("listing", "a"), "listing", "suspected")
    assert (finding.description, finding.remediation) == ("Two\nlines", "Turn it off.")
    assert finding.references == ("https://a.example/", "https://b.example/")
    assert (finding.cwe, finding.cve) == ((548, 200), ("CVE-2024-12345",))
    assert finding.seen_at == datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "header",
    [
        "title,severity,location",
        "Location;Kind;TITLE;Severity",
        '"severity"\t"title"\t"location"',
        " title , severity , location ",
    ],
)
def test_file_is_recognised_by_its_columns_in_any_order(header):
    assert finding_csv.HEAD_PATTERN.search(header.encode())


@pytest.mark.parametrize(
    "header",
    [
        "title,severity",
        "subtitle,severity,location",
        "title severity location",
        '{"title,severity,location',
        "a\ntitle,severity,location",
    ],
)
def test_other_file_is_not_recognised(header):
    assert not finding_csv.HEAD_PATTERN.search(header.encode())


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        ("Critical", (Severity.CRITICAL, "confirmed")),
        ("HIGH", (Severity.HIGH, "confirmed")),
        ("info", (Severity.INFO, "informational")),
        ("Informational", (Severity.INFO, "informational")),
    ],
)
def test_severity_and_kind(severity, expected):
    finding = read_one(severity=severity)
    assert (finding.severity, finding.kind) == expected


def test_scanner_is_the_source():
    report = read(make_line(scanner="Penetration test 2026"), make_line(scanner="Other"))
    assert (report.source, report.source_name) == ("penetration-test-2026", "Penetration test 2026")
    assert [(reject.row, reject.reason) for reject in report.rejects] == [
        (3, "is from another scanner than the first row, Penetration test 2026")
    ]
    assert read(make_line(scanner="")).source == "spreadsheet"
    assert read(make_line(scanner="漢")).source_name == "spreadsheet"  # all accounts read this name


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"title": " "}, "has no title"),
        ({"location": ""}, "has no location"),
        ({"severity": "worst"}, "has a severity that is not one of critical, high, medium, low, info"),
        ({"kind": "maybe"}, "has a kind that is not one of confirmed, suspected, informational"),
        (
            {"seen_at": "yesterday"},
            "has a seen_at that is not a time: write 2026-03-01 or 2026-03-01T10:00:00Z",
        ),
    ],
)
def test_broken_line_is_rejected_by_its_number_in_the_spreadsheet(cells, reason):
    report = read(make_line(), make_line(**cells), make_line())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(3, reason)]
    assert len(report.findings) == 2


def test_formula_is_text():
    assert read_one(title="=cmd|'/C calc'!A0").title == "=cmd|'/C calc'!A0"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("title,severity\n", "does not name the column location"),
        (
            "title,severity,location,descripton\n",
            "has a column 'descripton', which is not one of: title, severity",
        ),
        ("title,severity,location,title\n", "names a column twice"),
        ("", "does not name the column title"),
    ],
)
def test_file_with_other_columns_is_refused_naming_them(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(finding_csv, data.encode())


def test_file_without_lines_has_no_rows():
    assert read_whole(finding_csv, b"title,severity,location\n").rows == 0


def test_every_column_is_documented():
    document = (SAMPLE.parents[1] / "scanner-formats.md").read_text()
    for column in finding_csv.COLUMNS:
        assert f"| `{column.name}` | {column.meaning} |\n" in document
