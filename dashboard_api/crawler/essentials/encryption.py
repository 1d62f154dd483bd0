"""Checks of TLS: the certificate, and the versions that the server offers."""

import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from dashboard_api.crawler.essentials.page import Problem, Unread
from foundation.deadline import Deadline
from foundation.outbound.tls import Handshake, NotConnected, offers, shake_hands

_SOON = timedelta(days=14)
_PROBLEMS = {
    "expired": "certificate-expired",
    "other_name": "certificate-other-name",
    "not_trusted": "certificate-not-trusted",
}
_VERSIONS = (  # with whether it is a problem to offer them
    (ssl.TLSVersion.TLSv1, "tls-1-0-offered", True),
    (ssl.TLSVersion.TLSv1_1, "tls-1-1-offered", True),
    (ssl.TLSVersion.TLSv1_3, "tls-1-3-not-offered", False),
)


def check_tls(
    host: str,
    address: str,
    deadline: Deadline,
    *,
    now: datetime,
    port: int = 443,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Problem | Unread]:
    """Yield the problems of TLS; raise NotConnected, and ssl.SSLError where no handshake is possible.

    If the server answers the first handshake, and later ones not, their rules are unread.
    """
    location = f"https://{host}/"
    handshake = shake_hands(host, address, deadline, port=port, tls=tls)
    for rule, evidence in check_certificate(handshake, now):
        yield Problem(rule, location, evidence)
    unread = []
    for version, rule, is_problem in _VERSIONS:
        try:
            if offers(version, host, address, deadline, port=port) == is_problem:
                yield Problem(
                    rule, location, "" if is_problem else f"The handshake chose {handshake.version}."
                )
        except NotConnected:
            unread.append(rule)
    if unread:
        yield Unread(location, unread, "connect_failed")


def check_certificate(handshake: Handshake, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield rule and evidence of each problem of the certificate."""
    try:
        certificate = x509.load_der_x509_certificate(handshake.certificate)
        ends, subject = certificate.not_valid_after_utc, certificate.subject.rfc4514_string()[:200]
    except (ValueError, TypeError, x509.InvalidVersion) as error:  # also for names that are not in UTF-8
        if handshake.problem:
            yield _PROBLEMS[handshake.problem], f"It cannot be read: {error}"
        return
    evidence = f"Subject: {subject}\nValid until {ends:%Y-%m-%d %H:%M} UTC"
    if handshake.problem:
        yield _PROBLEMS[handshake.problem], evidence
    if handshake.problem != "expired" and ends - now < _SOON:
        yield "certificate-expires-soon", evidence
    try:
        key = certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):  # a rare curve; the website has other things to check
        return
    if (isinstance(key, rsa.RSAPublicKey) and key.key_size < 2048) or (
        isinstance(key, ec.EllipticCurvePublicKey) and key.key_size < 224
    ):
        yield "certificate-weak-key", f"{key.key_size} bits"
