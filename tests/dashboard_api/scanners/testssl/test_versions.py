"""Reports of testssl.sh 3.1 and later, whose problems are those of 3.0 under other ids."""

import json

import pytest

from dashboard_api.scanners import testssl
from dashboard_api.scanners.report import Severity
from dashboard_api.scanners.testssl.findings import TEXTS, text_on
from tests.dashboard_api.scanners.samples import make_entry, read_whole

SUITE = "{} {} {} RSA AES 128 {}"


def entries(*rows):
    return [make_entry(id=name, severity=word, finding=result) for name, word, result in rows]


def read(*rows):
    return read_whole(testssl, json.dumps(entries(*rows)).encode())


def suite(protocol, number, word, name="AES128-SHA"):
    return f"cipher-{protocol}_x{number}", word, SUITE.format(protocol, number, name, f"TLS_{name}")


# One server, as version 3.0.8 and as 3.2 report it.
BOTH = [
    ("TLS1", "LOW", "offered (deprecated)"),
    ("cipherlist_EXPORT", "CRITICAL", "offered"),
    ("cert_trust", "HIGH", "certificate does not match supplied URI"),
    ("cert_expirationStatus", "HIGH", "expires < 30 days (9)"),
    ("cert_notAfter", "HIGH", "2026-11-30 08:56"),
    ("LUCKY13", "LOW", "potentially vulnerable, uses TLS CBC ciphers"),
]
BY_3_0 = [
    *BOTH,
    ("cipherlist_AVERAGE", "LOW", "offered"),
    ("cipher_order", "HIGH", "NOT a cipher order configured"),
    ("protocol_negotiated", "LOW", "Default protocol TLS1.1"),
    ("cipher_negotiated", "LOW", "AES128-SHA (cbc)"),
    ("PFS", "MEDIUM", "No ciphers supporting (P)FS offered"),
    ("PFS_ECDHE_curves", "LOW", "secp160r1"),
    ("cert_validityPeriod", "MEDIUM", "900 > 825 days"),
]
BY_3_2 = [
    *BOTH,
    ("cipherlist_OBSOLETED", "LOW", "offered"),
    ("cipher_order-tls1", "HIGH", "NOT a cipher order configured"),
    ("cipher_order-tls1_2", "HIGH", "NOT a cipher order configured"),
    ("cipher_order", "HIGH", "NOT a cipher order configured"),
    *(suite("tls1", f"c0{number}", "CRITICAL", f"EXP-{number}") for number in range(10, 16)),
    *(suite("tls1_2", f"c0{number}", "LOW", f"AES-{number}") for number in range(10, 30)),
    suite("tls1_2", "c02f", "OK", "ECDHE-RSA-AES128-GCM-SHA256"),
    ("FS", "MEDIUM", "No ciphers supporting Forward Secrecy (FS) offered"),
    ("FS_ECDHE_curves", "LOW", "secp160r1"),
    ("cert_extlifeSpan", "MEDIUM", "certificate life span > 825 days"),
    ("final_score", "INFO", "0"),
    ("overall_grade", "CRITICAL", "F"),
    ("grade_cap_reason_1", "INFO", "Grade capped to F. Export suites"),
]


def test_a_newer_version_finds_the_same_problems_and_adds_only_the_suites_of_current_protocols():
    old, new = read(*BY_3_0), read(*BY_3_2)
    assert {each.identity for each in new.findings} - {each.identity for each in old.findings} == {
        ("cipher-tls1_2",)
    }
    assert {each.identity for each in old.findings} <= {each.identity for each in new.findings}
    assert (len(old.findings), len(new.findings)) == (10, 11)
    severities = {each.identity: each.severity for each in new.findings}
    assert {each.identity: each.severity for each in old.findings}.items() <= severities.items()


def test_every_row_is_counted_once():
    report = read(*BY_3_2)
    assert report.rows == len(BY_3_2) == len(report.findings) + len(report.coverage)


