"""Each rule of a response is found where it applies, and not where the website does it right."""

import itertools
import json
from datetime import UTC, datetime
from io import BytesIO

import pytest
from urllib3 import HTTPHeaderDict

from dashboard_api.crawler.essentials.domain_rules import OF_DOMAIN
from dashboard_api.crawler.essentials.lines import lines_of
from dashboard_api.crawler.essentials.page import (
    Problem,
    Skipped,
    Unread,
    check_headers,
    check_origins,
    check_page,
    check_plain,
    check_security_txt,
    check_way,
)
from dashboard_api.crawler.essentials.rules import RULES
from dashboard_api.crawler.essentials.scripts.report import OF_HOSTS, OF_LIBRARIES, OF_PINS
from dashboard_api.scanners import finding_lines
from dashboard_api.scanners.report import ReportedFinding
from foundation.outbound.fetch import Fetched, Hop
from tests.dashboard_api.crawler.essentials.good_website import HEADERS, MISSING

NOW = datetime(2026, 11, 23, tzinfo=UTC)
URL = "https://shop.example.com/"
GOOD = {"Content-Type": "text/html; charset=utf-8", "Server": "nginx", **HEADERS}
POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; script-src "


OF_THE_MARKUP = [
    *("directory-listing", "mixed-content", "script-without-integrity"),
    *("form-to-http", "password-by-http", "https-leads-to-http", "referrer-policy-weak"),
    "platform-end-of-life",
]


def fetched(headers=(), body=b"<p>", *, status=200, urls=(URL,), is_whole=True):
    headers = HTTPHeaderDict(headers)
    hops = tuple(Hop(url, ("192.0.2.10",), headers) for url in urls)
    return Fetched(status=status, headers=headers, body=body, is_whole=is_whole, hops=hops)


def rules_of(*args, **kwargs):
    return [problem.rule for problem in check_page(fetched(*args, **kwargs))]


def test_a_website_that_does_everything_right_has_no_problem():
    body = (
        b'<script src="/own.js"></script>'
        b'<script src="https://cdn.example.net/x.js" integrity="sha384-x"></script>'
    )
    cookie = [("Set-Cookie", "id=1; Secure; HttpOnly; SameSite=Lax")]
    assert rules_of([*GOOD.items(), *cookie], body) == []


def test_a_bare_response_lacks_every_header():
    assert rules_of() == ["hsts-missing", *MISSING]


