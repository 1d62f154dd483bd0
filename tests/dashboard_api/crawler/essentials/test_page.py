"""Each rule of a response is found where it applies, and not where the website does it right."""

import itertools
import json
from datetime import UTC, datetime
from io import BytesIO

import pytest
from urllib3 import HTTPHeaderDict

from dashboard_api.crawler.essentials.lines import lines_of
from dashboard_api.crawler.essentials.page import check_page, check_plain, check_security_txt
from dashboard_api.crawler.essentials.rules import RULES
from dashboard_api.scanners import finding_lines
from dashboard_api.scanners.report import ReportedFinding
from foundation.outbound.fetch import Fetched, Hop

NOW = datetime(2026, 11, 23, tzinfo=UTC)
URL = "https://shop.example.com/"
GOOD = {
    "Content-Type": "text/html; charset=utf-8",
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Server": "nginx",
}
POLICY = "default-src 'self'; frame-ancestors 'none'; script-src "


def fetched(headers=(), body=b"", *, status=200, urls=(URL,)):
    hops = tuple(Hop(url, ("192.0.2.10",)) for url in urls)
    return Fetched(status=status, headers=HTTPHeaderDict(headers), body=body, is_whole=True, hops=hops)


def rules_of(*args, **kwargs):
    return [problem.rule for problem in check_page(fetched(*args, **kwargs))]


def test_a_website_that_does_everything_right_has_no_problem():
    body = (
        b'<script src="/own.js"></script><script src="https://cdn.example.net/x.js" integrity="x"></script>'
    )
    cookie = [("Set-Cookie", "id=1; Secure; HttpOnly; SameSite=Lax")]
    assert rules_of([*GOOD.items(), *cookie], body) == []


def test_a_bare_response_lacks_every_header():
    assert rules_of() == ["hsts-missing", "csp-missing", "framing-allowed", "nosniff-missing"]


CASES = [
    ({"Strict-Transport-Security": "max-age=86400"}, ["hsts-short"]),
    ({"Strict-Transport-Security": "includeSubDomains"}, ["hsts-short"]),
    ({"Strict-Transport-Security": 'max-age="31536000"'}, []),
    ({"Content-Security-Policy": POLICY + "'self' 'unsafe-inline'"}, ["csp-unsafe-scripts"]),
    ({"Content-Security-Policy": POLICY + "'nonce-x' 'unsafe-inline'"}, []),
    ({"Content-Security-Policy": POLICY + "'nonce-x' 'unsafe-eval'"}, ["csp-unsafe-scripts"]),
    ({"Content-Security-Policy": POLICY + "https:"}, ["csp-unsafe-scripts"]),
    ({"Content-Security-Policy": POLICY + "'nonce-x' 'strict-dynamic' https: 'unsafe-inline'"}, []),
    ({"Content-Security-Policy": "frame-ancestors 'self'"}, ["csp-unsafe-scripts"]),
    ({"Content-Security-Policy": "default-src 'self'"}, ["framing-allowed"]),
    ({"Content-Security-Policy": "default-src 'self'", "X-Frame-Options": "DENY"}, []),
    ({"Content-Security-Policy": "default-src 'self'", "X-Frame-Options": "sameorigin, SameOrigin"}, []),
    (
        {"Content-Security-Policy": "default-src 'self'", "X-Frame-Options": "ALLOW-FROM https://x.example"},
        ["framing-allowed"],
    ),
    ({"Content-Security-Policy": "default-src 'self'; frame-ancestors *"}, ["framing-allowed"]),
    ({"Content-Security-Policy": "default-src 'self'; frame-ancestors 'self' HTTPS:"}, ["framing-allowed"]),
    ({"Content-Security-Policy": "default-src 'self'; frame-ancestors https://*"}, ["framing-allowed"]),
    ({"Content-Security-Policy": "default-src 'self'; frame-ancestors https://*.example.com"}, []),
    ({"Content-Security-Policy": "default-src 'self'; frame-ancestors"}, []),
    (
        {"Content-Security-Policy": "default-src 'self'; frame-ancestors *", "X-Frame-Options": "DENY"},
        ["framing-allowed"],  # browsers that know frame-ancestors ignore the other
    ),
    ({"Content-Security-Policy": "default-src 'self'; frame-ancestors *, frame-ancestors 'self'"}, []),
    ({"X-Content-Type-Options": "sniff"}, ["nosniff-missing"]),
    ({"Referrer-Policy": "unsafe-url"}, ["referrer-policy-weak"]),
    ({"Referrer-Policy": "unsafe-url, same-origin"}, []),
    ({"Server": "Apache/2.4.1"}, ["version-shown"]),
    ({"X-Powered-By": "PHP/8.1"}, ["version-shown"]),
    ({"X-AspNet-Version": "4.0"}, ["version-shown"]),
    (
        {"Access-Control-Allow-Origin": "null", "Access-Control-Allow-Credentials": "true"},
        ["any-origin-with-credentials"],
    ),
    ({"Access-Control-Allow-Origin": "*"}, []),
]


@pytest.mark.parametrize(("headers", "rules"), CASES, ids=str)
def test_a_header(headers, rules):
    assert rules_of(GOOD | headers) == rules


