import pytest

from foundation.addresses.domains import is_public_suffix, registrable_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("a.shop.example.co.uk", "example.co.uk"),
        ("shop.github.io", "shop.github.io"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("a.b.kobe.jp", "a.b.kobe.jp"),  # a wildcard of the list
        ("a.city.kobe.jp", "city.kobe.jp"),  # and its exception
        ("co.uk", None),
        ("github.io", None),
        ("com", None),
        ("router.lan", None),
        ("shop.example", None),
        ("127.0.0.1", None),
        ("localhost", None),
        ("expyuzz4wqqyqhjn.onion", None),
    ],
)
def test_the_registrable_domain_is_one_label_below_the_public_suffix(host, domain):
    assert registrable_domain(host) == domain


def test_public_suffixes_are_those_of_registries_and_of_companies():
    assert all(map(is_public_suffix, ["com", "co.uk", "github.io", "xn--55qx5d.cn"]))
    assert not any(map(is_public_suffix, ["example.com", "shop.github.io", "router.lan", "lan"]))