CASES = [
    ({"Strict-Transport-Security": "max-age=86400"}, ["hsts-short"]),
    *(
        ({"Strict-Transport-Security": value}, ["hsts-off"])
        for value in (
            "includeSubDomains",
            "",
            "max-age=0",
            "max-age",
            'max-age=""',
            "x-max-age=31536000",
            "max-age=31536000; max-age=1",
            "max-age=31536000; include SubDomains",
            "max-age=31536000; includeSubDomains=1",
            "max-age=31536000; includeSubDomains; IncludeSubdomains",
            "max-age=31536000, max-age=31536000",
            "max-age=1y",
            "max-age=-1",
            '"max-age=31536000"',
        )
    ),
    *(
        ({"Strict-Transport-Security": value}, [])
        for value in (
            'max-age="31536000"',
            "MAX-AGE = 31536000 ; ; preload; preload; x=y",
            "max-age=9999999999999999999999",
        )
    ),
    ({"Content-Security-Policy": POLICY + "'self' 'unsafe-inline'"}, ["csp-unsafe-scripts"]),
    ({"Content-Security-Policy": POLICY + "'nonce-x' 'unsafe-inline'"}, []),
    ({"Content-Security-Policy": POLICY + "'nonce-x' 'unsafe-eval'"}, ["csp-unsafe-scripts"]),
    ({"Content-Security-Policy": POLICY + "https:"}, ["csp-unsafe-scripts"]),
    ({"Content-Security-Policy": POLICY + "'nonce-x' 'strict-dynamic' https: 'unsafe-inline'"}, []),
    ({"Content-Security-Policy": "frame-ancestors 'self'"}, ["csp-unsafe-scripts"]),
    *(
        ({"Content-Security-Policy": POLICY + sources}, ["csp-unsafe-scripts"])
        for sources in (
            "'self'; script-src-elem * 'unsafe-inline'",
            "'self'; script-src-elem 'unsafe-inline'",
            "'self'; script-src-elem https:",
            "'self'; script-src-attr 'unsafe-inline'",
            "'unsafe-eval'; script-src-elem 'self'; script-src-attr 'none'",
            "'unsafe-inline'; script-src-elem 'self'",
            "https://*",
            "HTTP://*",
            "*:443",
            "https://*:*/scripts/",
            "data:",
            "'unsafe-inline' 'nonce-'",
            "'unsafe-inline' 'nonce-{{ nonce }}'",
            "'unsafe-inline' 'sha256-'",
        )
    ),
    *(
        ({"Content-Security-Policy": POLICY + sources}, [])
        for sources in (
            "'unsafe-inline'; script-src-elem 'self'; script-src-attr 'none'",
            "*; script-src-elem 'self' 'unsafe-eval'; script-src-attr 'unsafe-inline' 'nonce-x'",
            "'self'; script-src-attr *",
            "'none'",
            "https://*.example.com",
            "wss://*",
            "'self' blob:",
            "'unsafe-inline' 'nonce-aB1+/-_=='",
            "'unsafe-inline' 'sha256-aB1='",
            "'unsafe-inline' 'strict-dynamic' https://* data:",
        )
    ),
    *(
        ({"Content-Security-Policy": f"frame-ancestors 'none'; {policy}"}, ["csp-unsafe-scripts"])
        for policy in (
            "script-src 'nonce-x'",
            "default-src 'nonce-x'",
            "script-src 'sha256-aB1=' 'strict-dynamic'",
            "script-src 'nonce-x'; base-uri *",
            "script-src 'self' http://*.cloudfront.net:443",
            "script-src https://*.com",
            "script-src *.amazonaws.com",
            "script-src https://cdn.jsdelivr.net/npm/",
            "script-src s3.eu-central-1.amazonaws.com",
            "sandbox allow-scripts",
        )
    ),
    *(
        ({"Content-Security-Policy": f"frame-ancestors 'none'; {policy}"}, [])
        for policy in (
            "script-src 'nonce-x'; base-uri",
            "script-src 'nonce-x', base-uri 'self'",
            "script-src 'nonce-x' 'strict-dynamic' https://*.cloudfront.net; base-uri 'none'",
            "script-src 'self'",
            "script-src 'sha256-aB1='",
            "script-src https://d1.cloudfront.net https://*.example.com",
            "script-src https://cdn.jsdelivr.net/npm/vue@3/",
            "sandbox",
            "sandbox allow-forms; script-src *",
        )
    ),
    ({"Content-Security-Policy": "script-src-elem 'self'; frame-ancestors 'self'"}, ["csp-unsafe-scripts"]),
    (
        {"Content-Security-Policy": "default-src 'self'; script-src-elem *; frame-ancestors 'self'"},
        ["csp-unsafe-scripts"],
    ),
    ({"Content-Security-Policy": "default-src 'self'; frame-ancestors *:443"}, ["framing-allowed"]),
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
    ({"Content-Security-Policy": f"upgrade-insecure-requests, {GOOD['Content-Security-Policy']}"}, []),
    ({"Content-Security-Policy": POLICY + "'unsafe-inline', script-src 'self'"}, []),
    ({"Content-Security-Policy": POLICY + "'unsafe-inline', script-src https:"}, ["csp-unsafe-scripts"]),
    ({"Content-Security-Policy": ", ;", "X-Frame-Options": "DENY"}, ["csp-missing"]),
    ({"X-Content-Type-Options": "sniff"}, ["nosniff-missing"]),
    ({"X-Content-Type-Options": "NoSniff, nosniff"}, []),
    ({"X-Content-Type-Options": "sniff, nosniff"}, ["nosniff-missing"]),
    ({"Referrer-Policy": "unsafe-url"}, ["referrer-policy-weak"]),
    ({"Referrer-Policy": "unsafe-url, same-origin"}, []),
    ({"Referrer-Policy": "same-origin, unsafe-url, "}, ["referrer-policy-weak"]),
    ({"Referrer-Policy": "unsafe-url, a-newer-one"}, ["referrer-policy-weak"]),
    ({"Server": "Apache/2.4.1"}, ["version-shown"]),
    ({"X-Powered-By": "PHP/99.1"}, ["version-shown"]),
    ({"X-AspNet-Version": "4.0"}, ["version-shown"]),
    ({"Access-Control-Allow-Origin": "*"}, []),
]


@pytest.mark.parametrize(("headers", "rules"), CASES, ids=str)
def test_a_header(headers, rules):
    assert rules_of(GOOD | headers) == rules


def test_several_headers_with_a_policy_are_judged_together():
    policies = [("Content-Security-Policy", each) for each in ("frame-ancestors 'none'", "script-src 'self'")]
    others = [(name, value) for name, value in GOOD.items() if name != "Content-Security-Policy"]
    assert rules_of([*others, *policies]) == []


