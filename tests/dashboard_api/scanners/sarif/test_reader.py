import io
import json
from datetime import UTC, datetime

import pytest

from dashboard_api import limits
from dashboard_api.scanners import sarif
from dashboard_api.scanners.report import Severity, UnreadableReport
from tests.dashboard_api.scanners.samples import make_result, make_sarif, make_tools, read_whole


def read(*results, **members):
    return read_whole(sarif, json.dumps(make_sarif(*results, **members)).encode())


def read_one(rule_members=None, run=None, **members):
    report = read(make_result(**members), rule=rule_members, **(run or {}))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def at(uri, **members):
    return [{"physicalLocation": {"artifactLocation": {"uri": uri} | members}}]


def test_tool_is_the_source():
    report = read(make_result())
    assert (report.source, report.source_name, report.version) == ("code-scanner", "Code Scanner", "2.1.0")


@pytest.mark.parametrize(("name", "source"), [("Ä/B 2", "a-b-2"), ("漢", "sarif"), ("x" * 60, "x" * 50)])
def test_source_is_a_short_plain_name(name, source):
    assert read(tool={"driver": {"name": name}}).source == source


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Ä/B 2", "Ä/B 2"), ("漢", "sarif"), ("", "SARIF"), ("ZAP 漢", "zap"), ("x" * 60, "x" * 50)],
)
def test_the_name_of_a_tool_says_no_more_than_its_source(name, shown):
    assert read(tool={"driver": {"name": name}}).source_name == shown


def file_of(*names):
    """Return a SARIF file with a run of each tool, whose result is named like the tool."""
    return json.dumps(make_tools(*((name, [make_result(ruleId=name)]) for name in names))).encode()


def test_runs_of_one_tool_are_one_report():
    report = sarif.read(io.BytesIO(file_of("One", "one")))
    assert (report.others, read_whole(sarif, file_of("One", "one")).rows) == ((), 2)


def test_runs_of_several_tools_are_a_report_of_each():
    first = sarif.read(io.BytesIO(file_of("One", "Two", "One")))
    (second,) = first.others
    rules = {each.source: [row.rule for row in each] for each in (first, second)}
    assert rules == {"one": ["One", "One"], "two": ["Two"]}
    assert (first.rows, second.rows) == (2, 1)


def test_each_tool_says_by_itself_whether_and_when_it_ended():
    document = json.loads(file_of("One", "Two"))
    document["runs"][1]["invocations"] = [{"executionSuccessful": True, "endTimeUtc": "2026-03-01T10:00:00Z"}]
    first = sarif.read(io.BytesIO(json.dumps(document).encode()))
    assert [(each.complete, each.scanned_at) for each in (first, *first.others)] == [
        (None, None),
        (True, datetime(2026, 3, 1, 10, tzinfo=UTC)),
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{}", "it has no runs"),
        (b"[]", "it has no runs"),
        (b'{"runs": {}}', "it has no runs"),
        (b'{"runs": [], "version": "1.0.0"}', "this is SARIF 1.0.0"),
        (b'{"runs": [{}, 7]}', r"runs\[1\] is not an object"),
        (b'{"runs": [{"results": {}}]}', r"runs\[0\].results is not a list"),
        (b'{"runs": [{"results": "none"}]}', r"runs\[0\].results is not a list"),
        (b"{", "is cut off"),
    ],
)
def test_other_document_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(sarif, data)


def test_too_many_results_are_refused_as_a_whole(monkeypatch):
    monkeypatch.setattr(limits, "MAX_SARIF_RESULTS", 2)
    assert read(*[make_result()] * 2).rows == 2
    with pytest.raises(UnreadableReport, match="has 3 results, and 2 are read"):
        read(*[make_result()] * 3)


