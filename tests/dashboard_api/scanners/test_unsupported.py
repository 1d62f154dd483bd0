"""Files that no reader reads: the refusal names the format and what to import instead."""

import bz2
import io
import lzma
import tarfile
import zipfile

import pytest

from dashboard_api.scanners import READERS, read_report
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.unsupported import advice_on
from tests.dashboard_api.scanners.samples import json_lines, make_row, make_tools, whole

XML = b'<?xml version="1.0" encoding="UTF-8"?>\n'
FINDINGS = "is not supported: convert it to `findings` lines"


def refusal(data, **options):
    with pytest.raises(UnreadableReport) as error:
        list(read_report(io.BytesIO(data), **options))
    return str(error.value)


def packed(kind):
    target = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:  # which does not compress, so that it holds the rows
            archive.writestr("report.json", json_lines(make_row()))
    else:
        with tarfile.open(fileobj=target, mode="w") as archive:
            member = tarfile.TarInfo("report.json")
            member.size = len(json_lines(make_row()))
            archive.addfile(member, io.BytesIO(json_lines(make_row())))
    return target.getvalue()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (packed("zip"), "a zip archive"),
        (packed("tar"), "a tar archive"),
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "a 7z archive"),
        (b"Rar!\x1a\x07\x01\x00", "a RAR archive"),
        (lzma.compress(b"{}"), "compressed by xz"),
        (bz2.compress(b"{}"), "compressed by bzip2"),
        (b"\x28\xb5\x2f\xfd\x04\x00", "compressed by zstd"),
    ],
)
def test_packed_files_are_to_be_unpacked(data, what):
    for options in ({}, {"format_name": "nuclei"}):
        message = refusal(data, **options)
        assert message.startswith(f"This is {what}")
        assert message.endswith(" Unpack it and import the report that is in it.")


@pytest.mark.parametrize(
    ("data", "what", "option"),
    [
        (b"<!DOCTYPE html>\n<html>\n<title>Wapiti scan report</title>", "Wapiti's HTML", "`-f json`"),
        (b'"category","level","description","method"\r\n', "Wapiti's CSV", "`-f json`"),
        (b"*" * 80 + b"\n       Wapiti 3.2.3 - wapiti-scanner.github.io\n", "Wapiti's text", "`-f json`"),
        (b"<html><head><title>ZAP by Checkmarx Scanning Report</title>", "ZAP's HTML", "traditional-json"),
        (b"\n# ZAP Scanning Report\n\n## Summary", "ZAP's Markdown", "traditional-json"),
        (b'{"alerts":[{"sourceid":"3","other":"","pluginId":"10038"}]}', "ZAP's API", "jsonreport"),
        (b'[{"sourceid":"3","other":"","pluginId":"10038"}]', "ZAP's API", "jsonreport"),
        (b"<html><head><title>Nikto Report</title>", "Nikto's HTML", "`-Format json"),
        (b'"Nikto - v2.5.0/"\n"example.com","192.0.2.1","443"', "Nikto's CSV", "`-Format json"),
        (b"- Nikto v2.5.0\n-----------", "Nikto's text", "`-Format json"),
        (
            XML + b"<!DOCTYPE html PUBLIC>\n<!-- This file was created with testssl.sh. -->\n<html>",
            "testssl.sh's HTML",
            "`--jsonfile",
        ),
        (
            b"\x1b[1m\n#########\n    testssl.sh       3.2rc2 from https://testssl.sh/dev/\x1b[m\n",
            "testssl.sh's log",
            "`--jsonfile",
        ),
        (b"\n CHECKING CONNECTIVITY TO SERVER(S)\n ------", "SSLyze's text", "`--json_out="),
        (XML + b'<document title="SSLyze Scan Results">', "SSLyze's XML", "`--json_out="),
        (
            b"[INF] Current version\n[\x1b[92mtech\x1b[0m] [http] [\x1b[34minfo\x1b[0m] https://example.com/",
            "what Nuclei prints",
            "`-jsonl -o",
        ),
        (b"HTTP Observatory Report: example.com\n\nScore Rule", "Observatory's text", "HOST`"),
        (b"<!doctype html><title>HTTP Observatory | MDN</title>", "page of the HTTP Observatory", "HOST`"),
        (
            b'{"id":1,"details_url":"https://x/","grade":"B","tests_failed":2,"tests_passed":8}',
            "the Observatory's summary",
            "HOST`",
        ),
        (b'{"SchemaVersion": 2, "ArtifactName": "app"}', "Trivy's JSON", "`--format sarif`"),
        (b'{"results":[{"check_id":"a","extra":{"engine_kind":"OSS"}}]}', "Semgrep's JSON", "`--sarif`"),
        (b'{"errors": [], "metrics": {"CONFIDENCE.HIGH": 1}}', "Bandit's JSON", "`-f sarif`"),
        (b'{"matches":[{"vulnerability":{},"relatedVulnerabilities":[]}]}', "Grype's JSON", "`-o sarif`"),
        (b'{"vulnerabilities":[{"id":"SNYK-JS-LODASH-1"}],"ok":false}', "Snyk's JSON", "`--sarif-file"),
        (b'{"vulnerabilities":[],"ok":true,"dependencyCount":9}', "Snyk's JSON", "`--sarif-file"),
        (b'[{"RuleID":"aws-key","File":"a.py","Fingerprint":"a.py:aws-key:1"}]', "Gitleaks", "sarif`"),
        (b'{"check_type":"terraform","results":{"failed_checks":[]}}', "Checkov's JSON", "`-o sarif`"),
        (b'{"reportSchema":"1.1","dependencies":[]}', "Dependency-Check", "`--format SARIF`"),
        (
            XML + b'<analysis xmlns="https://jeremylong.github.io/DependencyCheck/dependency-check.2.5.xsd">',
            "Dependency-Check",
            "`--format SARIF`",
        ),
        (b'{"auditReportVersion":2,"vulnerabilities":{},"metadata":{}}', "npm audit", FINDINGS),
        (
            XML + b'<report xsi="https://raw.githubusercontent.com/Arachni/arachni/schema.xsd"></report>',
            "a report of Arachni",
            FINDINGS,
        ),
        (b"<html><head><title>Burp Scanner Report</title>", "Burp's HTML", "Report issues"),
        (b"Plugin ID,CVE,CVSS v2.0 Base Score,Risk", "Nessus' CSV", "(.nessus)"),
        (b"# Nmap 7.94 scan initiated", "Nmap's text", "`-oX report.xml`"),
        (
            b"_____\n   WordPress Security Scanner by the WPScan Team\n   Version 3.8.25\n",
            "what WPScan prints",
            "`-f json",
        ),
        (
            XML + b'<?xml-stylesheet?>\n<netsparker generated="20/1/2014"><target/></netsparker>',
            "Netsparker's XML",
            "vulnerabilities list as JSON",
        ),
        (b"<html><title>Netsparker Scan Report Summary</title>", "Invicti's HTML", "as JSON"),
        (b"<html><head><title>Acunetix Comprehensive Report</title>", "Acunetix's HTML", "as XML"),
        (b"<html><title>Web Application Report - Qualys</title>", "Qualys's HTML", "as XML"),
        (b"<html><title>OpenVAS scan report</title>", "Greenbone's HTML", "as XML"),
        (b"IP,Hostname,Port,Port Protocol,CVSS,Severity", "Greenbone's CSV", "as XML"),
        (b"<html><head><title>Nmap Scan Report - Scanned at</title>", "Nmap's HTML", "`-oX report.xml`"),
        (b"<html></html>", "a web page", FINDINGS),
        (XML + b"<results/>", "XML of an unknown tool", FINDINGS),
        (b"%PDF-1.7\n", "a PDF", "docs/scanner-formats.md"),
        (b"\x89PNG\r\n\x1a\n", "an image", "report"),
        (b"SQLite format 3\x00", "a database", "report"),
    ],
)
def test_other_forms_are_named_with_the_way_out(data, what, option):
    for options in ({}, {"format_name": "nuclei"}, {"format_name": "sarif"}):
        message = refusal(b"\xef\xbb\xbf" * data.isascii() + data, **options)
        assert message.startswith("This is ")
        assert what in message
        assert option in message


