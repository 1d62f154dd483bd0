import io
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import nmap
from dashboard_api.scanners.report import Severity, UnreadableReport
from tests.dashboard_api.scanners.samples import (
    make_nmap,
    make_nmap_host,
    make_nmap_port,
    make_nmap_script,
    make_nmap_table,
    read_whole,
    xml_of,
)


def read(*ports, hostscripts=(), **members):
    return read_whole(nmap, make_nmap(make_nmap_host(*ports, hostscripts=hostscripts), **members))


def read_one(*ports, **members):
    report = read(*ports, **members)
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def scope_of(**members):
    report = nmap.read(io.BytesIO(make_nmap(**members)))
    return report.checks, report.category


def test_open_port_says_what_listens_there():
    finding = read_one(make_nmap_port("8443", make_nmap_script("http-title", output="Shop")))
    assert (finding.title, finding.identity) == ("Open port: tcp/8443 (https-alt)", ("tcp/8443",))
    assert (finding.location, finding.severity) == ("shop.example.com:8443", Severity.INFO)
    assert finding.evidence == (
        "State: open (syn-ack)\nService: https-alt\nSoftware: nginx 1.25\n\nhttp-title:\nShop"
    )


@pytest.mark.parametrize(
    ("port", "protocol", "severity", "kind"),
    [
        ("443", "tcp", Severity.INFO, "informational"),
        ("3306", "tcp", Severity.MEDIUM, "suspected"),
        ("2375", "tcp", Severity.HIGH, "suspected"),
        ("3306", "udp", Severity.INFO, "informational"),
    ],
)
def test_services_that_visitors_do_not_need_are_rated(port, protocol, severity, kind):
    finding = read_one(make_nmap_port(port, protocol=protocol, name="guess", method="table"))
    assert (finding.severity, finding.kind) == (severity, kind)


@pytest.mark.parametrize(
    ("port", "service", "title"),
    [
        ("13306", {"name": "mysql"}, "A database (MySQL) can be reached from outside"),
        ("13306", {"name": "mysql", "tunnel": "ssl"}, "A database (MySQL) can be reached from outside"),
        ("80", {"name": "telnet"}, "Telnet can be reached from outside"),
        ("13389", {"name": "ms-wbt-server"}, "Remote desktop (RDP) can be reached from outside"),
        ("139", {"name": "netbios-ssn"}, "Windows file sharing (SMB) can be reached from outside"),
        (
            "8080",
            {"name": "http", "product": "Elasticsearch REST API"},
            "A database (Elasticsearch) can be reached from outside",
        ),
        ("3306", {"name": "http"}, "Open port: tcp/3306 (http)"),
        ("23", {"name": "ssh"}, "Open port: tcp/23 (ssh)"),
        ("9200", {"name": "http", "product": "nginx"}, "Open port: tcp/9200 (http)"),
    ],
)
def test_the_service_that_answers_is_rated_whatever_its_port(port, service, title):
    assert read_one(make_nmap_port(port, **service)).title == title


@pytest.mark.parametrize(
    ("port", "service", "severity"),
    [
        ("13306", {"name": "mysql", "method": "table"}, Severity.INFO),
        ("3306", {"name": "http", "method": "table"}, Severity.MEDIUM),
        ("3306", {"name": "tcpwrapped"}, Severity.MEDIUM),
        ("3306", {"name": "unknown"}, Severity.MEDIUM),
        ("3306", {"name": ""}, Severity.MEDIUM),
        ("2375", {"name": "http", "product": ""}, Severity.HIGH),
        ("9200", {"name": "http", "product": ""}, Severity.MEDIUM),
    ],
)
def test_the_port_is_rated_where_no_answer_shows_the_service(port, service, severity):
    assert read_one(make_nmap_port(port, **service)).severity == severity


