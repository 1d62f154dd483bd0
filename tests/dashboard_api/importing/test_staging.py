import gc
import hashlib
import io
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis.strategies import lists, text

from dashboard_api import limits
from dashboard_api.importing.staging import fingerprint_of, stage
from dashboard_api.scanners import nuclei, sarif
from dashboard_api.scanners.report import Severity
from dashboard_api.scanners.text import one_line
from tests.dashboard_api.scanners.samples import json_lines, make_result, make_row, make_sarif

DAY = datetime(2026, 3, 1, tzinfo=UTC)
parts = (text("a|", max_size=2) | text()).map(one_line)


def sort(*rows):
    return sort_report(nuclei, json_lines(*rows))


def sort_report(reader, data):
    return stage(reader.read(io.BytesIO(data)), "shop.example.com", base_url=None)


def further(rows):
    return rows.finding_rows - rows.findings


def groups(rows):
    return dict(rows.grouped_findings(lambda at: at or DAY))


def at(path, **members):
    return make_row(matched_at=f"https://shop.example.com{path}", **members)


def test_fingerprint_is_of_source_rule_and_matcher():
    assert (
        fingerprint_of("nuclei", ("exposed-panel", "wix"))
        == "9ced00e12c3493cc7c49645cac928ea85ccb66f21d3b33b2b2d18fdf15f123ff"
    )
    assert fingerprint_of("nuclei", ("exposed-panel", "")) in sort(make_row())


@given(first=parts, second=parts, third=parts)
def test_bar_within_a_part_is_not_one_between_parts(first, second, third):
    identities = {(first, f"{second}|{third}"), (f"{first}|{second}", third), (first, second, third)}
    assert len({fingerprint_of("nuclei", identity) for identity in identities}) == len(identities)


@given(identity=lists(parts.map(lambda part: part.replace("|", ""))).map(tuple))
def test_fingerprint_of_parts_without_bars_is_of_the_parts_joined_by_bars(identity):
    joined = "|".join(("nuclei", *identity))
    assert fingerprint_of("nuclei", identity) == hashlib.sha256(joined.encode()).hexdigest()


def test_a_finding_has_every_location_once():
    rows = sort(at("/a"), at("/b?x=1"), at("/a?y=2#z"), at("/a", matcher_name="other"))
    first, other = groups(rows).values()
    assert [each.location for each in first.occurrences.values()] == [
        "https://shop.example.com/a",
        "https://shop.example.com/b",
    ]
    assert first.first_occurrence.location == "https://shop.example.com/a"
    assert len(other.occurrences) == 1
    assert further(rows) == 2


def test_occurrences_have_the_first_and_last_time_of_their_rows():
    rows = sort(
        at("/a", timestamp="2026-03-02T00:00:00Z"),
        at("/a", timestamp="2026-03-04T00:00:00Z"),
        at("/b", timestamp=None),
    )
    (group,) = groups(rows).values()
    occurrence = group.first_occurrence
    assert (occurrence.first_seen, occurrence.last_seen) == (DAY + timedelta(days=1), DAY + timedelta(days=3))
    assert (group.first_seen, group.last_seen) == (DAY, DAY + timedelta(days=3))


def test_evidence_of_an_occurrence_has_no_repetition():
    tls = [at("/", extracted_results=[version], type="ssl") for version in ("tls12", "tls13", "tls12")]
    (group,) = groups(sort(*tls)).values()
    assert group.first_occurrence.evidence == (
        "Protocol: ssl\n\nExtracted:\ntls12\n\nProtocol: ssl\n\nExtracted:\ntls13"
    )


def test_evidence_of_an_occurrence_is_cut():
    long = [at("/", response=letter * limits.MAX_STORED_EVIDENCE_BYTES) for letter in "xy"]
    (group,) = groups(sort(*long)).values()
    assert len(group.first_occurrence.evidence) == limits.MAX_STORED_EVIDENCE_BYTES


def test_rows_of_other_hosts_are_rejected_in_the_order_of_the_report():
    foreign = make_row(matched_at="https://example.com/")
    rows = sort(at("/a"), foreign, b"broken", foreign | {"matcher-status": False})
    assert [(reject.row, reject.reason[:12]) for reject in rows.rejected.first] == [
        (2, "is of exampl"),
        (3, "is not JSON:"),
        (4, "is of exampl"),
    ]
    assert (rows.coverage, rows.rejected.count, rows.unreadable) == (0, 3, 1)


def test_coverage_counts_the_places_that_were_checked():
    rows = sort(at("/a"), at("/a?x", matcher_status=False), at("/b", matcher_status=False))
    assert (rows.coverage, rows.locations_count) == (2, 2)


