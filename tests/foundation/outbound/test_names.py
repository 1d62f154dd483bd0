import socket
import threading

import pytest

from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.names import NoAddress, origin_of, resolve
from tests.foundation.outbound.internet import OTHER, PUBLIC, PUBLIC_6


def test_addresses_are_of_ipv6_first(internet):
    internet.zone["shop.example.com."] = [PUBLIC, PUBLIC_6, OTHER, PUBLIC]
    assert resolve("shop.example.com", Deadline(5)) == [PUBLIC_6, PUBLIC, OTHER]


@pytest.mark.parametrize(
    "private", ["127.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "::ffff:127.0.0.1"]
)
def test_one_private_address_refuses_the_host(internet, private):
    internet.zone["shop.example.com."] = [PUBLIC, private]
    with pytest.raises(NoAddress, match="private_address"):
        resolve("shop.example.com", Deadline(5))


def test_private_addresses_are_usable_where_allowed(internet, settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    internet.zone["shop.lan"] = ["10.0.0.1"]
    assert resolve("shop.lan", Deadline(5)) == ["10.0.0.1"]


@pytest.mark.parametrize(
    ("allowed", "addresses", "origin"),
    [
        (True, ["127.0.0.1"], "http://demo-shop.localhost:8001"),
        (False, [PUBLIC], "https://demo-shop.localhost"),  # as any other name
    ],
)
def test_a_website_of_this_machine_is_reached_at_its_port_only_where_private_hosts_are_allowed(
    internet, settings, allowed, addresses, origin
):
    settings.ALLOW_PRIVATE_HOSTS = allowed
    settings.LOCALHOST_WEBSITES = {"demo-shop.localhost": 8001}
    internet.zone["demo-shop.localhost."] = [PUBLIC]
    assert resolve("demo-shop.localhost", Deadline(5)) == addresses
    assert origin_of("demo-shop.localhost") == origin
    assert origin_of("2001:db8::1") == "https://[2001:db8::1]"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (socket.EAI_NONAME, "no_address"),
        (socket.EAI_AGAIN, "servers_silent"),
        (socket.EAI_FAIL, "servers_silent"),
    ],
)
def test_a_name_that_is_absent_is_distinguished_from_one_that_could_not_be_asked_for(internet, code, reason):
    internet.zone["shop.example.com."] = socket.gaierror(code, "no")
    with pytest.raises(NoAddress, match=reason):
        resolve("shop.example.com", Deadline(5))


def test_a_name_that_cannot_be_in_dns_has_no_address(internet):
    internet.zone["shop.example.com."] = UnicodeError("label too long")
    with pytest.raises(NoAddress, match="no_address"):
        resolve("shop.example.com", Deadline(5))


def test_a_resolver_that_hangs_ends_at_the_deadline(internet):
    over = threading.Event()
    internet.zone["shop.example.com."] = lambda: over.wait() and []
    with pytest.raises(DeadlinePassed):
        resolve("shop.example.com", Deadline(0.2))
    over.set()
