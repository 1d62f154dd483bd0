"""Nikto's most frequent messages in versions 2.1, 2.5 and 2.6."""

import json
import re

import pytest

from dashboard_api.scanners import nikto
from dashboard_api.scanners.nikto.problems import TEXTS, recognise
from dashboard_api.scanners.report import Severity
from tests.dashboard_api.scanners.samples import make_item, make_nikto, read_whole

SEE = " See: https://developer.mozilla.org/en-US/docs/Web/HTTP/Headers"
NOT_SET = (
    "The X-Content-Type-Options header is not set. This could allow the user agent to render the content of "
    "the site in a different fashion to the MIME type"
)


def read(*items):
    return read_whole(nikto, json.dumps(make_nikto(*items)).encode()).findings


def read_message(message, **members):
    (finding,) = read(make_item(msg=message, url="/", **members))
    return finding


@pytest.mark.parametrize(
    ("message", "severity", "kind", "cwe", "title"),
    [
        (
            "The anti-clickjacking X-Frame-Options header is not present.",
            Severity.MEDIUM,
            "confirmed",
            1021,
            "The header X-Frame-Options is not sent",
        ),
        (NOT_SET, Severity.LOW, "confirmed", 693, "The header X-Content-Type-Options is not sent"),
        (
            "The site uses SSL and the Strict-Transport-Security HTTP header is not defined.",
            Severity.MEDIUM,
            "confirmed",
            319,
            "The header Strict-Transport-Security is not sent",
        ),
        (
            "Suggested security header missing: content-security-policy.",
            Severity.MEDIUM,
            "confirmed",
            693,
            "The header Content-Security-Policy is not sent",
        ),
        (
            "The X-XSS-Protection header is not defined. This header can hint to the user agent to protect",
            Severity.INFO,
            "informational",
            693,
            "The header X-XSS-Protection is not sent",
        ),
        (
            "Cookie PHPSESSID created without the httponly flag",
            Severity.LOW,
            "confirmed",
            1004,
            "The cookie PHPSESSID is sent without the HttpOnly flag",
        ),
        (
            "Cookie id created without the secure flag",
            Severity.MEDIUM,
            "confirmed",
            614,
            "The cookie id is sent without the Secure flag",
        ),
        (
            "RFC-1918 /: IP address found in the 'location' header. The IP is \"10.0.0.7\".",
            Severity.LOW,
            "confirmed",
            200,
            "An IP address of the server is shown in location",
        ),
        (
            "IIS may reveal its internal or real IP in the Content-Location header via a request.",
            Severity.LOW,
            "confirmed",
            200,
            "An IP address of the server is shown in Content-Location",
        ),
        (
            "Server may leak inodes via ETags, header found with file /, inode: 5, size: 7",
            Severity.LOW,
            "confirmed",
            200,
            "ETags show inodes of files",
        ),
        (
            'Content-Encoding is "deflate", which may mean that it is vulnerable to the BREACH attack.',
            Severity.LOW,
            "suspected",
            310,
            "Compressed answers may be open to BREACH",
        ),
        (
            "Retrieved x-powered-by header: PHP/5.4",
            Severity.INFO,
            "informational",
            200,
            "The header x-powered-by shows details of the server",
        ),
        (
            "Retrieved access-control-allow-origin header: *.",
            Severity.LOW,
            "suspected",
            942,
            "Every website may read the answers (CORS)",
        ),
        (
            "HTTP method 'PUT' allows clients to save files on the web server.",
            Severity.HIGH,
            "confirmed",
            650,
            "Anyone may change files with the method PUT",
        ),
        (
            "HTTP method ('Allow' Header): 'DELETE' may allow clients to remove files on the web server.",
            Severity.LOW,
            "suspected",
            650,
            "The server lists the method DELETE as allowed",
        ),
        (
            "HTTP TRACE method is active, suggesting the host is vulnerable to XST",
            Severity.LOW,
            "confirmed",
            693,
            "The method TRACE is active",
        ),
        (
            "DEBUG HTTP verb may show server debugging information.",
            Severity.LOW,
            "suspected",
            489,
            "The method DEBUG is active",
        ),
        (
            "Apache/2.4.29 appears to be outdated (current is at least 2.4.66).",
            Severity.MEDIUM,
            "suspected",
            1104,
            "Apache appears to be outdated",
        ),
        (
            "Directory indexing found.",
            Severity.MEDIUM,
            "confirmed",
            548,
            "The server lists the files of directories",
        ),
        (
            "Git HEAD file found. Full repo details may be present.",
            Severity.HIGH,
            "suspected",
            527,
            "A repository of source code can be fetched (Git)",
        ),
        (
            "#wp-config.php# file found. This file contains the credentials.",
            Severity.CRITICAL,
            "suspected",
            538,
            "A file with credentials can be fetched",
        ),
        (
            "Potentially interesting backup/cert file found. (NOTE: requested by IP address).",
            Severity.MEDIUM,
            "suspected",
            530,
            "A backup or certificate file can be fetched",
        ),
        (
            "Output from the phpinfo() function was found.",
            Severity.MEDIUM,
            "confirmed",
            200,
            "A page shows all settings of PHP (phpinfo)",
        ),
        (
            "Hostname 'shop.example.com' does not match certificate's names: a.example",
            Severity.HIGH,
            "confirmed",
            297,
            "The certificate is for another name",
        ),
        (
            "Site appears vulnerable to the 'shellshock' vulnerability.",
            Severity.CRITICAL,
            "suspected",
            78,
            "The server appears to be vulnerable to Shellshock",
        ),
        (
            "Default account found for 'Manager' at (ID 'admin', PW 'admin'). Generic account discovered.",
            Severity.HIGH,
            "suspected",
            1392,
            "A default account appears to work",
        ),
    ],
)
def test_what_matters_is_rated_named_and_has_a_remedy(message, severity, kind, cwe, title):
    finding = read_message(message)
    assert (finding.severity, finding.kind, finding.cwe, finding.title) == (severity, kind, (cwe,), title)
    assert finding.remediation
    assert "Nikto's id: 740001" in finding.evidence
    assert f"Message:\n{message}" in finding.evidence


