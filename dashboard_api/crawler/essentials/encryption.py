"""Checks of TLS: the certificate and the versions that the server offers."""

import ssl
from collections.abc import Generator, Iterator
from datetime import datetime, timedelta

from cryptography import x509

from dashboard_api.crawler.essentials.certificates import Seen, facts_of, key_of, signature_hash
from dashboard_api.crawler.essentials.page import Problem, Unread
from foundation.outbound.deadline import Deadline
from foundation.outbound.tls import Handshake, NotConnected, offers, shake_hands

_SOON = timedelta(days=14)  # or a quarter of the lifetime: ACME clients renew after two thirds
_PROBLEMS = {
    "expired": "certificate-expired",
    "not_yet_valid": "certificate-not-yet-valid",
    "other_name": "certificate-other-name",
    "not_trusted": "certificate-not-trusted",
}
_BROKEN_HASHES = ("md5", "sha1")  # of signatures
_OLD_VERSIONS = {ssl.TLSVersion.TLSv1: "tls-1-0-offered", ssl.TLSVersion.TLSv1_1: "tls-1-1-offered"}
# All rules of this module.
OF_TLS = (
    *_PROBLEMS.values(),
    *("certificate-expires-soon", "certificate-weak-key", *_OLD_VERSIONS.values(), "tls-1-3-not-offered"),
)


def check_tls(
    host: str,
    address: str,
    deadline: Deadline,
    *,
    now: datetime,
    port: int = 443,
    tls: ssl.SSLContext | None = None,
) -> Generator[Problem | Unread | Seen, None, bool]:
    """Yield the certificate and the problems of TLS; return whether the certificate is for another name.

    Raises NotConnected, and ssl.SSLError if no handshake is possible. If the server accepts only the first
    connection, the rules of later handshakes are unread.
    """
    location = f"https://{host}/" if port == 443 else f"https://{host}:{port}/"
    handshake = shake_hands(host, address, deadline, port=port, tls=tls)
    problems = dict(check_certificate(handshake, now))
    refusal = next((name for name, rule in _PROBLEMS.items() if rule in problems), "")
    if certificate := facts_of(host, port, handshake, refusal):
        yield Seen(certificate)
    for rule, evidence in problems.items():
        yield Problem(rule, location, evidence)
    if handshake.version != "TLSv1.3":  # a server that offers it chooses it
        yield Problem("tls-1-3-not-offered", location, f"The handshake chose {handshake.version}.")
    is_old = handshake.version in ("TLSv1", "TLSv1.1")
    evidence = "No newer version than TLS 1.1 is offered: browsers cannot open the website." if is_old else ""
    unread = list(_OLD_VERSIONS.values())
    try:
        oldest, newest = min(_OLD_VERSIONS), max(_OLD_VERSIONS)
        # One handshake for both versions: most servers offer neither.
        if is_old or offers(newest, host, address, deadline, port=port, oldest=oldest):
            for version, rule in _OLD_VERSIONS.items():
                if offers(version, host, address, deadline, port=port):
                    yield Problem(rule, location, evidence)
                unread.remove(rule)
    except NotConnected:
        yield Unread(location, unread, "connect_failed")
    return handshake.is_for_another


def check_certificate(handshake: Handshake, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield the rule and the evidence of each problem of the certificate."""
    openssl_text = f"\nOpenSSL: {handshake.message}" if handshake.message else ""
    try:
        certificate = x509.load_der_x509_certificate(handshake.certificate)
        begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        subject = certificate.subject.rfc4514_string()[:200]
    except (ValueError, TypeError, x509.InvalidVersion) as error:  # also for names that are not in UTF-8
        if handshake.problem:
            yield _PROBLEMS[handshake.problem], f"It cannot be read: {error}{openssl_text}"
        return
    hash_name = signature_hash(certificate)
    key, is_short = key_of(certificate)
    evidence = f"Subject: {subject}\nValid from {begins:%Y-%m-%d %H:%M} until {ends:%Y-%m-%d %H:%M} UTC"
    evidence += f"\nSignature: {hash_name}\nKey: {key}{openssl_text}"
    if handshake.is_for_another:
        evidence += "\nIt does not name this host, so https may show another website."
    problem = handshake.problem
    if problem == "expired" and ends > now:
        problem = "not_trusted"
        evidence += "\nAn intermediate certificate has expired, and this one has not."
    if problem == "not_yet_valid" and begins <= now:
        problem = "not_trusted"
        evidence += "\nAn intermediate certificate is not valid yet, and this one is."
    if not problem and hash_name in _BROKEN_HASHES:
        problem = "not_trusted"
        evidence += f"\nBrowsers refuse signatures with {hash_name}."
    if problem:
        yield _PROBLEMS[problem], evidence
    if problem != "not_yet_valid" and begins > now:
        yield _PROBLEMS["not_yet_valid"], evidence
    if problem != "expired" and ends - now < min(_SOON, (ends - begins) / 4):
        yield "certificate-expires-soon" if ends > now else _PROBLEMS["expired"], evidence
    if is_short or hash_name in _BROKEN_HASHES:
        yield "certificate-weak-key", evidence