META = "<meta http-equiv='content-security-policy' content=\"%s\">"
BARE = {name: value for name, value in GOOD.items() if name != "Content-Security-Policy"}
BARE |= {"X-Frame-Options": "DENY"}
IN_THE_PAGE = [
    (META % "script-src 'self'", []),
    (META % "script-src 'unsafe-inline'", ["csp-unsafe-scripts"]),
    (META % "sandbox", ["csp-unsafe-scripts"]),
    (META % "script-src 'nonce-x'", ["csp-unsafe-scripts"]),
    (META % "script-src 'nonce-x'; base-uri 'none'", []),
    (META % "script-src 'unsafe-inline'" + META % "default-src 'self'", []),
    ("<p>" + META % "script-src 'self'", ["csp-missing"]),
    ("<noscript>" + META % "script-src 'self'", ["csp-missing"]),
    (META % "", ["csp-missing"]),
]


@pytest.mark.parametrize(("body", "rules"), IN_THE_PAGE, ids=itertools.count())
def test_a_policy_in_the_head_of_the_page_counts_for_scripts(body, rules):
    assert rules_of(BARE, body.encode()) == rules


def test_a_policy_in_the_page_does_not_count_for_frames():
    del (headers := dict(BARE))["X-Frame-Options"]
    assert rules_of(headers, (META % "default-src 'self'; frame-ancestors 'none'").encode()) == [
        "framing-allowed"
    ]


@pytest.mark.parametrize(
    ("headers", "body", "rules"),
    [
        (BARE, b"", {"csp-missing", "csp-unsafe-scripts"}),
        (BARE, b"<head><title>Shop", {"csp-missing", "csp-unsafe-scripts"}),
        (BARE | {"Content-Security-Policy": "img-src *"}, b"", {"csp-missing", "csp-unsafe-scripts"}),
        (BARE, b"<p>", set()),
        (BARE, (META % "script-src 'self'").encode(), set()),
        (GOOD, b"", set()),
    ],
    ids=itertools.count(),
)
def test_a_head_that_was_not_read_to_its_end_may_have_a_policy(headers, body, rules):
    found = list(check_page(fetched(headers, body, is_whole=False)))
    unread = {rule for each in found if isinstance(each, Unread) for rule in each.rules}
    assert unread - {*OF_THE_MARKUP} == rules
    is_missing = bool(headers == BARE and body == b"<p>")
    assert ("csp-missing" in [each.rule for each in found if isinstance(each, Problem)]) == is_missing