@pytest.mark.parametrize(
    ("invocations", "complete"),
    [
        (None, None),
        ([], None),
        ([{"executionSuccessful": True}], True),
        ([{"executionSuccessful": True}, {"executionSuccessful": False}], False),
        ([{"executionSuccessful": True}, {}], None),
        ([{"executionSuccessful": {}}], None),
        ([{"executionSuccessful": True, "toolExecutionNotifications": [{"level": "note"}]}], True),
        ([{"executionSuccessful": True, "toolExecutionNotifications": [{}]}], None),
        ([{"executionSuccessful": True, "toolExecutionNotifications": [{"level": "error"}]}], False),
        # Bandit names a file there that it cannot read.
        ([{"executionSuccessful": True, "toolConfigurationNotifications": [{"level": "error"}]}], False),
        ([{"executionSuccessful": True, "toolConfigurationNotifications": [{}]}], None),
        ([{"executionSuccessful": True, "toolConfigurationNotifications": [{"level": "note"}]}], True),
        ([{"executionSuccessful": True, "exitSignalName": "SIGKILL"}], False),
        # SpotBugs and valint name their result there.
        ([{"executionSuccessful": True, "exitSignalName": "SUCCESS"}], True),
        ([{"executionSuccessful": True, "exitSignalName": "passed"}], True),
        ([{"executionSuccessful": True, "processStartFailureMessage": "No such file"}], False),
        # Linters end with 1 when they found something.
        ([{"executionSuccessful": True, "exitCode": 1, "exitSignalName": None}], True),
    ],
)
def test_run_is_complete_when_every_invocation_succeeded_without_a_word(invocations, complete):
    assert read(make_result(), invocations=invocations).complete is complete


def warned(name, text="", level="warning"):
    """Return a run of Semgrep with one notification of this name."""
    notification = {"descriptor": {"id": name}, "level": level, "message": {"text": text or name}}
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": [notification]}
    tool = {"driver": {"name": "Semgrep OSS", "rules": [{"id": "open-redirect"}]}}
    return {"tool": tool, "invocations": [invocation]}


@pytest.mark.parametrize(
    ("name", "text", "location"),
    [
        ("Syntax error", "Syntax error at line src/b.js:2:\n `= {{{` was unexpected", "./src/b.js"),
        ("Syntax error", "Syntax error at line src/ü:1.js:2:\n at line z.js:3:", "./src/ü:1.js"),
        ("Other syntax error", "Other syntax error at line /src/a b/c.py:12", "/src/a b/c.py"),
        ("Timeout", "Timeout when running js.lang.eval on src/on a.js:\n ", "./src/on a.js"),
        ("Out of memory", "Out of memory when running js.lang.eval on a.js", "./a.js"),
        ("Fatal error", "Fatal error: the engine ended at\n at line a.js:1", "./"),
        ("Timeout", "Timeout", "./"),
        ("Timeout during interfile analysis", "Timeout when running js.lang.eval on a.js", "./"),
    ],
)
def test_a_file_that_semgrep_did_not_analyse_is_a_failed_check_of_this_file_if_it_is_named(
    name, text, location
):
    report = read(make_result(), **warned(name, text))
    check = report.coverage[0]
    assert (check.row, check.location, check.fails_only_here) == (2, location, location != "./")
    assert check.error == " ".join(text.split())
    assert (len(report.findings), report.complete) == (1, True)


def test_a_file_that_semgrep_pro_did_not_analyse_is_a_failed_check_of_the_website():
    """It follows data between files, so findings in others are missing, too."""
    run = warned("Syntax error", "Syntax error at line src/b.js:2:")
    run["tool"]["driver"]["name"] = "Semgrep PRO"
    assert [(check.location, check.fails_only_here) for check in read(make_result(), **run).coverage] == [
        ("./", False)
    ]


@pytest.mark.parametrize("text", ["at line " * 30_000 + ":1" * 9_000 + "x", "Timeout when running " * 9_000])
def test_a_hostile_text_of_a_warning_takes_no_time_and_names_no_file(text):
    (check,) = read(make_result(), **warned("Syntax error", f"Syntax error {text}")).coverage
    assert (check.location, check.fails_only_here) == ("./", False)


def test_a_warning_about_an_address_that_cannot_be_parsed_is_a_bad_row():
    run = warned("Syntax error", "Syntax error at line //[x:1:")
    run["originalUriBaseIds"] = {"%SRCROOT%": {"uri": "https://shop.example.com/"}}
    report = read(make_result(), **run)
    assert (len(report.findings), len(report.rejects)) == (1, 1)


@pytest.mark.parametrize(
    ("run", "complete"),
    [
        (warned("Missing plugin"), None),
        (warned("Syntax error", level="note"), True),
        (warned("Syntax error", level="error"), False),
        (warned("Syntax error") | {"tool": {"driver": {"name": "CodeQL"}}}, None),
        ({"invocations": [{"toolConfigurationNotifications": [{"descriptor": {"id": "Timeout"}}]}]}, None),
    ],
)
def test_other_notifications_are_no_rows(run, complete):
    report = read(make_result(), **run)
    assert (report.rows, report.complete) == (1, complete)


