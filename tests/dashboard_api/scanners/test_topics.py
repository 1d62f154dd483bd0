"""The table of topics: complete where several scanners report the same, and free of mistakes."""

import json
import re
from collections import Counter

import pytest

from dashboard_api import limits
from dashboard_api.crawler.essentials.rules import RULES
from dashboard_api.models.problems import KEY_LENGTH, problem_key
from dashboard_api.reading.topics import topic_of
from dashboard_api.scanners import READERS, greenbone, nikto, nuclei, wapiti
from dashboard_api.scanners.nikto.problems import TEXTS
from dashboard_api.scanners.observatory import _TESTS
from dashboard_api.scanners.sslyze.checks import _TEXTS as SSLYZE
from dashboard_api.scanners.sslyze.checks import CHECKS, OF_ALL_SUITES
from dashboard_api.scanners.testssl.findings import TEXTS as TESTSSL
from dashboard_api.scanners.topics import TOPICS
from dashboard_api.scanners.wpscan.findings import TEXTS as WPSCAN
from signed_api.limits import MAX_PROBLEM_ID_LENGTH
from tests.dashboard_api.scanners.samples import (
    FORMATS,
    json_lines,
    make_greenbone,
    make_greenbone_result,
    make_item,
    make_nikto,
    make_row,
    make_wapiti,
    make_wapiti_entry,
    read_whole,
)


def rules_of(source):
    return {rule for topic in TOPICS.values() for rule in topic.rules.get(source, ())}


def test_a_rule_belongs_to_one_topic():
    rules = Counter(
        (source, rule) for topic in TOPICS.values() for source, own in topic.rules.items() for rule in own
    )
    assert [rule for rule, count in rules.items() if count > 1] == []
    assert len(rules) >= 150


def test_every_topic_has_a_fix_in_one_line():
    for topic in TOPICS.values():
        assert topic.fix.endswith(".")
        assert 20 < len(topic.fix) <= 120
        assert "\n" not in topic.fix


def test_ids_are_words_and_never_keys():
    for name in TOPICS:
        assert re.fullmatch(r"[a-z][a-z0-9-]+", name)
        assert len(name) <= MAX_PROBLEM_ID_LENGTH
        assert not re.fullmatch(rf"[0-9a-f]{{{KEY_LENGTH}}}", name)


def test_rules_are_those_that_the_readers_know():
    assert rules_of("sslyze") <= {name for checks in CHECKS.values() for name in checks} | set(OF_ALL_SUITES)
    assert rules_of("mdn-observatory") <= set(_TESTS)
    assert rules_of("testssl") <= set(TESTSSL)
    headers = {f"missing-header/{text.header.lower()}" for text in TEXTS.values() if text.header}
    assert set().union(*map(rules_of, limits.OWN_SOURCES)) <= set(RULES)
    assert rules_of("nikto") <= set(TEXTS) | headers


@pytest.mark.parametrize(
    ("rule", "sslyze", "nikto"),
    [
        ("tls-1-0-offered", "tls_1_0", ""),
        ("tls-1-1-offered", "tls_1_1", ""),
        ("hsts-missing", "http_headers", "missing-strict-transport-security"),
        ("hsts-missing", "", "hsts-off"),
        ("hsts-off", "", "hsts-off"),
        ("csp-missing", "", "missing-content-security-policy"),
        ("framing-allowed", "", "missing-x-frame-options"),
        ("framing-allowed", "", "frames-allowed"),
        ("nosniff-missing", "", "missing-x-content-type-options"),
        ("referrer-policy-weak", "", "missing-referrer-policy"),
        ("cookie-without-secure", "", "cookie-without-secure"),
        ("cookie-without-httponly", "", "cookie-without-httponly"),
        ("directory-listing", "", "directory-listing"),
        ("repository-exposed", "", "repository"),
        ("credentials-exposed", "", "credentials-file"),
        ("server-details-exposed", "", "phpinfo"),
        ("certificate-other-name", "certificate_trust", "certificate-name"),
        ("certificate-not-trusted", "certificate_trust", ""),
        ("certificate-expired", "expired", ""),
        ("certificate-expires-soon", "expires_soon", ""),
        ("certificate-weak-key", "certificate_key", ""),
    ],
)
def test_one_problem_has_one_severity_where_the_scanner_rates_nothing(rule, sslyze, nikto):
    found = {RULES[rule].severity}
    found |= {SSLYZE[sslyze].severity.name.lower()} if sslyze else set()
    found |= {TEXTS[nikto].severity.name.lower()} if nikto else set()
    assert len(found) == 1


@pytest.mark.parametrize(
    ("oid", "topic"),
    [
        ("105879", "strict-transport-security"),
        ("105925", "cookie-without-httponly"),
        ("902661", "cookie-without-secure"),
        ("108440", "password-not-encrypted"),
        ("103955", "certificate-expired"),
        ("111012", "ssl-offered"),
        ("103440", "weak-cipher-suites"),
    ],
)
def test_greenbone_reports_the_problems_of_other_scanners(oid, topic):
    data = make_greenbone(make_greenbone_result(nvt_oid=f"1.3.6.1.4.1.25623.1.0.{oid}"))
    (finding,) = read_whole(greenbone, data).findings
    assert topic_of(problem_key("greenbone", finding.rule, finding.title)) == topic


