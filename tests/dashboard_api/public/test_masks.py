"""The masks of the live feed."""

import unicodedata
from collections import defaultdict
from dataclasses import replace

import idna
import pytest

from dashboard_api.public.masks import HIDDEN, Crowds
from dashboard_api.public.population import CountedWebsite
from dashboard_api.public.sample import sample_websites
from foundation.domains import registry_suffix

NAMES = [
    "a.de", "ab.de", "abc.de", "abcd.de", "abcde.de", "shop.abcdefgh.de", "a1.com",
    "1and1shop.com", "x.co.uk", "shop.co.uk", "longershop.co.uk", "www.longershop.co.uk",
    "city.kawasaki.jp", "myshop.co.jp", "user.github.io", "long-", "user.github.io",
    "shop.blogspot.com", "bucket.s3.amazonaws.com", "web.app", "xn--mnchen-3ya.de",
    "xn--fiqs8s.xn--", "fiqs8s", "xn--mgbh0fb.com", "xn--e1afmkfd.xn--p1ai", "xn--80ak6aa92e.com",
    "xn--strae-oqa.de", "0.org", "00.org", "000.org", "123456.org", "a-b.net",
    "ab-cd-ef.net", "theverylongnameofashop.de", "sub.sub.sub.example-shop.fr", "com.com",
    "de.com", "uk.com", "shop.uk.com", "shop.museum", "shop.travel", "shop.paris", "nic.tel",
    "bmw.bmw", "cars.bmw", "google.google", "shop.gov.uk", "city.gov.it", "k12.ca.us",
    "school.k12.ca.us", "shop.ck", "www.ck", "shop.er", "shop.com.au", "shop.id.au",
    "shop.sch.uk", "shop.ne.jp", "shop.tokyo.jp", "a.b.c.kobe.jp", "city.kobe.jp",
    "xn--mnchen-shop-thb.de",
]  # fmt: skip


def website(host, *, number=1, account=1, is_named=True, region="DE"):
    return CountedWebsite(
        number=number, host=host, accounts=frozenset({account}), is_named=is_named, region=region
    )


def mask_among(own, others):
    return Crowds([own, *others]).mask_of(own)


def similar(own, number):
    """Return a host with the same first letter and suffix, by the length of its name."""
    suffix = registry_suffix(own.host)
    if suffix in (None, own.host):
        return f"crowd{number}.com"
    first = idna.decode(own.host.removesuffix(f".{suffix}").rpartition(".")[2])[0]
    return f"{idna.encode(first * (6 + number)).decode()}.{suffix}"


def crowd_like(own, *, size=10, accounts=5, **changes):
    """Return other websites that have the same masks as ``own``, each of its own domain."""
    hosts = [
        changes["host"].replace(".", f"{n}.") if "host" in changes else similar(own, n) for n in range(size)
    ]
    return [
        CountedWebsite(
            number=100 + n,
            host=hosts[n],
            accounts=frozenset({100 + n % accounts}),
            is_named=changes.get("is_named", True),
            region=changes.get("region", own.region),
        )
        for n in range(size)
    ]


@pytest.mark.parametrize("host", NAMES)
def test_a_mask_shows_at_most_a_letter_and_the_suffix_and_hides_the_length(host):
    own = website(host)
    mask = mask_among(own, crowd_like(own))
    assert mask.domain.count(HIDDEN) == 1
    letter, _, suffix = mask.domain.partition(HIDDEN)
    assert len(letter) <= 1
    assert "xn--" not in mask.domain
    if letter:
        assert unicodedata.category(letter)[0] in "LN"
        name = idna.decode(host).removesuffix(suffix).rpartition(".")[2]
        assert name.startswith(letter)
        assert len(name) > 4
    assert not suffix or idna.decode(host).endswith(suffix)


def test_the_mask_is_the_finest_that_fits_ten_websites_of_five_accounts():
    own = website("schuhe.de")
    assert mask_among(own, crowd_like(own, size=9))[1:] == ("s•••••.de", "DE")
    assert mask_among(own, crowd_like(own, size=9, accounts=3)) is None
    assert mask_among(own, crowd_like(own, size=8)) is None
    assert mask_among(own, crowd_like(own, region="150"))[1:] == ("s•••••.de", "150")
    assert mask_among(own, crowd_like(own, region="US"))[1:] == ("s•••••.de", "001")
    assert mask_among(own, crowd_like(own, is_named=False))[1:] == ("•••••.de", "DE")
    assert mask_among(own, crowd_like(own, host="shop.at"))[1:] == ("•••••", "DE")
    assert mask_among(own, crowd_like(own, host="shop.at", region="US"))[1:] == ("•••••", "001")


def test_hosts_of_one_domain_and_websites_of_one_account_are_no_crowd():
    own = website("schuhe.de")
    hosts = [
        CountedWebsite(number=9 + n, host=f"s{n}.schuhe.de", accounts=frozenset({n}), is_named=True)
        for n in range(30)
    ]
    assert mask_among(own, hosts) is None
    of_one = [replace(each, accounts=frozenset({1})) for each in crowd_like(own, size=6)]
    assert mask_among(own, [*of_one, *crowd_like(website("suppe.de"), size=5)]) is None


@pytest.mark.parametrize("host", ["cars.bmw", "shop.paris", "xn--e1afmkfd.xn--p1ai"])
def test_a_suffix_that_may_name_a_company_or_a_city_is_hidden_in_any_crowd(host):
    own = website(host)
    assert mask_among(own, crowd_like(own, size=30))[1:] == (HIDDEN, "DE")


def test_without_consent_no_character_is_shown():
    own = website("schuhe.de", is_named=False)
    assert mask_among(own, crowd_like(own))[1:] == ("•••••.de", "DE")


def test_a_mask_only_becomes_coarser():
    own = website("schuhe.de")
    crowds = Crowds([own, *crowd_like(own)])
    assert [crowds.mask_of(own, at_least=place).domain for place in (0, 3, 6)] == [
        "s•••••.de",
        "•••••.de",
        "•••••",
    ]


def test_every_mask_of_a_population_fits_its_crowd():
    websites = sample_websites()
    crowds = Crowds(websites)
    fitting = defaultdict(list)
    for each in websites:
        for mask in {crowds.mask_of(each, at_least=place) for place in range(9)}:
            fitting[mask].append(each)
    for mask in {crowds.mask_of(own) for own in websites}:
        assert len(fitting[mask]) >= 10
        assert len({account for each in fitting[mask] for account in each.accounts}) >= 5
