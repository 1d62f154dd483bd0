"""Handshakes: what is wrong with a certificate, and which versions a server accepts."""

import ssl
import sys
import time
import warnings

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding

from foundation.outbound import tls
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.fetch import LEGACY_SERVERS, trusted, unverified
from foundation.outbound.tls import HandshakeRefused, NotConnected, offers, shake_hands
from tests.faults.certificate import make_certificate, write_certificate
from tests.faults.server import TOO_LATE, FaultServer, answer, closed_port, reset_soon, say_nothing
from tests.faults.tickets import endless_hellos

HOST, HERE = "shop.example.com", "127.0.0.1"


@pytest.fixture
def serve(tmp_path):
    """Return a function that serves a certificate, and returns its port and a context that trusts it."""
    servers = []

    def start(**certificate):
        file, tls = write_certificate(tmp_path, **({"name": HOST} | certificate))
        servers.append(FaultServer(answer(200, b""), tls=tls).__enter__())
        return servers[-1].port, ssl.create_default_context(cafile=file)

    yield start
    for server in servers:
        server.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("certificate", "problem"),
    [
        ({}, ""),
        ({"name": "evil.example.net"}, "other_name"),
        ({"hours": -1}, "expired"),
        ({"begins": 1, "hours": 9}, "not_yet_valid"),
    ],
)
def test_what_is_wrong_with_a_certificate_is_named(serve, certificate, problem):
    port, trusting = serve(**certificate)
    shaken = shake_hands(HOST, HERE, Deadline(5), port=port, tls=trusting)
    assert (shaken.problem, shaken.version) == (problem, "TLSv1.3")
    assert ssl.DER_cert_to_PEM_cert(shaken.certificate)


def test_a_certificate_of_an_unknown_authority_is_not_trusted(serve):
    port, _ = serve()
    shaken = shake_hands(HOST, HERE, Deadline(5), port=port)
    assert (shaken.problem, shaken.message) == ("not_trusted", "self-signed certificate")


@pytest.mark.parametrize("is_trusted", [True, False])
def test_the_chain_that_a_server_sends_is_read_from_python_3_13_on(serve, is_trusted):
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = make_certificate(authority_key, name="Root")
    port, trusting = serve(issuer=(authority, authority_key), chain=[authority])
    if is_trusted:
        trusting = ssl.create_default_context(cadata=authority.public_bytes(Encoding.PEM).decode())
        trusting.verify_flags &= ~ssl.VERIFY_X509_STRICT
    shaken = shake_hands(HOST, HERE, Deadline(5), port=port, tls=trusting if is_trusted else None)
    expected = (authority.public_bytes(Encoding.DER),) if sys.version_info >= (3, 13) else ()
    assert (shaken.problem, shaken.chain) == ("" if is_trusted else "not_trusted", expected)


def test_an_address_that_its_certificate_does_not_name_has_that_of_another(serve):
    port, trusting = serve()
    shaken = shake_hands("192.0.2.9", HERE, Deadline(5), port=port, tls=trusting)
    assert (shaken.problem, shaken.is_for_another) == ("other_name", True)


