"""Reports of SSLyze 3 and 4, which are read like those of later versions."""

import json
from copy import deepcopy
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.scanners import sslyze
from dashboard_api.scanners.sslyze.checks import CHECKS
from tests.dashboard_api.scanners.samples import make_sslyze, read_whole, suites
from tests.dashboard_api.scanners.test_every_format import assert_read_or_refused, nodes, values

LEAF = {
    "not_valid_after": "2026-01-01T00:00:00",
    "public_key": {"algorithm": "_RSAPublicKey", "key_size": 1024},
    "signature_hash_algorithm": {"name": "sha1", "digest_size": 20},
}
LEAF_OF_3 = {
    "notAfter": "2026-01-01T00:00:00",
    "publicKey": {"algorithm": "_RSAPublicKey", "exponent": 65537, "size": 1024},
    "signatureAlgorithm": "sha1",
}


def certificates(leaf):
    path = {"openssl_error_string": "self signed certificate"}
    deployment = {"received_certificate_chain": [leaf], "path_validation_results": [path]}
    return {"certificate_deployments": [deployment | {"received_chain_has_valid_order": False}]}


def make_old(*, errors=None, failed=(), **results):
    """Return SSLyze 4's report of one server."""
    server = {
        "scan_commands": [*results],
        "scan_commands_errors": errors or {},
        "scan_commands_results": results,
        "server_info": {
            "server_location": {"hostname": "shop.example.com", "port": 443, "ip_address": "192.0.2.7"}
        },
    }
    return {
        "server_connectivity_errors": list(failed),
        "server_scan_results": [server],
        "sslyze_version": "4.1.0",
        "total_scan_time": 2.0,
    }


def trusted(end):
    """Return a certificate that a trust store accepted at the time of the scan."""
    result = certificates(LEAF | {"not_valid_after": end, "public_key": {}, "signature_hash_algorithm": {}})
    (deployment,) = result["certificate_deployments"]
    deployment |= {
        "received_chain_has_valid_order": True,
        "path_validation_results": [{"openssl_error_string": None}],
    }
    return result


def read(report):
    return read_whole(sslyze, json.dumps(report).encode())


@pytest.mark.parametrize("leaf", [LEAF, LEAF_OF_3], ids=["4", "3"])
def test_what_is_found_is_what_later_versions_find(leaf):
    results = {
        "tls_1_0_cipher_suites": suites("TLS_A"),
        "heartbleed": {"is_vulnerable_to_heartbleed": False},
    }
    old = read(make_old(certificate_info=certificates(leaf), **results))
    new = read(make_sslyze(certificate_info=certificates(LEAF), **results))
    assert {finding.identity for finding in old.findings} == {
        ("certificate_trust",),
        ("certificate_expiry",),
        ("certificate_key",),
        ("certificate_chain",),
        ("tls_1_0",),
    }
    assert (old.findings, old.coverage) == (new.findings, new.coverage)
    assert (old.source, old.version) == (new.source, "4.1.0")


def test_there_is_no_time_so_a_certificate_expires_as_of_the_import():
    soon = datetime.now(UTC) + timedelta(days=10)
    report = read(make_old(certificate_info=certificates(LEAF | {"not_valid_after": soon.isoformat()})))
    assert report.scanned_at is None
    assert "The certificate expires within 30 days" in [finding.title for finding in report.findings]


def test_certificate_that_was_trusted_had_not_expired_when_it_was_scanned():
    report = read(make_old(certificate_info=trusted("2021-11-15T04:03:43")))
    assert report.findings == ()
    assert [check.error for check in report.coverage if check.error] == [
        "certificate_expiry: the certificate expired after the scan: say when the scan was made"
    ]


def test_command_that_was_scheduled_and_has_no_result_is_a_failed_check_of_its_name():
    report = read(make_old(robot=None, heartbleed={}))
    assert sorted(check.error for check in report.coverage) == ["", "robot: no result"]


def test_command_that_was_not_scheduled_is_no_row():
    old = make_old(robot=None, heartbleed={})
    old["server_scan_results"][0]["scan_commands"] = ["heartbleed"]
    assert read(old).rows == 1


def test_command_that_failed_is_a_failed_check():
    error = {"reason": "CLIENT_CERTIFICATE_NEEDED", "exception_trace": "Traceback:\nnassl.Requested: no\n"}
    report = read(make_old(errors={"robot": error}, heartbleed={}))
    assert [check.error for check in report.coverage] == ["", "robot: CLIENT_CERTIFICATE_NEEDED"]
    assert [check.rules for check in report.coverage] == [("heartbleed",), ("robot",)]


def test_server_that_was_not_reached_is_a_failed_check():
    failed = {"server_string": "www.shop.example.com:443", "error_message": "Server rejected the connection"}
    report = read(make_old(failed=[failed], heartbleed={}))
    check = report.coverage[0]
    assert (check.location, check.error) == ("www.shop.example.com:443", "Server rejected the connection")
    assert check.rules == ()


def test_only_a_scan_of_everything_that_is_judged_is_complete():
    assert read(make_old(**{command: {} for command in CHECKS})).complete is True
    assert read(make_old(heartbleed={})).complete is None


def test_broken_rows_are_rejected_and_lose_no_other():
    broken = {"certificate_deployments": [7, {"received_certificate_chain": [7]}]}
    report = make_old(errors={"robot": 7}, heartbleed=7, tls_compression={}, certificate_info=broken)
    report["server_scan_results"].insert(0, 7)
    report = read(report)
    assert [reject.reason for reject in report.rejects] == [
        "is not a JSON object",
        "has no JSON object for heartbleed",
        "has no JSON object for robot",
    ]
    assert len(report.coverage) == 5


@given(data=st.data())
def test_any_value_in_any_place_is_read_or_refused(data):
    report = make_old(errors={"robot": {"reason": "x"}}, certificate_info=certificates(deepcopy(LEAF_OF_3)))
    node = data.draw(st.sampled_from(list(nodes(report))))
    if node:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        node[data.draw(st.sampled_from(keys))] = data.draw(values)
    assert_read_or_refused("sslyze", json.dumps(report).encode())