@pytest.mark.parametrize(
    ("words", "severity"),
    [
        (["CRITICAL", "LOW"], Severity.HIGH),
        (["HIGH", "LOW"], Severity.HIGH),
        (["LOW", "MEDIUM"], Severity.MEDIUM),
        (["LOW", "OK"], Severity.LOW),
    ],
)
def test_suites_of_a_current_protocol_are_one_finding_as_bad_as_the_weakest_but_not_critical(words, severity):
    (finding,) = read(*(suite("tls1_2", f"c0{n}", word, f"S{n}") for n, word in enumerate(words))).findings
    assert (finding.identity, finding.severity) == (("cipher-tls1_2",), severity)
    assert finding.title == "Weak cipher suites with TLS 1.2"
    assert finding.remediation


@pytest.mark.parametrize(
    ("protocol", "rule", "severity", "title"),
    [
        ("ssl2", "SSLv2", Severity.CRITICAL, "SSL 2: offered"),
        ("ssl3", "SSLv3", Severity.HIGH, "SSL 3: offered"),
        ("tls1", "TLS1", Severity.LOW, "TLS 1.0: offered"),
        ("tls1_1", "TLS1_1", Severity.LOW, "TLS 1.1: offered"),
    ],
)
def test_suites_of_an_obsolete_protocol_are_part_of_its_finding(protocol, rule, severity, title):
    (finding,) = read(suite(protocol, "0a", "CRITICAL"), suite(protocol, "0b", "LOW")).findings
    assert (finding.rule, finding.severity, finding.title) == (rule, severity, title)


def test_suites_are_evidence_the_weakest_first_and_each_once():
    weak, weaker = suite("tls1_2", "2f", "LOW", "AES128-SHA"), suite("tls1_2", "04", "HIGH", "RC4-MD5")
    (finding,) = read(weak, weaker, weak).findings
    assert finding.evidence.endswith(
        "Result:\nHigh: tls1_2 04 RC4-MD5 RSA AES 128 TLS_RC4-MD5\n"
        "Low: tls1_2 2f AES128-SHA RSA AES 128 TLS_AES128-SHA"
    )


def test_protocol_keeps_its_title_and_severity_next_to_its_suites():
    (finding,) = read(suite("tls1", "c014", "HIGH"), ("TLS1", "LOW", "offered (deprecated)")).findings
    assert (finding.title, finding.severity) == ("TLS 1.0: offered (deprecated)", Severity.LOW)
    assert "Result:\nTLS1: offered (deprecated)\nHigh: tls1 c014" in finding.evidence


def test_suites_without_a_protocol_are_one_finding():
    (finding,) = read(("cipher_xc014", "LOW", "xc014 A"), ("cipher_x05", "HIGH", "x05 B")).findings
    assert (finding.identity, finding.title) == (("cipher_suites",), "Weak cipher suites")


@pytest.mark.parametrize("word", ["CRITICAL", "MEDIUM", "INFO", "WARN"])
@pytest.mark.parametrize(
    "name",
    [
        "overall_grade",
        "final_score",
        "grade_cap_reason_2",
        "grade_cap_warning_1",
        "rating_spec",
        "cipher_strength_score_weighted",
    ],
)
def test_the_grade_is_no_finding_and_no_failed_check(name, word):
    report = read((name, word, "F"))
    assert report.findings == ()
    assert [check.error for check in report.coverage] == [""]


def test_expiry_is_one_finding_with_both_results():
    report = read(*BOTH[3:5])
    (finding,) = report.findings
    assert finding.identity == ("cert_expirationStatus",)
    assert finding.title == "The certificate expires soon"
    assert finding.evidence.endswith(
        "Result:\ncert_expirationStatus: expires < 30 days (9)\ncert_notAfter: 2026-11-30 08:56"
    )
    assert len(report.coverage) == 1
    (over,) = read(("cert_expirationStatus", "CRITICAL", "expired")).findings
    assert over.title == "The certificate has expired"


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("cert_trust <hostCert#2>_wildcard", "cert_trust_wildcard"),
        ("intermediate_cert_notAfter <#1> <hostCert#2>", "intermediate_cert_expiration"),
        ("clientAuth_CA_list #3", "clientAuth_CA_list"),
    ],
)
def test_number_of_a_certificate_is_no_part_of_the_rule_wherever_it_is_written(name, rule):
    assert read((name, "LOW", "x")).findings[0].rule == rule