@pytest.mark.parametrize(
    ("run", "complete"),
    [
        ({"tool": {"driver": {"name": "gosec"}}}, None),
        ({"tool": {"driver": {"name": "Bandit", "rules": []}, "extensions": [{"name": "x"}]}}, None),
        ({"tool": {"driver": {"name": "Semgrep", "rules": [{"id": "a"}]}}}, True),
        ({"tool": {"driver": {"name": "CodeQL"}, "extensions": [{"rules": [{"id": "a"}]}]}}, True),
        ({"tool": {"driver": {"name": "gosec"}}, "artifacts": [{"location": {"uri": "a.py"}}]}, True),
    ],
)
def test_run_that_shows_neither_results_nor_rules_nor_files_may_have_looked_at_nothing(run, complete):
    document = make_sarif(invocations=[{"executionSuccessful": True}], **run)
    assert read_whole(sarif, json.dumps(document).encode()).complete is complete


def test_run_without_results_did_not_scan():
    tool = {"driver": {"name": "Tool", "rules": [{"id": "a"}]}}
    document = make_sarif(invocations=[{"executionSuccessful": True}], tool=tool)
    assert read_whole(sarif, json.dumps(document).encode()).complete is True
    document["runs"][0]["results"] = None
    assert read_whole(sarif, json.dumps(document).encode()).complete is None


def test_time_is_the_end_of_the_last_invocation():
    ends = [{"endTimeUtc": "2026-03-01T10:00:00Z"}, {"startTimeUtc": "2026-03-01T09:00:00Z"}]
    assert read(make_result(), invocations=ends).scanned_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert read(make_result()).scanned_at is None


def test_detections_are_when_the_result_was_seen():
    provenance = {"lastDetectionTimeUtc": "2026-02-01T10:00:00Z"}
    assert read_one(provenance=provenance).seen_at == datetime(2026, 2, 1, 10, tzinfo=UTC)
    first = read_one(provenance={"firstDetectionTimeUtc": "2025-02-01T10:00:00Z"})
    assert (first.first_seen_at, first.seen_at) == (datetime(2025, 2, 1, 10, tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("score", "severity"),
    [
        ("9.8", Severity.CRITICAL),
        ("9.0", Severity.CRITICAL),
        (8.9, Severity.HIGH),
        ("7.0", Severity.HIGH),
        ("6.9", Severity.MEDIUM),
        ("0.1", Severity.LOW),
    ],
)
def test_score_of_the_rule_is_the_severity(score, severity):
    finding = read_one(rule_members={"properties": {"security-severity": score}}, level="note")
    assert (finding.severity, finding.severity_raw) == (severity, f"security-severity {score}")


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("critical", Severity.CRITICAL),
        ("HIGH", Severity.HIGH),
        ("Medium", Severity.MEDIUM),
        ("moderate", Severity.MEDIUM),
        ("low", Severity.LOW),
        ("info", Severity.INFO),
    ],
)
def test_score_may_be_a_word(word, severity):
    finding = read_one(rule_members={"properties": {"security-severity": word}}, level="warning")
    assert (finding.severity, finding.severity_raw) == (severity, f"security-severity {word}")


@pytest.mark.parametrize("score", ["0.0", "11", "nan", "grave", None, []])
def test_level_decides_where_there_is_no_score(score):
    finding = read_one(rule_members={"properties": {"security-severity": score}}, level="note")
    assert (finding.severity, finding.severity_raw) == (Severity.LOW, "note")


@pytest.mark.parametrize(
    ("members", "default", "severity"),
    [
        ({"level": "error"}, "note", Severity.HIGH),
        ({"level": "warning"}, "note", Severity.MEDIUM),
        ({"level": "none"}, "note", Severity.INFO),
        ({"level": None}, "note", Severity.LOW),
        ({"level": None}, None, Severity.MEDIUM),
        ({"level": None, "kind": "review"}, "error", Severity.INFO),
        ({"level": "grave"}, None, Severity.MEDIUM),
    ],
)
def test_level_falls_back_as_the_specification_says(members, default, severity):
    rule = {"defaultConfiguration": {"level": default}} if default else None
    assert read_one(rule_members=rule, **members).severity == severity