@pytest.mark.parametrize("state", ["open|filtered", "unfiltered"])
def test_port_of_which_nmap_does_not_know_whether_it_is_open_was_not_checked(state):
    report = read(make_nmap_port("3306", state=state))
    assert (len(report.findings), report.rows) == (0, 2)
    assert (report.coverage[1].rules, report.coverage[1].skipped) == ((), ("tcp/3306",))


def test_a_service_that_is_no_website_has_no_address_of_the_web():
    ports = make_nmap_port("443", name="ssh"), make_nmap_port("80", name="mysql", method="table")
    locations = [finding.location for finding in read(*ports).findings]
    assert locations == ["shop.example.com:443", "http://shop.example.com:80"]


@pytest.mark.parametrize(
    ("name", "port", "location"),
    [
        ("shop.example.com", "443", "https://shop.example.com:443"),
        ("shop.example.com", "80", "http://shop.example.com:80"),
        ("", "22", "ptr.example.net:22"),
    ],
)
def test_location_is_the_name_that_was_scanned(name, port, location):
    report = read_whole(nmap, make_nmap(make_nmap_host(make_nmap_port(port), name=name)))
    assert report.findings[0].location == location


def test_vulnerability_of_a_script_is_a_finding():
    table = make_nmap_table(
        "CVE-2014-3566",
        make_nmap_table("ids", a="CVE:CVE-2014-3566"),
        make_nmap_table("refs", a="https://a.example/"),
        make_nmap_table("description", a="An old protocol."),
        title="SSL POODLE",
        state="LIKELY VULNERABLE",
    )
    port, finding = read(make_nmap_port("443", make_nmap_script("ssl-poodle", table))).findings
    assert port.rule == "tcp/443"
    assert (finding.title, finding.rule) == ("SSL POODLE", "script/ssl-poodle/CVE-2014-3566")
    assert (finding.severity, finding.kind) == (Severity.HIGH, "suspected")
    assert (finding.cve, finding.references) == (("CVE-2014-3566",), ("https://a.example/",))
    assert finding.description == "An old protocol."


def test_what_a_script_did_not_find_is_what_was_checked():
    table = make_nmap_table("CVE-2014-3566", title="SSL POODLE", state="NOT VULNERABLE")
    report = read(make_nmap_port("443", make_nmap_script("ssl-poodle", table)))
    assert [check.rules for check in report.coverage] == [(), ("script/ssl-poodle",)]


@pytest.mark.parametrize(
    "output",
    ["ERROR: Script execution failed (use -d to debug)", "Could not negotiate a connection: SMB", "false"],
)
def test_a_script_that_failed_or_did_not_run_is_no_check_of_its_rule_at_its_port(output):
    script = make_nmap_script("http-vuln-x", output=output)
    report = read(make_nmap_port("443", script), hostscripts=[script])
    assert [(check.location, check.skipped) for check in report.coverage[1:]] == [
        ("https://shop.example.com:443", ("script/http-vuln-x",)),
        ("shop.example.com", ("script/http-vuln-x",)),
    ]
    assert not any(check.error or check.rules for check in report.coverage)


@pytest.mark.parametrize(
    ("state", "service", "skipped"),
    [
        ("closed", {"name": ""}, ()),
        ("filtered", {"name": "http", "method": "table"}, ("script",)),
        ("open|filtered", {"name": ""}, ("script",)),
        ("open", {"name": "", "method": "table"}, ("script",)),
        ("open", {"name": "unknown", "method": "table"}, ("script",)),
        ("open", {"name": "tcpwrapped", "method": "probed"}, ("script",)),
        ("open", {"name": "cslistener", "method": "table"}, ("script",)),
        ("open", {"name": "https", "method": "table"}, ("script/vulners",)),
        ("open", {"name": "vnc-http", "method": "table"}, ("script/vulners",)),
        ("open", {"name": "telnets", "method": "table"}, ("script/vulners",)),
        ("open", {"name": "cslistener", "method": "probed"}, ()),
    ],
)
def test_scripts_that_need_the_service_did_not_run_where_nmap_does_not_know_it(state, service, skipped):
    port = make_nmap_port("9000", state=state, **service)
    assert own_of(read(port, args="nmap --script vuln")) == [skipped] * bool(skipped)
    assert own_of(read(port, args="nmap")) == []


