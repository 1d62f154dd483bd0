import json
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import nikto
from dashboard_api.scanners.report import Severity, UnreadableReport
from dashboard_api.scanners.times import UnreadTime
from tests.dashboard_api.scanners.samples import make_item, make_nikto, make_nikto_xml, read_whole


def read(*items, **members):
    return read_whole(nikto, json.dumps(make_nikto(*items, **members)).encode())


def read_one(**members):
    report = read(make_item(**members))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_item_says_what_and_where_and_rates_nothing():
    finding = read_one(references="https://a.example/1,https://b.example", OSVDB="7")
    assert finding.title == "Potentially interesting backup found"
    assert (finding.severity, finding.kind, finding.severity_raw) == (Severity.INFO, "suspected", "")
    assert (finding.rule, finding.location) == ("740001", "https://shop.example.com:443/dump.tar")
    assert finding.references == ("https://a.example/1", "https://b.example")
    assert finding.evidence.startswith(
        "Nikto's id: 740001\nMethod: HEAD\nIP address: 192.0.2.7\nServer: nginx\nOSVDB: 7"
    )


@pytest.mark.parametrize(
    ("port", "base"),
    [
        ("443", "https://shop.example.com:443"),
        (80, "http://shop.example.com:80"),
        ("8080", "shop.example.com:8080"),
        ("", "shop.example.com"),
    ],
)
def test_scheme_is_that_of_the_port(port, base):
    assert [check.location for check in read(port=port).coverage] == [base]
    assert read(make_item(url="a"), port=port).findings[0].location == f"{base}/a"


@pytest.mark.parametrize(
    ("members", "matcher"),
    [
        ({}, "Potentially interesting backup found."),
        ({"url": "/other.zip"}, "Potentially interesting backup found."),
        ({"url": "/", "msg": "Server banner changed: 1.1 vegur"}, "Server banner changed"),
        (
            {"url": "/ftp/", "msg": "Entry '/ftp/' in robots.txt returned (503)"},
            "Entry '' in robots.txt returned (#)",
        ),
        (
            {"url": "/", "msg": "Header 'x-load' found, with contents: 51.17."},
            "Header 'x-load' found, with contents",
        ),
    ],
)
def test_message_tells_apart_without_address_numbers_and_what_was_found(members, matcher):
    assert read_one(**members).identity == ("740001", matcher)


@pytest.mark.parametrize("message", ["/dump.tar: Found.", ": Found.", "/dump.tar:Found.", "Found."])
def test_address_before_the_message_goes(message):
    assert read_one(msg=message).title == "Found"


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("OSVDB-3092: This might be interesting...", "Possibly interesting address: /dump.tar"),
        ("MultiViews is on. See: https://a.example/b?c=d,https://e.example", "MultiViews is on"),
        ("MultiViews is on: http://a.example/b", "MultiViews is on"),
        ("MultiViews is on. See https://a.example for details.", "MultiViews is on"),
        (
            "MultiViews is on, which helps to guess names. Switch it off.",
            "MultiViews is on, which helps to guess names",
        ),
        ("IIS 8.5 found at /a/b.", "IIS 8.5 found at /a/b"),
        ("https://a.example/", "https://a.example/"),
    ],
)
def test_title_is_the_first_sentence_without_addresses_to_read_on(message, title):
    assert read_one(msg=message).title == title


def test_message_of_several_sentences_is_the_description():
    assert read_one(msg="MultiViews is on. Switch it off.").description == "MultiViews is on. Switch it off."
    assert read_one(msg="MultiViews is on.").description == ""


def test_addresses_in_the_message_are_references():
    finding = read_one(msg="Found. See: https://a.example/1", references="https://b.example")
    assert finding.references == ("https://b.example", "https://a.example/1")


@pytest.mark.parametrize("reference", ["CWE-548", "http://cwe.mitre.org/data/definitions/548.html"])
def test_weakness_is_the_references(reference):
    assert read_one(references=f"https://a.example {reference}").cwe == (548,)


def test_item_that_names_a_vulnerability_is_a_suspicion_of_medium_severity():
    finding = read_one(msg="May reveal memory.", references="CVE-2015-2080")
    assert (finding.severity, finding.kind, finding.cve) == (Severity.MEDIUM, "suspected", ("CVE-2015-2080",))


def test_quotes_that_are_escaped_twice_are_repaired():
    assert read_one(msg='set to \\"deflate\\" here').title == 'set to "deflate" here'


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (7, "is not a JSON object"),
        (make_item(id=None), "has no id"),
        (make_item(msg=None), "has no msg"),
    ],
)
def test_broken_item_is_rejected_and_loses_no_other(item, reason):
    report = read(item, make_item())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert len(report.findings) == 1