COOKIES = [
    ("id=1; HttpOnly; SameSite=Lax", ["cookie-without-secure"]),
    ("id=1; Secure; SameSite=Lax", ["cookie-without-httponly"]),
    ("id=1; secure; httponly", ["cookie-without-samesite"]),
    (
        "secure=httponly; Path=/",
        ["cookie-without-secure", "cookie-without-httponly", "cookie-without-samesite"],
    ),
    ("id=1; Secure; HttpOnly; SameSite", ["cookie-without-samesite"]),
    ("id=1; Secure; HttpOnly; SameSite=", ["cookie-without-samesite"]),
    ("id=1; Secure; HttpOnly; SameSite=Any", ["cookie-without-samesite"]),
    ("id=1; Secure; HttpOnly; SameSite=NONE", []),
    ("__Host-id=1; Secure; HttpOnly; SameSite=Lax", ["cookie-prefix-broken"]),
    ("__Host-id=1; Path=/a; Secure; HttpOnly; SameSite=Lax", ["cookie-prefix-broken"]),
    ("__Host-id=1; Path=/", ["cookie-prefix-broken"]),
    ("__Http-id=1; Path=/; Secure; SameSite=Lax", ["cookie-prefix-broken"]),
    ("__Host-Http-id=1; Path=/; Secure; SameSite=Lax", ["cookie-prefix-broken"]),
    ("__Http-id=1; Path=/a; Secure; HttpOnly; SameSite=Lax", []),
    ("__HOST-id=1; Path=/; Domain=example.com; Secure", ["cookie-prefix-broken"]),
    ("__Secure-id=1; HttpOnly", ["cookie-prefix-broken"]),
    ("__Host-id=1; Path=/; Domain=; Secure; HttpOnly; SameSite=Lax", []),
    ("__Secure-id=1; Path=/a; Domain=example.com; Secure; HttpOnly; SameSite=Lax", []),
    *(
        (f"{name}=1; Secure; SameSite=Lax", [])
        for name in (
            *("XSRF-TOKEN", "csrftoken", "_csrf", "__Secure-csrf", "CookieConsent", "cookie_notice_accepted"),
            *(
                "euconsent-v2",
                "lang",
                "django_language",
                "wp-wpml_current_language",
                "NEXT_LOCALE",
                "_ga_AB1",
            ),
        )
    ),
    *(
        (f"{name}=1; Secure; SameSite=Lax", ["cookie-without-httponly"])
        for name in ("PHPSESSID", "slang", "language_school_session", "cookie", "token", "_gal")
    ),
    ("XSRF-TOKEN=1; HttpOnly", ["cookie-without-secure", "cookie-without-samesite"]),
    *((line, []) for line in ("secure; httponly", "secret-value", "=secret-value", " = ;Secure", "")),
    ("id=; max-age=0; Path=/", []),
    ("id=; Max-Age=-1", []),
    ("id=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; HttpOnly", []),
    ("id=; Expires=Thu, 01-Jan-1970 00:00:00 GMT; Secure; HttpOnly", []),
    ("id=1; Max-Age=6; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; HttpOnly", ["cookie-without-samesite"]),
    ("id=1; Expires=0; Secure; HttpOnly", ["cookie-without-samesite"]),
    ("id=1; Max-Age; Secure; HttpOnly", ["cookie-without-samesite"]),
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


@pytest.mark.parametrize(
    ("header", "is_cached"),
    [
        (("Age", "30"), True),
        (("Age", "0"), False),
        (("X-Cache", "Hit from cloudfront"), True),
        (("X-Cache", "MISS, HIT"), True),
        (("CF-Cache-Status", "DYNAMIC"), False),
        (("X-LiteSpeed-Cache", "hit,private"), True),
        (("X-FastCGI-Cache", "HIT"), True),
        (("X-Cache", "TCP_MEM_HIT from a123"), True),
        (("X-Cache", "whitelisted"), False),
        (("Cache-Status", "edge; hit"), True),
        (("X-Srcache-Fetch-Status", "HIT"), True),
        (("X-Varnish", "12 11"), True),
        (("X-Varnish", "12"), False),
        (("Cache-Control", "max-age=60, stale-while-revalidate=60, stale-if-error=60"), False),
        *((("X-Cache-Status", each), True) for each in ("STALE", "UPDATING", "Revalidated")),
        (("X-Vercel-Cache", "PRERENDER"), True),
        (("Cache-Status", "edge; fwd=stale"), True),
        (("X-Cache-Status", "EXPIRED"), False),
        (("X-Cache-Hits", "0, 3"), True),
        (("X-Cache-Hits", "0, 0"), False),
        (("X-Cache-Hit", "TRUE"), True),
        (("X-Cache-Hit", "FALSE"), False),
        (("Server-Timing", "cdn-cache; desc=HIT, edge; dur=1"), True),
        (("Server-Timing", "cdn-cache; desc=MISS, db; desc=hit"), False),
    ],
)
def test_a_response_from_a_cache_says_nothing_about_cookies_that_it_lacks(header, is_cached):
    page = fetched([header, ("Set-Cookie", "id=1; Secure; HttpOnly")])
    found = list(check_headers(page.hops))
    assert [each.rule for each in found if isinstance(each, Problem)] == ["cookie-without-samesite"]
    cookies = [f"cookie-without-{name}" for name in ("secure", "httponly", "samesite")]
    cookies.append("cookie-prefix-broken")
    assert [[*each.rules] for each in found if isinstance(each, Skipped)] == [cookies] * is_cached


CHANGING = [
    ("ASPSESSIONIDAABBCCDD", "ASPSESSIONID"),
    ("incap_ses_1563_2214501", "incap_ses_"),
    ("mod_auth_openidc_state_wL_vwbmuw8u2LH1hGsDuPdKeZfg", "mod_auth_openidc_state_"),
    (".AspNetCore.Correlation.5GNyQuh7Z1_6Nho-B_syD", ".AspNetCore.Correlation."),
    (".AspNetCore.OpenIdConnect.Nonce.CfDJ8Ab", ".AspNetCore.OpenIdConnect.Nonce."),
    ("OpenIdConnect.nonce.O7kQx%2BJ3", "OpenIdConnect.nonce."),
    *((name, name) for name in ("ASPSESSIONID", "ASPSESSIONIDs", "incap_ses_a", "nlbi_2214501")),
]


@pytest.mark.parametrize(("name", "matcher"), CHANGING)
def test_a_cookie_whose_name_is_new_in_each_response_stays_one_finding(name, matcher):
    [found] = check_page(fetched([*GOOD.items(), ("Set-Cookie", f"{name}=1; Secure; HttpOnly")]))
    assert (found.matcher, found.evidence) == (matcher, f'The cookie "{name}" has no SameSite.')


NAMES = [
    ("sessionid=secret-value; Path=/", 'The cookie "sessionid" has no Secure.'),
    ("a\r\n Set-Cookie: b=secret-value", 'The cookie "a Set-Cookie: b" has no Secure.'),
    (f"{'n' * 300}=secret-value", f'The cookie "{"n" * 100}" has no Secure.'),
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
    ('<script src="https://shop.example.com./x.js"></script>', []),
    ('<script src="data:text/javascript;base64,d2luZG93"></script>', []),
    ('<script src="https://cdn_1.example.net/x.js"></script>', ["script-without-integrity"]),
    ('<base href="data:,"><script src="//cdn.example.net/x"></script>', ["script-without-integrity"]),
    *(
        (f'<script src="https://cdn.example.net/x.js" {each}></script>', ["script-without-integrity"])
        for each in ("integrity", 'integrity=" "', 'integrity="md5-x"', 'type="module"', "type")
    ),
    *(
        (f'<script type="{each}" src="http://cdn.example.net/x.js"></script>', [])
        for each in ("application/json", " Application/LD+JSON ", "importmap", "speculationrules")
    ),
    *(
        (f'<script type="{each}" src="http://cdn.example.net/x.js"></script>', [])
        for each in (
            "text/plain",
            "text/template",
            "text/x-handlebars",
            "text/typescript",
            "javascript/blocked",
        )
    ),
    *(
        (f'<script type="{each}" src="//cdn.example.net/x.js"></script>', ["script-without-integrity"])
        for each in ("text/javascript", " Text/JavaScript1.5 ", "application/x-ecmascript", "text/jscript")
    ),
    ('<script type="text/partytown" src="//cdn.example.net/x.js">', ["script-without-integrity"]),
    ('<script type="0a1b-text/javascript" src="//cdn.example.net/x.js">', ["script-without-integrity"]),
    *(
        (f'<script src="https://{host}/a.js"></script>', [])
        for host in ("www.googletagmanager.com", "js.stripe.com", "shop.matomo.cdn.matomo.cloud")
    ),
    ('<script src="https://xwww.googletagmanager.com/a.js"></script>', ["script-without-integrity"]),
    *(
        (body, ["directory-listing"])
        for body in (
            "<title>Index of /backup</title>",
            "<title>Directory Listing For [/]</title>",
            "<title>Directory: /</title>",
            '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
            f"<html><head><title>a - /</title></head><body><H1>a - /</H1><hr>\r\n\r\n<pre>{'<br>' * 9}",
        )
    ),
    *(
        (f"<head><title>{title}</title></head>", [])
        for title in ("Our shop - /", "Index of goods", "Directory")
    ),
    *(
        (body, ["mixed-content"])
        for body in (
            '<object data="http://shop.example.com/a"></object>',
            '<svg><image xlink:href="http://shop.example.com/a"/></svg>',
            "<p style=\"background: URL( 'http://shop.example.com/a')\">",
            '<style>@import "http://shop.example.com/a.css";</style>',
            "<style>/* a */ p { background: url(http://shop.example.com/a) }</style>",
            '<embed src="http://shop.example.com/a">',
            '<link rel="Shortcut ICON" href="http://shop.example.com/a">',
            '<link rel="preload" as="image" imagesrcset="/a 1x, http://shop.example.com/a 2x">',
            '<img srcset="/a.png 1x,http://shop.example.com/a 2x">',
            '<img srcset="/a.png, http://shop.example.com/a">',
            '<img srcset=" , http://shop.example.com/a,">',
            '<source srcset="http://shop.example.com/a">',
            '<video poster="http://shop.example.com/a"></video>',
            '<input type="IMAGE" src="http://shop.example.com/a">',
            '<body background="http://shop.example.com/a">',
        )
    ),
    *(
        (body, [])
        for body in (
            "<p style=\"background: url( 'https://shop.example.com/a')\">",
            "<style>/* url(http://shop.example.com/a) */ @namespace url(http://www.w3.org/1999/xhtml);</style>",
            "<template><style>p { background: url(http://shop.example.com/a) }</style></template>",
            f"<style>{'/*' * 200_000}</style>",
            f"<style>{'url(' * 200_000}</style>",
            f"<style>{'@namespace' * 90_000}</style>",
            '<object data="a" codebase="http://shop.example.com/"></object>',
            '<img srcset="/a,http://shop.example.com/a 2x">',  # one address
            '<img srcset="">',
            '<input type="text" src="http://shop.example.com/a">',
            '<link rel="dns-prefetch" href="http://shop.example.com/">',
            '<template><video poster="http://shop.example.com/a"></video></template>',
            f'<img srcset="{"," * 500_000}">',
        )
    ),
    ('<form action="http://a.example.net/"><input name="q"></form>', ["form-to-http"]),
    ('<form><button formaction="http://a.example.net/">A</button></form>', ["form-to-http"]),
    ('<base href="http://a.example.net/"><form action="b"></form>', ["form-to-http"]),
    ('<form action="http://a.example.net/"><input type=Password></form>', ["password-by-http"]),
    (
        '<form><input type=password><input type=submit formaction="http://a.example.net/">',
        ["password-by-http"],
    ),
    (
        '<form action="http://a.example.net/"></form><form action="/b"><input type="password"></form>',
        ["form-to-http"],
    ),
    ('<form id="f"></form><button form="f" formaction="http://a.example.net/">A</button>', ["form-to-http"]),
    ('<meta http-equiv="Refresh" content="0;URL=\'http://a.example.net/\'">', ["https-leads-to-http"]),
    ('<title>listing directory /</title><ul id="files">', ["directory-listing"]),
    ('<meta name="Referrer" content=" Always ">', ["referrer-policy-weak"]),
    *(
        (body, [])
        for body in (
            '<form method="dialog" action="http://a.example.net/"></form>',
            '<meta name="referrer" content="unsafe-url"><meta name="referrer" content="never">',
            '<meta name="referrer" content="unsafe-urls"><template><meta name="referrer" content="always">',
            '<form id="f"></form>' * 25_000 + '<button form="f" formaction="//a">A</button>' * 20_000,
            '<form id="f"></form><button form="g" formaction="http://a.example.net/">A</button>',
            '<meta http-equiv="refresh" content="60"><meta name="refresh" content="0;url=http://a.example.net/">',
            '<meta http-equiv="refresh" content="0;url=https://a.example.net/?from=http://a.example.net/">',
            META % "upgrade-insecure-requests"
            + '<meta http-equiv="refresh" content="0;url=http://a.example/">',
            "<form><input type=password></form>",
            '<form action="/a"><form action="http://a.example.net/"></form>',  # ignored in another form
            '<textarea><form action="http://a.example.net/"></textarea>',
            '<button formaction="http://a.example.net/">A</button>',
            '<form action="http://[broken"></form>',
            META % "upgrade-insecure-requests" + '<form action="http://a.example.net/"></form>',
        )
    ),
    ('<img src="http://[broken">', []),
    ('<iframe src="http://shop.example.com/a"></iframe>', ["mixed-content"]),
    ('<noscript><img src="http://shop.example.com/a.png"></noscript>', ["mixed-content"]),
    *(
        (f'<{name}><script src="https://cdn.example.net/x.js"></script></{name}>', [])
        for name in ("textarea", "template", "noscript", "iframe", "title")
    ),
    ('<textarea><img src="http://shop.example.com/a.png"></textarea>', []),
    ('<![x]><![ <p><img src="http://shop.example.com/a.png">', ["mixed-content"]),
    ('<base href="https://cdn.example.net/"><script src="x.js"></script>', ["script-without-integrity"]),
    ('<base href="/a/"><base href="https://cdn.example.net/"><script src="x.js"></script>', []),
    ('<base href="//[broken"><script src="x.js"></script>', []),
    (META % "upgrade-insecure-requests" + '<img src="http://shop.example.com/a.png">', []),
    (f'&#{"1" * 5_000};<img src="http://shop.example.com/a.png">', ["mixed-content"]),
]


@pytest.mark.parametrize(("body", "rules"), PAGES)
def test_a_page(body, rules):
    assert rules_of(GOOD, body.encode()) == rules


def test_a_website_may_load_its_own_scripts_by_its_name_in_unicode():
    body = '<script src="https://MÜNCHEN.de/a.js"></script><script src="//www.münchen.example/a.js"></script>'
    [found] = check_page(fetched(GOOD, body.encode(), urls=["https://xn--mnchen-3ya.de/"]))
    assert found.evidence == "https://www.münchen.example/a.js"


IMAGE = '<img src="http://shop.example.com/a.png">'
MIXED = f"<title>Index of /</title>{IMAGE}"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (MIXED.encode("utf-16"), "utf-8"),
        (b"\xfe\xff" + MIXED.encode("utf-16-be"), ""),
        (MIXED.encode("utf-16-le"), "; charset=UTF-16"),
        (MIXED.encode("utf-16-be"), '; charset="utf-16be"'),
        (b"\xef\xbb\xbf" + MIXED.encode(), ""),
        (MIXED.encode(), "; charset=shift_jis"),
    ],
    ids=itertools.count(),
)
def test_a_page_is_read_as_it_is_encoded(body, charset):
    headers = GOOD | {"Content-Type": f"text/html{charset}"}
    assert rules_of(headers, body) == ["directory-listing", "mixed-content"]


