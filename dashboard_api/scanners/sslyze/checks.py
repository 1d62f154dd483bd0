"""What in sslyze's results is a problem, and how bad: sslyze reports facts, and this is our judgement.

It is close to testssl.sh's for the same facts, so that the two do not contradict each other.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dashboard_api.scanners.members import Row, line_of, list_of, moment, object_of
from dashboard_api.scanners.report import Severity

_EXPIRES_SOON = timedelta(days=30)
_WEAK_SUITE = re.compile(r"NULL|EXPORT|EXP_|_RC4_|_RC2_|_DES_|_DES40_|_3DES_|_IDEA_|_anon_", re.IGNORECASE)
_LEAST_BITS = {"RSA": 2048, "DSA": 2048, "EllipticCurve": 224, "EC": 224}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem that a check found."""

    severity: Severity
    title: str
    description: str = ""
    remediation: str = ""
    evidence: str = ""
    cve: tuple[str, ...] = ()
    cwe: tuple[int, ...] = ()


class NoResult(ValueError):
    """A check without a result; the message says why."""


Judge = Callable[[Row, datetime | None], Problem | None]  # of a command's result, and the scan's end if known


def _old_protocol(label: str, severity: Severity, *cve: str) -> Judge:
    def judge(result: Row, _scanned_at: datetime | None) -> Problem | None:
        _require(result, "accepted_cipher_suites")
        suites = [*_accepted(result)]
        if not suites and result.get("is_tls_version_supported") is not True:
            return None
        return Problem(
            severity=severity,
            title=f"{label} is offered",
            description=f"{label} is deprecated: it has weaknesses that cannot be mended.",
            remediation=f"Switch {label} off; offer TLS 1.2 and TLS 1.3 only.",
            evidence="\n".join(suites),
            cve=cve,
            cwe=(327,),
        )

    return judge


def _weak_suites(label: str) -> Judge:
    def judge(result: Row, _scanned_at: datetime | None) -> Problem | None:
        _require(result, "accepted_cipher_suites")
        weak = [suite for suite in _accepted(result) if _WEAK_SUITE.search(suite)]
        if not weak:
            return None
        return Problem(
            severity=Severity.HIGH if re.search("NULL|EXP|anon", " ".join(weak)) else Severity.MEDIUM,
            title=f"Weak cipher suites are accepted with {label}",
            description="Suites without encryption or authentication, or with broken ciphers, are accepted.",
            remediation="Accept only suites with forward secrecy and authenticated encryption.",
            evidence="\n".join(weak),
            cwe=(327,),
        )

    return judge


def _flag(member: str, bad: bool, problem: Problem) -> Judge:
    def judge(result: Row, _scanned_at: datetime | None) -> Problem | None:
        _require(result, member)
        return problem if result.get(member) is bad else None

    return judge


def _robot(result: Row, _scanned_at: datetime | None) -> Problem | None:
    outcome = line_of(result, "robot_result")
    _require(result, "robot_result")
    if outcome.startswith("UNKNOWN"):
        raise NoResult(outcome)
    if not outcome.startswith("VULNERABLE"):
        return None
    return Problem(
        severity=Severity.HIGH,
        title="The server is vulnerable to ROBOT",
        description="Answers to wrongly padded RSA messages tell enough to decrypt what was recorded.",
        remediation="Update the TLS software, and switch off suites with RSA key exchange.",
        evidence=outcome,
        cve=("CVE-2017-13099",),
        cwe=(203,),
    )


def _renegotiation(result: Row, _scanned_at: datetime | None) -> Problem | None:
    _require(result, "supports_secure_renegotiation")
    if result.get("supports_secure_renegotiation") is False:
        return Problem(
            severity=Severity.HIGH,
            title="Secure renegotiation is not supported",
            description="An attacker in between may put requests of their own before a visitor's.",
            remediation="Update the TLS software.",
            cve=("CVE-2009-3555",),
        )
    if result.get("is_vulnerable_to_client_renegotiation_dos") is True:
        return Problem(
            severity=Severity.MEDIUM,
            title="Clients may renegotiate as often as they like",
            description="Each renegotiation costs the server more than the client.",
            remediation="Switch off renegotiation that clients begin.",
            cve=("CVE-2011-1473",),
        )
    return None