COOKIES = [
    ("id=1; HttpOnly; SameSite=Lax", ["cookie-without-secure"]),
    ("id=1; Secure; SameSite=Lax", ["cookie-without-httponly"]),
    ("id=1; secure; httponly", ["cookie-without-samesite"]),
    (
        "secure=httponly; Path=/",
        ["cookie-without-secure", "cookie-without-httponly", "cookie-without-samesite"],
    ),
]


@pytest.mark.parametrize(("cookie", "rules"), COOKIES)
def test_a_cookie(cookie, rules):
    assert rules_of([*GOOD.items(), ("Set-Cookie", cookie)]) == rules


def test_each_cookie_is_a_finding_of_its_own_and_its_value_is_not_shown():
    cookies = [
        ("Set-Cookie", "a=secret-value; Secure; HttpOnly"),
        ("Set-Cookie", "b=secret-value; Secure; HttpOnly"),
    ]
    problems = list(check_page(fetched([*GOOD.items(), *cookies])))
    assert [(problem.rule, problem.matcher) for problem in problems] == [
        ("cookie-without-samesite", "a"),
        ("cookie-without-samesite", "b"),
    ]
    assert "secret-value" not in str(problems)


NAMES = [
    ("sessionid=secret-value; Path=/", 'The cookie "sessionid" has no Secure.'),
    ("a\r\n Set-Cookie: b=secret-value", 'The cookie "a Set-Cookie: b" has no Secure.'),
    (f"{'n' * 300}=secret-value", f'The cookie "{"n" * 100}" has no Secure.'),
    ("secret-value; Path=/", "A cookie without a name has no Secure."),
    ("=secret-value", "A cookie without a name has no Secure."),
]


@pytest.mark.parametrize(("cookie", "evidence"), NAMES, ids=itertools.count())
def test_the_stored_evidence_names_the_cookie(cookie, evidence):
    found, *_ = check_page(fetched([*GOOD.items(), ("Set-Cookie", cookie)]))
    report = BytesIO("\n".join(map(json.dumps, lines_of("essentials", "Essentials", URL, [found]))).encode())
    assert [row.evidence for row in finding_lines.read(report) if isinstance(row, ReportedFinding)] == [
        evidence
    ]


PAGES = [
    ('<img src="http://shop.example.com/a.png">', ["mixed-content"]),
    ("<img src='HTTP://shop.example.com/a.png'>", ["mixed-content"]),
    ('<script src="HTTPS://cdn.example.net/x.js"></script>', ["script-without-integrity"]),
    ('<link rel="stylesheet" href="http://shop.example.com/a.css">', ["mixed-content"]),
    ('<link rel="canonical" href="http://shop.example.com/">', []),
    ('<a href="http://other.example.net/">elsewhere</a>', []),
    ('<script src="//cdn.example.net/x.js"></script>', ["script-without-integrity"]),
    ('<script src="https://static.example.com/x.js"></script>', []),
    ("<title>Index of /backup</title>", ["directory-listing"]),
    ('<img src="http://[broken">', []),
    ('<![x]><![ <p><img src="http://shop.example.com/a.png">', ["mixed-content"]),
    (f'&#{"1" * 5_000};<img src="http://shop.example.com/a.png">', ["mixed-content"]),
]


@pytest.mark.parametrize(("body", "rules"), PAGES)
def test_a_page(body, rules):
    assert rules_of(GOOD, body.encode()) == rules


def test_the_evidence_of_framing_is_the_header_that_allows_it():
    def evidence(headers):
        problems = check_page(fetched(GOOD | {"Content-Security-Policy": "default-src 'self'"} | headers))
        return [problem.evidence for problem in problems]

    policy = {"Content-Security-Policy": "default-src 'self'; frame-ancestors *"}
    assert evidence(policy) == ["Content-Security-Policy: default-src 'self'; frame-ancestors *"]
    assert evidence({"X-Frame-Options": "ALLOWALL"}) == ["X-Frame-Options: ALLOWALL"]
    assert evidence({}) == ["Neither frame-ancestors nor X-Frame-Options"]


def test_http_must_lead_to_https():
    plain = "http://shop.example.com/"
    assert [problem.rule for problem in check_plain(fetched(urls=[plain]))] == ["https-not-enforced"]
    assert list(check_plain(fetched(urls=[plain, URL]))) == []


TEXTS = [
    (200, b"Contact: mailto:a@example.com\nExpires: 2027-01-01T00:00:00Z\n", []),
    (200, b"Contact: mailto:a@example.com\n", []),
    (200, b"Contact: mailto:a@example.com\nExpires: 2026-01-01T00:00:00Z\n", ["security-txt-expired"]),
    (200, b"<html>Not found</html>", ["security-txt-missing"]),
    (404, b"", ["security-txt-missing"]),
]


@pytest.mark.parametrize(("status", "body", "rules"), TEXTS)
def test_security_txt(status, body, rules):
    assert [problem.rule for problem in check_security_txt(fetched(body=body, status=status), NOW)] == rules


def test_every_rule_has_its_texts():
    for name, rule in RULES.items():
        assert rule.severity in {"high", "medium", "low", "info"}, name
        assert all(text.endswith(".") and len(text) < 200 for text in (rule.description, rule.remediation)), (
            name
        )
    assert len(RULES) >= 25