def test_a_copy_of_a_file_with_passwords_has_one_severity():
    assert TEXTS["credentials-file"].severity is WPSCAN["config_backup"].severity


def test_every_source_is_one_that_a_reader_names():
    with_topics = [name for name, entry in FORMATS.items() if entry.has_topics]
    named = {read_whole(READERS[name], FORMATS[name].sample).source for name in with_topics}
    assert {source for topic in TOPICS.values() for source in topic.rules} == named | limits.OWN_SOURCES


def test_a_file_with_passwords_is_one_problem_of_several_scanners():
    assert TOPICS["passwords-exposed"].rules.keys() == {"zap", "wpscan", "nikto", "nuclei", "exposed-files"}


def topic_in(reader, data):
    report = read_whole(reader, data)
    (finding,) = report.findings
    return topic_of(problem_key(report.source, finding.rule, finding.title))


@pytest.mark.parametrize(
    ("header", "topic"),
    [
        ("strict-transport-security", "strict-transport-security"),
        ("content-security-policy", "content-security-policy"),
        ("x-frame-options", "clickjacking"),
        ("x-content-type-options", "content-type-options"),
        ("referrer-policy", "referrer-policy"),
        ("permissions-policy", "permissions-policy"),
        ("clear-site-data", None),
    ],
)
def test_each_header_that_nuclei_misses_is_a_problem_of_its_own(header, topic):
    row = make_row(template_id="http-missing-security-headers", matcher_name=header)
    assert topic_in(nuclei, json_lines(row)) == topic


def test_headers_without_a_topic_are_different_problems_of_nuclei():
    headers = ["clear-site-data", "cross-origin-opener-policy", None]
    rows = [make_row(template_id="http-missing-security-headers", matcher_name=each) for each in headers]
    report = read_whole(nuclei, json_lines(*rows, make_row(matcher_name="nginx")))
    assert [finding.rule for finding in report.findings] == [
        "http-missing-security-headers/clear-site-data",
        "http-missing-security-headers/cross-origin-opener-policy",
        "http-missing-security-headers",
        "exposed-panel",
    ]


@pytest.mark.parametrize(
    ("template", "topic"),
    [
        ("cookies-without-secure", "cookie-without-secure"),
        ("cookies-without-httponly", "cookie-without-httponly"),
        ("missing-cookie-samesite-strict", "cookie-without-samesite"),
        ("weak-csp-detect", "content-security-policy"),
    ],
)
def test_templates_of_nuclei_are_of_the_topics_of_other_scanners(template, topic):
    assert topic_in(nuclei, json_lines(make_row(template_id=template))) == topic


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("Cookie sid created without the secure flag.", "cookie-without-secure"),
        ("Cookie cart created without the httponly flag.", "cookie-without-httponly"),
        ("IP address found in the 'location' header. The IP is 10.0.0.7.", "internal-address"),
        ("Retrieved x-powered-by header: PHP/8.1.", "server-version"),
        (
            ".git/config: Git config file found. Infos about repo details may be present.",
            "repository-exposed",
        ),
    ],
)
def test_what_nikto_finds_has_a_topic_whatever_cookie_header_or_file_it_is_about(message, topic):
    data = json.dumps(make_nikto(make_item(msg=message, url="/"))).encode()
    assert topic_in(nikto, data) == topic


@pytest.mark.parametrize(
    ("category", "info", "topic"),
    [
        ("Unencrypted Channels", "HTTPS is not enforced", "https-not-enforced"),
        ("Cleartext Submission of Password", "A form at /login", "password-not-encrypted"),
        ("HTTP Secure Headers", "X-Frame-Options is not set", "clickjacking"),
        ("HTTP Secure Headers", "X-Content-Type-Options is not set", "content-type-options"),
        ("HTTP Secure Headers", "Strict-Transport-Security is not set", "strict-transport-security"),
        ("HTTP Secure Headers", "X-XSS-Protection is not set", None),
        ("HTTP Secure Headers", "", None),
    ],
)
def test_categories_of_wapiti_are_of_the_topics_of_other_scanners(category, info, topic):
    document = make_wapiti(make_wapiti_entry(info=info), category=category)
    assert topic_in(wapiti, json.dumps(document).encode()) == topic


@pytest.mark.parametrize(
    ("source", "rule", "topic"),
    [
        ("burp", "3145984", "password-not-encrypted"),
        ("burp", "16777728", "https-not-enforced"),
        ("acunetix", "Unencrypted connection (verified)", "https-not-enforced"),
        ("qualys-was", "150053", "password-not-encrypted"),
        ("wpscan", "interesting/headers", "server-version"),
    ],
)
def test_what_is_sent_without_encryption_or_shows_the_server_has_a_topic(source, rule, topic):
    assert topic_of(problem_key(source, rule, "")) == topic