def own_of(report):
    """Return the scripts that each check of a report skips."""
    skipped = [tuple(rule for rule in check.skipped if "script" in rule) for check in report.coverage]
    return [rules for rules in skipped if rules]


def test_a_vulnerability_that_a_script_could_not_test_was_not_checked():
    table = make_nmap_table("CVE-2014-3566", title="SSL POODLE", state="UNKNOWN (unable to test)")
    check = read(make_nmap_port("443", make_nmap_script("ssl-poodle", table))).coverage[1]
    assert (check.rules, check.error, check.skipped) == ((), "", ("script/ssl-poodle/CVE-2014-3566",))


def test_script_of_the_host_is_about_the_host():
    table = make_nmap_table(title="A problem", state="VULNERABLE")
    finding = read_one(hostscripts=[make_nmap_script("smb-vuln", table)])
    assert (finding.location, finding.kind) == ("shop.example.com", "confirmed")


def test_known_vulnerabilities_of_software_are_one_finding_in_every_version():
    def found(version, *scores):
        entries = [make_nmap_table(id=f"CVE-2026-{1000 + n}", cvss=each) for n, each in enumerate(scores)]
        table = make_nmap_table(f"cpe:/a:nginx:nginx:{version}", *entries)
        return read(make_nmap_port("443", make_nmap_script("vulners", table))).findings[1]

    old, new = found("1.2", "5.0", "9.8"), found("1.3", "x")
    assert old.identity == new.identity == ("script/vulners", "nginx:nginx")
    assert (old.severity, old.kind, old.cve) == (
        Severity.CRITICAL,
        "suspected",
        ("CVE-2026-1000", "CVE-2026-1001"),
    )
    assert (new.severity, new.kind) == (Severity.INFO, "informational")
    assert "cpe:/a:nginx:nginx:1.2" in old.evidence


def test_scanned_ports_are_what_was_looked_for():
    assert scope_of(services="22,80-82,,x,9-") == ({"tcp/22", "tcp/80", "tcp/81", "tcp/82", "tcp/9"}, "")
    assert len(scope_of(services="0-99999")[0]) == 65_536


@pytest.mark.parametrize(
    ("args", "category"),
    [
        ("nmap -sV --script vuln -oX - a", "vuln"),
        ("nmap --script=ssl-*,http-* a", "ssl-*,http-*"),
        ("nmap -sC --script 'vulners' a", "default,vulners"),
        ("nmap -A a", "default"),
        ("nmap --script-args a=b a", ""),
    ],
)
def test_chosen_scripts_are_the_category(args, category):
    checks, found = scope_of(args=args, services="22")
    assert found == category
    assert checks == {"tcp/22", *(["script"] if category else [])}


@pytest.mark.parametrize(
    ("args", "category"),
    [("nmap -6 -oX - a", "-6"), ("nmap --script vuln -6", "-6,vuln"), ("nmap -p -65 --ttl -61 a", "")],
)
def test_a_scan_over_ipv6_has_a_category_of_its_own(args, category):
    checks, found = scope_of(args=args, services="22")
    assert found == category
    assert ("script" in checks) == ("vuln" in args)


@pytest.mark.parametrize(("end", "complete"), [("success", True), ("error", False), ("", None)])
def test_time_and_completeness(end, complete):
    report = read(make_nmap_port(), end=end)
    expected = datetime.fromtimestamp(1772359200, tz=UTC) if end else None
    assert (report.complete, report.scanned_at, report.version) == (complete, expected, "7.94")