def _headers(result: Row, _scanned_at: datetime | None) -> Problem | None:
    if "strict_transport_security_header" not in result or result["strict_transport_security_header"]:
        return None
    return Problem(
        severity=Severity.LOW,
        title="Strict Transport Security (HSTS) is not sent",
        description="Browsers are not asked to come back over https only.",
        remediation="Send Strict-Transport-Security with a max-age of at least half a year.",
        cwe=(319,),
    )


def _trust(result: Row, _scanned_at: datetime | None) -> Problem | None:
    reasons = [
        line_of(path, "validation_error", "openssl_error_string") or "not trusted"
        for deployment in _deployments(result)
        for path in _objects(deployment, "path_validation_results")
        if not _is_valid(path)
    ]
    reasons += [
        "The certificate is for another name."
        for deployment in _deployments(result)
        if deployment.get("leaf_certificate_subject_matches_hostname") is False
    ]
    if not reasons:
        return None
    return Problem(
        severity=Severity.HIGH,
        title="The certificate is not trusted",
        description="Browsers warn visitors, or turn them away.",
        remediation="Install a certificate for this name that browsers trust, with its chain.",
        evidence="\n".join(dict.fromkeys(reasons)),
        cwe=(295,),
    )


def _expiry(result: Row, scanned_at: datetime | None) -> Problem | None:
    now = scanned_at or datetime.now(UTC)
    ends = [end for leaf in _leaves(result) if (end := moment(line_of(leaf, "not_valid_after")))]
    if not ends or min(ends) > now + _EXPIRES_SOON:
        return None
    is_over = min(ends) <= now
    if is_over and scanned_at is None and _was_trusted(result):
        raise NoResult("the certificate expired after the scan: say when the scan was made")
    return Problem(
        severity=Severity.HIGH if is_over else Severity.MEDIUM,
        title="The certificate has expired" if is_over else "The certificate expires within 30 days",
        description="Browsers warn visitors of an expired certificate, or turn them away.",
        remediation="Renew the certificate, and automate its renewal.",
        evidence=f"Valid until {min(ends):%Y-%m-%d %H:%M} UTC",
        cwe=(298,),
    )


def _was_trusted(result: Row) -> bool:
    """Whether a trust store accepted every certificate, so that none had expired when it was scanned."""
    deployments = [_objects(each, "path_validation_results") for each in _deployments(result)]
    return bool(deployments) and all(any(map(_is_valid, paths)) for paths in deployments)


def _is_valid(path: Row) -> bool:
    """Whether a trust store accepts the certificate; before version 5 the lack of an error means yes."""
    return path.get("was_validation_successful", not path.get("openssl_error_string")) is not False


def _key(result: Row, _scanned_at: datetime | None) -> Problem | None:
    weak = []
    for leaf in _leaves(result):
        key = object_of(leaf, "public_key")
        algorithm, size = line_of(key, "algorithm"), key.get("key_size")
        kind = algorithm.removeprefix("_").removesuffix("PublicKey")
        if isinstance(size, int) and size < _LEAST_BITS.get(kind, 0):
            weak.append(f"{kind}, {size} bits")
        digest = line_of(object_of(leaf, "signature_hash_algorithm"), "name")
        if digest in ("md5", "sha1"):
            weak.append(f"signed with {digest}")
    if not weak:
        return None
    return Problem(
        severity=Severity.MEDIUM,
        title="The certificate's key or signature is weak",
        remediation="Use a new key, RSA of 2048 bits or more or an elliptic curve, and a new certificate.",
        evidence="\n".join(dict.fromkeys(weak)),
        cwe=(326,),
    )