@pytest.mark.parametrize(
    "messages",
    [
        [NOT_SET, f"{NOT_SET}.{SEE}", "Suggested security header missing: x-content-type-options."],
        [
            "The site uses SSL and the Strict-Transport-Security HTTP header is not defined.",
            "The site uses TLS and the Strict-Transport-Security HTTP header is not defined.",
            f"Suggested security header missing: strict-transport-security.{SEE}",
        ],
        [
            "Server leaks inodes via ETags, header found with file /, fields: 0x1 0x2",
            "Server may leak inodes via ETags, header found with file /a, inode: 5, size: 7",
        ],
        ["Apache/2.2.8 appears to be outdated.", "Apache/2.4.1 appears to be outdated (current is 2.4.66)"],
    ],
)
def test_versions_of_nikto_report_one_problem_with_one_identity(messages):
    items = [make_item(id=str(number), msg=message, url="/") for number, message in enumerate(messages)]
    assert len({finding.identity for finding in read(*items)}) == 1


def test_rule_is_the_problem_and_what_it_is_about():
    assert read_message("Suggested security header missing: referrer-policy.").rule == (
        "missing-header/referrer-policy"
    )
    assert read_message("Directory indexing found.").rule == "directory-listing"


def test_headers_cookies_and_methods_are_problems_of_their_own():
    messages = [
        "Suggested security header missing: content-security-policy.",
        "Suggested security header missing: referrer-policy.",
        "Cookie a created without the secure flag",
        "Cookie b created without the secure flag",
        "HTTP method ('Allow' Header): 'PUT' method could allow clients to save files on the web server.",
        "HTTP method ('Allow' Header): 'DELETE' may allow clients to remove files on the web server.",
    ]
    findings = read(*(make_item(msg=message, url="/") for message in messages))
    assert len({finding.identity for finding in findings}) == len(messages)


@pytest.mark.parametrize(
    "message",
    [
        ".gitignore file found. It is possible to grasp the directory structure.",
        "Uncommon header 'x-frame-options' found, with contents: DENY",
        "Allowed",
    ],
)
def test_what_only_looks_alike_is_not_recognise(message):
    assert recognise(message) is None


def test_every_problem_has_its_own_pattern_and_texts():
    assert len({text.pattern or text.header for text in TEXTS.values()}) == len(TEXTS)
    for text in TEXTS.values():
        assert text.remediation.endswith((".", ").", ">."))
        assert text.severity == Severity.INFO or (text.description.endswith(".") and text.cwe)
        assert re.compile(text.pattern).groups <= 2