UNTYPED = {
    name: value for name, value in GOOD.items() if name not in ("Content-Type", "X-Content-Type-Options")
}
BEGINNINGS = [
    ("<!doctype html>", True),
    ("\n <HTML lang=en>", True),
    ("<!-- made by hand -->", True),
    ("<p>", True),
    ("<pre>", False),
    ("Hello ", False),
    ("<?xml version='1.0'?>", False),
]


@pytest.mark.parametrize(("beginning", "is_html"), BEGINNINGS)
@pytest.mark.parametrize("content_type", [None, "", "unknown/unknown", "*/*"])
def test_a_response_without_a_type_is_a_page_if_it_begins_like_one(beginning, is_html, content_type):
    headers = UNTYPED | ({} if content_type is None else {"Content-Type": content_type})
    assert ("mixed-content" in rules_of(headers, (beginning + IMAGE).encode())) is is_html


def test_a_response_without_a_type_is_no_page_with_nosniff():
    assert rules_of(UNTYPED | {"X-Content-Type-Options": "nosniff"}, f"<p>{IMAGE}".encode()) == []


def test_a_response_without_a_type_that_cannot_be_unpacked_may_be_a_page():
    bare = {name: value for name, value in BARE.items() if name in {*UNTYPED, "X-Frame-Options"}}
    found = list(check_page(fetched(bare, b"", is_whole=False)))
    assert [each.rule for each in found if isinstance(each, Problem)] == ["nosniff-missing"]
    unread = {rule for each in found if isinstance(each, Unread) for rule in each.rules}
    assert unread == {*OF_THE_MARKUP, "csp-missing", "csp-unsafe-scripts"}