def test_json_of_wpscan_that_is_cut_off_is_called_so():
    document = b'{"banner": {"description": "WordPress Security Scanner by the WPScan Team", "version": "3'
    assert refusal(document) == (
        "The file is cut off: the end of its JSON is missing. Let the scan run to its end."
    )


def test_a_file_of_no_known_tool_is_refused_with_the_way_out():
    message = refusal(b"hello")
    assert "not a report of a known format (findings, csv, " in message
    assert "`findings` lines, which docs/scanner-formats.md describes" in message


def test_a_report_of_another_format_than_the_named_one_is_refused_naming_it():
    sarif = json_lines(make_tools(("One", [])))
    assert refusal(sarif, format_name="nuclei") == (
        "The file is not a report of nuclei: it looks like one of sarif."
    )


def test_the_named_format_counts_where_nothing_is_recognised():
    assert "neither JSON nor JSON lines" in refusal(b"hello", format_name="nuclei")
    late = (b"[INF] hello" + b" " * 150 + b"\n") * 9_000 + json_lines(make_row())
    assert len(whole(read_report(io.BytesIO(late), format_name="nuclei")).findings) == 1


@pytest.mark.parametrize("data", [b"\0" * 4096, b"\x1a", b" \n\0\x7f\n"])
def test_a_file_of_control_characters_is_no_empty_report(data):
    assert "control characters only" in refusal(data, format_name="nuclei")
    assert "not a report of a known format" in refusal(data)


@pytest.mark.parametrize("name", ["wapiti", "nikto"])
def test_a_list_of_vulnerabilities_without_a_scan_is_of_no_web_scanner(name):
    kind = "{}" if name == "wapiti" else '[{"id": "1"}]'
    assert "not a " in refusal(b'{"tool": "x", "vulnerabilities": %s}' % kind.encode(), format_name=name)
    assert "not a " in refusal(b'{"tool": "x", "vulnerabilities": %s}' % kind.encode())


@pytest.mark.parametrize("data", [b"", b"[]", b" \n"])
def test_an_empty_file_is_not_taken_for_another_format(data):
    assert "looks like" not in str(read_or_refusal(data, "testssl"))


def read_or_refusal(data, name):
    try:
        return list(read_report(io.BytesIO(data), format_name=name))
    except UnreadableReport as error:
        return error


def test_no_sample_of_a_format_that_is_read_looks_like_another_form():
    for data in (json_lines(make_row()), json_lines(make_tools(("One", [])))):
        assert advice_on(data) == ""
    assert all(advice_on(name.encode()) == "" for name in READERS)