@pytest.mark.parametrize(
    ("kind", "precision", "expected"),
    [
        (None, None, "suspected"),
        ("fail", "medium", "suspected"),
        ("fail", "high", "confirmed"),
        (None, "very-high", "confirmed"),
        ("review", "high", "suspected"),
        ("open", None, "suspected"),
        ("informational", "high", "informational"),
    ],
)
def test_kind_follows_from_the_results_kind_and_the_rules_precision(kind, precision, expected):
    assert read_one(rule_members={"properties": {"precision": precision}}, kind=kind).kind == expected


@pytest.mark.parametrize(
    "members",
    [
        {"kind": "pass"},
        {"kind": "notApplicable"},
        {"baselineState": "absent"},
        {"suppressions": [{"kind": "inSource"}]},
        {"suppressions": [{"kind": "external", "state": "accepted"}]},
    ],
)
def test_what_is_not_open_is_coverage(members):
    report = read(make_result(**members))
    assert (report.findings, len(report.coverage)) == ((), 1)


@pytest.mark.parametrize(
    "members",
    [
        {"suppressions": []},
        {"suppressions": [{"state": "rejected"}]},
        {"suppressions": [{"state": "accepted"}, {"state": "underReview"}]},
        {"baselineState": "unchanged"},
    ],
)
def test_what_is_not_suppressed_is_open(members):
    assert read_one(**members)


@pytest.mark.parametrize(
    ("members", "identity"),
    [
        ({}, ("open-redirect", "")),
        ({"fingerprints": {"h": "a"}}, ("open-redirect", "a")),
        ({"ruleId": None, "message": {"text": "Seen 12 times"}}, ("", "Seen # times")),
    ],
)
def test_rule_and_fingerprint_are_the_identity(members, identity):
    assert read_one(**members).identity == identity


def test_older_forms_of_the_identity_are_aliases():
    finding = read_one(fingerprints={"h": "a"}, partialFingerprints={"primaryLocationLineHash": "c"})
    assert finding.aliases == (
        ("open-redirect", "c"),
        ("open-redirect", "primaryLocationLineHash=c"),
        ("open-redirect", ""),
    )
    assert read_one().aliases == ()


@pytest.mark.parametrize(
    ("members", "title"),
    [
        ({}, "Open redirect"),
        ({"ruleId": "other"}, "The address is not checked."),
        ({"ruleId": "other", "message": {"text": "See e.g.this\nand that"}}, "See e.g.this"),
        ({"ruleId": "other", "message": {}}, "other"),
    ],
)
def test_title_is_the_rules_else_the_first_sentence_else_the_id(members, title):
    assert read_one(**members).title == title


@pytest.mark.parametrize(
    "members",
    [
        {"ruleId": "open-redirect/sub"},
        {"ruleId": None, "rule": {"id": "open-redirect"}},
        {"ruleId": None, "ruleIndex": 0},
        {"ruleId": None, "rule": {"index": 0}},
        {"ruleId": "unknown", "ruleIndex": 0},
    ],
)
def test_rule_is_found_by_id_and_by_index(members):
    assert read_one(**members).title == "Open redirect"


def test_rule_is_found_in_an_extension():
    extension = {"name": "pack", "rules": [{"id": "ext-1", "shortDescription": {"text": "Of the pack"}}]}
    tool = {"driver": {"name": "CodeQL"}, "extensions": [extension]}
    by_id = read_one(run={"tool": tool}, ruleId="ext-1")
    by_index = read_one(run={"tool": tool}, ruleId=None, rule={"index": 0, "toolComponent": {"index": 0}})
    assert by_id.title == by_index.title == "Of the pack"
    assert by_index.rule == "ext-1"


@pytest.mark.parametrize("index", [-1, 7, "0", 0.5, None, [0]])
def test_rule_of_a_wrong_index_is_unknown(index):
    assert read_one(ruleId="other", ruleIndex=index).title == "The address is not checked."


