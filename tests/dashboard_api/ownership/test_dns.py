"""Looks for tokens in DNS: each outcome, at name servers that give it and at others that nearly do."""

import itertools

import pytest

from dashboard_api.ownership import dns
from dashboard_api.ownership.claims import Verdict
from dashboard_api.ownership.dns import Proof, look_in_dns
from foundation.addresses.hosts import MAX_HOST_LENGTH
from foundation.outbound import name_servers
from foundation.outbound.deadline import Deadline
from tests.faults.name_servers import RESOLVER, NameServers
from tests.faults.server import closed_port

HOST, TOKEN, OTHER = "shop.example.com", "tdv1-" + "abcdefgh" * 4, "tdv1-" + "h" * 32
NAME = f"_threat-dashboard-challenge.{HOST}"


@pytest.fixture(scope="module")
def running():
    made = NameServers()
    yield made
    made.close()


@pytest.fixture
def zone(running, settings, monkeypatch):
    """The name servers of ``example.com``, where the host has an address and a record of its mail."""
    running.reset()
    running.add(HOST, "v=spf1 -all")
    settings.ALLOW_PRIVATE_HOSTS, settings.DNS_RESOLVERS = True, [(RESOLVER, running.port)]
    monkeypatch.setattr(name_servers, "PORT", running.port)
    monkeypatch.setattr(name_servers, "_SECONDS", 0.2)
    return running


def looked(host=HOST, **options):
    return look_in_dns(host, TOKEN, deadline=Deadline(5), **options)


@pytest.mark.parametrize(
    "text",
    [
        TOKEN,
        f' "{TOKEN}" ',
        f"{TOKEN[:9]}|{TOKEN[9:]}",  # two strings of one record
        f"token={TOKEN}",
        f"token={TOKEN}; expires=2027-01-01",
        f"account=7,token={TOKEN}",
    ],
)
def test_a_record_with_the_token_is_a_proof(zone, text):
    zone.add(NAME, "another record", text)
    result = looked()
    assert (result.outcome, result.verdict, result.strength) == ("found", Verdict.FOUND, "dns")
    assert (result.expected, result.found, result.advice) == (TOKEN, (TOKEN,), "")
    assert f"{NAME} @ ns0.example.com (127.0.0.1)" in result.asked
    assert zone.asked == [NAME] * 3, "every server was asked once, and nothing else"


@pytest.mark.parametrize("text", [OTHER, TOKEN.upper(), TOKEN + "x", f"key={TOKEN}", "v=spf1 -all"])
def test_a_record_with_another_value_is_none(zone, text):
    zone.add(NAME, text)
    result = looked()
    assert (result.outcome, result.verdict, result.strength) == ("other_value", Verdict.MISSING, "")
    assert result.found == (text[:100],)
    assert "one more with the expected value" in result.advice


def test_a_token_is_found_among_hundreds_of_records(zone):
    zone.add(NAME, *(f"another-site-verification={number:040}" for number in range(390)), TOKEN)
    assert looked().outcome == "found"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("TXT", [TOKEN, *["a"] * 400]),
        ("TXT", [TOKEN, "|".join(["b" * 250] * 140)]),
        ("TXT", [TOKEN, "|" * 3000]),
        ("CNAME", [f"{number}.example.com" for number in range(30)]),
    ],
)
def test_a_reply_that_costs_too_much_is_not_read(zone, kind, values):
    """dnspython reads 64 KB of long names for half a minute, in the process that answers all customers."""
    zone.add(NAME, *values, kind=kind)
    assert looked().outcome == "servers_silent"


def test_a_name_that_does_not_exist_is_said_to_be_remembered_for_a_while(zone):
    result = looked()
    assert (result.outcome, result.verdict) == ("name_missing", Verdict.MISSING)
    assert "300 s" in result.found[0]


def test_a_name_without_a_record_is_not_a_missing_name(zone):
    zone.add(f"below.{NAME}", "anything")
    assert looked().outcome == "no_txt"


def test_a_domain_that_is_not_registered_has_no_name(zone):
    assert looked("shop.example.org").outcome == "name_missing"


