import socket
import ssl
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from cryptography import x509

from config.demo import website


@contextmanager
def serving(folder):
    """Serve a new website from ``folder``; yield its port."""
    website.create(folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with website.serving(folder, port):
        yield port


def certificate_at(port):
    pem = ssl.get_server_certificate(("127.0.0.1", port))
    return x509.load_pem_x509_certificate(pem.encode())


def test_the_demos_website_shows_its_files_and_no_list_of_them(tmp_path):
    with serving(tmp_path) as port:
        (tmp_path / ".well-known" / "proof.txt").write_text("token")
        address = f"http://127.0.0.1:{port}"
        assert b"Demo shop" in urlopen(f"{address}/").read()
        assert urlopen(f"{address}/.well-known/proof.txt").read() == b"token"
        for path in (".well-known/", website.HEADERS, website.CERTIFICATE, f"%2e/{website.CERTIFICATE}"):
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"{address}/{path}")


def test_headers_are_those_of_the_file_at_this_moment(tmp_path):
    with serving(tmp_path) as port:
        headers = urlopen(f"http://127.0.0.1:{port}/").headers
        assert headers["Server"] == "nginx/1.14.0"
        assert headers["Set-Cookie"] == "basket=1; Path=/"
        (tmp_path / website.HEADERS).write_text("X-Content-Type-Options: nosniff\nno header\n")
        headers = urlopen(f"http://127.0.0.1:{port}/").headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Server" not in headers


def test_the_certificate_ends_soon_and_a_deleted_one_is_replaced_by_a_longer_one(tmp_path):
    with serving(tmp_path) as port:
        now = datetime.now(UTC)
        assert certificate_at(port).not_valid_after_utc < now + timedelta(days=10)
        (tmp_path / website.CERTIFICATE).unlink()
        assert certificate_at(port).not_valid_after_utc > now + timedelta(days=89)
        assert b"Demo shop" in urlopen(f"http://127.0.0.1:{port}/").read()


def test_files_that_were_changed_are_kept(tmp_path):
    website.create(tmp_path)
    (tmp_path / "index.html").write_text("mine")
    website.create(tmp_path)
    assert (tmp_path / "index.html").read_text() == "mine"
