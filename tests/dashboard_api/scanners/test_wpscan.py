import json
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import wpscan
from dashboard_api.scanners.report import Severity, UnreadableReport
from dashboard_api.scanners.times import UnreadTime
from tests.dashboard_api.scanners.samples import (
    make_interesting,
    make_plugin,
    make_vulnerability,
    make_wpscan,
    read_whole,
)


def read(*interesting, **members):
    return read_whole(wpscan, json.dumps(make_wpscan(*interesting, **members)).encode())


def read_one(*interesting, **members):
    report = read(*interesting, **members)
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def checks(**members):
    document = make_wpscan(**members)
    return wpscan._checks(document)


def test_report_names_its_version_time_and_target():
    report = read()
    assert (report.source, report.version, report.complete) == ("wpscan", "3.8.25", None)
    assert report.scanned_at == datetime.fromtimestamp(1772359200, tz=UTC)
    assert [check.location for check in report.coverage] == ["https://shop.example.com/"]
    assert read(stop_time=None).scanned_at == datetime.fromtimestamp(1772359100, tz=UTC)
    assert read(stop_time=True, start_time=10**12).scanned_at == UnreadTime("1000000000000")


def test_known_findings_have_words_of_ours():
    finding = read_one(make_interesting())
    assert (finding.title, finding.rule, finding.severity) == (
        "XML-RPC is on",
        "interesting/xmlrpc",
        Severity.LOW,
    )
    assert finding.location == "https://shop.example.com/xmlrpc.php"
    assert finding.references == ("https://codex.wordpress.org/XML-RPC_Pingback_API",)
    assert "WPScan's words: XML-RPC seems to be enabled" in finding.evidence


def test_other_findings_are_info_in_the_words_of_wpscan():
    finding = read_one(make_interesting(type="new_thing", to_s="A new thing: https://shop.example.com/a"))
    assert (finding.title, finding.kind) == ("A new thing", "informational")
    assert read_one(make_interesting(type="new_thing", to_s="https://a.example/")).title == "new thing"


@pytest.mark.parametrize(("confidence", "kind"), [(100, "confirmed"), (80, "confirmed"), (60, "suspected")])
def test_confidence_is_the_kind(confidence, kind):
    assert read_one(make_interesting(confidence=confidence)).kind == kind


def test_vulnerability_of_a_plugin_says_what_to_update():
    finding = read_one(plugins=make_plugin(make_vulnerability()))
    assert finding.identity == ("plugin/forms", "8873")
    assert finding.location == "https://shop.example.com/wp-content/plugins/forms/"
    assert (finding.severity, finding.kind, finding.cve) == (
        Severity.MEDIUM,
        "confirmed",
        ("CVE-2026-12345",),
    )
    assert finding.remediation == "Update the plugin forms to 1.3 or later."
    assert "https://wpscan.com/vulnerability/8873" in finding.references
    assert "Version: 1.2\nFixed in: 1.3" in finding.evidence


def test_vulnerability_of_an_unknown_version_is_suspected():
    finding = read_one(plugins=make_plugin(make_vulnerability(fixed_in=None), version=None))
    assert finding.kind == "suspected"
    assert finding.remediation == (
        "No version is known to fix this: do without the plugin forms until there is one."
    )


def test_several_versions_fix_a_vulnerability_of_several_branches():
    affected = [{"introduced_in": "1.2", "fixed_in": "1.3"}, {"fixed_in": "1.1.9"}, {"fixed_in": None}]
    finding = read_one(plugins=make_plugin(make_vulnerability(fixed_in=None, affected_versions=affected)))
    assert finding.remediation == "Update the plugin forms to 1.3, 1.1.9 or later."


@pytest.mark.parametrize(
    ("members", "severity", "raw"),
    [
        ({"cvss": {"score": "9.8"}}, Severity.CRITICAL, "CVSS 9.8"),
        ({"cvss": {"score": 7}}, Severity.HIGH, "CVSS 7"),
        ({"cvss": {"score": 3.1}}, Severity.LOW, "CVSS 3.1"),
        ({"title": "Forms < 1.3 - Unauthenticated SQL Injection"}, Severity.HIGH, ""),
        ({}, Severity.MEDIUM, ""),
    ],
)
def test_severity_is_by_cvss_or_by_words(members, severity, raw):
    finding = read_one(plugins=make_plugin(make_vulnerability(**members)))
    assert (finding.severity, finding.severity_raw) == (severity, raw)


def test_a_vulnerability_stays_the_same_when_the_plugin_is_updated():
    old, new = (
        read_one(plugins=make_plugin(make_vulnerability(**members), version={"number": number}))
        for number, members in (("1.1", {}), ("1.2", {"title": "Renamed", "fixed_in": "1.4"}))
    )
    assert old.identity == new.identity
    nameless = make_vulnerability(references={})
    assert read_one(plugins=make_plugin(nameless)).identity == (
        "plugin/forms",
        "Forms < #.# - Cross-Site Scripting",
    )


def test_wordpress_and_themes_have_vulnerabilities_too():
    theme = next(iter(make_plugin(make_vulnerability(), slug="dark").values()))
    theme["parents"] = [next(iter(make_plugin(make_vulnerability(), slug="base").values()))]
    version = {"number": "6.1", "status": "insecure", "vulnerabilities": [make_vulnerability()]}
    rules = [finding.rule for finding in read(main_theme=theme, version=version).findings]
    assert rules == [
        "outdated/wordpress",
        "vulnerability/wordpress/WordPress/8873",
        "vulnerability/theme/dark/8873",
        "vulnerability/theme/base/8873",
    ]


