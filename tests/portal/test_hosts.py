import pytest
from django.core.exceptions import ValidationError

from foundation.hosts import InvalidHost
from foundation.hosts import normalise_host as normalise_host_of_the_service
from portal.hosts import normalise_host

HOSTS = {
    "shop.example.com": "shop.example.com",
    "Shop.Example.COM.": "shop.example.com",
    "münchen.example": "xn--mnchen-3ya.example",
    "MÜNCHEN.example": "xn--mnchen-3ya.example",
    "straße.example": "xn--strae-oqa.example",
    "例え。テスト": "xn--r8jz45g.xn--zckzah",
    "xn--mnchen-3ya.example": "xn--mnchen-3ya.example",
    "shop\N{FULLWIDTH FULL STOP}ex\N{FULLWIDTH LATIN SMALL LETTER A}mple": "shop.example",
    "a-b.example": "a-b.example",
}
NO_HOSTS = [
    "",
    ".",
    "example.com..",
    "a..example.com",
    "-a.example.com",
    "a_b.example.com",
    "https://example.com",
    "example.com:443",
    "example.com/path",
    "user@example.com",
    "exa mple.com",
    "example.com\n",
    "xn--.example",
    "xn--zzzzzzzzzzz.example",
    "\ud800.example",
    "a" * 64 + ".example",
    ".".join(["a" * 60] * 5),
    "localhost",
    "127.0.0.1",
    "[::1]",
    "::1",
]


@pytest.mark.parametrize(("text", "host"), HOSTS.items())
def test_host_is_written_in_one_way(text, host):
    assert normalise_host(text) == host
    assert normalise_host(host) == host


@pytest.mark.parametrize("text", NO_HOSTS)
def test_text_that_names_no_public_host_is_refused_with_an_example(text):
    with pytest.raises(ValidationError, match="must be a"):
        normalise_host(text)


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("text", [*HOSTS, *NO_HOSTS, "2001:DB8::1", "192.168.1.010"])
def test_host_is_written_as_the_service_writes_it(settings, text, private):
    settings.ALLOW_PRIVATE_HOSTS = private
    try:
        expected = normalise_host_of_the_service(text)
    except InvalidHost:
        with pytest.raises(ValidationError):
            normalise_host(text)
    else:
        assert normalise_host(text) == expected


@pytest.mark.parametrize("text", ["localhost", "127.0.0.1", "::1"])
def test_private_host_is_one_where_the_deployment_allows_it(settings, text):
    settings.ALLOW_PRIVATE_HOSTS = True
    assert normalise_host(text) == text
