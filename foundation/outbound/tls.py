"""TLS handshakes with a checked address: which versions it offers, and which certificate it has."""

import socket
import ssl
import warnings
from contextlib import suppress
from dataclasses import dataclass

from cryptography import x509
from cryptography.x509.oid import NameOID

from foundation.outbound.deadline import CONNECT_SECONDS, Deadline, DeadlinePassed, handshake_ended_after
from foundation.outbound.fetch import LEGACY_SERVERS, trusted, unverified

# By the verify codes of OpenSSL; the last one is of a host that is an address.
_PROBLEMS = {9: "not_yet_valid", 10: "expired", 62: "other_name", 64: "other_name"}
_UNREADABLE = (x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)
_HANDSHAKE = b"\x16"  # the type of a server's first message that is no alert
_PART = 16_384
_SECONDS = 10.0  # of a handshake: some servers leave a version that they do not offer without an answer


class NotConnected(Exception):
    """The address did not answer, so nothing is known about its TLS."""


class HandshakeBroken(NotConnected):
    """The address accepted the connection, and broke off the handshake."""


class HandshakeRefused(ssl.SSLError):
    """The server began the handshake, and one side ended it: it may demand a certificate of the client."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """A handshake: ``problem`` is expired, not_yet_valid, other_name or not_trusted, or empty.

    ``is_for_another`` is whether the certificate does not name the host, whatever its problem is: then the
    server may show another website. ``message`` is what OpenSSL says about the problem.
    """

    version: str
    certificate: bytes  # in DER
    problem: str = ""
    is_for_another: bool = False
    message: str = ""


def shake_hands(
    host: str, address: str, deadline: Deadline, *, port: int = 443, tls: ssl.SSLContext | None = None
) -> Handshake:
    """Return the handshake, even if the certificate is not valid; raise NotConnected or an ssl.SSLError."""
    try:
        return _verified(host, address, deadline, port, tls or trusted(legacy=True))
    except ssl.SSLCertVerificationError as error:
        problem, message = _PROBLEMS.get(error.verify_code, "not_trusted"), error.verify_message
    accepted = _shake_hands(host, address, deadline, port, unverified())
    certificate = accepted.certificate
    return Handshake(accepted.version, certificate, problem, _is_for_another(certificate, host), message)


def _verified(host: str, address: str, deadline: Deadline, port: int, tls: ssl.SSLContext) -> Handshake:
    """Return the handshake, by TLS 1.0 or 1.1 where nothing newer is offered, if the certificate is valid."""
    try:
        return _shake_hands(host, address, deadline, port, tls)
    except ssl.SSLCertVerificationError:
        raise
    except (ssl.SSLError, HandshakeBroken) as error:
        refusal = error
    try:
        return _shake_hands(host, address, deadline, port, trusted(legacy=True, old=True))
    except ssl.SSLCertVerificationError:
        raise
    except (ssl.SSLError, NotConnected):
        raise refusal from None


def shows_another(host: str, address: str, deadline: Deadline, *, tls: ssl.SSLContext | None = None) -> bool:
    """Return whether https of ``host`` has the certificate of another website; false without a handshake."""
    try:
        return shake_hands(host, address, deadline, tls=tls).is_for_another
    except (NotConnected, ssl.SSLError, DeadlinePassed):
        return False


def _is_for_another(certificate: bytes, host: str) -> bool:
    """Return whether a certificate names other hosts only; false for one that cannot be read."""
    named: list[object] = []
    try:
        read = x509.load_der_x509_certificate(certificate)
        named += [each.value for each in read.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        named += [*names.get_values_for_type(x509.DNSName), *names.get_values_for_type(x509.IPAddress)]
    except x509.ExtensionNotFound:
        pass
    except (ValueError, TypeError, *_UNREADABLE):
        return False
    return {str(name).lower() for name in named}.isdisjoint({host, f"*.{host.partition('.')[2]}"})


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
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")  # old versions need what OpenSSL refuses by default
    context.options |= LEGACY_SERVERS
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
            with handshake_ended_after(seconds, plain):
                encrypted = _encrypted(plain, context, host)
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


def _encrypted(plain: socket.socket, context: ssl.SSLContext, host: str) -> ssl.SSLObject:
    """Return a connection after its handshake; raise HandshakeRefused if it ends after the server began."""
    incoming, outgoing, first = ssl.MemoryBIO(), ssl.MemoryBIO(), b""
    encrypted = context.wrap_bio(incoming, outgoing, server_hostname=host)
    while True:
        try:
            encrypted.do_handshake()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLCertVerificationError:
            raise
        except ssl.SSLError as error:
            if first == _HANDSHAKE:
                raise HandshakeRefused(str(error)) from error
            raise
        else:
            return encrypted
        finally:
            with suppress(ConnectionResetError, BrokenPipeError):  # the server may have said why
                plain.sendall(outgoing.read())
        try:
            received = plain.recv(_PART)
        except ConnectionResetError:
            if not first:
                raise
            received = b""
        first = first or received[:1]
        if received:
            incoming.write(received)
        else:
            incoming.write_eof()
