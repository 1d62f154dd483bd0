import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.importing.locations import OutsideWebsite, UnclearLocation, normalise_location

SITE = "shop.example.com"
BASE = "https://shop.example.com/app/"


@pytest.mark.parametrize(
    ("location", "stored"),
    [
        ("https://shop.example.com/a/B?q=1#top", "https://shop.example.com/a/B"),
        ("HTTPS://Shop.Example.COM/a", "https://shop.example.com/a"),
        ("https://shop.example.com", "https://shop.example.com/"),
        ("https://shop.example.com.:443/a", "https://shop.example.com/a"),
        ("http://shop.example.com:80/", "http://shop.example.com/"),
        ("https://shop.example.com:8443/", "https://shop.example.com:8443/"),
        ("https://ada:secret@shop.example.com/a", "https://shop.example.com/a"),
        ("https://www.shop.example.com/a", "https://www.shop.example.com/a"),
        ("https://bücher.shop.example.com/", "https://xn--bcher-kva.shop.example.com/"),
        ("https://shop.example.com/a;JSESSIONID=8F2A!-1/b;v=2", "https://shop.example.com/a/b;v=2"),
        ("//shop.example.com/a", "shop.example.com/a"),
        ("shop.example.com", "shop.example.com"),
        ("WWW.shop.example.com:443", "www.shop.example.com:443"),
        ("shop.example.com/a?q", "shop.example.com/a"),
        ("ldap://shop.example.com:389", "ldap://shop.example.com:389"),
        ("_dmarc.shop.example.com", "_dmarc.shop.example.com"),
        ("https://my_app.shop.example.com:443/a", "https://my_app.shop.example.com/a"),
        ("*.shop.example.com", "*.shop.example.com"),
        ("*.shop.example.com:443", "*.shop.example.com:443"),
    ],
)
def test_place_has_one_form(location, stored):
    assert normalise_location(SITE, location) == stored
    assert normalise_location(SITE, stored) == stored


@pytest.mark.parametrize(
    "location",
    [
        "https://example.com/",
        "https://evilshop.example.com/",
        "https://shop.example.com.evil.example/",
        "https://shop.example.com@evil.example/",
        "https://evil.example\\@shop.example.com/",
        "https://evil.example/?https://shop.example.com/",
        "192.0.2.1:22",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://shop.example.com:99999/",
        "https://[::1/",
        "https:///a",
        "shop.example.com。evil.example",
        "*.example.com",
        "_dmarc.evil.example",
        "evil_shop.example.com",
        "",
    ],
)
def test_place_elsewhere_is_refused(location):
    with pytest.raises(OutsideWebsite):
        normalise_location(SITE, location)


@pytest.mark.parametrize(
    "location",
    [
        "https://shop.example.com:99999/a",
        "https://shop.example.com:8a/a",
        "https://[::1/a",
        "https:///a",
        "https:/shop.example.com/a",
        "file:///srv/a",
        "/a",
        "./a.c",
        "a/b.php",
        "a/b.php:80",
        "index.php",
        "login.html?next=/",
        "index.php/foo",
        "app.js/x",
        "login.do",
        "login.cgi",
        "Index.PHTML",
        "login?next",
        "example.com/a",
        "//example.com/a",
        "//admin",
        "C:\\www\\login.php",
        "C:/www/login.php",
        "https:\\\\shop.example.com\\a",
        "https://example.com\\a",
        "javascript:alert(1)",
        "docker://nginx",
        "oci://registry.example.com/shop:3",
        "s3://backups/a",
        "pkg:npm/lodash@4.17.15",
        "git@git.example.com:shop/app.git",
        "urn:uuid:7",
        "maven:org.example:shop",
        "",
    ],
)
@pytest.mark.parametrize("allow_private", [False, True])
def test_location_that_names_no_host_clearly_may_be_on_the_website(settings, location, allow_private):
    settings.ALLOW_PRIVATE_HOSTS = allow_private
    with pytest.raises(UnclearLocation):
        normalise_location(SITE, location)


@pytest.mark.parametrize(
    "location",
    [
        "https://example.com/",
        "example.com",
        "example.com:443",
        "example.com.",
        "192.0.2.1",
        "192.0.2.1:22",
        "http://192.0.2.1:3000/a",
        "2001:db8::1",
        "[2001:db8::1]:443",
        "http://localhost:3000/a",
        "http://intranet/a",
        "ldap://example.com:389",
        "localhost:22",
        "DC01",
        "_dmarc.evil.example",
    ],
)
@pytest.mark.parametrize("allow_private", [False, True])
def test_location_that_names_another_host_is_not_on_the_website(settings, location, allow_private):
    settings.ALLOW_PRIVATE_HOSTS = allow_private
    with pytest.raises(OutsideWebsite, match=r"^is of .*, which is neither") as refusal:
        normalise_location(SITE, location)
    assert not isinstance(refusal.value, UnclearLocation)


LONG = 200_000


@pytest.mark.parametrize("location", ["a!" * LONG, "a" * LONG, "https://" + "a" * LONG, "!" * LONG + "@"])
def test_refusal_of_a_long_location_is_short_and_comes_at_once(location):
    with pytest.raises(OutsideWebsite) as refused:
        normalise_location(SITE, location)
    assert len(str(refused.value)) < 300


def test_refusal_says_whose_place_it_is():
    with pytest.raises(OutsideWebsite, match=r"^is of example\.com, which is neither shop"):
        normalise_location(SITE, "https://example.com/")


@pytest.mark.parametrize(
    ("location", "stored"),
    [
        ("/login?next=/", "https://shop.example.com/login"),
        ("../x", "https://shop.example.com/x"),
        ("?q=1", "https://shop.example.com/app/"),
        ("https://www.shop.example.com/a", "https://www.shop.example.com/a"),
    ],
)
def test_place_without_host_is_resolved_against_the_base(location, stored):
    assert normalise_location(SITE, location, base_url=BASE) == stored


def test_place_below_a_base_without_scheme_is_unclear():
    with pytest.raises(UnclearLocation):
        normalise_location(SITE, "/login", base_url=SITE)


@pytest.mark.parametrize("location", ["/login", "app/login.php", "index.php"])
def test_refusal_of_a_place_without_host_asks_for_a_base(location):
    with pytest.raises(OutsideWebsite, match="base_url"):
        normalise_location(SITE, location)


@pytest.mark.parametrize(
    ("site", "location", "stored"),
    [
        ("127.0.0.1", "http://127.0.0.1:3000/a", "http://127.0.0.1:3000/a"),
        ("localhost", "localhost:22", "localhost:22"),
        ("::1", "https://[::1]:8443/a", "https://[::1]:8443/a"),
        ("::1", "::1", "[::1]"),
        ("::1", "[::1]:22", "[::1]:22"),
    ],
)
def test_private_place_is_on_a_private_website(settings, site, location, stored):
    settings.ALLOW_PRIVATE_HOSTS = True
    assert normalise_location(site, location) == stored


@given(st.text(), st.none() | st.just(BASE))
def test_any_text_is_a_place_or_refused(text, base_url):
    for location in (text, f"https://shop.example.com{text}", f"https://{text}shop.example.com/"):
        try:
            stored = normalise_location(SITE, location, base_url=base_url)
        except OutsideWebsite:
            continue
        assert normalise_location(SITE, stored) == stored
