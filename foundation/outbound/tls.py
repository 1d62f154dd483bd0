"""TLS handshakes with a checked address: which versions it offers, and which certificate it has."""

import socket
import ssl
import warnings
from dataclasses import dataclass

from foundation.deadline import CONNECT_SECONDS, Deadline, handshake_ended_after
from foundation.outbound.fetch import trusted

_EXPIRED, _OTHER_NAME = 10, 62  # verify codes of OpenSSL
_SECONDS = 10.0  # of a handshake: some servers leave a version that they do not offer without an answer


class NotConnected(Exception):
    """The address did not answer, so nothing is known about its TLS."""


class HandshakeBroken(NotConnected):
    """The address accepted the connection, and broke off the handshake."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """A handshake: ``problem`` is expired, other_name or not_trusted, and empty for a valid certificate."""

    version: str
    certificate: bytes  # in DER
    problem: str = ""


def shake_hands(
    host: str, address: str, deadline: Deadline, *, port: int = 443, tls: ssl.SSLContext | None = None
) -> Handshake:
    """Return the handshake, even if the certificate is not valid; raise NotConnected."""
    try:
        return _shake_hands(host, address, deadline, port, tls or trusted())
    except ssl.SSLCertVerificationError as error:
        problem = {_EXPIRED: "expired", _OTHER_NAME: "other_name"}.get(error.verify_code, "not_trusted")
    accepted = _shake_hands(host, address, deadline, port, _any_certificate())
    return Handshake(accepted.version, accepted.certificate, problem)


def offers(
    version: ssl.TLSVersion,
    host: str,
    address: str,
    deadline: Deadline,
    *,
    port: int = 443,
    oldest: ssl.TLSVersion | None = None,
) -> bool:
    """Return whether the server accepts this version of TLS, or one since ``oldest``; raise NotConnected.

    A server may refuse a version by an alert, or break off the handshake, as many load balancers do.
    """
    context = _any_certificate()
    context.set_ciphers("ALL:@SECLEVEL=0")  # old versions need what OpenSSL refuses by default
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # old versions are what this looks for
        context.minimum_version, context.maximum_version = oldest or version, version
    try:
        _shake_hands(host, address, deadline, port, context)
    except (ssl.SSLError, HandshakeBroken):
        return False
    return True


def _shake_hands(
    host: str, address: str, deadline: Deadline, port: int, context: ssl.SSLContext
) -> Handshake:
    seconds = min(_SECONDS, deadline.remaining())
    shaking = Deadline(seconds)
    try:
        with socket.create_connection((address, port), min(CONNECT_SECONDS, seconds)) as plain:
            plain.settimeout(seconds)
            with (
                handshake_ended_after(seconds, plain),
                context.wrap_socket(plain, server_hostname=host) as encrypted,
            ):
                certificate = encrypted.getpeercert(binary_form=True) or b""
                return Handshake(encrypted.version() or "", certificate)
    except ssl.SSLError as error:
        deadline.remaining()
        if not shaking.allows(0):
            raise NotConnected("timed out") from error
        raise
    except (ConnectionResetError, BrokenPipeError) as error:
        raise HandshakeBroken(str(error)) from error
    except OSError as error:
        raise NotConnected(str(error)) from error


def _any_certificate() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
