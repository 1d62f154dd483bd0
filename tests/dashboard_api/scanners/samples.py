"""Builders of small reports in every format, and FORMATS, with an entry for the tests of every format.

A builder leaves out members that are None.
"""

import csv
import io
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from xml.etree import ElementTree

from dashboard_api.scanners.finding_csv import COLUMNS
from dashboard_api.scanners.report import Check, Reject, ReportedFinding
from dashboard_api.scanners.streams import as_text


def make_row(**members):
    """Return a Nuclei result; underscores in names become hyphens."""
    row = {
        "template-id": "exposed-panel",
        "info": {"name": "Exposed panel", "severity": "high"},
        "type": "http",
        "host": "https://shop.example.com",
        "matched-at": "https://shop.example.com/admin",
        "timestamp": "2026-03-01T10:00:00.123456789+02:00",
        "matcher-status": True,
    }
    row |= {name.replace("_", "-"): value for name, value in members.items()}
    return without_none(row)


def json_lines(*rows):
    """Return the rows as JSON lines; a row of bytes stays as it is."""
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows) + b"\n"


@dataclass(frozen=True, kw_only=True)
class WholeReport:
    """A report with all its rows, each in ``findings``, ``coverage`` or ``rejects``."""

    source: str
    source_name: str
    version: str
    rows: int
    findings: tuple
    coverage: tuple
    rejects: tuple
    complete: bool | None
    scanned_at: datetime | None


def whole(report):
    """Return a ScanReport with all its rows."""
    rows = list(report)
    return WholeReport(
        source=report.source,
        source_name=report.source_name,
        version=report.version,
        rows=report.rows,
        findings=tuple(row for row in rows if isinstance(row, ReportedFinding)),
        coverage=tuple(row for row in rows if isinstance(row, Check)),
        rejects=tuple(row for row in rows if isinstance(row, Reject)),
        complete=report.complete,
        scanned_at=report.scanned_at,
    )


def read_whole(reader, data):
    """Read ``data`` by the format's ``reader``, with all its rows."""
    return whole(reader.read(as_text(data, io.BytesIO())))


def make_zap_alert(**members):
    """Return an alert of ZAP's traditional JSON report with one instance."""
    instance = {
        "uri": "https://shop.example.com/a?q=1",
        "method": "GET",
        "param": "",
        "attack": "",
        "evidence": "default-src *",
        "otherinfo": "",
    }
    alert = {
        "pluginid": "10055",
        "alertRef": "10055-4",
        "alert": "CSP: Wildcard Directive",
        "name": "CSP: Wildcard Directive",
        "riskcode": "2",
        "confidence": "3",
        "riskdesc": "Medium (High)",
        "desc": "<p>A policy that allows everything.</p>",
        "instances": [instance],
        "count": "1",
        "solution": "<p>Name the sources.</p>",
        "otherinfo": "",
        "reference": "<p>https://www.w3.org/TR/CSP/</p>",
        "cweid": "693",
        "wascid": "15",
    }
    return without_none(alert | members)


def make_zap_report(*alerts, **members):
    """Return ZAP's traditional JSON report of one site."""
    report = {
        "@programName": "ZAP",
        "@version": "2.16.1",
        "@generated": "Sun, 1 Mar 2026 10:00:00",
        "created": "2026-03-01T10:00:00.123456789Z",
        "site": [
            {
                "@name": "https://shop.example.com",
                "@host": "shop.example.com",
                "@port": "443",
                "@ssl": "true",
                "alerts": list(alerts),
            }
        ],
    }
    return report | members


def without_none(members):
    return {name: value for name, value in members.items() if value is not None}


def make_result(**members):
    """Return a SARIF result of the rule that make_sarif defines."""
    result = {
        "ruleId": "open-redirect",
        "level": "error",
        "message": {"text": "The address is not checked. Anyone may choose it."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "https://shop.example.com/go?to=x"},
                    "region": {"startLine": 7, "snippet": {"text": "Location: x"}},
                }
            }
        ],
    }
    return without_none(result | members)


def make_sarif(*results, rule=None, **members):
    """Return a SARIF file of one run with ``members``; ``rule`` are further properties of its rule."""
    definition = {"id": "open-redirect", "shortDescription": {"text": "Open redirect"}} | (rule or {})
    driver = {"name": "Code Scanner", "semanticVersion": "2.1.0", "rules": [definition]}
    run = {"tool": {"driver": driver}, "results": list(results)} | members
    return {"version": "2.1.0", "runs": [run]}


def make_tools(*tools, **members):
    """Return a SARIF file with a run with ``members`` for each pair of a tool's name and its results."""
    runs = [
        make_sarif(*results, tool={"driver": {"name": name}}, **members)["runs"][0] for name, results in tools
    ]
    return {"version": "2.1.0", "runs": runs}


def make_entry(**members):
    """Return an entry of testssl.sh's flat JSON."""
    entry = {"id": "TLS1", "ip": "shop.example.com/192.0.2.7", "port": "443", "severity": "LOW"}
    return without_none(entry | {"finding": "offered (deprecated)"} | members)


