"""A small website of the demo, which a new user can add, verify by a file, scan, fix and scan again.

Its faults are in files, which are read again for each request: headers in ``headers.txt``, an old library in
``jquery.js``, and a certificate that ends soon. A new certificate replaces a deleted one.
"""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NAME = "demo-shop.localhost"
HEADERS = "headers.txt"
CERTIFICATE = "certificate.pem"
_TEMPLATES = Path(__file__).with_name("website_files")
_FILES = ("index.html", "jquery.js", HEADERS)
_PAGES = ("shoes", "hats", "bags", "delivery", "contact")
_FIRST_DAYS, _DAYS = 10, 90  # of certificates: the first one ends soon
_SECONDS = 10.0  # for each read of a request
_TLS_RECORD = b"\x16"  # the first byte of a handshake


class _Handler(SimpleHTTPRequestHandler):
    """Sends the files of a folder with the headers of ``headers.txt``."""

    def send_response(self, code: int, message: str | None = None) -> None:
        self.send_response_only(code, message)  # without Server and Date of its own

    def end_headers(self) -> None:
        file = Path(self.directory) / HEADERS
        for line in file.read_text(errors="replace").splitlines() if file.exists() else ():
            name, is_header, value = line.partition(":")
            if is_header and name.isprintable() and value.isprintable():
                self.send_header(name.strip(), value.strip())
        super().end_headers()

    def send_head(self) -> Any:
        if Path(self.translate_path(self.path)).name in (HEADERS, CERTIFICATE):
            return self.send_error(404)
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        self.send_error(404)  # instead of a list of the files

    def log_message(self, *_: Any) -> None:
        """Do not print requests, so that the demo's addresses remain visible in the terminal."""


class _Server(ThreadingHTTPServer):
    """Answers http and https at one port."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
        self._folder, self._lock = folder, threading.Lock()

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.settimeout(_SECONDS)
        if request.recv(1, socket.MSG_PEEK) == _TLS_RECORD:
            with self._lock:  # one thread makes a missing certificate
                _create_certificate(self._folder / CERTIFICATE, days=_DAYS)
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(self._folder / CERTIFICATE)
            with context.wrap_socket(request, server_side=True) as encrypted:
                super().finish_request(encrypted, client_address)
        else:
            super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that end their connection: a scan does."""


def create(folder: Path) -> None:
    """Create the missing files of the website."""
    (folder / ".well-known").mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        if not (folder / name).exists():
            (folder / name).write_bytes((_TEMPLATES / name).read_bytes())
    home = (folder / "index.html").read_text(errors="replace")
    for name in _PAGES:
        if not (folder / f"{name}.html").exists():
            (folder / f"{name}.html").write_text(home.replace("<h1>Demo shop", f"<h1>{name.title()}"))
    _create_certificate(folder / CERTIFICATE, days=_FIRST_DAYS)


def _create_certificate(file: Path, *, days: int) -> None:
    """Create a certificate that the website signs itself, unless there is one."""
    if file.exists():
        return
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=_DAYS - days))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.touch(mode=0o600)
    file.write_bytes(text + certificate.public_bytes(serialization.Encoding.PEM))


@contextmanager
def serving(folder: Path, port: int) -> Iterator[None]:
    """Serve the files of ``folder`` on this machine until the end of the block."""
    with _Server(folder, port) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
