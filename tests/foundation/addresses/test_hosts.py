import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.addresses.hosts import (
    InvalidHost,
    covers,
    normalise_dns_name,
    normalise_host,
    readable_host,
    searched_host,
    typed_host,
)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("shop.example.com", "shop.example.com"),
        ("Shop.EXAMPLE.com", "shop.example.com"),
        ("shop.example.com.", "shop.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
        ("shop\N{FULLWIDTH FULL STOP}ex\N{FULLWIDTH LATIN SMALL LETTER A}mple", "shop.example"),
        ("a-b.c1.example", "a-b.c1.example"),
        ("a" * 63 + ".example", "a" * 63 + ".example"),
        ("a." * 125 + "com", "a." * 125 + "com"),  # 253 characters
        ("shop.123.example", "shop.123.example"),
    ],
)
def test_host_has_one_form(text, host):
    assert normalise_host(text) == host
    assert normalise_host(host) == host


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "shop.example.com..",
        ".example.com",
        "shop..example.com",
        " shop.example.com",
        "shop.example.com\n",
        "shop.example.com\0",
        "https://shop.example.com",
        "shop.example.com:443",
        "shop.example.com/path",
        "user@example.com",
        "*.example.com",
        "under_score.example.com",
        "-leading.example.com",
        "trailing-.example.com",
        "a" * 64 + ".example",
        "a." * 127 + "example",
        "xn--a.example",
        "xn--.example",
        "xn--zzzzzzzzzzz.example",
        ".".join(["a" * 60] * 5),
        "exa mple.com",
        "[::1]",
        "☃.example",
        "\ud800.example",
    ],
)
def test_text_that_is_no_host_is_refused(text):
    with pytest.raises(InvalidHost, match="must be a domain name"):
        normalise_host(text)


@pytest.mark.parametrize(
    "text", ["localhost", "192.0.2.1", "192.0.2.1.", "192.0.2.\uff11", "shop.123", "shop.example.123"]
)
def test_private_host_is_refused_on_the_internet(text):
    with pytest.raises(InvalidHost, match="public domain name"):
        normalise_host(text)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("localhost", "localhost"),
        ("192.0.2.1", "192.0.2.1"),
        ("::1", "::1"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
    ],
)
def test_private_host_is_a_website_where_allowed(settings, text, host):
    settings.ALLOW_PRIVATE_HOSTS = True
    assert normalise_host(text) == host


@pytest.mark.parametrize("text", ["fe80::1%eth0", "::1%x') | ('y", "::1% a.shop.example.com", '::1%"\n'])
def test_an_address_with_a_zone_which_may_be_any_text_is_no_host(settings, text):
    settings.ALLOW_PRIVATE_HOSTS = True
    for normalise in (normalise_host, normalise_dns_name):
        with pytest.raises(InvalidHost, match="must be a domain name"):
            normalise(text)


@given(st.text(max_size=300))
def test_any_text_is_a_host_that_stays_itself_or_is_refused(text):
    try:
        host = normalise_host(text)
    except InvalidHost:
        return
    assert host.isascii()
    assert normalise_host(host) == host


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("_dmarc.Example.com", "_dmarc.example.com"),
        ("my_app.example.com.", "my_app.example.com"),
        ("_443._tcp.www.example.com", "_443._tcp.www.example.com"),
        ("selector1._domainkey.example.com", "selector1._domainkey.example.com"),
        ("_dmarc.bücher.example", "_dmarc.xn--bcher-kva.example"),
        ("*.example.com", "*.example.com"),
        ("*._tcp.example.com", "*._tcp.example.com"),
        ("shop.example.com", "shop.example.com"),
        ("_" * 63 + ".example.com", "_" * 63 + ".example.com"),
        ("_a." * 83 + "a.io", "_a." * 83 + "a.io"),  # 253 characters
    ],
)
def test_name_in_dns_may_have_underscores_and_a_wildcard(text, name):
    assert normalise_dns_name(text) == name
    assert normalise_dns_name(name) == name
    if "_" in text or "*" in text:
        with pytest.raises(InvalidHost):
            normalise_host(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.",
        "*example.com",
        "a.*.example.com",
        "*.*.example.com",
        "_dmarc",
        "_dmarc.",
        "_dmarc..example.com",
        "_dmarc.example.c_m",
        "_dmarc.example.com\n",
        "_dm rc.example.com",
        "_" * 64 + ".example.com",
    ],
)
def test_text_that_is_no_name_in_dns_is_refused(text):
    with pytest.raises(InvalidHost):
        normalise_dns_name(text)


