import pytest

from portal.gateway.errors import Misconfigured
from portal.gateway.target import Service, SigningAccount

GOOD = [
    "https://api.example.com",
    "https://API.Example.com",
    "https://api.example.com:8443",
    "https://192.0.2.1",
    "https://[2001:db8::1]:443",
    "http://127.0.0.1:8000",
    "http://127.9.9.9",
    "http://localhost",
    "http://LOCALHOST:8000",
    "http://[::1]:8000",
]
BAD = [
    "",
    "api.example.com",
    "//api.example.com",
    "ftp://api.example.com",
    "https://",
    "https:///",
    "https://api.example.com/",
    "https://api.example.com/v1",
    "https://api.example.com?",
    "https://api.example.com?a=b",
    "https://api.example.com#",
    "https://user@api.example.com",
    "https://user:password@api.example.com",
    "https://@api.example.com",
    "https://api.example.com:",
    "https://api.example.com:0",
    "https://api.example.com:65536",
    "https://api.example.com:443:443",
    "https://api.example.com\n",
    " https://api.example.com",
    "https://api.exa mple.com",
    "https://api.example.com\\@evil.example",
    "https://exämple.com",
    "https://-api.example.com",
    "https://api..example.com",
    "https://api.example.com.",
    "https://" + "a" * 64 + ".example",
    "https://[::::]",
    "https://[127.0.0.1]",
    "http://api.example.com",
    "HTTP://api.example.com",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "http://0.0.0.0:8000",
    "http://[2001:db8::1]",
    "http://10.0.0.1",
]


@pytest.mark.parametrize("url", GOOD)
def test_base_url_may_be(url):
    assert Service(base_url=url, timeout_seconds=15).base_url == url


@pytest.mark.parametrize("url", BAD)
def test_base_url_may_not_be(url):
    with pytest.raises(Misconfigured, match="The base URL must"):
        Service(base_url=url, timeout_seconds=15)


@pytest.mark.parametrize("seconds", [0, 0.9, 45.5, float("nan")])
def test_timeout_may_not_be(seconds):
    with pytest.raises(Misconfigured, match="1 to 45 seconds"):
        Service(base_url="https://api.example.com", timeout_seconds=seconds)


def test_linked_site_does_not_show_its_secret():
    site = SigningAccount(host="shop.example.com", link_id="id", account_ref="acct_0001", secret="canary")
    assert "canary" not in f"{site} {site!r}"