@pytest.mark.parametrize(("having", "outcome"), [(1, "partly_published"), (2, "found"), (3, "found")])
def test_most_of_the_servers_decide(zone, having, outcome):
    for server in zone.servers[:having]:
        server.records[NAME, "TXT"] = [TOKEN]
    result = looked()
    assert result.outcome == outcome
    if outcome == "partly_published":
        assert result.verdict is Verdict.MISSING
        assert "ns0.example.com (127.0.0.1): has the token" in result.found
        assert "ns2.example.com (127.0.0.3): does not have the token" in result.found


@pytest.mark.parametrize("failing", ["silent", "lame"])
def test_servers_that_do_not_answer_for_the_zone_do_not_count(zone, failing):
    zone.add(NAME, TOKEN)
    for server in zone.servers[:2]:
        setattr(server, failing, True)
    assert looked().outcome == "found"
    setattr(zone.servers[2], failing, True)
    result = looked()
    assert (result.outcome, result.verdict) == ("servers_silent", Verdict.NOT_ASKED)
    assert "do not answer" in result.advice


def test_over_udp_two_servers_must_agree(zone):
    zone.add(NAME, TOKEN)
    for server in zone.servers:
        server.udp_only = True
    assert looked().outcome == "found"
    zone.servers[0].silent = zone.servers[1].silent = True
    result = looked()
    assert (result.outcome, result.verdict) == ("servers_silent", Verdict.NOT_ASKED)
    assert result.found == ("ns2.example.com (127.0.0.3): no answer over TCP",)


@pytest.mark.parametrize(
    "name",
    [
        f"{NAME}.{HOST}",  # the panel added the domain once more
        HOST,
        f"_threat-dashboard-challenge.www.{HOST}",
        f"threat-dashboard-challenge.{HOST}",
    ],
)
def test_a_token_in_a_usual_wrong_place_is_found_but_no_proof(zone, name):
    zone.add(name, TOKEN)
    result = looked()
    assert (result.outcome, result.verdict) == ("wrong_place", Verdict.MISSING)
    assert result.found == (f"{name}: {TOKEN}"[:100],)


def test_a_cname_is_followed_to_the_servers_of_its_own_zone(zone):
    zone.add(NAME, "proof.other.example.net", kind="CNAME")
    zone.add("proof.other.example.net", TOKEN)
    assert looked().outcome == "found"


@pytest.mark.parametrize(("hops", "outcome"), [(5, "found"), (6, "no_txt")])
def test_at_most_five_cnames_are_followed(zone, hops, outcome):
    names = [NAME, *(f"hop-{number}.example.com" for number in range(hops))]
    for name, target in itertools.pairwise(names):
        zone.add(name, target, kind="CNAME")
    zone.add(names[-1], TOKEN)
    assert looked().outcome == outcome


def test_a_cname_of_a_wildcard_proves_nothing(zone):
    zone.add(f"*.{HOST}", "proof.other.example.net", kind="CNAME")
    zone.add("proof.other.example.net", TOKEN)
    result = looked()
    assert (result.outcome, result.verdict) == ("wildcard", Verdict.MISSING)
    assert result.found == (f"*.{HOST} CNAME proof.other.example.net",)


def test_wrong_signatures_refuse_a_proof_and_no_server_is_asked(zone):
    zone.add(NAME, TOKEN)
    zone.knows("example.com. 60 IN DS 12345 13 2 " + "ab" * 32)
    zone.bogus = 100
    result = looked()
    assert (result.outcome, result.verdict) == ("dnssec_bogus", Verdict.NOT_ASKED)
    assert zone.asked == []


@pytest.mark.parametrize("resolver", ["broken", "closed"])
def test_without_a_resolver_nothing_is_known(zone, settings, resolver):
    zone.add(NAME, TOKEN)
    zone.broken = True
    if resolver == "closed":
        settings.DNS_RESOLVERS = [(RESOLVER, closed_port())]
    assert (looked().outcome, looked().verdict) == ("servers_silent", Verdict.NOT_ASKED)


