"""Checks that turn the facts in SSLyze's results into problems.

Ratings follow our own checks of the same facts, or else testssl.sh.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from dashboard_api.scanners.members import JsonObject, dicts_at, line_at, object_at
from dashboard_api.scanners.problem_texts import ProblemText, load_texts
from dashboard_api.scanners.times import parse_time

_EXPIRES_SOON = timedelta(days=30)
_WEAK_SUITE = re.compile(r"NULL|EXPORT|EXP_|_RC4_|_RC2_|_DES_|_DES40_|_3DES_|_IDEA_|_anon_", re.IGNORECASE)
_FORWARD_SECRET_SUITE = re.compile(r"_(EC)?DHE_|^TLS_(AES|CHACHA20)_")  # the latter are in TLS 1.3
_UNPROTECTED_SUITE = re.compile("NULL|EXP|anon")
_MIN_DH_BITS, _BROKEN_DH_BITS = 2048, 800  # a problem below the first, a severe one up to the second
_MIN_KEY_BITS = {"RSA": 2048, "DSA": 2048, "EllipticCurve": 224, "EC": 224}
_TEXTS = load_texts(Path(__file__).with_name("problems.toml"), ProblemText)


class Problem(NamedTuple):
    """Problem that a check found, with its evidence."""

    text: ProblemText
    evidence: str


class NoResult(ValueError):
    """Lack of a result; the message says why."""


# Takes a command's result, and the end of the scan if known; returns the problem, if any.
Judge = Callable[[JsonObject, datetime | None], Problem | None]


def _problem(name: str, *evidence: str) -> Problem:
    return Problem(_TEXTS[name], "\n".join(evidence))


def _old_protocol(name: str) -> Judge:
    """Return a judge that finds the problem ``name`` if a server offers the protocol."""

    def judge(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
        suites = _accepted_suites(result)
        is_offered = suites or result.get("is_tls_version_supported") is True
        return _problem(name, *suites) if is_offered else None

    return judge


def _weak_suites(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    weak = [suite for suite in _accepted_suites(result) if _WEAK_SUITE.search(suite)]
    if not weak:
        return None
    is_unprotected = _UNPROTECTED_SUITE.search(" ".join(weak))
    return _problem("suites_without_protection" if is_unprotected else "weak_suites", *weak)


def _key_exchange(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    bits_by_suite = {}
    for suite in dicts_at(result, "accepted_cipher_suites"):
        key = object_at(suite, "ephemeral_key")
        size = key.get("size")
        if line_at(key, "type_name") == "DH" and isinstance(size, int) and size < _MIN_DH_BITS:
            bits_by_suite[line_at(object_at(suite, "cipher_suite"), "name")] = size
    if not bits_by_suite:
        return None
    is_broken = min(bits_by_suite.values()) <= _BROKEN_DH_BITS
    lines = (f"{name}: {size} bits" for name, size in bits_by_suite.items())
    return _problem("key_exchange_broken" if is_broken else "key_exchange", *lines)


def _forward_secrecy(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    suites = dict.fromkeys(_accepted_suites(result))
    has_forward_secrecy = not suites or any(map(_FORWARD_SECRET_SUITE.search, suites))
    return None if has_forward_secrecy else _problem("forward_secrecy", *suites)


def _flag(member: str, bad: bool, name: str) -> Judge:
    """Return a judge that finds the problem ``name`` if ``member`` has the value ``bad``."""

    def judge(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
        _require(result, member)
        return _problem(name) if result.get(member) is bad else None

    return judge


def _robot(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    outcome = line_at(result, "robot_result")
    _require(result, "robot_result")
    if outcome.startswith("UNKNOWN"):
        raise NoResult(outcome)
    return _problem("robot", outcome) if outcome.startswith("VULNERABLE") else None


def _renegotiation(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    _require(result, "supports_secure_renegotiation")
    if result.get("supports_secure_renegotiation") is False:
        return _problem("insecure_renegotiation")
    if result.get("is_vulnerable_to_client_renegotiation_dos") is True:
        return _problem("client_renegotiation")
    return None


def _headers(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    # SSLyze writes null for a missing header. A result without the member says nothing.
    header = result.get("strict_transport_security_header", "not said")
    return None if header else _problem("http_headers")


def _trust(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    deployments = _deployments(result)
    reasons = [
        line_at(path, "validation_error", "openssl_error_string") or "not trusted"
        for deployment in deployments
        for path in dicts_at(deployment, "path_validation_results")
        if not _is_valid(path)
    ]
    if any(each.get("leaf_certificate_subject_matches_hostname") is False for each in deployments):
        reasons.append("The certificate is for another name.")
    return _problem("certificate_trust", *dict.fromkeys(reasons)) if reasons else None


def _expiry(result: JsonObject, scanned_at: datetime | None) -> Problem | None:
    now = scanned_at or datetime.now(UTC)
    ends = [end for leaf in _leaves(result) if (end := parse_time(line_at(leaf, "not_valid_after")))]
    if not ends or min(ends) > now + _EXPIRES_SOON:
        return None
    is_over = min(ends) <= now
    if is_over and scanned_at is None and _was_trusted(result):
        raise NoResult("the certificate expired after the scan: say when the scan was made")
    return _problem("expired" if is_over else "expires_soon", f"Valid until {min(ends):%Y-%m-%d %H:%M} UTC")


def _was_trusted(result: JsonObject) -> bool:
    """Return whether a trust store accepted every certificate: they were valid during the scan."""
    deployments = [dicts_at(each, "path_validation_results") for each in _deployments(result)]
    return bool(deployments) and all(any(map(_is_valid, paths)) for paths in deployments)


def _is_valid(path: JsonObject) -> bool:
    """Return whether a trust store accepts the certificate. Versions before 5 write only an error."""
    return path.get("was_validation_successful", not path.get("openssl_error_string")) is not False


def _key(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    weak = []
    for leaf in _leaves(result):
        key = object_at(leaf, "public_key")
        algorithm, size = line_at(key, "algorithm"), key.get("key_size")
        kind = algorithm.removeprefix("_").removesuffix("PublicKey")
        if isinstance(size, int) and size < _MIN_KEY_BITS.get(kind, 0):
            weak.append(f"{kind}, {size} bits")
        digest = line_at(object_at(leaf, "signature_hash_algorithm"), "name")
        if digest in ("md5", "sha1"):
            weak.append(f"signed with {digest}")
    return _problem("certificate_key", *dict.fromkeys(weak)) if weak else None


def _chain(result: JsonObject, _scanned_at: datetime | None) -> Problem | None:
    orders = [each.get("received_chain_has_valid_order") for each in _deployments(result)]
    return _problem("certificate_chain") if False in orders else None


def no_problem(_result: JsonObject, _scanned_at: datetime | None) -> None:
    """Judge a command with facts that are never a problem."""


# The checks of each command. Any other command counts as one check without problems.
CHECKS: Mapping[str, Mapping[str, Judge]] = {
    "certificate_info": {
        "certificate_trust": _trust,
        "certificate_expiry": _expiry,
        "certificate_key": _key,
        "certificate_chain": _chain,
    },
    "ssl_2_0_cipher_suites": {"ssl_2_0": _old_protocol("ssl_2_0")},
    "ssl_3_0_cipher_suites": {"ssl_3_0": _old_protocol("ssl_3_0")},
    "tls_1_0_cipher_suites": {"tls_1_0": _old_protocol("tls_1_0")},
    "tls_1_1_cipher_suites": {"tls_1_1": _old_protocol("tls_1_1")},
    "tls_1_2_cipher_suites": {"tls_1_2_weak_suites": _weak_suites},
    "tls_compression": {"tls_compression": _flag("supports_compression", True, "tls_compression")},
    "openssl_ccs_injection": {
        "ccs_injection": _flag("is_vulnerable_to_ccs_injection", True, "ccs_injection")
    },
    "heartbleed": {"heartbleed": _flag("is_vulnerable_to_heartbleed", True, "heartbleed")},
    "tls_fallback_scsv": {"fallback_scsv": _flag("supports_fallback_scsv", False, "fallback_scsv")},
    "robot": {"robot": _robot},
    "session_renegotiation": {"session_renegotiation": _renegotiation},
    "http_headers": {"http_headers": _headers},
}

# Checks of the accepted suites of all TLS versions together.
SUITES = tuple(f"tls_1_{number}_cipher_suites" for number in range(4))
OF_ALL_SUITES: Mapping[str, Judge] = {"key_exchange": _key_exchange, "forward_secrecy": _forward_secrecy}


def _require(result: JsonObject, member: str) -> None:
    """Raise NoResult if ``member`` is null."""
    if member in result and result[member] is None:
        raise NoResult("no result")


def _accepted_suites(result: JsonObject) -> list[str]:
    _require(result, "accepted_cipher_suites")
    suites = dicts_at(result, "accepted_cipher_suites")
    return [line_at(object_at(suite, "cipher_suite"), "name") for suite in suites]


def _deployments(result: JsonObject) -> list[JsonObject]:
    """Return the server's certificates with their chains; raises NoResult if it sent no certificate."""
    deployments = dicts_at(result, "certificate_deployments")
    if "certificate_deployments" in result and not deployments:
        raise NoResult("no certificate")
    return deployments


def _leaves(result: JsonObject) -> list[JsonObject]:
    """Return the server's own certificates, the first of each chain."""
    chains = [dicts_at(each, "received_certificate_chain") for each in _deployments(result)]
    return [chain[0] for chain in chains if chain]