def test_the_markup_of_a_page_that_cannot_be_decoded_is_not_checked():
    found = list(check_page(fetched(GOOD, MIXED.encode("utf-32-le"))))
    assert found == [Unread(URL, OF_THE_MARKUP)]


def test_a_page_by_http_has_no_mixed_content():
    urls = ["http://shop.example.com/"]
    assert rules_of(GOOD, b'<img src="http://shop.example.com/a.png">', urls=urls) == []


def test_a_password_on_a_page_by_http_is_a_problem_wherever_it_is_sent():
    body = b'<form action="https://shop.example.com/login"><input type="password"></form>'
    assert rules_of(GOOD, body, urls=["http://shop.example.com/"]) == ["password-by-http"]
    assert rules_of(GOOD, body, urls=["http://shop.dev/"]) == []  # browsers never ask by http
    assert rules_of(GOOD, b'<form action="http://a.example.net/">', urls=["http://shop.example.com/"]) == []


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("img-src *", "No directive limits scripts: script-src and default-src are missing."),
        ("script-src http:", "http: allows scripts of every website."),
        ("script-src 'self' *.cloudfront.net", "*.cloudfront.net allows scripts that anyone can publish."),
        (
            "script-src 'self' www.google.com",
            "www.google.com has libraries or replies that run injected texts as scripts.",
        ),
        ("script-src 'unsafe-inline'", "'unsafe-inline' lets injected scripts run."),
        ("script-src 'self' 'unsafe-eval'", "'unsafe-eval' lets injected texts run as scripts."),
        (
            "script-src 'nonce-x'",
            "Without base-uri, an injected base element makes trusted scripts load from another website.",
        ),
    ],
)
def test_the_evidence_of_a_weak_policy_says_why(policy, reason):
    headers = GOOD | {"Content-Security-Policy": policy, "X-Frame-Options": "DENY"}
    [found] = check_page(fetched(headers))
    assert found.evidence == f"Content-Security-Policy: {policy}\n{reason}"


