import io
import json
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import sslyze
from dashboard_api.scanners.report import Severity, UnreadableReport
from dashboard_api.scanners.sslyze.checks import CHECKS, OF_ALL_SUITES, SUITES
from tests.dashboard_api.scanners.samples import make_sslyze, read_whole, suites, whole

WHOLE = {command: {} for command in CHECKS}


def read(report=None, **results):
    return read_whole(sslyze, json.dumps(report or make_sslyze(**results)).encode())


def deployment(**members):
    leaf = {
        "not_valid_after": "2027-03-01T10:00:00Z",
        "public_key": {"algorithm": "RSAPublicKey", "key_size": 2048},
        "signature_hash_algorithm": {"name": "sha256"},
    }
    leaf_members = {name: members.pop(name) for name in list(members) if name in leaf}
    paths = [{"was_validation_successful": True, "validation_error": None}]
    whole = {
        "received_certificate_chain": [leaf | leaf_members],
        "received_chain_has_valid_order": True,
        "path_validation_results": paths,
    }
    return {"certificate_deployments": [whole | members]}


def test_report_names_its_version_and_time():
    report = read(**WHOLE)
    assert (report.source, report.source_name, report.version) == ("sslyze", "SSLyze", "6.3.1")
    assert report.scanned_at == datetime(2026, 3, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("command", "result", "severity", "rule"),
    [
        ("ssl_2_0_cipher_suites", suites("SSL_CK_RC4_128_WITH_MD5"), Severity.CRITICAL, "ssl_2_0"),
        ("ssl_3_0_cipher_suites", suites("TLS_A"), Severity.HIGH, "ssl_3_0"),
        ("tls_1_0_cipher_suites", suites("TLS_A"), Severity.MEDIUM, "tls_1_0"),
        ("tls_1_1_cipher_suites", {"is_tls_version_supported": True}, Severity.MEDIUM, "tls_1_1"),
        (
            "tls_1_2_cipher_suites",
            suites("TLS_ECDH_anon_WITH_AES_256_CBC_SHA"),
            Severity.HIGH,
            "tls_1_2_weak_suites",
        ),
        (
            "tls_1_2_cipher_suites",
            suites("TLS_RSA_WITH_3DES_EDE_CBC_SHA"),
            Severity.MEDIUM,
            "tls_1_2_weak_suites",
        ),
        ("tls_compression", {"supports_compression": True}, Severity.MEDIUM, "tls_compression"),
        ("openssl_ccs_injection", {"is_vulnerable_to_ccs_injection": True}, Severity.HIGH, "ccs_injection"),
        ("heartbleed", {"is_vulnerable_to_heartbleed": True}, Severity.CRITICAL, "heartbleed"),
        ("tls_fallback_scsv", {"supports_fallback_scsv": False}, Severity.LOW, "fallback_scsv"),
        ("robot", {"robot_result": "VULNERABLE_STRONG_ORACLE"}, Severity.HIGH, "robot"),
        (
            "session_renegotiation",
            {"supports_secure_renegotiation": False},
            Severity.HIGH,
            "session_renegotiation",
        ),
        (
            "session_renegotiation",
            {"is_vulnerable_to_client_renegotiation_dos": True},
            Severity.MEDIUM,
            "session_renegotiation",
        ),
        ("http_headers", {"strict_transport_security_header": None}, Severity.MEDIUM, "http_headers"),
    ],
)
def test_fact_that_is_a_problem_is_a_finding(command, result, severity, rule):
    report = read(**{command: result})
    (finding,) = report.findings
    assert (finding.severity, finding.rule, finding.identity) == (severity, rule, (rule,))
    assert finding.location == "shop.example.com:443"
    assert finding.remediation
    assert "IP address: 192.0.2.7" in finding.evidence
    assert report.rows == 1


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("ssl_2_0_cipher_suites", suites()),
        ("tls_1_2_cipher_suites", suites("TLS_RSA_WITH_AES_128_GCM_SHA256")),
        ("tls_1_3_cipher_suites", suites("TLS_AES_128_GCM_SHA256")),
        ("heartbleed", {"is_vulnerable_to_heartbleed": False}),
        ("robot", {"robot_result": "NOT_VULNERABLE_NO_ORACLE"}),
        (
            "session_renegotiation",
            {"supports_secure_renegotiation": True, "is_vulnerable_to_client_renegotiation_dos": False},
        ),
        ("http_headers", {"strict_transport_security_header": {"max_age": 1}}),
        ("elliptic_curves", {"supported_curves": []}),
        ("of_a_later_version", {"anything": True}),
    ],
)
def test_fact_that_is_none_is_coverage(command, result):
    report = read(**{command: result})
    assert [(check.location, check.error) for check in report.coverage] == [("shop.example.com:443", "")]
    assert report.rows == 1