def _chain(result: Row, _scanned_at: datetime | None) -> Problem | None:
    orders = [each.get("received_chain_has_valid_order") for each in _deployments(result)]
    if False not in orders:
        return None
    return Problem(
        severity=Severity.LOW,
        title="The certificate chain is sent in the wrong order",
        remediation="Send the website's certificate first, then each issuer's.",
    )


_COMPRESSION = Problem(
    severity=Severity.MEDIUM,
    title="TLS compression is offered",
    description="The length of compressed answers tells secrets in them (CRIME).",
    remediation="Switch TLS compression off.",
    cve=("CVE-2012-4929",),
    cwe=(310,),
)
_CCS = Problem(
    severity=Severity.HIGH,
    title="The server is vulnerable to CCS injection",
    description="An attacker in between may force weak keys on a connection, and read it.",
    remediation="Update OpenSSL.",
    cve=("CVE-2014-0224",),
    cwe=(310,),
)
_HEARTBLEED = Problem(
    severity=Severity.CRITICAL,
    title="The server is vulnerable to Heartbleed",
    description="Anyone may read parts of the server's memory, the private key among them.",
    remediation="Update OpenSSL, replace the key and the certificate, and end every session.",
    cve=("CVE-2014-0160",),
    cwe=(119,),
)
_FALLBACK = Problem(
    severity=Severity.LOW,
    title="Downgrades to older protocols are not prevented",
    description="The server does not support the fallback signal (TLS_FALLBACK_SCSV).",
    remediation="Update the TLS software, or offer TLS 1.2 and TLS 1.3 only.",
)

# By the command, what it checks; None is a fact that is no problem either way.
CHECKS: Mapping[str, Mapping[str, Judge | None]] = {
    "certificate_info": {
        "certificate_trust": _trust,
        "certificate_expiry": _expiry,
        "certificate_key": _key,
        "certificate_chain": _chain,
    },
    "ssl_2_0_cipher_suites": {"ssl_2_0": _old_protocol("SSL 2.0", Severity.CRITICAL, "CVE-2016-0800")},
    "ssl_3_0_cipher_suites": {"ssl_3_0": _old_protocol("SSL 3.0", Severity.HIGH, "CVE-2014-3566")},
    "tls_1_0_cipher_suites": {"tls_1_0": _old_protocol("TLS 1.0", Severity.LOW)},
    "tls_1_1_cipher_suites": {"tls_1_1": _old_protocol("TLS 1.1", Severity.LOW)},
    "tls_1_2_cipher_suites": {"tls_1_2_weak_suites": _weak_suites("TLS 1.2")},
    "tls_compression": {"tls_compression": _flag("supports_compression", True, _COMPRESSION)},
    "openssl_ccs_injection": {"ccs_injection": _flag("is_vulnerable_to_ccs_injection", True, _CCS)},
    "heartbleed": {"heartbleed": _flag("is_vulnerable_to_heartbleed", True, _HEARTBLEED)},
    "tls_fallback_scsv": {"fallback_scsv": _flag("supports_fallback_scsv", False, _FALLBACK)},
    "robot": {"robot": _robot},
    "session_renegotiation": {"session_renegotiation": _renegotiation},
    "http_headers": {"http_headers": _headers},
}


def _require(result: Row, member: str) -> None:
    """Raise NoResult where ``member`` is null."""
    if member in result and result[member] is None:
        raise NoResult("no result")


def _accepted(result: Row) -> Iterator[str]:
    for each in _objects(result, "accepted_cipher_suites"):
        yield line_of(object_of(each, "cipher_suite"), "name")


def _deployments(result: Row) -> list[Row]:
    """Return the certificates that the server sent, each with its chain; raises NoResult without any."""
    deployments = _objects(result, "certificate_deployments")
    if "certificate_deployments" in result and not deployments:
        raise NoResult("no certificate")
    return deployments


def _leaves(result: Row) -> list[Row]:
    chains = [_objects(each, "received_certificate_chain") for each in _deployments(result)]
    return [chain[0] for chain in chains if chain]


def _objects(parent: Row, key: str) -> list[Row]:
    return [each for each in list_of(parent, key) if isinstance(each, dict)]