def test_key_whose_size_is_unknown_is_a_failed_check():
    report = read(("cert_keySize", "cannot be determined", ""))
    assert [check.error for check in report.coverage] == ["cert_keySize: cannot be determined"]


def test_what_is_never_rated_is_no_failed_check():
    report = read(("TLS1_2", "OK", "offered"), ("QUIC", "WARN", "not tested due to lack of local support"))
    assert [check.error for check in report.coverage] == ["", ""]


@pytest.mark.parametrize("check", TEXTS)
def test_every_check_has_a_title_a_description_and_a_remediation(check):
    text = text_on(check)
    assert text.title
    assert text.description.endswith(".")
    assert text.remediation.endswith(".")


def test_header_that_is_sent_several_times_is_named():
    assert text_on("X-Frame-Options_multiple").title == "Several X-Frame-Options headers"
    assert text_on("HSTS_multiple").title == "Several Strict-Transport-Security headers"


@pytest.mark.parametrize(
    ("row", "rules"),
    [
        (("cipherlist_OBSOLETED", "INFO", "not offered"), ("cipherlist_AVERAGE",)),
        (("cert_notAfter", "OK", "2027-01-01"), ("cert_expirationStatus",)),
        (("cipher-tls1_2_xc030", "OK", "x"), ("cipher-tls1_2",)),
        (("cipher-tls1_2_xc030", "INFO", "x"), ()),
        (("TLS1_2", "OK", "offered"), ("TLS1_2",)),
        (("TLS1_2", "INFO", "not offered"), ("TLS1_2", "cipher-tls1_2")),
        (("overall_grade", "OK", "A"), ()),
        (("RC4", "WARN", "not supported"), ("RC4",)),
    ],
)
def test_row_without_a_problem_names_the_rules_that_it_checked(row, rules):
    assert [check.rules for check in read(row, ("TLS1_1", "LOW", "offered")).coverage] == [rules]


@pytest.mark.parametrize(
    ("row", "rules", "others"),
    [
        (
            ("HTTP_status_code", "INFO", "200 OK ('/')"),
            {"security_headers", "insecure_redirect", "ipv4_in_header", "X-Frame-Options"},
            {"cookie_bigip_f5", "HSTS"},
        ),
        (
            ("HTTP_status_code", "WARN", "HTTP header request failed"),
            {"HTTP_status_code"},
            {"security_headers"},
        ),
        (("cookie_count", "INFO", "0 at '/'"), {"cookie_bigip_f5"}, {"security_headers"}),
        (
            ("HSTS_subdomains", "INFO", "only for this domain"),
            {"HSTS"},
            {"security_headers", "HSTS_time"},
        ),
        (
            ("cookie_count", "INFO", "0 at '/' (30x detected, better try target URL of 30x)"),
            set(),
            {"cookie_bigip_f5"},
        ),
        (("PFS_ciphers", "INFO", "TLS_AES_256_GCM_SHA384 ECDHE-RSA-AES256-GCM-SHA384"), {"DH_groups"}, set()),
        (
            ("FS_ciphers", "INFO", "ECDHE-RSA-AES256-GCM-SHA384 DHE-RSA-AES256-SHA"),
            {"PFS_ciphers"},
            {"DH_groups"},
        ),
        (("FS_ciphers", "INFO", "TLS_ECDHE_RSA_WITH_X TLS_DHE_RSA_WITH_Y"), {"PFS_ciphers"}, {"DH_groups"}),
        (("FS_ciphers", "INFO", ""), {"PFS_ciphers"}, {"DH_groups"}),
    ],
)
def test_row_that_is_written_only_with_its_problem_is_checked_where_others_show_it(row, rules, others):
    (check,) = read(row, ("TLS1_1", "LOW", "offered")).coverage
    assert rules <= set(check.rules)
    assert others.isdisjoint(check.rules)
