"""Checks and problems behind testssl.sh's ids, in every version since 3.0.

Several ids can mean the same problem: an id may contain the number of a certificate, and later versions
renamed some ids. A problem has its id of version 3.0.
"""

import re
from dataclasses import dataclass
from typing import Self

from dashboard_api.scanners.report import SEVERITIES, Severity

RATINGS = {name.upper(): severity for name, severity in SEVERITIES.items() if severity > Severity.INFO}
# Ids of 3.1 to 3.3 that replaced an id of 3.0, and ids that repeat another id.
_SAME_AS = {
    "FS": "PFS",
    "FS_ciphers": "PFS_ciphers",
    "FS_ECDHE_curves": "PFS_ECDHE_curves",
    "cipherlist_OBSOLETED": "cipherlist_AVERAGE",
    "cipherlist_STRONG_NOFS": "cipherlist_GOOD",
    "cipherlist_STRONG_FS": "cipherlist_STRONG",
    "cert_extlifeSpan": "cert_validityPeriod",
    "cert_notAfter": "cert_expirationStatus",
    "intermediate_cert_notAfter": "intermediate_cert_expiration",
}
# Old protocols by their part of a suite's id: the problem, and its severity.
_OLD_PROTOCOLS = {
    "ssl2": ("SSLv2", Severity.CRITICAL),
    "ssl3": ("SSLv3", Severity.HIGH),
    "tls1": ("TLS1", Severity.LOW),
    "tls1_1": ("TLS1_1", Severity.LOW),
}
# Problems with the suites of a protocol, by the check of the protocol.
SUITES_OF = {"TLS1_2": "cipher-tls1_2", "TLS1_3": "cipher-tls1_3"}
# Headers that may be sent several times. Each has a row only while it is sent.
_HEADERS = (
    *("X-Frame-Options", "X-Content-Type-Options", "Content-Security-Policy", "X-Content-Security-Policy"),
    *("X-WebKit-CSP", "Content-Security-Policy-Report-Only", "Expect-CT", "Permissions-Policy"),
    *("Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Cross-Origin-Embedder-Policy"),
    *("Access-Control-Allow-Origin", "Upgrade", "X-Served-By", "Referrer-Policy", "X-UA-Compatible"),
    *("Cache-Control", "Pragma", "X-XSS-Protection"),
)
# Problems that have a row only while they exist, by a check that runs in the same part of the scan.
WRITTEN_WITH = {
    "HTTP_status_code": ("insecure_redirect", "security_headers", "ipv4_in_header", *_HEADERS),
    "cookie_count": ("cookie_bigip_f5",),
    "HSTS_subdomains": ("HSTS",),  # "HSTS" itself is written only where it is missing
    "PFS_ciphers": ("DH_groups",),
}
_CERTIFICATE_NUMBER = re.compile(r"\s*(?:<[^<>]*>|#\d+$)")  # "cert_notAfter <hostCert#2>"
_SUITE = re.compile(r"cipher(?:-(?P<protocol>\w+))?_x[0-9a-f]+", re.IGNORECASE)
_CIPHER_ORDER_OF_PROTOCOL = re.compile(r"cipher_order[-_][\w.]*")
# The grade, and the protocol and cipher of one connection: other rows show the problems.
_DETAIL = re.compile(
    r"overall_grade|final_score|rating_\w+|grade_cap_\w+|\w+_score(?:_weighted)?"
    r"|protocol_negotiated|cipher_negotiated"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckId:
    """Meaning of an id: the ``check`` by its name in the report, and the ``problem`` that it tests."""

    check: str
    problem: str
    is_suite: bool = False  # one cipher suite
    is_detail: bool = False  # never a problem of its own
    severity: Severity | None = None  # replaces the severity of the row

    @classmethod
    def parse(cls, identifier: str) -> Self:
        """Return the check and problem that ``identifier`` means."""
        check = _CERTIFICATE_NUMBER.sub("", identifier)
        if suite := _SUITE.fullmatch(check):
            protocol = (suite["protocol"] or "").lower()
            name = f"cipher-{protocol}" if protocol else "cipher_suites"
            name, severity = _OLD_PROTOCOLS.get(protocol, (name, None))
            return cls(check=check, problem=name, is_suite=True, severity=severity)
        if _CIPHER_ORDER_OF_PROTOCOL.fullmatch(check):
            return cls(check=check, problem="cipher_order")
        is_detail = _DETAIL.fullmatch(check) is not None
        return cls(check=check, problem=_SAME_AS.get(check, check), is_detail=is_detail)

    def severity_for(self, rating: str) -> Severity:
        """Return the severity of a row with testssl.sh's ``rating``.

        A suite of an obsolete protocol has the severity of the protocol. A suite of a current protocol is at
        most High: an attacker in the middle must make both sides choose it.
        """
        if self.is_suite:
            return self.severity or min(RATINGS[rating], Severity.HIGH)
        return RATINGS[rating]