@pytest.mark.parametrize(
    ("message", "description"),
    [
        ({"text": "Plain.", "markdown": "**Rich.**"}, "Plain."),
        ({"markdown": "**Rich.**"}, "**Rich.**"),
        ({"id": "default", "arguments": ["x", 2]}, "x was seen 2 times."),
        ({"id": "global", "arguments": []}, "Everywhere {0}."),
        ({"text": "{0} of {{0}} and {7}", "arguments": ["one"]}, "one of {0} and {7}"),
        ({"text": "Set {0} as it is."}, "Set {0} as it is."),
        (
            {"text": "See [here](1) and [there](https://a.example)."},
            "See here and [there](https://a.example).",
        ),
    ],
)
def test_message_is_resolved(message, description):
    rule = {"messageStrings": {"default": {"text": "{0} was seen {1} times."}}}
    driver = make_sarif(rule=rule)["runs"][0]["tool"]["driver"]
    driver["globalMessageStrings"] = {"global": {"text": "Everywhere {0}."}}
    assert read_one(run={"tool": {"driver": driver}}, message=message).description == description


def test_description_of_the_rule_follows_the_message_once():
    rule = {"fullDescription": {"text": "Why."}}
    assert read_one(rule_members=rule, message={"text": "What."}).description == "What.\n\nWhy."
    assert read_one(rule_members=rule, message={"text": "Why."}).description == "Why."


BASES = {
    "SITE": {"uri": "https://shop.example.com/app/"},
    "SUB": {"uri": "sub/", "uriBaseId": "SITE"},
    "DISK": {"uri": "file:///home/ada/"},
    "DEEP": {"uri": "file:///home/ada/deep"},
    "NONE": {"description": {"text": "Where the build is."}},
    "SRC": {"uri": " src/", "uriBaseId": "DISK"},
    "LOOP": {"uri": "x/", "uriBaseId": "LOOP"},
}


@pytest.mark.parametrize(
    ("locations", "location"),
    [
        (at("https://shop.example.com/a"), "https://shop.example.com/a"),
        (at("src/a.c"), "./src/a.c"),
        (at("/a"), "/a"),
        (at("../a"), "../a"),
        (at("a", uriBaseId="SITE"), "https://shop.example.com/app/a"),
        (at("a", uriBaseId="SUB"), "https://shop.example.com/app/sub/a"),
        (at("a.c", uriBaseId="SRC"), "./src/a.c"),
        (at("a.c", uriBaseId="DISK"), "./a.c"),
        (at("a.c", uriBaseId="UNKNOWN"), "./a.c"),
        (at("file:///C:/a.c"), "file:///C:/a.c"),
        (at("file:///home/ada/src/a%20b.c"), "./src/a%20b.c"),
        (at("file:/home/ada/a.c"), "./a.c"),
        (at("FILE://localhost/home/ada/a.c"), "./a.c"),
        (at("file:///home/ada/deep/down/a.c"), "./down/a.c"),
        (at("file:///home/ada"), "file:///home/ada"),
        (at("file:///home/adam/a.c"), "file:///home/adam/a.c"),
        (at("a", uriBaseId="LOOP"), "./" + "x/" * 10 + "a"),
        ([{"physicalLocation": {"artifactLocation": {"index": 0}}}], "./from/index.c"),
        ([], "./"),
        (["x", {"logicalLocations": []}], "./"),
    ],
)
def test_location_is_resolved_as_far_as_the_file_allows(locations, location):
    run = {"originalUriBaseIds": BASES, "artifacts": [{"location": {"uri": "from/index.c"}}]}
    assert read_one(run=run, locations=locations).location == location


def test_folder_where_the_tool_ran_is_a_source_root_too():
    run = {"invocations": [{"workingDirectory": {"uri": "file:///D:/code"}}]}
    assert read_one(run=run, locations=at("file:///D:/code/a.c")).location == "./a.c"


def test_every_location_of_a_result_is_a_row():
    report = read(make_result(locations=[*at("/a"), *at("/b"), *at("/a")]), make_result(locations=at("/c")))
    assert [(row.row, row.location) for row in report.findings] == [(1, "/a"), (2, "/b"), (3, "/c")]
    assert len({row.identity for row in report.findings}) == 1
    assert report.rows == 3


def test_place_shows_its_own_lines_and_only_the_first_shows_the_flow():
    lines = [at("a.c"), at("a.c"), at("b.c")]
    for number, (location,) in enumerate(lines, start=1):
        location["physicalLocation"]["region"] = {"startLine": number}
    first, second = read(
        make_result(
            locations=[location for (location,) in lines],
            webRequest={"method": "GET", "target": "/go"},
        )
    ).findings
    assert first.evidence == "Line: 1, 2\n\nRequest:\nGET /go"
    assert second.evidence == "Line: 3"