def test_host_without_a_name_is_rejected():
    assert [reject.reason for reject in read(make_item(), host="", ip="").rejects] == ["names no host"]


def test_time_is_that_of_the_last_host_to_end():
    host = {"start_time": "2026-03-01 09:59:00 +0100", "end_time": "2026-03-01 10:00:00 +0100"}
    later = {"end_time": "2026-03-01 10:30:00 +0000"}
    hosts = [*make_nikto(make_item(), **host), *make_nikto(make_item(), **later), *make_nikto(make_item())]
    report = read_whole(nikto, json.dumps(hosts).encode())
    assert report.scanned_at == datetime(2026, 3, 1, 10, 30, tzinfo=UTC)
    assert read(make_item(), end_time="today").scanned_at == UnreadTime("today")


def test_banner_has_a_longer_name_since_2025():
    assert "Server: lighttpd" in read(make_item(), banner=None, server_banner="lighttpd").findings[0].evidence


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"host": "a"}', b'{"vulnerabilities":[{"id":1},],}'])
def test_other_document_is_refused(data):
    with pytest.raises(UnreadableReport):
        read_whole(nikto, data)


def read_xml(*hosts, **members):
    return read_whole(nikto, make_nikto_xml(hosts, **members))


def test_xml_reads_as_json_does_and_names_its_version_and_time():
    items = make_item(references="https://a.example/1"), make_item(url='/a?b="c"', msg="/a: <b> & c")
    (host,) = make_nikto(*items)
    report = read_xml(host, version="2.5.0", end_time="2026-03-01 10:00:00")
    assert report.findings == read(*items).findings
    assert (report.version, report.scanned_at) == ("2.5.0", datetime(2026, 3, 1, 10, tzinfo=UTC))
    assert read_xml(host, end_time="2026-03-01 10:00:00 +0100").scanned_at.hour == 9


def test_xml_escapes_addresses_twice():
    (host,) = make_nikto(make_item(url="/a?&lt;script&gt;&quot;&amp;"))
    assert read_xml(host).findings[0].location == 'https://shop.example.com:443/a?<script>"&amp;'


def test_host_of_xml_without_items_is_what_was_checked():
    hosts = [*make_nikto(make_item()), *make_nikto(host="www.shop.example.com"), *make_nikto(make_item())]
    report = read_xml(*hosts)
    assert [check.location for check in report.coverage] == ["https://www.shop.example.com:443"]
    assert (len(report.findings), report.rows, report.complete) == (2, 3, None)


def test_host_that_could_not_be_reached_is_a_failed_check():
    (host,) = make_nikto(make_item(id="FAIL", url="/", msg="Unable to connect to shop.example.com:443."))
    for report in (read_whole(nikto, json.dumps([host]).encode()), read_xml(host)):
        assert report.findings == ()
        (check,) = report.coverage
        assert (check.location, check.error) == (
            "https://shop.example.com:443",
            "Unable to connect to shop.example.com:443.",
        )


def test_scheme_of_xml_is_that_of_the_website():
    (host,) = make_nikto(make_item(), port="8080")
    data = make_nikto_xml([host])
    assert read_whole(nikto, data).findings[0].location == "http://shop.example.com:8080/dump.tar"
    other = data.replace(b'sitename="http:', b'sitename="https:')
    assert read_whole(nikto, other).findings[0].location == "https://shop.example.com:8080/dump.tar"


def test_host_header_is_the_website_that_was_scanned():
    data = make_nikto_xml(make_nikto(make_item()))
    other = data.replace(b'hostheader="shop.example.com"', b'hostheader="blog.shop.example.com"')
    assert read_whole(nikto, other).findings[0].location == "https://blog.shop.example.com:443/dump.tar"


def test_a_time_in_seconds_is_understood():
    data = make_nikto_xml(make_nikto(make_item()), end_time="1772359200")
    assert read_whole(nikto, data).scanned_at == datetime.fromtimestamp(1772359200, tz=UTC)


def test_scan_that_is_not_over_says_when_it_began():
    data = make_nikto_xml(make_nikto(make_item()), end_time="1970-01-01 01:00:00")
    data = data.replace(b"<scandetails ", b'<scandetails starttime="2026-03-01 09:00:00" ')
    assert read_whole(nikto, data).scanned_at == datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<niktoscan></niktoscan>", "not a complete report of Nikto"),
        (make_nikto_xml(make_nikto(make_item()))[:-10], "cut off"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><niktoscan/>', "entity"),
    ],
)
def test_broken_xml_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(nikto, data)