def test_no_server_with_a_private_address_is_asked(zone, settings):
    zone.add(NAME, TOKEN)
    settings.ALLOW_PRIVATE_HOSTS = False
    result = looked()
    assert (result.outcome, result.verdict) == ("private_address", Verdict.NOT_ASKED)
    assert "name server" in result.advice
    assert zone.asked == []


def test_at_most_six_addresses_are_asked(zone):
    zone.zones["example.com"] = 9
    zone.add(NAME, TOKEN)
    assert looked().outcome == "found"
    assert len(zone.asked) == 6


def test_the_record_of_a_name_above_proves_the_host_by_its_own_token(zone):
    above = Proof("example.com", OTHER)
    zone.add("_threat-dashboard-challenge.example.com", OTHER)
    assert looked().outcome == "name_missing"
    result = looked(parents=[above])
    assert result.outcome == "found"
    assert result.found == (f"_threat-dashboard-challenge.example.com: {OTHER}",)
    zone.add("_threat-dashboard-challenge.example.com", TOKEN)
    assert looked(parents=[above]).outcome == "name_missing", "tokens are for one host only"


def test_the_records_of_names_above_are_asked_for_first_because_time_may_run_out(zone):
    zone.add("_threat-dashboard-challenge.example.com", OTHER)
    assert looked(parents=[Proof("example.com", OTHER)]).outcome == "found"
    assert zone.asked == ["_threat-dashboard-challenge.example.com"] * 3


def test_a_proof_is_not_missing_while_a_name_above_cannot_be_asked(zone, monkeypatch):
    monkeypatch.setattr(dns, "is_bogus", lambda name, _: name == "_threat-dashboard-challenge.example.com")
    result = looked(parents=[Proof("example.com", OTHER)])
    assert (result.outcome, result.verdict) == ("dnssec_bogus", Verdict.NOT_ASKED)
    zone.add(NAME, TOKEN)
    assert looked(parents=[Proof("example.com", OTHER)]).outcome == "found"


def test_a_look_ends_with_its_time(zone, monkeypatch):
    zone.add(NAME, TOKEN)
    assert look_in_dns(HOST, TOKEN, deadline=Deadline(0)).outcome == "servers_silent"


@pytest.mark.parametrize(
    ("host", "relative"),
    [
        ("example.com", "_threat-dashboard-challenge"),
        ("a.shop.example.co.uk", "_threat-dashboard-challenge.a.shop"),
        ("ada.github.io", "_threat-dashboard-challenge"),
        ("shop.test", "_threat-dashboard-challenge"),
    ],
)
def test_panels_that_add_the_domain_want_the_rest_of_the_name(host, relative):
    assert dns.relative_name(host) == relative


@pytest.mark.parametrize(
    ("host", "has"),
    [("localhost", False), ("demo.localhost", False), ("127.0.0.1", False), ("::1", False), (HOST, True)],
)
def test_only_names_of_a_domain_can_have_a_record(host, has):
    assert dns.has_record(host) is has


@pytest.mark.parametrize("labels", [2, 3])
def test_a_host_with_a_long_name_is_looked_up_where_its_name_still_fits(zone, labels):
    host = ".".join(["a" * 57] * labels + ["example.com"])
    assert dns.has_record(host)
    assert looked(host).outcome == "name_missing"
    zone.add(dns.record_name(host), TOKEN)
    assert looked(host).outcome == "found"


def test_a_host_whose_proof_would_have_too_long_a_name_has_no_record():
    host = ".".join(["a" * 56] * 4 + ["example.com"])
    assert len(dns.record_name(host)) > MAX_HOST_LENGTH > len(host)
    assert not dns.has_record(host)


def test_cnames_with_the_longest_of_names_are_followed(zone):
    longest = ".".join(["x", *["y" * 60] * 3, "y" * 56, "example.com"])
    assert len(longest) == MAX_HOST_LENGTH
    zone.add(NAME, longest, kind="CNAME")
    zone.add(longest, "proof.example.com", kind="CNAME")
    zone.add("proof.example.com", TOKEN)
    assert looked().outcome == "found"