NO_SUITES = {command: suites() for command in SUITES}
OLD_RSA, DHE = "TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_DHE_RSA_WITH_AES_128_CBC_SHA"


def with_group(bits, name=DHE, kind="DH"):
    """Return SSLyze's result for a protocol with one suite and its key exchange."""
    key = {"type_name": kind, "size": bits}
    return {"accepted_cipher_suites": [{"cipher_suite": {"name": name}, "ephemeral_key": key}]}


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (with_group(512), [("key_exchange", Severity.HIGH)]),
        (with_group(1024), [("key_exchange", Severity.MEDIUM)]),
        (with_group(2048), []),
        (with_group(256, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDH"), []),
        (suites(OLD_RSA), [("forward_secrecy", Severity.MEDIUM)]),
        (suites(OLD_RSA, DHE), []),
    ],
)
@pytest.mark.parametrize("command", ["tls_1_1_cipher_suites", "tls_1_2_cipher_suites"])
def test_the_key_exchange_is_judged_for_all_versions_together(command, result, found):
    report = read(**NO_SUITES | {command: result})
    judged = [each for each in report.findings if each.rule in OF_ALL_SUITES]
    assert [(each.rule, each.severity) for each in judged] == found
    assert {rule for check in report.coverage for rule in check.rules} >= set(OF_ALL_SUITES) - {
        f[0] for f in found
    }


def test_a_newer_version_has_forward_secrecy_for_those_that_speak_it():
    modern = suites("TLS_AES_128_GCM_SHA256")
    report = read(**NO_SUITES | {"tls_1_2_cipher_suites": suites(OLD_RSA), "tls_1_3_cipher_suites": modern})
    assert report.findings == ()


UNTRUSTED = [{"was_validation_successful": False, "validation_error": "self-signed"}]


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({}, []),
        ({"path_validation_results": UNTRUSTED}, [("certificate_trust", Severity.HIGH)]),
        (
            {"path_validation_results": [{"openssl_error_string": "expired"}]},
            [("certificate_trust", Severity.HIGH)],
        ),
        ({"path_validation_results": [{"openssl_error_string": None}]}, []),
        ({"leaf_certificate_subject_matches_hostname": False}, [("certificate_trust", Severity.HIGH)]),
        ({"not_valid_after": "2026-03-01T09:00:00Z"}, [("certificate_expiry", Severity.HIGH)]),
        ({"not_valid_after": "2026-03-20T09:00:00Z"}, [("certificate_expiry", Severity.MEDIUM)]),
        ({"not_valid_after": "soon"}, []),
        (
            {"public_key": {"algorithm": "RSAPublicKey", "key_size": 1024}},
            [("certificate_key", Severity.MEDIUM)],
        ),
        ({"public_key": {"algorithm": "EllipticCurvePublicKey", "key_size": 256}}, []),
        ({"signature_hash_algorithm": {"name": "sha1"}}, [("certificate_key", Severity.MEDIUM)]),
        ({"received_chain_has_valid_order": False}, [("certificate_chain", Severity.LOW)]),
    ],
)
def test_certificate_is_four_checks(members, found):
    report = read(certificate_info=deployment(**members))
    assert [(finding.rule, finding.severity) for finding in report.findings] == found
    assert report.rows == 4


def test_server_that_was_not_reached_is_a_failed_check_without_paths_of_the_scanner():
    report = make_sslyze()
    report["server_scan_results"][0] |= {
        "scan_result": None,
        "connectivity_error_trace": 'Traceback:\n  File "/home/ada/x.py"\nsslyze.errors.Refused: no\n',
    }
    report = read(report)
    assert [check.error for check in report.coverage] == ["sslyze.errors.Refused: no"]
    assert (report.coverage[0].rules, report.complete) == ((), None)