@pytest.mark.parametrize("text", ["_a." * 83 + "ab.io", "_a." * 90 + "ab.io"])
def test_a_name_in_dns_that_is_too_long_is_refused_with_the_limit(text):
    with pytest.raises(
        InvalidHost, match=r"^must be a name of at most 253 characters, with labels of at most 63$"
    ):
        normalise_dns_name(text)


@pytest.mark.parametrize(
    ("host", "covered"),
    [
        ("example.com", True),
        ("shop.example.com", True),
        ("a.b.example.com", True),
        ("badexample.com", False),
        ("example.com.evil.org", False),
        ("com", False),
    ],
)
def test_website_covers_itself_and_its_subdomains(host, covered):
    assert covers("example.com", host) is covered


@pytest.mark.parametrize(
    "text",
    [
        "shop.example.com",
        " Shop.Example.com. ",
        "https://shop.example.com",
        "HTTP://shop.example.com/cart?item=1#top",
        "shop.example.com/cart",
        "shop.example.com?item=1",
    ],
)
def test_of_an_address_that_a_person_types_only_the_host_counts(text):
    assert typed_host(text) == "shop.example.com"


@pytest.mark.parametrize(
    "text",
    [
        "https://shop.example.com:8443/",
        "shop.example.com:443",
        "ftp://shop.example.com",
        "https://https://shop.example.com",
        "https://user@shop.example.com/",
        "https://",
        "",
    ],
)
def test_what_is_refused_of_a_person_has_the_rule_for_persons(text):
    with pytest.raises(InvalidHost, match=r"an address such as https://shop\.example\.com, without a port"):
        typed_host(text)


def test_programs_send_hosts():
    with pytest.raises(InvalidHost, match="without scheme or port"):
        normalise_host("https://shop.example.com")


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("shop.example.com", "shop.example.com"),
        ("xn--mnchen-3ya.example.com", "münchen.example.com"),
        ("www.xn--strae-oqa.de", "www.straße.de"),
        ("www.xn--e1afmkfd.xn--p1ai", "www.пример.рф"),
        ("xn--fsqu00a.xn--fiqs8s", "例子.中国"),
        ("", ""),
    ],
)
def test_people_read_a_host_in_its_own_letters(host, name):
    assert readable_host(host) == name


@pytest.mark.parametrize(
    "host",
    [
        "xn--80ak6aa92e.com",  # apple, all in Cyrillic
        "xn--pypal-4ve.com",  # paypal with one Cyrillic letter
        "xn--ggle-55da.com",  # google with two
        "xn--e1afmkfd.com",  # Cyrillic below a Latin label
        "xn--lnk-jua.com",  # an i without its dot
        "xn--ihbaf.xn--ihbaf",  # written from right to left
        "xn--zzzzzz.example",  # no name at all
    ],
)
def test_a_host_that_could_be_taken_for_another_stays_as_machines_read_it(host):
    assert readable_host(host) == host


@pytest.mark.parametrize(
    ("text", "host"),
    [("https://shop.example.com/cart", "shop.example.com"), ("Shop", "shop"), ("bücher", "xn--bcher-kva")],
)
def test_a_search_finds_hosts_by_an_address_a_part_and_other_letters(text, host):
    assert searched_host(text) == host