def test_outdated_software_is_a_finding():
    finding = read_one(plugins=make_plugin(outdated=True))
    assert (finding.title, finding.rule) == ("The plugin forms is outdated", "outdated/plugin/forms")
    assert (finding.severity, finding.remediation) == (Severity.LOW, "Update the plugin forms to 2.0.")
    insecure = read_one(version={"number": "5.0", "status": "insecure", "vulnerabilities": []})
    assert (insecure.title, insecure.severity) == ("WordPress is outdated", Severity.MEDIUM)


def test_files_users_and_passwords():
    report = read(
        config_backups={"https://shop.example.com/wp-config.php.bak": {"confidence": 100}},
        db_exports={"https://shop.example.com/dump.sql": {"confidence": 100}},
        backup_folders={"https://shop.example.com/wp-content/updraft/": {"severity": "high"}},
        users={"admin": {"id": 1}, "ada": {"id": 2}},
        password_attack={"admin": {"id": 1, "password": "s3cr3t"}},
    )
    assert [(finding.rule, finding.severity) for finding in report.findings] == [
        ("config_backup", Severity.CRITICAL),
        ("db_export", Severity.CRITICAL),
        ("backup_folder", Severity.HIGH),
        ("user_names", Severity.INFO),
        ("guessed_password", Severity.CRITICAL),
    ]
    assert report.findings[0].location == "https://shop.example.com/wp-config.php.bak"
    assert report.findings[3].evidence == "admin\nada"
    assert "s3cr3t" not in repr(report)


def test_without_its_database_wpscan_looked_for_no_vulnerabilities():
    assert "vulnerability/plugin" in checks()
    for answer in (
        None,
        {"error": "No WPScan API Token given, as a result vulnerability data is not output."},
        {"http_error": "HTTP Error: https://wpscan.com/api/v3/status (Timeout was reached)"},
        {"parse_error": "WPScan DB API returned an invalid response."},
        {"plan": "free", "requests_done_during_scan": 3, "requests_remaining": 0},
    ):
        assert not any(check.startswith("vulnerability") for check in checks(vuln_api=answer))
    assert "vulnerability/plugin" not in checks(plugins=None)
    assert "config_backup" in checks(config_backups={})


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, set()),
        ({"users": {}}, {"user_names"}),
        ({"users": {"admin": {"id": 1}}, "password_attack": {}}, {"user_names", "guessed_password"}),
        ({"password_attack": {}}, {"guessed_password"}),
        ({"users": {}, "password_attack": {}}, {"user_names"}),  # without a user, WPScan tried no password
    ],
)
def test_wpscan_looked_for_users_and_passwords_where_it_says_that_there_are_none(members, expected):
    assert checks(**members) & {"user_names", "guessed_password"} == expected


def test_wpscan_looked_for_no_vulnerabilities_of_what_it_did_not_recognise():
    unknown = checks(version=None, main_theme=None)
    assert not {"outdated/wordpress", "vulnerability/wordpress"} & unknown
    assert not {"outdated/theme", "vulnerability/theme"} & unknown
    assert {"outdated/wordpress", "vulnerability/wordpress"} <= checks()
    assert not {"outdated/wordpress", "vulnerability/wordpress"} & checks(version={"status": "Unknown"})
    assert "vulnerability/theme" in checks(main_theme=None, themes={})


def test_without_a_list_of_themes_wpscan_looked_at_the_main_theme_and_its_parents_only():
    theme = {"slug": "dark", "parents": [{"slug": "base"}]}
    assert {check for check in checks(main_theme=theme) if "theme" in check} == {
        "outdated/theme/dark",
        "outdated/theme/base",
        "vulnerability/theme/dark",
        "vulnerability/theme/base",
    }
    assert {"outdated/theme", "vulnerability/theme"} <= checks(main_theme=theme, themes={})


def test_without_its_database_an_empty_list_of_vulnerable_plugins_says_nothing():
    unknown = {"error": "No WPScan API Token given"}
    assert "outdated/plugin" not in checks(vuln_api=unknown)
    assert "outdated/plugin" in checks(vuln_api=unknown, plugins=make_plugin())
    assert "outdated/plugin" in checks()


def test_wpscan_needs_no_database_for_vulnerabilities_of_timthumb():
    found = checks(vuln_api={"error": "No WPScan API Token given"}, timthumbs={})
    assert {check for check in found if check.startswith("vulnerability")} == {"vulnerability/timthumb"}


def test_scan_that_was_aborted_is_not_complete():
    assert read(make_interesting(), scan_aborted="Canceled by User").complete is False


@pytest.mark.parametrize(("warning", "complete"), [(True, False), (False, None)])
def test_scan_with_many_errors_is_not_complete(warning, complete):
    assert read(response_status_codes_warning=warning).complete is complete


@pytest.mark.parametrize(
    ("item", "reason"),
    [(7, "is not a JSON object"), (make_interesting(type=None, to_s=None), "has no type")],
)
def test_broken_item_is_rejected_and_loses_no_other(item, reason):
    report = read(item, make_interesting())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(2, reason)]
    assert len(report.findings) == 1


def test_broken_plugins_are_rejected():
    plugins = make_plugin(7, make_vulnerability(title=None)) | {"other": 7}
    assert [reject.reason for reject in read(plugins=plugins).rejects] == [
        "is not a JSON object",
        "has no title",
        "is not a JSON object",
    ]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"banner": {}, "scan_aborted": "The url is down."}, "WPScan gave up: The url is down."),
        ({"banner": {}, "not_fully_configured": "In install mode."}, "WPScan gave up: In install mode."),
        ({"banner": {}}, "not a report of WPScan"),
        ([], "not a report of WPScan"),
    ],
)
def test_other_document_is_refused(document, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(wpscan, json.dumps(document).encode())
