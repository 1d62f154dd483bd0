"""TLS handshakes with a checked address: its versions and its certificate."""

import socket
import ssl
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from cryptography import x509
from cryptography.x509.oid import NameOID

from foundation.outbound import sockets
from foundation.outbound.deadline import CONNECT_SECONDS, Deadline, DeadlinePassed, handshake_ended_after
from foundation.outbound.fetch import LEGACY_SERVERS, trusted, unverified

# By OpenSSL's verify code; 64 is a mismatch for a host that is an IP address.
_PROBLEM_BY_CODE = {9: "not_yet_valid", 10: "expired", 62: "other_name", 64: "other_name"}
# Errors of certificates that cannot be read, next to ValueError and TypeError.
UNREADABLE = (x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)
_HANDSHAKE_RECORD = b"\x16"  # its first byte; an alert has another
_RECEIVE_BYTES = 16_384
_SECONDS = 10.0  # for a handshake: some servers never answer a version that they do not offer


class NotConnected(Exception):
    """The address did not answer, so its TLS is unknown."""


class HandshakeBroken(NotConnected):
    """The server accepted the connection and closed it during the handshake."""


class HandshakeRefused(ssl.SSLError):
    """The handshake failed after the server began it: the server may require a client certificate."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """A handshake; ``problem`` is expired, not_yet_valid, other_name, not_trusted or empty.

    ``is_for_another``: the certificate does not name the host, so the server may show another website. It is
    independent of ``problem``. ``message`` is OpenSSL's text about the problem. ``chain`` has the
    certificates that the server sent after its own, in DER; empty before Python 3.13, which cannot tell.
    """

    version: str
    certificate: bytes  # in DER
    problem: str = ""
    is_for_another: bool = False
    message: str = ""
    chain: tuple[bytes, ...] = ()


def shake_hands(
    host: str, address: str, deadline: Deadline, *, port: int = 443, tls: ssl.SSLContext | None = None
) -> Handshake:
    """Return the handshake, even with an invalid certificate; raise NotConnected or an ssl.SSLError."""
    try:
        return _verified(host, address, deadline, port, tls or trusted(legacy=True))
    except ssl.SSLCertVerificationError as error:
        problem, message = _PROBLEM_BY_CODE.get(error.verify_code, "not_trusted"), error.verify_message
    accepted = _shake_hands(host, address, deadline, port, unverified())
    is_for_another = _is_for_another(accepted.certificate, host)
    return replace(accepted, problem=problem, is_for_another=is_for_another, message=message)


def _verified(host: str, address: str, deadline: Deadline, port: int, tls: ssl.SSLContext) -> Handshake:
    """Return a handshake with a valid certificate; fall back to TLS 1.0 and 1.1."""
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
    """Return whether https of ``host`` has another website's certificate; False if the handshake fails."""
    try:
        return shake_hands(host, address, deadline, tls=tls).is_for_another
    except (NotConnected, ssl.SSLError, DeadlinePassed):
        return False


def _is_for_another(encoded: bytes, host: str) -> bool:
    """Return whether the certificate does not name ``host``; False if it cannot be read."""
    names: list[object] = []
    try:
        certificate = x509.load_der_x509_certificate(encoded)
        names += [each.value for each in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        alternative = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names += alternative.get_values_for_type(x509.DNSName)
        names += alternative.get_values_for_type(x509.IPAddress)
    except x509.ExtensionNotFound:
        pass
    except (ValueError, TypeError, *UNREADABLE):
        return False
    return {str(name).lower() for name in names}.isdisjoint({host, f"*.{host.partition('.')[2]}"})


def offers(
    version: ssl.TLSVersion,
    host: str,
    address: str,
    deadline: Deadline,
    *,
    port: int = 443,
    oldest: ssl.TLSVersion | None = None,
) -> bool:
    """Return whether the server accepts TLS ``version``, or any from ``oldest`` up to it; raise NotConnected.

    Servers refuse a version by an alert; many load balancers close the connection instead.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")  # old versions need ciphers that OpenSSL disables by default
    context.options |= LEGACY_SERVERS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns about old versions
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
    handshake_deadline = Deadline(seconds)
    try:
        with sockets.connect(address, port, min(CONNECT_SECONDS, seconds)) as plain:
            plain.settimeout(seconds)
            with handshake_ended_after(seconds, plain):
                encrypted = _encrypted(plain, context, host)
                certificate = encrypted.getpeercert(binary_form=True) or b""
                return Handshake(encrypted.version() or "", certificate, chain=_chain(encrypted))
    except ssl.SSLError as error:
        deadline.remaining()
        if not handshake_deadline.allows(0):
            raise NotConnected("timed out") from error
        raise
    except (ConnectionResetError, BrokenPipeError) as error:
        raise HandshakeBroken(str(error)) from error
    except OSError as error:
        raise NotConnected(str(error)) from error


def _chain(encrypted: ssl.SSLObject) -> tuple[bytes, ...]:
    """Return the certificates after the server's own; empty before Python 3.13."""
    chain: Callable[[], list[bytes]] | None = getattr(encrypted, "get_unverified_chain", None)
    return tuple(chain()[1:]) if chain else ()


def _encrypted(plain: socket.socket, context: ssl.SSLContext, host: str) -> ssl.SSLObject:
    """Shake hands and return the connection; raise HandshakeRefused if that fails after the server began."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()  # so that the received bytes can be seen here
    first_byte = b""
    encrypted = context.wrap_bio(incoming, outgoing, server_hostname=host)
    while True:
        try:
            encrypted.do_handshake()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLCertVerificationError:
            raise
        except ssl.SSLError as error:
            if first_byte == _HANDSHAKE_RECORD:
                raise HandshakeRefused(str(error)) from error
            raise
        else:
            return encrypted
        finally:
            with suppress(ConnectionResetError, BrokenPipeError):  # the server's alert may wait to be read
                plain.sendall(outgoing.read())
        try:
            received = plain.recv(_RECEIVE_BYTES)
        except ConnectionResetError:
            if not first_byte:
                raise
            received = b""
        first_byte = first_byte or received[:1]
        if received:
            incoming.write(received)
        else:
            incoming.write_eof()