def test_a_scan_that_did_not_end_is_of_its_start():
    data = make_nmap(make_nmap_host(make_nmap_port()), end="")
    data = data.replace(b"<nmaprun ", b'<nmaprun start="1772359200" ')
    assert read_whole(nmap, data).scanned_at == datetime.fromtimestamp(1772359200, tz=UTC)


def test_hosts_that_are_down_were_not_checked():
    report = read_whole(nmap, make_nmap(make_nmap_host(state="down"), make_nmap_host()))
    assert [check.location for check in report.coverage] == ["shop.example.com"]


@pytest.mark.parametrize(("hosts", "counts"), [([make_nmap_host(state="down")], (0, 1)), ([], (1, 1))])
def test_a_run_that_reached_no_listed_host_is_refused(hosts, counts):
    up, down = counts
    with pytest.raises(UnreadableReport, match="reached no host"):
        read_whole(nmap, make_nmap(*hosts, up=up, down=down))


def test_a_run_whose_host_without_open_ports_is_not_listed_is_complete():
    assert read_whole(nmap, make_nmap(up=1, args="nmap --open a")).complete is True


def test_a_host_that_timed_out_is_a_failed_check():
    report = read_whole(nmap, make_nmap(make_nmap_host(timedout="true")))
    assert [check.error for check in report.coverage] == ["the scan of the host timed out"]


@pytest.mark.parametrize(
    ("states", "answered"),
    [(["filtered"], False), ([], False), (["filtered", "closed"], True), (["open"], True)],
)
def test_a_host_from_which_nothing_came_back_is_a_failed_check(states, answered):
    ports = [make_nmap_port(str(80 + number), state=state) for number, state in enumerate(states)]
    whole = read_whole(nmap, make_nmap(make_nmap_host(*ports, reason="user-set"), args="nmap -Pn"))
    error = "" if answered else "nothing answered, neither the host (-Pn) nor a port"
    assert whole.coverage[0].error == error
    others = xml_of("extraports", state="closed", count="999")
    whole = read_whole(nmap, make_nmap(make_nmap_host(*ports, others, reason="user-set"), args="nmap -Pn"))
    assert whole.coverage[0].error == ""


@pytest.mark.parametrize("state", ["open|filtered", "unfiltered"])
def test_ports_that_may_be_open_and_are_only_counted_were_not_checked(state):
    others = xml_of("extraports", state=state, count="2")
    host = make_nmap_host(make_nmap_port("22", state="closed"), others)
    check, closed = read_whole(nmap, make_nmap(host, services="21-23")).coverage
    assert (set(check.skipped), closed.rules, closed.skipped) == ({"tcp/21", "tcp/23"}, ("tcp/22",), ())


@pytest.mark.parametrize(("services", "is_reached"), [("1-1000", False), ("3306", True)])
def test_a_host_that_is_up_without_an_answer_at_443_was_not_reached(services, is_reached):
    host = make_nmap_host(make_nmap_port("3306", state="filtered"), reason="echo-reply")
    error = "" if is_reached else "no port answered, not even 443: a firewall may have blocked the scan"
    assert read_whole(nmap, make_nmap(host, services=services)).coverage[0].error == error


def test_a_run_that_takes_every_host_for_up_is_refused_without_one():
    with pytest.raises(UnreadableReport, match="reached no host"):
        read_whole(nmap, make_nmap(up=1, args="nmap -Pn --open a"))


@pytest.mark.parametrize("port", ["x", "", "²"])
def test_broken_port_is_rejected_and_loses_no_other(port):
    report = read(make_nmap_port(port), make_nmap_port())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [
        (2, "has a portid that is not a number")
    ]
    assert len(report.findings) == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<other/>", "root is not nmaprun"),
        (make_nmap(make_nmap_host())[:-12], "cut off"),
        (b"<!DOCTYPE nmaprun [<!ENTITY a 'b'>]><nmaprun/>", "entity"),
    ],
)
def test_other_document_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(nmap, data)