@pytest.mark.parametrize("members", [{"suppressions": [{"kind": "external"}]}, {"kind": "pass"}])
def test_result_that_is_not_open_is_one_row_whatever_its_locations(members):
    assert read(make_result(locations=[*at("/a"), *at("/b")], **members)).rows == 1


def test_suppressed_result_is_named():
    report = read(
        make_result(suppressions=[{"kind": "external"}], locations=at("/a")), make_result(kind="pass")
    )
    assert [check.suppressed for check in report.coverage] == ["open-redirect at /a", ""]


def test_address_that_is_none_is_rejected():
    report = read(
        make_result(locations=at("a", uriBaseId="BAD")), originalUriBaseIds={"BAD": {"uri": "http://["}}
    )
    assert [reject.reason for reject in report.rejects] == ["names no address: a"]


def test_request_is_the_location_of_a_result_without_one():
    request = {"target": "https://shop.example.com/asked"}
    assert read_one(locations=None, webRequest=request).location == "https://shop.example.com/asked"


def test_evidence_is_gathered_and_redacted():
    step = {"location": at("a.c")[0] | {"message": {"text": "set here"}}}
    finding = read_one(
        codeFlows=[{"threadFlows": [{"locations": [step]}]}],
        webRequest={
            "method": "GET",
            "target": "/go",
            "headers": {"Cookie": "id=s3cr3t", "Host": "x"},
            "body": {"text": "q=1"},
        },
        webResponse={"statusCode": 302, "reasonPhrase": "Found", "headers": {"Set-Cookie": "id=s3cr3t"}},
    )
    assert finding.evidence == (
        "URL: https://shop.example.com/go?to=x\nLine: 7\n\n"
        "Excerpt:\nLocation: x\n\nFlow:\n./a.c: set here\n\n"
        "Request:\nGET /go\nCookie: [redacted]\nHost: x\n\nq=1\n\n"
        "Response:\n302 Found\nSet-Cookie: [redacted]"
    )


def test_remediation_is_the_fix_and_the_help():
    finding = read_one(
        rule_members={"help": {"text": "Check it.", "markdown": "**Check**"}},
        fixes=[{"description": {"text": "Use a list."}}, 7],
    )
    assert finding.remediation == "Use a list.\n\nCheck it."


def test_references_are_web_addresses():
    finding = read_one(
        rule_members={"helpUri": "https://a.example/rule"},
        hostedViewerUri="https://b.example",
        workItemUris=["https://c.example/1", "javascript:alert(1)"],
    )
    assert finding.references == ("https://a.example/rule", "https://b.example", "https://c.example/1")


@pytest.mark.parametrize(
    ("rule", "members"),
    [
        ({}, {"taxa": [{"id": "79", "toolComponent": {"name": "CWE"}}]}),
        ({"relationships": [{"target": {"id": "CWE-79", "toolComponent": {"name": "CWE"}}}]}, {}),
        ({"properties": {"tags": ["security", "external/cwe/cwe-079"]}}, {}),
        ({"properties": {"cwe": ["CWE-79"]}}, {}),
        ({}, {"properties": {"cwe": "79"}}),
    ],
)
def test_cwe_is_read_from_every_member(rule, members):
    assert read_one(rule_members=rule, **members).cwe == (79,)


def test_tags_that_are_no_cwe_are_none():
    assert read_one(rule_members={"properties": {"tags": ["OWASP-A1:2017", "wcwe"]}}).cwe == ()


def test_cve_is_found_in_id_tags_and_text():
    finding = read_one(
        rule_members={"properties": {"tags": ["CVE-2021-2345"]}}, message={"text": "As in cve-2020-11022."}
    )
    assert finding.cve == ("CVE-2020-11022", "CVE-2021-2345")
    assert read_one(ruleId="CVE-2023-26115").cve == ("CVE-2023-26115",)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("x", "is not a JSON object"),
        (make_result(ruleId=None, message=None), "has neither a ruleId nor a message"),
    ],
)
def test_broken_result_is_rejected_and_loses_no_other(result, reason):
    report = read(result, make_result())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert [finding.row for finding in report.findings] == [2]