def test_the_first_of_several_headers_with_hsts_counts():
    others = [each for each in GOOD.items() if each[0] != "Strict-Transport-Security"]
    values = [("Strict-Transport-Security", value) for value in ("max-age=31536000", "max-age=0")]
    assert rules_of([*others, *values]) == []
    assert rules_of([*others, *reversed(values)]) == ["hsts-off"]


@pytest.mark.parametrize(
    ("urls", "found"),
    [
        ([URL, "http://shop.example.com/"], [URL]),
        ([URL, "http://shop.example.com/", f"{URL}a"], [URL]),
        (["http://shop.example.com/", URL], []),
        ([URL, "https://www.shop.example.com/"], []),
    ],
    ids=itertools.count(),
)
def test_https_that_leads_to_http_is_a_problem(urls, found):
    problems = list(check_way(fetched(urls=urls).hops))
    assert [(each.rule, each.location) for each in problems] == [
        ("https-leads-to-http", url) for url in found
    ]


@pytest.mark.parametrize(
    ("origin", "credentials", "is_found"),
    [
        ("https://evil.example", "true", True),
        ("https://evil.example", "false", False),
        ("https://evil.example", "TRUE", False),  # browsers read it exactly
        ("https://shop.example.com", "true", False),
        ("*", "true", False),
    ],
)
def test_a_foreign_origin_that_is_allowed_with_credentials_is_a_problem(origin, credentials, is_found):
    headers = {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": credentials}
    found = list(check_origins(fetched(headers), "https://evil.example"))
    assert [each.rule for each in found] == ["any-origin-with-credentials"] * is_found


def test_a_policy_that_upgrades_requests_leaves_no_mixed_content():
    policy = f"{GOOD['Content-Security-Policy']}; upgrade-insecure-requests"
    headers = GOOD | {"Content-Security-Policy": policy}
    assert rules_of(headers, b'<img src="http://shop.example.com/a.png">') == []


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


@pytest.mark.parametrize("name", ["shop.dev", "www.shop.app", "shop.page"])
@pytest.mark.parametrize("headers", [{}, {"Strict-Transport-Security": "max-age=1"}])
def test_below_a_domain_that_browsers_ask_by_https_only_no_header_is_needed(name, headers):
    url, plain = f"https://{name}/", f"http://{name}/"
    assert not {"hsts-missing", "hsts-off", "hsts-short"} & set(rules_of(headers, urls=[url]))
    assert list(check_plain(fetched(urls=[plain]))) == []


@pytest.mark.parametrize("name", ["dev.example.com", "shop.example-dev", "shop.devs"])
def test_other_names_need_hsts(name):
    assert "hsts-missing" in rules_of(urls=[f"https://{name}/"])
    assert len(list(check_plain(fetched(urls=[f"http://{name}/"])))) == 1


TEXTS = [
    (200, b"Contact: mailto:a@example.com\nExpires: 2027-01-01T00:00:00Z\n", []),
    (200, b"Contact: mailto:a@example.com\n", []),
    (200, b"Contact: mailto:a@example.com\nExpires: 2026-01-01T00:00:00Z\n", ["security-txt-expired"]),
    (200, b"<html>Not found</html>", ["security-txt-missing"]),
    (200, b"\n<!doctype html><h2>Not found</h2>\nContact: +49 30 123456\n", ["security-txt-missing"]),
    (404, b"", ["security-txt-missing"]),
    (200, b"\xef\xbb\xbfContact: mailto:a@example.com\nExpires: 2027-01-01T00:00:00Z\n", []),
    (200, "Contact: mailto:a@example.com\n".encode("utf-16"), []),
    (200, b"Contact: mailto:a@example.com\nExpires: 2026-01-01t00:00:00z\n", ["security-txt-expired"]),
    (200, b"Contact: a\nExpires: Thu, 31 Dec 2020 18:37:07 -0800\r\n", ["security-txt-expired"]),
    (200, b"Contact: a\nExpires: Thu, 31 Dec 2099 18:37:07 -0800\n", []),
    (200, b"Contact: a\nExpires: soon\n", []),
    (200, b"Contact: a\nExpires:\n", []),
    (200, b"Contact: a\nExpires: 2025-01-01\n", ["security-txt-expired"]),
    (200, b"Contact: a\nExpires: 2025-12-31 23:59:59Z\n", ["security-txt-expired"]),
    (200, b"Contact: a\nExpires: 2025-12-31T23:59:59\n", ["security-txt-expired"]),
    (200, b"Contact: a\nExpires: Thu, 31 Dec 2020 18:37:07\n", ["security-txt-expired"]),
    (200, f"Contact: a\nExpires: {NOW:%Y-%m-%d}\n".encode(), []),
    (200, f"Contact: a\nExpires: {NOW:%Y-%m-%dT%H:%M:%S}\n".encode(), []),
    (200, b"Contact: a\nExpires: 2027-01-01 00:00:00Z\n", []),
    (200, b"Contact: a\nExpires: 9999-12-31\n", []),
    (200, b"Contact: a\nExpires: 0001-01-01\n", ["security-txt-expired"]),
]


@pytest.mark.parametrize(("status", "body", "rules"), TEXTS, ids=itertools.count())
def test_security_txt(status, body, rules):
    assert [problem.rule for problem in check_security_txt(fetched(body=body, status=status), NOW)] == rules


def test_every_rule_has_its_texts():
    for name, rule in RULES.items():
        assert rule.severity in {"critical", "high", "medium", "low", "info"}, name
        assert all(text.endswith(".") and len(text) < 200 for text in (rule.description, rule.remediation)), (
            name
        )
    assert len(RULES) >= 25


def test_without_a_page_every_rule_about_it_is_unread():
    prefixes = ("https-not-", "certificate-", "tls-", "security-txt-")
    of_scripts = {*OF_LIBRARIES, *OF_HOSTS, *OF_PINS}
    of_website = RULES.keys() - OF_DOMAIN - of_scripts
    of_the_page = {
        rule for rule in of_website if not rule.startswith(prefixes) and not rule.endswith("-exposed")
    }
    [unread] = check_page(fetched(status=404))
    assert (set(unread.rules), unread.reason) == (of_the_page, "no_page")


@pytest.mark.parametrize("body", [b"", b"\r\n"])
def test_of_an_empty_page_the_headers_are_checked_and_nothing_else(body):
    [skipped] = check_page(fetched(GOOD, body))
    of_cookies = {"cookie-without-secure", "cookie-without-httponly", "cookie-prefix-broken"}
    assert {"mixed-content", "script-without-integrity"} | of_cookies < set(skipped.rules)
    *problems, skipped = check_page(fetched(body=body))
    assert {"nosniff-missing", "hsts-missing"} <= {problem.rule for problem in problems}
    assert {"csp-missing", "csp-unsafe-scripts"} < set(skipped.rules)
