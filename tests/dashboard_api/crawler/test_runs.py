"""The address at which scanners begin: http where https is missing, or that of another website."""

import pytest

from dashboard_api.crawler.runs import _start_url
from tests.faults.certificate import write_certificate
from tests.faults.server import FaultServer, answer
from tests.foundation.outbound.internet import PUBLIC, Internet

pytestmark = pytest.mark.django_db
HOST = "shop.example.com"
PAGE, AWAY = answer(200), answer(301, headers=[("Location", f"https://{HOST}/")])


@pytest.mark.parametrize(
    ("name", "plain", "scheme"),
    [
        (None, PAGE, "http"),
        (HOST, PAGE, "https"),
        (HOST, None, "https"),
        ("other.example.net", PAGE, "http"),
        ("other.example.net", answer(403), "http"),
        ("other.example.net", None, "http"),
        ("other.example.net", AWAY, "https"),
    ],
)
def test_a_scanner_begins_at_https_only_if_that_is_the_website(monkeypatch, tmp_path, name, plain, scheme):
    internet = Internet(monkeypatch)
    tls = write_certificate(tmp_path, name=name or HOST)[1]
    with FaultServer(PAGE, tls=tls) as encrypted, FaultServer(plain or PAGE) as server:
        if name:
            internet.serve(encrypted, port=443)
        if plain:
            internet.serve(server, port=80)
        assert _start_url(HOST, PUBLIC) == f"{scheme}://{HOST}/"