def test_a_server_that_offers_old_versions_only_is_read(tmp_path):
    _, tls = write_certificate(tmp_path, name=HOST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        tls.minimum_version, tls.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with FaultServer(answer(200), tls=tls) as server:
        shaken = shake_hands(HOST, HERE, Deadline(5), port=server.port)
        assert (shaken.version, shaken.problem) == ("TLSv1.1", "not_trusted")
        assert not offers(ssl.TLSVersion.TLSv1_2, HOST, HERE, Deadline(5), port=server.port)


@pytest.mark.parametrize("trusts", [True, False])
@pytest.mark.parametrize(
    ("certificate", "is_for_another"),
    [
        ({"name": "evil.example.net"}, True),
        ({"name": "www.shop.example.com"}, True),
        ({"name": "*.shop.example.com"}, True),
        ({"has_names": False}, True),
        ({"name": "*.EXAMPLE.com", "hours": -1}, False),
        ({"hours": -1}, False),
    ],
)
def test_a_certificate_without_the_name_is_for_another_also_without_trust(
    serve, certificate, is_for_another, trusts
):
    port, trusting = serve(**certificate)
    tls = trusting if trusts else trusted()
    assert shake_hands(HOST, HERE, Deadline(5), port=port, tls=tls).is_for_another is is_for_another


def test_an_old_certificate_names_the_host_in_its_subject_only():
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = make_certificate(key), key
    certificate = make_certificate(key, name=HOST, issuer=issuer, has_names=False)
    assert tls._is_for_another(certificate.public_bytes(Encoding.DER), HOST) is False


def test_an_address_is_named_by_its_certificate(serve):
    port, trusting = serve(hours=-1)
    assert shake_hands(HERE, HERE, Deadline(5), port=port, tls=trusting).is_for_another is False


def test_a_certificate_that_cannot_be_read_is_for_no_other_name():
    assert tls._is_for_another(b"\x30\x00", HOST) is False


def test_a_server_is_asked_for_one_version_alone(serve):
    port, _ = serve(name="evil.example.net")
    found = [offers(version, HOST, HERE, Deadline(5), port=port) for version in ssl.TLSVersion if version > 0]
    assert found == [False, False, False, True, True]


def test_a_server_that_resets_the_connection_does_not_offer_the_version():
    with FaultServer(reset_soon) as server:
        assert offers(ssl.TLSVersion.TLSv1, HOST, HERE, Deadline(5), port=server.port) is False


def test_a_server_that_does_not_answer_a_handshake_leaves_time_for_other_checks(monkeypatch):
    monkeypatch.setattr(tls, "_SECONDS", 0.2)
    with FaultServer(say_nothing) as server, pytest.raises(NotConnected):
        offers(ssl.TLSVersion.TLSv1, HOST, HERE, Deadline(TOO_LATE), port=server.port)


def test_a_port_that_refuses_is_no_answer():
    with pytest.raises(NotConnected):
        shake_hands(HOST, HERE, Deadline(5), port=closed_port())


def test_a_server_that_never_ends_the_handshake_ends_at_the_wall_clock():
    started = time.monotonic()
    with FaultServer(endless_hellos) as server, pytest.raises(DeadlinePassed):
        shake_hands(HOST, HERE, Deadline(2), port=server.port)
    assert time.monotonic() - started < TOO_LATE


def limited(context, ciphers):
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(ciphers)
    return context


@pytest.mark.parametrize(
    "ciphers", ["AES128-GCM-SHA256", "AES256-SHA", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES128-SHA256"]
)
def test_a_server_with_ciphers_that_browsers_offer_is_read(tmp_path, ciphers):
    _, context = write_certificate(tmp_path, key=rsa.generate_private_key(65537, 2048), name=HOST)
    with FaultServer(answer(200, b"here"), tls=limited(context, ciphers)) as server:
        shaken = shake_hands(HOST, HERE, Deadline(5), port=server.port)
    assert (shaken.version, shaken.problem) == ("TLSv1.2", "not_trusted"), "with and without a check of it"


def test_a_server_that_demands_a_certificate_has_begun_a_handshake(tmp_path):
    file, context = write_certificate(tmp_path, name=HOST)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(file)
    with FaultServer(answer(200), tls=context) as server, pytest.raises(HandshakeRefused):
        shake_hands(HOST, HERE, Deadline(5), port=server.port)


def test_a_server_that_has_no_cipher_of_ours_has_not_begun_a_handshake(tmp_path):
    context = limited(write_certificate(tmp_path, name=HOST)[1], "DHE-RSA-AES256-GCM-SHA384")
    with FaultServer(answer(200), tls=context) as server, pytest.raises(ssl.SSLError) as caught:
        shake_hands(HOST, HERE, Deadline(5), port=server.port)
    assert not isinstance(caught.value, HandshakeRefused)


def hello(*, version=b"\3\3", cipher=b"\xc0\x2f", extensions=b""):
    """Return a script that sends the beginning of a handshake: ServerHello (RFC 5246, 7.4.1.3)."""
    content = version + bytes(32) + b"\0" + cipher + b"\0" + extensions
    message = b"\2" + len(content).to_bytes(3) + content

    def script(server, connection):
        connection.recv(4096)
        connection.sendall(b"\x16" + version + len(message).to_bytes(2) + message)

    return script


@pytest.mark.parametrize(
    "script",
    [hello(version=b"\3\1"), hello(cipher=b"\0\x9f")],
    ids=["TLS 1.0", "a cipher that was not offered"],
)
def test_a_handshake_that_our_side_ends_has_begun(script):
    with FaultServer(script) as server, pytest.raises(HandshakeRefused):
        shake_hands(HOST, HERE, Deadline(5), port=server.port)


def test_a_server_without_secure_renegotiation_is_read():
    """Browsers accept it (RFC 5746, 4.1); the handshake goes on until this server ends it."""
    with FaultServer(hello()) as server, pytest.raises(HandshakeRefused, match=r"(?i)eof"):
        shake_hands(HOST, HERE, Deadline(5), port=server.port)
    assert unverified().options & LEGACY_SERVERS
    assert not trusted().options & LEGACY_SERVERS, "as for proofs"


def test_dhe_is_not_offered(tmp_path):
    """Old servers prefer it, with keys that OpenSSL refuses; browsers gave it up."""
    _, context = write_certificate(tmp_path, key=rsa.generate_private_key(65537, 2048), name=HOST)
    limited(context, "DHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384")
    context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    for ours in (trusted(), unverified()):
        assert not [each["name"] for each in ours.get_ciphers() if each["name"].startswith("DHE")]
    with FaultServer(answer(200, b"here"), tls=context) as server:
        assert shake_hands(HOST, HERE, Deadline(5), port=server.port).version == "TLSv1.2"


def test_a_server_that_chooses_an_old_version_and_then_fails_does_not_offer_it(tmp_path):
    """OpenSSL 3 has no signature for TLS 1.0 unless its level of security is 0."""
    _, context = write_certificate(tmp_path, key=rsa.generate_private_key(65537, 2048), name=HOST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("ALL:@SECLEVEL=2")
    with FaultServer(answer(200), tls=context) as server:
        assert offers(ssl.TLSVersion.TLSv1, HOST, HERE, Deadline(5), port=server.port) is False
