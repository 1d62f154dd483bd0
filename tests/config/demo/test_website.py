import socket
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from config.demo import website


def test_the_demos_website_shows_its_files_and_no_list_of_them(tmp_path):
    website.create(tmp_path)
    (tmp_path / ".well-known" / "proof.txt").write_text("token")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with website.serving(tmp_path, port):
        address = f"http://127.0.0.1:{port}"
        assert b"Demo shop" in urlopen(f"{address}/").read()
        assert urlopen(f"{address}/.well-known/proof.txt").read() == b"token"
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{address}/.well-known/")


def test_files_that_were_changed_are_kept(tmp_path):
    website.create(tmp_path)
    (tmp_path / "index.html").write_text("mine")
    website.create(tmp_path)
    assert (tmp_path / "index.html").read_text() == "mine"
