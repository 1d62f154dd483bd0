"""A website of the table on loopback: real servers and TLS, and certificates of an authority of ours."""

import functools
import ssl
import tempfile
import warnings
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding

from tests.dashboard_api.crawler.essentials.good_website import HEADERS, HOST
from tests.faults.certificate import make_certificate, signed_with_sha_1, write_certificate
from tests.faults.server import FaultServer, http
from tests.foundation.outbound.internet import PUBLIC

PARTNER = "https://partner.example.net"
_HEADERS = HEADERS | {
    "Content-Type": "text/html; charset=utf-8",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
_TEXT = b"Contact: mailto:security@example.com\nExpires: 2099-01-01T00:00:00Z\n"
_VERSIONS = {
    "1.0": ssl.TLSVersion.TLSv1,
    "1.1": ssl.TLSVersion.TLSv1_1,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}
_DAY = 24
_TIMES = {  # hours from now at which a certificate begins and ends
    "not yet valid": {"begins": 2 * _DAY, "hours": 90 * _DAY},
    "valid in an hour": {"begins": 1, "hours": 90 * _DAY},
    "expired": {"begins": -90 * _DAY, "hours": -_DAY},
    "half over": {"begins": -45 * _DAY, "hours": 45 * _DAY},
    "a week left of three months": {"begins": -83 * _DAY, "hours": 7 * _DAY},
    "a day left of six": {"begins": -5 * _DAY, "hours": _DAY},
    "five days left of six": {"begins": -_DAY, "hours": 5 * _DAY},
}
_NAMES = {
    "other name": "other.example.net",
    "wildcard": "*.example.com",
    "wildcard below": f"*.{HOST}",
}


class Authority:
    """An authority with a folder for certificates."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.key = rsa.generate_private_key(65537, 2048)
        self.certificate = make_certificate(self.key, hours=9999)
        self.file = self.folder / "authority.pem"
        self.file.write_bytes(self.certificate.public_bytes(Encoding.PEM))

    @functools.cache  # noqa: B019 - an authority lives as long as the run
    def file_of(self, kind, name=HOST):
        """Return the file with a certificate of this kind for a name, and its key."""
        bits = next((int(size) for size in ("1024", "2048", "4096") if size in kind), None)
        bits = 2048 if "SHA-1" in kind and not bits else bits
        key = rsa.generate_private_key(65537, bits) if bits else ec.generate_private_key(ec.SECP256R1())
        issuer = (self.certificate, self.key) if kind != "unknown authority" else None
        fields = {
            "name": _NAMES.get(kind, name),
            "has_names": kind != "name in the subject alone",
            "issuer": issuer,
            **_TIMES.get(kind, {"hours": 90 * _DAY}),
        }
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        file, _ = write_certificate(folder, key=key, **fields)
        if "SHA-1" in kind:
            pem = file.read_text()
            der = signed_with_sha_1(make_certificate(key, **fields), self.key)
            file.write_text(ssl.DER_cert_to_PEM_cert(der) + pem.partition("-----END CERTIFICATE-----\n")[2])
        return file

    def tls(self, website):
        """Return the TLS of a website."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.load_cert_chain(self.file_of(website.certificate))
        oldest, newest = website.versions
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version, context.maximum_version = _VERSIONS[oldest], _VERSIONS[newest]
        return context


def serve(website, internet, authority):
    """Serve a website at its two ports, in place of the one before; return its servers."""
    servers = []
    for port, is_open, tls in (
        (443, website.https, authority.tls(website)),
        (80, website.plain != "closed", None),
    ):
        internet.routes.pop((PUBLIC, port), None)
        if is_open:
            script = _script(website, is_encrypted=tls is not None)
            servers.append(FaultServer(script, tls=tls))
            internet.serve(servers[-1], address=PUBLIC, port=port)
    _serve_others(website, internet, authority)
    return servers


def _serve_others(website, internet, authority):
    """Serve the scripts of other hosts, each host at an address of its own."""
    for number, host in enumerate(dict.fromkeys(urlsplit(url).netloc for url in website.scripts), 1):
        address = f"9.9.9.{number}"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.file_of("good", host))
        internet.zone[host] = internet.zone[f"{host}."] = [address]

        def script(server, connection, host=host):
            server.receive(connection)
            path = server.received[-1].head.split(b" ")[1].decode()
            body = website.scripts.get(f"https://{host}{path}")
            connection.sendall(http(200, body.encode()) if body else http(404))

        internet.serve(FaultServer(script, tls=context), address=address, port=443)


def _script(website, *, is_encrypted):
    def script(server, connection):
        server.receive(connection)
        received = server.received[-1]
        path = urlsplit(received.head.split(b" ")[1].decode()).path
        connection.sendall(_response(website, path, received.header("origin"), is_encrypted=is_encrypted))

    return script


def _response(website, path, origin, *, is_encrypted):
    if not is_encrypted and website.plain == "redirect" and website.https:
        return http(301, headers=[("Location", f"https://{HOST}{path}"), ("Content-Type", "text/html")])
    own = {name.lower() for name in website.headers}
    headers = [(name, value) for name, value in _HEADERS.items() if name.lower() not in own]
    for name, values in website.headers.items():
        headers += [(name, value) for value in ([values] if isinstance(values, str) else values) if value]
    if path == "/.well-known/security.txt":
        return http(200, _TEXT, headers=[("Content-Type", "text/plain")])
    if path in website.files or (path != "/" and website.elsewhere):
        return http(200, website.files.get(path, website.elsewhere).encode())
    if path.endswith(".js"):
        return http(200, b"!function(){}();")
    if is_encrypted and website.location and path == "/" and website.location != path:
        return http(302, headers=[("Location", website.location), *headers])
    if path not in ("/", urlsplit(website.location).path):
        return http(404, b"<title>Not found</title>", headers=headers)
    headers += [("Set-Cookie", cookie) for cookie in website.cookies]
    if origin and _is_reflected(website.cors, origin):
        headers.append(("Access-Control-Allow-Origin", origin))
        headers += [("Access-Control-Allow-Credentials", "true")] * website.credentials
    return http(website.status, website.body.encode(), headers=headers)


def _is_reflected(origins, origin):
    return {
        "": False,
        "any": True,
        "null": origin == "null",
        "begins": origin.startswith(f"https://{HOST}"),
        "ends": origin.endswith("example.com"),
        "partner": origin == PARTNER,
    }[origins]