def as_csv(rows, *, separator=","):
    """Return the rows, which are objects with the same members, as CSV with every value in quotes."""
    target = io.StringIO()
    writer = csv.DictWriter(target, list(rows[0]), delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue().encode()


def make_testssl_csv(*entries):
    """Return entries of testssl.sh's flat JSON as its CSV."""
    names = {"id": "id", "ip": "fqdn/ip", "port": "port", "severity": "severity", "finding": "finding"}
    names |= {"cve": "cve", "cwe": "cwe"}
    return as_csv([{names[key]: entry.get(key, "") for key in names} for entry in entries])


def make_wapiti(*entries, category="Open Redirect", group="vulnerabilities", **infos):
    """Return Wapiti's JSON report with ``entries`` of one category."""
    about = {
        "desc": "Visitors may be sent elsewhere.",
        "sol": "Check the address.",
        "ref": {"CWE-601: Open Redirect": "https://cwe.mitre.org/data/definitions/601.html"},
        "wstg": ["WSTG-CLNT-04"],
    }
    infos = {
        "target": "https://shop.example.com/",
        "date": "Sun, 01 Mar 2026 10:00:00 +0000",
        "version": "Wapiti 3.2.3",
    } | infos
    groups = {name: {} for name in ("vulnerabilities", "anomalies", "additionals")}
    groups[group] = {category: list(entries), "Log4Shell": []}
    return {"classifications": {category: about}} | groups | {"infos": infos}


def make_wapiti_entry(**members):
    entry = {
        "method": "GET",
        "path": "/go",
        "info": "Open Redirect via injection in the parameter to",
        "level": 1,
        "parameter": "to",
        "referer": "",
        "module": "redirect",
        "http_request": "GET /go?to=x HTTP/1.1\nCookie: id=s3cr3t",
        "curl_command": 'curl "https://shop.example.com/go?to=x" -b "id=s3cr3t"',
        "wstg": ["WSTG-CLNT-04"],
    }
    return without_none(entry | members)


def xml_of(name, content="", /, **attributes):
    """Return an element; ``content`` is a text, or a list of elements and None."""
    element = ElementTree.Element(name, {key: str(value) for key, value in attributes.items()})
    if isinstance(content, str):
        element.text = content
    else:
        element.extend(child for child in content if child is not None)
    return element


def as_xml(root, *, prolog=""):
    """Return the element as a document of several lines."""
    ElementTree.indent(root)
    return f'<?xml version="1.0"?>\n{prolog}'.encode() + ElementTree.tostring(root, encoding="utf-8")


def make_wapiti_xml(document):
    """Return Wapiti's JSON report as its XML."""
    names = {"generatorVersion": "version", "dateOfScan": "date", "target": "target"}
    names |= {"crawledPages": "crawled_pages_nbr"} if "crawled_pages_nbr" in document["infos"] else {}
    infos = [xml_of("info", str(document["infos"][key]), name=name) for name, key in names.items()]
    infos.append(xml_of("crawled_pages", [xml_of("entry", [xml_of("response")])]))
    groups = [
        xml_of(
            group,
            [
                _wapiti_category(single, category, entries, document)
                for category, entries in document[group].items()
            ],
        )
        for group, single in (
            ("vulnerabilities", "vulnerability"),
            ("anomalies", "anomaly"),
            ("additionals", "additional"),
        )
    ]
    return as_xml(xml_of("report", [xml_of("report_infos", infos), *groups], type="security"))


def _wapiti_category(name, category, entries, document):
    about = document["classifications"].get(category, {"desc": "", "sol": "", "ref": {}})
    references = [
        xml_of("reference", [xml_of("title", title), xml_of("url", url)])
        for title, url in about["ref"].items()
    ]
    attributes = {"name": category} | document.get("suppressed_findings", {}).get(category, {})
    return xml_of(
        name,
        [
            xml_of("description", about["desc"]),
            xml_of("solution", about["sol"]),
            xml_of("references", references),
            xml_of("entries", [_wapiti_entry(entry) for entry in entries]),
        ],
        **attributes,
    )


def _wapiti_entry(entry):
    texts = [xml_of(key, str(value)) for key, value in entry.items() if key not in ("wstg", "detail")]
    codes = xml_of("wstg", [xml_of("code", code) for code in entry.get("wstg", [])])
    response = entry.get("detail", {}).get("response", {})
    headers = [xml_of("header", value, name=name) for name, value in response.get("headers", [])]
    parts = [xml_of(key, str(response[key])) for key in ("status_code", "body") if key in response]
    return xml_of(
        "entry",
        [*texts, codes, xml_of("detail", [xml_of("response", [*parts, xml_of("headers", headers)])])],
    )


def make_nikto(*items, **members):
    """Return Nikto's JSON report of one host."""
    host = {"host": "shop.example.com", "ip": "192.0.2.7", "port": "443", "banner": "nginx"}
    return [host | {"vulnerabilities": list(items)} | members]


def make_item(**members):
    item = {
        "id": "740001",
        "method": "HEAD",
        "url": "/dump.tar",
        "msg": "Potentially interesting backup found.",
    }
    return without_none(item | members)


def make_nikto_xml(hosts, *, version="", end_time=""):
    """Return the hosts of Nikto's JSON as its XML, with an element for each as Nikto writes it."""
    scans = [_nikto_scan(host, version, end_time) for host in hosts]
    root = xml_of("niktoscan", scans)
    return as_xml(root, prolog='<!DOCTYPE niktoscan SYSTEM "docs/nikto.dtd">\n')


def _nikto_scan(host, version, end_time):
    base = f"{'https' if host['port'] == '443' else 'http'}://{host['host']}:{host['port']}/"
    names = {"targetip": "ip", "targethostname": "host", "targetport": "port", "targetbanner": "banner"}
    attributes = {name: host[key] for name, key in names.items()}
    items = [_nikto_item(item) for item in host["vulnerabilities"]]
    statistics = xml_of("statistics", endtime=end_time)
    details = xml_of(
        "scandetails", [*items, statistics], **attributes, sitename=base, hostheader=host["host"]
    )
    return xml_of("niktoscan", [details], version=version, scanend="Thu Jan  1 01:00:00 1970")


def _nikto_item(item):
    texts = [xml_of("description", item["msg"]), xml_of("uri", item["url"])]
    references = [xml_of("references", item["references"])] if "references" in item else []
    return xml_of("item", [*texts, *references], id=item["id"], method=item["method"])


BURP_TYPE = """<!DOCTYPE issues [
<!ELEMENT issues (issue*)>
<!ATTLIST issues burpVersion CDATA "">
<!ELEMENT issue (serialNumber, type, name, host, path, location, severity, confidence, requestresponse*)>
<!ELEMENT request (#PCDATA)>
<!ATTLIST request base64 (true|false) "false">
]>
"""


def make_issue(*, requests=(), host="https://shop.example.com", **texts):
    """Return an issue of Burp; each of ``requests`` is a text, which is encoded."""
    texts = {
        "serialNumber": "7121655797013284864",
        "type": "5244416",
        "name": "Cookie without HttpOnly flag set",
        "path": "/login",
        "location": "/login [sid cookie]",
        "severity": "Low",
        "confidence": "Certain",
        "issueBackground": "<p>Scripts can read it.</p>",
        "remediationBackground": "<p>Set <b>HttpOnly</b>.</p>",
        "vulnerabilityClassifications": '<ul><li><a href="https://cwe.mitre.org/data/definitions/16.html">'
        "CWE-16: Configuration</a></li></ul>",
        "issueDetail": "The value was <b>&lt;i&gt;</b>.",
    } | texts
    messages = [
        xml_of("requestresponse", [xml_of("request", b64encode(text.encode()).decode(), base64="true")])
        for text in requests
    ]
    children = [xml_of(name, text) for name, text in without_none(texts).items()]
    return xml_of("issue", [*children, xml_of("host", host, ip="192.0.2.7"), *messages])


def make_burp(*issues, exported="Sun Mar 01 11:00:00 CET 2026"):
    """Return Burp's XML of issues."""
    return as_xml(xml_of("issues", list(issues), burpVersion="2025.1", exportTime=exported), prolog=BURP_TYPE)


def make_observatory(**tests):
    """Return the Observatory's JSON report; underscores in names of tests become hyphens."""
    tests = {name.replace("_", "-"): test for name, test in tests.items()}
    scan = {"algorithmVersion": 4, "grade": "B", "testsQuantity": len(tests)}
    return {"scan": scan, "tests": tests}


def make_test(**members):
    """Return a failed test of the Observatory."""
    test = {"expectation": "csp-implemented-with-no-unsafe", "result": "csp-not-implemented"}
    return test | {"pass": False, "scoreModifier": -25, "data": None} | members


def make_sslyze(host="shop.example.com", **results):
    """Return SSLyze's JSON report of one server with ``results`` of completed scan commands."""
    server = {
        "server_location": {"hostname": host, "port": 443, "ip_address": "192.0.2.7"},
        "connectivity_status": "COMPLETED",
        "connectivity_error_trace": None,
        "scan_status": "COMPLETED",
        "scan_result": {
            name: {"status": "COMPLETED", "error_reason": None, "error_trace": None, "result": result}
            for name, result in results.items()
        },
    }
    return {
        "invalid_server_strings": [],
        "server_scan_results": [server],
        "date_scans_started": "2026-03-01T09:59:00Z",
        "date_scans_completed": "2026-03-01T10:00:00Z",
        "sslyze_version": "6.3.1",
    }


def suites(*names):
    """Return SSLyze's result for a protocol with these accepted suites."""
    accepted = [{"cipher_suite": {"name": name}, "ephemeral_key": None} for name in names]
    return {"is_tls_version_supported": bool(names), "accepted_cipher_suites": accepted}


SCAN = {"scan": "findings/1", "source": "port-watch", "name": "Port Watch", "version": "2.1"}


def make_finding_line(**members):
    """Return a finding of our own JSON lines."""
    line = {
        "finding": "open-port",
        "title": "A port is open to everybody",
        "severity": "medium",
        "location": "https://shop.example.com:8443/",
        "evidence": "8443/tcp open",
    }
    return without_none(line | members)


def make_wpscan(*interesting, **members):
    """Return WPScan's JSON report."""
    report = {
        "banner": {"description": "WordPress Security Scanner by the WPScan Team", "version": "3.8.25"},
        "start_time": 1772359100,
        "target_url": "https://shop.example.com/",
        "effective_url": "https://shop.example.com/",
        "interesting_findings": list(interesting),
        "version": {"number": "6.4.1", "status": "latest", "vulnerabilities": []},
        "main_theme": None,
        "plugins": {},
        "vuln_api": {"plan": "free", "requests_remaining": 14},
        "stop_time": 1772359200,
    }
    return without_none(report | members)


def make_interesting(**members):
    finding = {
        "url": "https://shop.example.com/xmlrpc.php",
        "to_s": "XML-RPC seems to be enabled: https://shop.example.com/xmlrpc.php",
        "type": "xmlrpc",
        "found_by": "Direct Access (Aggressive Detection)",
        "confidence": 100,
        "references": {"url": ["https://codex.wordpress.org/XML-RPC_Pingback_API"]},
        "interesting_entries": [],
    }
    return without_none(finding | members)


def make_plugin(*vulnerabilities, slug="forms", **members):
    """Return WPScan's plugins: one, with its vulnerabilities."""
    plugin = {
        "slug": slug,
        "location": f"https://shop.example.com/wp-content/plugins/{slug}/",
        "latest_version": "2.0",
        "outdated": False,
        "found_by": "Urls In Homepage (Passive Detection)",
        "vulnerabilities": list(vulnerabilities),
        "version": {"number": "1.2", "confidence": 80},
    }
    return {slug: plugin | members}


def make_vulnerability(**members):
    vulnerability = {
        "title": "Forms < 1.3 - Cross-Site Scripting",
        "fixed_in": "1.3",
        "references": {"cve": ["2026-12345"], "url": ["https://a.example/"], "wpvulndb": ["8873"]},
    }
    return without_none(vulnerability | members)


def make_nessus_item(**members):
    """Return an item of Nessus; members are attributes or elements by the names that Nessus has."""
    attributes = {"port": "443", "svc_name": "www", "protocol": "tcp", "severity": "2", "pluginID": "104743"}
    attributes |= {"pluginName": "TLS Version 1.0 Protocol Detection", "pluginFamily": "Service detection"}
    texts = {
        "synopsis": "Traffic is encrypted with an old protocol.",
        "description": "TLS 1.0 is accepted.",
        "solution": "Switch TLS 1.0 off.",
        "risk_factor": "Medium",
        "see_also": "https://a.example/1\nhttps://a.example/2",
        "plugin_output": "TLSv1 is enabled.",
    }
    attributes |= {key: members.pop(key) for key in list(members) if key in attributes}
    texts = without_none(texts | members)
    return xml_of(
        "ReportItem", [xml_of(name, text) for name, text in texts.items()], **without_none(attributes)
    )


def make_nessus_host(*items, name="shop.example.com", **tags):
    tags = without_none({"HOST_END": "Sun Mar  1 10:00:00 2026"} | tags)
    properties = [xml_of("tag", text, name=key) for key, text in tags.items()]
    return xml_of("ReportHost", [xml_of("HostProperties", properties), *items], name=name)


def make_nessus(*hosts):
    """Return a report of Nessus with a policy that holds a password."""
    preferences = [xml_of("preference", [xml_of("name", "password"), xml_of("value", "s3cr3t")])]
    policy = xml_of("Policy", [xml_of("Preferences", [xml_of("ServerPreferences", preferences)])])
    return as_xml(xml_of("NessusClientData_v2", [policy, xml_of("Report", list(hosts), name="weekly")]))


def make_acunetix_item(
    *, cwe=("CWE-693",), cve=(), urls=("https://a.example/",), request="", response="", **texts
):
    """Return an item of Acunetix; ``texts`` are elements by the names that Acunetix has."""
    texts = {
        "Name": "Clickjacking: X-Frame-Options header",
        "ModuleName": "/httpdata/X_Frame_Options_not_implemented.js",
        "Details": "<p>Paths: <b>/</b></p>",
        "Affects": "/",
        "Parameter": "",
        "IsFalsePositive": "",
        "Severity": "low",
        "Impact": "Visitors may be tricked.",
        "Description": "The header is missing.<br/>Others can frame the page.",
        "Recommendation": "Send the header.",
    } | texts
    return xml_of(
        "ReportItem",
        [
            *[xml_of(name, text) for name, text in without_none(texts).items()],
            xml_of("TechnicalDetails", [xml_of("Request", request), xml_of("Response", response)]),
            xml_of("CWEList", [xml_of("CWE", each) for each in cwe]),
            xml_of("CVEList", [xml_of("CVE", each) for each in cve]),
            xml_of("CVSS3", [xml_of("Descriptor", "CVSS:3.0/AV:N"), xml_of("Score", "5.3")]),
            xml_of("References", [xml_of("Reference", [xml_of("URL", url)]) for url in urls]),
        ],
    )


def make_acunetix_scan(*items, start="https://shop.example.com/", **texts):
    texts = {"FinishTime": "13/03/2026, 10:00:00", "Aborted": "False"} | texts
    crawler = xml_of("Crawler", [xml_of("SiteFiles", [xml_of("SiteFile", "a", id="1")])], StartUrl=start)
    heads = [xml_of(name, text) for name, text in texts.items()]
    return xml_of("Scan", [*heads, crawler, xml_of("ReportItems", list(items))])


def make_acunetix(*scans):
    return as_xml(xml_of("ScanGroup", list(scans), ExportedOn="13/03/2026, 11:00:00"))


def make_invicti(*vulnerabilities, **target):
    """Return Invicti's JSON of vulnerabilities."""
    target = {
        "ScanId": "a1",
        "Url": "https://shop.example.com/",
        "Initiated": "03/13/2026 10:00:00 (UTC+01:00)",
        "Duration": "00:30:20.4322725",
    } | target
    return {"Generated": "03/13/2026 11:00:00", "Target": target, "Vulnerabilities": list(vulnerabilities)}


def make_invicti_row(**members):
    row = {
        "Url": "https://shop.example.com/login",
        "Type": "CookieNotMarkedAsSecure",
        "Name": "Cookie Not Marked as Secure",
        "Severity": "High",
        "Certainty": 100,
        "Confirmed": True,
        "Classification": {"Cwe": "614", "Owasp": "A6"},
        "HttpRequest": {"Method": "GET", "Content": "GET /login HTTP/1.1\nCookie: sid=s3cr3t"},
        "HttpResponse": {"StatusCode": 200, "Content": "HTTP/1.1 200 OK\nSet-Cookie: sid=s3cr3t"},
        "ExtraInformation": [{"Name": "Identified Cookie(s)", "Value": "sid"}],
        "KnownVulnerabilities": [],
        "Description": "<p>A cookie is sent without <b>Secure</b>.</p>",
        "Impact": "<div>Others may read it.</div>",
        "RemedialProcedure": "<div>Mark it as secure.</div>",
        "ExternalReferences": "<ul><li><a href='https://a.example/'>A page</a></li></ul>",
        "ProofOfConcept": "",
    }
    return without_none(row | members)


def make_invicti_xml(document, *, root="invicti-enterprise"):
    """Return Invicti's JSON as its XML."""
    target = [xml_of(key.lower(), text) for key, text in document["Target"].items()]
    rows = [_invicti_row(row) for row in document["Vulnerabilities"]]
    return as_xml(
        xml_of(
            root, [xml_of("target", target), xml_of("vulnerabilities", rows)], generated=document["Generated"]
        )
    )


def _invicti_row(row):
    names = {"RemedialProcedure": "remedial-procedure", "ExternalReferences": "external-references"}
    names |= {"ProofOfConcept": "proof-of-concept"}
    names |= {name: name for name in ("FirstSeenDate", "LastSeenDate")}
    texts = [xml_of(names.get(key, key.lower()), str(value)) for key, value in row.items() if is_plain(value)]
    messages = {"http-request": row["HttpRequest"], "http-response": row["HttpResponse"]}
    texts += [xml_of(name, [xml_of("content", each["Content"])]) for name, each in messages.items()]
    infos = [
        xml_of("info", [xml_of("name", info["Name"]), xml_of("value", info["Value"])])
        for info in row["ExtraInformation"]
    ]
    titles = [each["Title"] for each in row["KnownVulnerabilities"]]
    known = [xml_of("known-vulnerability", [xml_of("title", title)]) for title in titles]
    cwe = xml_of("cwe", row["Classification"]["Cwe"])
    groups = {"classification": [cwe], "extra-information": infos, "known-vulnerabilities": known}
    return xml_of("vulnerability", [*texts, *[xml_of(name, group) for name, group in groups.items()]])


def is_plain(value):
    return not isinstance(value, dict | list)


QUALYS_GLOSSARY = {
    "TITLE": "Clickjacking",
    "CATEGORY": "Confirmed Vulnerability",
    "SEVERITY": "3",
    "CWE": "CWE-1021",
    "CVSS_BASE": "4.3",
    "DESCRIPTION": "Others can frame the page.<P>See <A HREF='https://a.example/'>here</A>.",
    "IMPACT": "N/A",
    "SOLUTION": "Send the header.",
}


def make_qualys_row(name="VULNERABILITY", *, payloads=(), **texts):
    """Return a row of Qualys WAS; each of ``payloads`` is a request's header Cookie."""
    texts = {"QID": "150081", "URL": "https://shop.example.com/login", "PARAM": "next"} | texts
    requests = [
        xml_of(
            "REQUEST",
            [
                xml_of("METHOD", "GET"),
                xml_of("URL", "https://shop.example.com/login"),
                xml_of("HEADERS", [xml_of("HEADER", [xml_of("key", "Cookie"), xml_of("value", cookie)])]),
            ],
        )
        for cookie in payloads
    ]
    response = [xml_of("EVIDENCE", b64encode(b"seen").decode(), base64="true")]
    found = [
        xml_of("PAYLOAD", [xml_of("PAYLOAD", "a=b"), request, xml_of("RESPONSE", response)])
        for request in requests
    ]
    children = [xml_of(key, text) for key, text in without_none(texts).items()]
    return xml_of(name, [*children, xml_of("PAYLOADS", found)])


def make_qualys(
    *rows, website="https://shop.example.com", status="Finished", root="WAS_SCAN_REPORT", **glossary
):
    """Return a report of Qualys WAS, in which all rows have the same text of the glossary."""
    about = without_none(QUALYS_GLOSSARY | glossary)
    qids = {row.findtext("QID") for row in rows}
    entries = [
        xml_of("QID", [xml_of("QID", qid), *[xml_of(key, text) for key, text in about.items()]])
        for qid in sorted(filter(None, qids))
    ]
    names = ("VULNERABILITY", "SENSITIVE_CONTENT", "INFORMATION_GATHERED")
    lists = [xml_of(f"{name}_LIST", [row for row in rows if row.tag == name]) for name in names]
    scan = [xml_of("END_DATE", "01 Mar 2026 10:00AM GMT-0400"), xml_of("STATUS", status)]
    appendix = [xml_of("SCAN_LIST", [xml_of("SCAN", scan)])]
    appendix += [xml_of("WEBAPP", [xml_of("URL", website)])] if website else []
    results = lists if root == "WAS_SCAN_REPORT" else [xml_of("WEB_APPLICATION", lists)]
    return as_xml(
        xml_of(
            root,
            [
                xml_of("HEADER", [xml_of("GENERATION_DATETIME", "02 Mar 2026 10:00AM GMT+0000")]),
                xml_of("RESULTS", results),
                xml_of("GLOSSARY", [xml_of("QID_LIST", entries)]),
                xml_of("APPENDIX", appendix),
            ],
        )
    )


def make_greenbone_result(*, host="192.0.2.7", hostname="shop.example.com", qod="98", refs=(), **texts):
    """Return a result of Greenbone; ``texts`` are elements of the result, or of its test with "nvt_"."""
    texts = {
        "name": "TLS 1.0 is accepted",
        "port": "443/tcp",
        "threat": "Medium",
        "severity": "4.3",
        "description": "TLSv1.0 is enabled.",
        "nvt_oid": "1.3.6.1.4.1.25623.1.0.117274",
        "nvt_tags": "cvss_base_vector=AV:N|summary=An old protocol.|insight=It has\n  weaknesses."
        "|solution=Off.",
    } | texts
    texts = without_none(texts)
    test = {key.removeprefix("nvt_"): texts.pop(key) for key in list(texts) if key.startswith("nvt_")}
    oid = test.pop("oid", "")
    address = xml_of("host", [xml_of("asset"), xml_of("hostname", hostname)])
    address.text = host
    references = xml_of("refs", [xml_of("ref", type=kind, id=each) for kind, each in refs])
    parts = [xml_of(key, text) for key, text in test.items()]
    children = [xml_of(key, text) for key, text in texts.items()]
    quality = xml_of("qod", [xml_of("value", qod)])
    return xml_of("result", [*children, address, xml_of("nvt", [*parts, references], oid=oid), quality])


def make_greenbone(*results, hosts=("192.0.2.7",), status="Done", names=(), errors=(), **attributes):
    """Return Greenbone's report; ``names`` are pairs of an address and the name in the host's details.

    ``errors`` are pairs of an address and the test's OID.
    """
    details = dict(names)
    found = [
        xml_of(
            "host",
            [
                xml_of("ip", host),
                *[
                    xml_of("detail", [xml_of("name", "hostname"), xml_of("value", name)])
                    for address, name in details.items()
                    if address == host
                ],
            ],
        )
        for host in hosts
    ]
    inner = [xml_of("scan_run_status", status), xml_of("results", list(results)), *found]
    inner.append(xml_of("errors", [make_greenbone_error(*each) for each in errors]))
    inner.append(xml_of("scan_end", "2026-03-01T10:00:00Z"))
    attributes = attributes or {"extension": "xml", "format_id": "a994b278"}
    return as_xml(xml_of("report", [xml_of("report", inner, id="2")], id="1", **attributes))


def make_greenbone_error(host, oid):
    address = xml_of("host", [xml_of("asset")])
    address.text = host
    text = xml_of("description", "NVT timed out after 320 seconds.")
    return xml_of("error", [address, xml_of("port", "general/tcp"), text, xml_of("nvt", oid=oid)])


def make_nmap_port(port="8443", *scripts, state="open", protocol="tcp", **service):
    service = {"name": "https-alt", "product": "nginx", "version": "1.25", "method": "probed"} | service
    parts = [xml_of("state", state=state, reason="syn-ack"), xml_of("service", **service), *scripts]
    return xml_of("port", parts, protocol=protocol, portid=port)


def make_nmap_script(name, *tables, output="seen"):
    return xml_of("script", list(tables), id=name, output=output)


def make_nmap_table(key="", *tables, **elements):
    """Return a table of a script; ``elements`` are its elem by their keys."""
    texts = [xml_of("elem", text, key=name) for name, text in elements.items()]
    return xml_of("table", [*texts, *tables], **({"key": key} if key else {}))


def make_nmap_host(
    *ports,
    name="shop.example.com",
    address="192.0.2.7",
    hostscripts=(),
    state="up",
    reason="syn-ack",
    **attributes,
):
    names = [xml_of("hostname", name="ptr.example.net", type="PTR")]
    names += [xml_of("hostname", name=name, type="user")] if name else []
    parts = [
        xml_of("status", state=state, reason=reason),
        xml_of("address", addr=address, addrtype="ipv6" if ":" in address else "ipv4"),
    ]
    parts += [xml_of("hostnames", names), xml_of("ports", list(ports))]
    return xml_of("host", [*parts, xml_of("hostscript", list(hostscripts))], **attributes)


def make_nmap(*hosts, services="1-1000,8443", end="success", args="nmap -oX -", up=None, down=0):
    """Return a report of Nmap about these TCP ports; ``up`` and ``down`` are the numbers of hosts."""
    finished = [xml_of("finished", time="1772359200", exit=end)] if end else []
    finished.append(xml_of("hosts", up=str(len(hosts) if up is None else up), down=str(down)))
    info = xml_of("scaninfo", type="connect", protocol="tcp", services=services)
    root = xml_of("nmaprun", [info, *hosts, xml_of("runstats", finished)], version="7.94", args=args)
    return as_xml(root, prolog="<!DOCTYPE nmaprun>\n<?xml-stylesheet href='nmap.xsl'?>\n<!-- Nmap 7.94 -->\n")


def make_line(**cells):
    """Return a line of our own CSV with every column."""
    line = dict.fromkeys((column.name for column in COLUMNS), "")
    line |= {"title": "Directory listing", "severity": "medium", "location": "https://shop.example.com/a"}
    return line | {"evidence": "Index of /a", "scanner": "Penetration test"} | cells


WWW, MAIL = "www.shop.example.com", "mail.shop.example.com"
SHARED, OWN = "shared", "own"  # a problem of both targets, and one of the first
OTHER_PORTS = xml_of("extraports", state="closed", count="9")  # of Nmap
CSV_NAMES = ",".join(f'"{name}"' for name in make_line())


def wpscan_report(host, problems):
    found = [make_interesting(type=each, url=f"https://{host}/{each}") for each in problems]
    return json.dumps(make_wpscan(*found, effective_url=f"https://{host}/")).encode()


def nessus_report(host, problems):
    items = [make_nessus_item(pluginID=each) for each in problems]
    return make_nessus(make_nessus_host(*items, name=host))


def acunetix_report(host, problems):
    items = [make_acunetix_item(Name=each) for each in problems]
    return make_acunetix(make_acunetix_scan(*items, start=f"https://{host}/"))


def invicti_report(host, problems):
    rows = [make_invicti_row(Type=each, Url=f"https://{host}/a") for each in problems]
    return json.dumps(make_invicti(*rows, Url=f"https://{host}/")).encode()


def qualys_report(host, problems):
    rows = [make_qualys_row(QID=each, URL=f"https://{host}/a") for each in problems]
    return make_qualys(*rows, website=f"https://{host}")


def greenbone_report(host, problems):
    results = [make_greenbone_result(nvt_oid=each, hostname=host) for each in problems]
    return make_greenbone(*results, names=[("192.0.2.7", host)])


def nmap_report(host, problems):
    ports = [make_nmap_port({SHARED: "8080", OWN: "8443"}[each]) for each in problems]
    host_element = make_nmap_host(OTHER_PORTS, *ports, name=host)
    return make_nmap(host_element, services="1-9000")


def csv_report(host, problems):
    lines = [make_line(finding=each, location=f"https://{host}/", scanner="") for each in problems]
    return as_csv(lines or [make_line()])[: None if lines else len(CSV_NAMES)]


def burp_report(host, problems):
    return make_burp(*[make_issue(type=each, host=f"https://{host}") for each in problems])


def nuclei_report(host, problems):
    rows = [make_row(template_id=each, matched_at=f"https://{host}/") for each in problems]
    return json_lines(*rows) if rows else b""


def zap_report(host, problems):
    alerts = [make_zap_alert(alertRef=each, instances=[{"uri": f"https://{host}/a"}]) for each in problems]
    site = {"@name": f"https://{host}", "@host": host, "@port": "443", "alerts": alerts}
    return json.dumps(make_zap_report(site=[site])).encode()


def sarif_report(host, problems):
    rules = [{"id": each} for each in (SHARED, OWN)]
    place = [{"physicalLocation": {"artifactLocation": {"uri": f"https://{host}/a"}}}]
    results = [make_result(ruleId=each, locations=place) for each in problems]
    tool = {"driver": {"name": "Scanner", "rules": rules}}
    return json.dumps(make_sarif(*results, tool=tool)).encode()


def wapiti_report(host, problems):
    document = make_wapiti(target=f"https://{host}/")
    document["vulnerabilities"] = {each: [make_wapiti_entry()] for each in problems}
    return json.dumps(document).encode()


def report_of_testssl(host, problems):
    ids = {SHARED: "TLS1", OWN: "BREACH"}
    severities = dict.fromkeys(
        ["TLS1", "BREACH", "TLS1_2", "cipherlist_NULL", "cert_notAfter", "heartbleed"], "OK"
    )
    severities |= {ids[each]: "MEDIUM" for each in problems}
    entries = [
        make_entry(id=name, ip=f"{host}/192.0.2.7", severity=severity, finding="offered")
        for name, severity in severities.items()
    ]
    ended = make_entry(id="scanTime", ip=f"{host}/192.0.2.7", severity="INFO", finding="80")
    return json.dumps([*entries, ended]).encode()


def sslyze_report(host, problems):
    results = {
        "tls_1_0_cipher_suites": suites(*["TLS_A"] * (SHARED in problems)),
        "tls_compression": {"supports_compression": OWN in problems},
    }
    return json.dumps(make_sslyze(host, **results)).encode()


def observatory_report(host, problems):
    tests = {
        "content_security_policy": {"pass": True},
        "cookies": {"pass": True},
        "redirection": {"pass": True, "route": [f"https://{host}/"]},
    }
    names = {SHARED: "content_security_policy", OWN: "cookies"}
    tests |= {names[each]: make_test() for each in problems}
    return json.dumps(make_observatory(**tests)).encode()


def nikto_report(host, problems):
    items = [make_item(id=each, msg=f"{each} was found") for each in problems]
    return json.dumps(make_nikto(*items, host=host)).encode()


def findings_report(host, problems):
    lines = [make_finding_line(finding=each, location=f"https://{host}/") for each in problems]
    return json_lines(SCAN, {"checked": f"https://{host}/"}, *lines, {"complete": True})


@dataclass(frozen=True, kw_only=True)
class Format:
    """Sample reports and facts of one format, for the tests of every format.

    ``report`` makes a report of a complete scan of a host that found some of the problems SHARED and OWN.
    ``forms`` makes the format's other forms from ``sample`` and ``report``, each with the same rows.
    """

    sample: bytes
    report: Callable[[str, list[str]], bytes]
    time: tuple[bytes, bytes] | None  # the scan's time in the sample, and what makes it unclear
    bad_rows: bytes | None = None  # a report of three rows that cannot be read
    text: str = ""  # one that the first finding shows, if it shows no two words in a row
    names_target: bool = True  # in a report without findings
    has_topics: bool = True  # some of its rules are in topics.toml
    forms: Mapping[str, Callable[[bytes], bytes]] = field(default_factory=dict)


FORMATS = {
    "nmap": Format(
        sample=make_nmap(make_nmap_host(make_nmap_port(), make_nmap_port("22", state="closed"))),
        report=nmap_report,
        time=(b'time="1772359200"', b'time="soon"'),
        bad_rows=b"<nmaprun>" + b"<host/>" * 3 + b"</nmaprun>",
        text="nginx",
        has_topics=False,
    ),
    "greenbone": Format(
        sample=make_greenbone(make_greenbone_result(), make_greenbone_result(nvt_oid="1.2", severity="0.0")),
        report=greenbone_report,
        time=(b"2026-03-01T10:00:00Z", b"soon"),
        bad_rows=b"<report id='1' extension='xml'><results>" + b"<result/>" * 3 + b"</results></report>",
    ),
    "qualys-was": Format(
        sample=make_qualys(
            make_qualys_row(), make_qualys_row(URL="https://shop.example.com/a", QID="150082")
        ),
        report=qualys_report,
        time=(b"01 Mar 2026 10:00AM GMT-0400", b"soon"),
        bad_rows=b"<WAS_SCAN_REPORT><RESULTS><VULNERABILITY_LIST>"
        + b"<VULNERABILITY/>" * 3
        + b"</VULNERABILITY_LIST></RESULTS></WAS_SCAN_REPORT>",
    ),
    "invicti": Format(
        sample=json.dumps(make_invicti(make_invicti_row(), make_invicti_row(Confirmed=False))).encode(),
        report=invicti_report,
        time=(b"03/13/2026 10:00:00 (UTC+01:00)", b"soon"),
        bad_rows=b'{"Vulnerabilities": [0, 0, 0]}',
        forms={"XML": lambda data: make_invicti_xml(json.loads(data))},
    ),
    "acunetix": Format(
        sample=make_acunetix(make_acunetix_scan(make_acunetix_item(), make_acunetix_item(Affects="/a"))),
        report=acunetix_report,
        time=(b"13/03/2026, 10:00:00", b"soon"),
        bad_rows=b"<ScanGroup>" + b"<ReportItem/>" * 3 + b"</ScanGroup>",
    ),
    "nessus": Format(
        sample=make_nessus(
            make_nessus_host(
                make_nessus_item(), make_nessus_item(pluginID="10107", severity="0"), HOST_START="x"
            )
        ),
        report=nessus_report,
        time=(b"Sun Mar  1 10:00:00 2026", b"soon"),
        bad_rows=b"<NessusClientData_v2>" + b"<ReportItem/>" * 3 + b"</NessusClientData_v2>",
    ),
    "wpscan": Format(
        sample=json.dumps(
            make_wpscan(make_interesting(), plugins=make_plugin(make_vulnerability(), outdated=True))
        ).encode(),
        report=wpscan_report,
        time=(b"1772359200", b'"soon"'),
    ),
    "csv": Format(
        sample=as_csv([make_line(), make_line(title="Old software", location="/b", severity="Info")]),
        report=csv_report,
        time=None,
        bad_rows=b"title,severity,location\n" + b"a,b,c\n" * 3,
        names_target=False,
        has_topics=False,
    ),
    "burp": Format(
        sample=make_burp(
            make_issue(requests=["GET /login HTTP/1.1\r\nCookie: sid=s3cr3t"]),
            make_issue(severity="False positive"),
        ),
        report=burp_report,
        time=(b"Sun Mar 01 11:00:00 CET 2026", b"soon"),
        bad_rows=b"<issues burpVersion='1'>" + b"<issue/>" * 3 + b"</issues>",
        names_target=False,
    ),
    "nuclei": Format(
        sample=json_lines(make_row(), make_row(template_id="tls-version", matcher_status=False)),
        report=nuclei_report,
        time=(b"2026-03-01T10:00:00.123456789+02:00", b"soon"),
        bad_rows=json_lines(make_row()).replace(b"template", b"x") + b"what is no row\n" * 3,
        names_target=False,
    ),
    "zap": Format(
        sample=json.dumps(
            make_zap_report(make_zap_alert(), make_zap_alert(alertRef="10055-5", confidence="0"))
        ).encode(),
        report=zap_report,
        time=(b"2026-03-01T10:00:00.123456789Z", b"soon"),
        bad_rows=b'{"site": [0, 0, 0]}',
    ),
    "sarif": Format(
        sample=json.dumps(make_sarif(make_result(), make_result(ruleId="other", kind="pass"))).encode(),
        report=sarif_report,
        time=(b'"results"', b'"invocations": [{"endTimeUtc": "soon"}], "results"'),
        bad_rows=b'{"runs": [{"results": [0, 0, 0]}]}',
        has_topics=False,
    ),
    "wapiti": Format(
        sample=json.dumps(make_wapiti(make_wapiti_entry(), make_wapiti_entry(path="/out"))).encode(),
        report=wapiti_report,
        time=(b"Sun, 01 Mar 2026 10:00:00 +0000", b"soon"),
        bad_rows=b'{"infos": {}, "vulnerabilities": {"a": [0, 0, 0]}}',
        forms={"XML": lambda data: make_wapiti_xml(json.loads(data))},
    ),
    "testssl": Format(
        sample=json.dumps([make_entry(), make_entry(id="TLS1_2", severity="OK", finding="offered")]).encode(),
        report=report_of_testssl,
        time=None,
        bad_rows=b"[0, 0, 0]",
        text="deprecated",
        forms={"CSV": lambda data: make_testssl_csv(*json.loads(data))},
    ),
    "sslyze": Format(
        sample=json.dumps(
            make_sslyze(
                tls_1_0_cipher_suites=suites("TLS_A"), tls_compression={"supports_compression": False}
            )
        ).encode(),
        report=sslyze_report,
        time=(b"2026-03-01T10:00:00Z", b"soon"),
        bad_rows=b'{"server_scan_results": [0, 0, 0]}',
        text="TLS_A",
    ),
    "observatory": Format(
        sample=json.dumps(
            make_observatory(content_security_policy=make_test(), cookies={"pass": True})
        ).encode(),
        report=observatory_report,
        time=(b'"scan": {', b'"scan": {"scanned_at": "soon", '),
        bad_rows=b'{"tests": {"a": 0, "b": 0, "c": 0}}',
        text="csp-not-implemented",
    ),
    "nikto": Format(
        sample=json.dumps(make_nikto(make_item(), make_item(url="/dump.zip"))).encode(),
        report=nikto_report,
        time=(b'"banner"', b'"end_time": "soon", "banner"'),
        bad_rows=b'{"host": "a", "vulnerabilities": [0, 0, 0]}',
        forms={"XML": lambda data: make_nikto_xml(json.loads(data))},
    ),
    "findings": Format(
        sample=json_lines(
            SCAN, make_finding_line(), {"checked": "https://shop.example.com/"}, {"complete": True}
        ),
        report=findings_report,
        time=None,
        bad_rows=json_lines(SCAN) + b"what is no row\n" * 3,
        has_topics=False,
    ),
}

SAMPLES = {name: entry.sample for name, entry in FORMATS.items()}
# The other forms by their names: the reader, and what makes one of the same report of the reader's format.
FORMS = {
    f"{name} as {form}": (name, make) for name, entry in FORMATS.items() for form, make in entry.forms.items()
}