def test_finding_that_the_scanner_has_known_for_longer_was_seen_then():
    first, last = "2026-02-01T00:00:00Z", "2026-02-20T00:00:00Z"
    provenance = {"firstDetectionTimeUtc": first, "lastDetectionTimeUtc": last}
    rows = sort_report(sarif, json.dumps(make_sarif(make_result(provenance=provenance))).encode())
    (group,) = groups(rows).values()
    assert (group.first_seen, group.last_seen) == (
        datetime(2026, 2, 1, tzinfo=UTC),
        datetime(2026, 2, 20, tzinfo=UTC),
    )
    assert (further(rows), len(group.occurrences)) == (0, 1)


def test_problems_come_in_the_order_of_the_report_however_their_rows_are_mixed():
    rules = ["c", "a", "c", "b", "a", "c"]
    rows = sort(*(at(f"/{number}", template_id=rule) for number, rule in enumerate(rules)))
    counts = [(group.row.rule, len(group.occurrences)) for group in groups(rows).values()]
    assert counts == [("c", 3), ("a", 2), ("b", 1)]
    assert (rows.findings, further(rows)) == (3, 3)


def test_of_very_many_rejected_rows_the_first_are_kept_and_all_are_counted(monkeypatch):
    monkeypatch.setattr("dashboard_api.importing.staging.MAX_STORED_REJECTS", 2)
    rows = sort(at("/"), *[b"broken"] * 5)
    assert (rows.rejected.count, [reject.row for reject in rows.rejected.first]) == (5, [2, 3])


@pytest.mark.parametrize("severities", [("low", "high"), ("high", "low")])
def test_the_worst_row_describes_the_finding_whatever_the_order(severities):
    rows = [at(f"/{severity}", info={"name": severity, "severity": severity}) for severity in severities]
    (group,) = groups(sort(*rows)).values()
    assert (group.row.severity, group.row.title) == (Severity.HIGH, "high")


def sort_results(*fingerprints):
    """Results of one rule at places of their own, each with its fingerprint, if any."""
    results = [
        make_result(
            fingerprints={"h": value} if value else None,
            locations=[
                {"physicalLocation": {"artifactLocation": {"uri": f"https://shop.example.com/{number}"}}}
            ],
        )
        for number, value in enumerate(fingerprints)
    ]
    return sort_report(sarif, json.dumps(make_sarif(*results)).encode())


def key_of(value):
    return fingerprint_of("code-scanner", ("open-redirect", value))


def test_problems_that_are_known_by_one_older_form_become_that_one():
    rows = sort_results("a", "b", "a")
    rows.use_stored_aliases(lambda _: {key_of("")})
    (group,) = groups(rows).values()
    assert list(groups(rows)) == [key_of("")]
    assert [each.location[-2:] for each in group.occurrences.values()] == ["/0", "/1", "/2"]
    assert (rows.findings, further(rows)) == (1, 2)
    assert key_of("") in rows
    assert key_of("a") not in rows


def test_problem_that_is_known_as_it_is_stays():
    rows = sort_results("a", "b")
    rows.use_stored_aliases(lambda _: {key_of(""), key_of("a")})
    assert list(groups(rows)) == [key_of("a"), key_of("")]


def test_older_form_that_the_report_gives_to_another_problem_is_not_taken():
    rows = sort_results("a", None)
    rows.use_stored_aliases(lambda _: {key_of("")})
    assert list(groups(rows)) == [key_of("a"), key_of("")]


def test_problem_that_is_not_known_at_all_goes_by_its_newest_form():
    rows = sort_results("a")
    asked = []
    rows.use_stored_aliases(lambda keys: asked.extend(keys) or ())
    assert list(groups(rows)) == [key_of("a")]
    assert set(asked) == {key_of("a"), key_of("")}


def test_the_rows_of_a_thread_that_has_ended_are_closed_by_another():
    with ThreadPoolExecutor(1) as pool:
        staged = pool.submit(sort, at("/")).result()
    database = staged._database
    del staged
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        database.execute("SELECT 1")


@pytest.mark.parametrize(
    "location",
    [
        "https://ada:s3cr3t@shop.example.com/a",
        "https://shop.example.com/a?next=https://ada:s3cr3t@shop.example.com/",
        "https://shop.example.com/to/https://ada:s3cr3t@shop.example.com/",
        "ada:s3cr3t@shop.example.com/a",
    ],
)
def test_a_location_is_stored_without_a_password(location):
    rows = sort(make_row(matched_at=location))
    [finding] = groups(rows).values()
    assert "s3cr3t" not in finding.first_occurrence.location
    assert finding.first_occurrence.location.startswith(("https://shop.example.com/", "shop.example.com/"))


@pytest.mark.parametrize("before", ["https://", "//", "", "https:/", "https:", "https:\\\\"])
def test_the_reason_of_a_rejected_row_names_no_password(before):
    [rejected] = sort(make_row(matched_at=f"{before}ada:s3cr3t@shop.example.com:no-port/a")).rejected.first
    assert "shop.example.com:no-port/a" in rejected.reason
    assert "s3cr3t" not in rejected.reason
