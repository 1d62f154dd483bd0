"""A certificate for 127.0.0.1, and perhaps a name, that no client trusts until a test adds it."""

import datetime
import ipaddress
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.x509.oid import NameOID

_SHA_256, _SHA_1 = (bytes.fromhex(f"2a864886f70d0101{last}") for last in ("0b", "05"))  # with RSA


def make_certificate(key, *, name="localhost", begins=-9, hours=1, issuer=None, has_names=True):
    """Return a certificate of the key, signed by itself or by ``issuer``, a certificate and its key.

    It is valid between ``begins`` and ``hours`` from now. Without ``has_names``, only the subject names
    what it is for.
    """
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name if issuer else "127.0.0.1")])
    names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName(name)]
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder()
    if has_names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return (
        builder.subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(hours=begins))
        .not_valid_after(now + datetime.timedelta(hours=hours))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(issuer[1] if issuer else key, hashes.SHA256())
    )


def write_certificate(folder, *, key=None, chain=(), **fields):
    """Return the certificate's file, and a server's TLS context with it and the certificates of ``chain``."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    certificate = make_certificate(key, **fields)
    file = folder / "certificate.pem"
    file.write_bytes(
        b"".join(each.public_bytes(serialization.Encoding.PEM) for each in (certificate, *chain))
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.set_ciphers("DEFAULT:@SECLEVEL=0")  # a server may have any key
    tls.load_cert_chain(file)
    return file, tls


def signed_with_sha_1(certificate, issuer):
    """Return the certificate in DER, signed with SHA-1, which cryptography no longer does by itself."""
    content = certificate.tbs_certificate_bytes.replace(_SHA_256, _SHA_1)
    signature = issuer.sign(content, PKCS1v15(), hashes.SHA1())
    der = certificate.public_bytes(serialization.Encoding.DER).replace(_SHA_256, _SHA_1)
    return der.replace(certificate.signature, signature)
