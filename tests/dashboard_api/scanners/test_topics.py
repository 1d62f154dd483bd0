"""The table of topics: complete where several scanners report the same, and free of mistakes."""

import re
from collections import Counter

import pytest

from dashboard_api.crawler.essentials.rules import RULES
from dashboard_api.limits import MAX_PROBLEM_ID_LENGTH
from dashboard_api.models.problems import KEY_LENGTH
from dashboard_api.scanners.nikto.problems import TEXTS
from dashboard_api.scanners.observatory import _TESTS
from dashboard_api.scanners.sslyze.checks import _TEXTS as SSLYZE
from dashboard_api.scanners.sslyze.checks import CHECKS, OF_ALL_SUITES
from dashboard_api.scanners.testssl.findings import TEXTS as TESTSSL
from dashboard_api.scanners.topics import TOPICS


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
    assert rules_of("essentials") | rules_of("dns") <= set(RULES)
    assert rules_of("nikto") <= set(TEXTS) | headers


@pytest.mark.parametrize(
    ("rule", "sslyze", "nikto"),
    [
        ("tls-1-0-offered", "tls_1_0", ""),
        ("tls-1-1-offered", "tls_1_1", ""),
        ("hsts-missing", "http_headers", "missing-strict-transport-security"),
        ("hsts-missing", "", "hsts-off"),
        ("csp-missing", "", "missing-content-security-policy"),
        ("framing-allowed", "", "missing-x-frame-options"),
        ("framing-allowed", "", "frames-allowed"),
        ("nosniff-missing", "", "missing-x-content-type-options"),
        ("referrer-policy-weak", "", "missing-referrer-policy"),
        ("cookie-without-secure", "", "cookie-without-secure"),
        ("cookie-without-httponly", "", "cookie-without-httponly"),
        ("directory-listing", "", "directory-listing"),
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


def test_every_source_is_one_that_a_reader_names():
    sources = {source for topic in TOPICS.values() for source in topic.rules}
    assert sources == {
        "essentials",
        "dns",
        "invicti",
        "burp",
        "qualys-was",
        "zap",
        "wpscan",
        "nessus",
        "acunetix",
        "testssl",
        "sslyze",
        "mdn-observatory",
        "wapiti",
        "nikto",
        "nuclei",
    }


def test_a_file_with_passwords_is_one_problem_of_several_scanners():
    assert TOPICS["passwords-exposed"].rules.keys() == {"zap", "wpscan", "nikto", "nuclei"}
