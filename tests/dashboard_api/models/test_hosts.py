"""The host of a finding: that of its location, however it was stored."""

import pytest

from dashboard_api.models import Finding, host_of
from tests.factories import make_finding, make_website


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("https://shop.example.com/login", "shop.example.com"),
        ("https://shop.example.com:8443/login", "shop.example.com"),
        ("https://Shop.Example.com", "shop.example.com"),
        ("shop.example.com:443", "shop.example.com"),
        ("shop.example.com/a//b:c", "shop.example.com"),
        ("//shop.example.com/a", "shop.example.com"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("*.example.com", "*.example.com"),
        ("https://[::1]:8000/a", "::1"),
        ("[::1]:8000", "::1"),
        ("https://shop.example.com?a", "shop.example.com"),
        ("/login", ""),
        ("", ""),
        ("x" * 300, "x" * 253),
    ],
)
def test_the_host_of_a_location(location, host):
    assert host_of(location) == host


@pytest.mark.django_db
def test_a_finding_follows_its_location():
    finding = make_finding(make_website(), location="https://shop.example.com/a")
    assert finding.host == "shop.example.com"
    finding.location = "https://api.shop.example.com/a"
    finding.save()
    assert Finding.objects.get().host == "api.shop.example.com"