def test_command_that_failed_is_a_failed_check_and_one_not_scheduled_is_no_row():
    report = make_sslyze(robot={}, heartbleed={})
    attempts = report["server_scan_results"][0]["scan_result"]
    attempts["robot"] |= {"status": "ERROR", "error_reason": "BUG_IN_SSLYZE", "result": None}
    attempts["heartbleed"] |= {"status": "NOT_SCHEDULED", "result": None}
    report = read(report)
    assert [check.error for check in report.coverage] == ["robot: BUG_IN_SSLYZE"]
    assert (report.rows, report.complete) == (1, None)
    assert report.coverage[0].rules == ("robot",)


def test_page_that_could_not_be_asked_for_is_a_failed_check():
    trace = 'Traceback:\n  File "/home/ada/x.py"\nOSError: peer closed the connection\n'
    headers = {"strict_transport_security_header": None, "http_error_trace": trace}
    report = read(**WHOLE | {"http_headers": headers})
    assert report.findings == ()
    assert [check.error for check in report.coverage if check.error] == [
        "http_headers: OSError: peer closed the connection"
    ]
    assert report.complete is True


def test_a_command_that_failed_names_all_of_its_checks():
    report = make_sslyze(certificate_info={})
    report["server_scan_results"][0]["scan_result"]["certificate_info"] |= {"status": "ERROR", "result": None}
    (check,) = read(report).coverage
    assert check.rules == ("certificate_trust", "certificate_expiry", "certificate_key", "certificate_chain")


def test_broken_rows_are_rejected_and_lose_no_other():
    report = make_sslyze(heartbleed={})
    report["server_scan_results"] = [7, *report["server_scan_results"], {"scan_result": None}]
    report["server_scan_results"][1]["scan_result"] |= {"robot": 7, "http_headers": {"status": "PAUSED"}}
    report = read(report)
    assert [reject.reason for reject in report.rejects] == [
        "is not a JSON object",
        "has no JSON object for robot",
        "has an unknown status: PAUSED",
        "names no server",
    ]
    assert len(report.coverage) == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{}", "no server_scan_results"),
        (b"[]", "no server_scan_results"),
        (b'{"accepted_targets": [], "sslyze_version": "2.1.4"}', "scan again with a newer one"),
        (b"{", "is cut off"),
    ],
)
def test_other_document_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(sslyze, data)


@pytest.mark.parametrize(
    ("command", "result", "check"),
    [
        ("heartbleed", {"is_vulnerable_to_heartbleed": None}, "heartbleed"),
        ("tls_1_0_cipher_suites", {"accepted_cipher_suites": None}, "tls_1_0"),
        ("tls_1_2_cipher_suites", {"accepted_cipher_suites": None}, "tls_1_2_weak_suites"),
        ("robot", {"robot_result": None}, "robot"),
        ("session_renegotiation", {"supports_secure_renegotiation": None}, "session_renegotiation"),
        ("session_resumption", None, "session_resumption"),
        ("robot", None, "robot"),
    ],
)
def test_check_without_a_result_is_a_failed_check_of_its_name(command, result, check):
    report = read(**{command: result})
    assert [check.error for check in report.coverage] == [f"{check}: no result"]
    assert report.findings == ()


def test_inconsistent_answers_about_robot_are_a_failed_check():
    report = read(robot={"robot_result": "UNKNOWN_INCONSISTENT_RESULTS"})
    assert [check.error for check in report.coverage] == ["robot: UNKNOWN_INCONSISTENT_RESULTS"]


def test_each_check_of_a_certificate_fails_where_the_server_sent_none():
    report = read(certificate_info={"certificate_deployments": []})
    assert [check.error for check in report.coverage] == [
        f"{check}: no certificate" for check in CHECKS["certificate_info"]
    ]


def test_expiry_is_judged_as_of_the_time_that_the_operator_says():
    document = make_sslyze(certificate_info=deployment(not_valid_after="2026-05-01T10:00:00Z"))
    report = sslyze.read(io.BytesIO(json.dumps(document).encode()))
    report.judged_at = datetime(2026, 6, 1, tzinfo=UTC)
    assert [finding.title for finding in whole(report).findings] == ["The certificate has expired"]
