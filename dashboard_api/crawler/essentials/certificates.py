"""Facts about certificates, for the inventory of the website."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from foundation.outbound.tls import UNREADABLE, Handshake

_MAX_TEXT, _MAX_SHORT_TEXT, _MAX_HOST, _MAX_NAMES, _MAX_CHAIN = 200, 100, 253, 40, 8
# Times that every time zone can show: a certificate may end in the year 9999.
_FIRST, _LAST = datetime(1900, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)


class Seen(NamedTuple):
    """A certificate that a host showed, as facts for the service."""

    certificate: dict[str, Any]


def facts_of(host: str, port: int, handshake: Handshake, problem: str) -> dict[str, Any] | None:
    """Return the facts about the certificate of a handshake, or None if it cannot be read.

    ``problem`` is why browsers refuse it, or empty.
    """
    try:
        certificate = x509.load_der_x509_certificate(handshake.certificate)
        return {
            "host": host,
            "port": port,
            "sha256": sha256(handshake.certificate).hexdigest(),
            "subject": _name(certificate.subject),
            "issuer": _name(certificate.issuer),
            "names": _names(certificate),
            "key": key_of(certificate)[0],
            "signature": signature_hash(certificate),
            "valid_from": _text_of(certificate.not_valid_before_utc),
            "valid_until": _text_of(certificate.not_valid_after_utc),
            "chain": _chain(handshake.chain),
            "problem": problem,
        }
    except (ValueError, TypeError, *UNREADABLE):
        return None


def signature_hash(certificate: x509.Certificate) -> str:
    """Return the name of the hash that was signed."""
    try:
        algorithm = certificate.signature_hash_algorithm
    except UnsupportedAlgorithm:
        return "unknown"
    return algorithm.name if algorithm else "no hash of its own"


def key_of(certificate: x509.Certificate) -> tuple[str, bool]:
    """Return the kind and size of the key, and whether it is too short."""
    try:
        key = certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):  # a rare curve must not stop the other checks
        return "unknown", False
    if isinstance(key, rsa.RSAPublicKey):
        return f"RSA, {key.key_size} bits", key.key_size < 2048
    if isinstance(key, ec.EllipticCurvePublicKey):
        return f"{key.curve.name}, {key.key_size} bits", key.key_size < 224
    return "of another kind", False


def _chain(encoded: Sequence[bytes]) -> list[dict[str, str]]:
    """Return facts about the authorities' certificates, up to the first that cannot be read."""
    chain: list[dict[str, str]] = []
    for der in encoded[:_MAX_CHAIN]:
        try:
            certificate = x509.load_der_x509_certificate(der)
        except (ValueError, TypeError, *UNREADABLE):
            break
        chain.append(
            {
                "subject": _name(certificate.subject)[:_MAX_SHORT_TEXT],
                "issuer": _name(certificate.issuer)[:_MAX_SHORT_TEXT],
                "valid_until": _text_of(certificate.not_valid_after_utc),
            }
        )
    return chain


def _name(name: x509.Name) -> str:
    """Return organization and common name, such as "Example Trust, R3"; else all of it."""
    attributes = [*name.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    attributes += name.get_attributes_for_oid(NameOID.COMMON_NAME)
    parts = dict.fromkeys(str(attribute.value) for attribute in attributes)
    return _clean(", ".join(parts) or name.rfc4514_string())[:_MAX_TEXT]


def _names(certificate: x509.Certificate) -> list[str]:
    """Return the first host names and addresses for which the certificate is valid."""
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    names = [*extension.get_values_for_type(x509.DNSName)]
    names += map(str, extension.get_values_for_type(x509.IPAddress))
    return [_clean(name)[:_MAX_HOST] for name in names[:_MAX_NAMES]]


def _clean(text: str) -> str:
    return "".join(character for character in text if character.isprintable())


def _text_of(moment: datetime) -> str:
    return f"{min(max(moment, _FIRST), _LAST):%Y-%m-%dT%H:%M:%SZ}"
