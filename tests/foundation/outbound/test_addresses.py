import pytest

from foundation.outbound.addresses import is_public

PRIVATE = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "168.63.129.16",  # answers machines at Azure only
    "172.16.0.1",
    "192.0.0.8",
    "192.0.0.9",  # the rest of this network is global for Python
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "no address",
    "",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "192.0.1.1",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00:1450:4001::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_leads_into_a_private_network_or_to_nothing_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address):
    assert is_public(address)
