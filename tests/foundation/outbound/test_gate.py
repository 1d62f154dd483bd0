"""The gate of a program without network: what it opens, and what it refuses."""

import os
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from foundation.outbound.gate import Gate, Reach
from foundation.outbound.sockets import WayOut
from tests.faults.server import FaultServer, answer
from tests.foundation.outbound.internet import OTHER, PUBLIC, Internet

LOOPBACK = "127.0.0.1"


@pytest.fixture
def behind():
    """Return a function that opens a gate with this reach, and returns the way out of its program."""
    with ExitStack() as opened:

        def reach(**fields):
            gate = opened.enter_context(Gate(Reach(**{"address": PUBLIC} | fields)))
            return WayOut(opened.enter_context(socket.socket(fileno=os.dup(gate.descriptor))))

        yield reach


@pytest.mark.parametrize(
    ("address", "port", "fields", "is_allowed"),
    [
        (PUBLIC, 443, {}, True),
        (PUBLIC, 22, {}, False),
        (OTHER, 443, {}, False),
        (OTHER, 443, {"others": True}, True),
        (OTHER, 25, {"others": True}, False),
        (OTHER, 80, {"others": True, "never": ["9.9.9.0/24"]}, False),
        ("10.0.0.5", 80, {"others": True}, False),
        ("10.0.0.5", 80, {"address": "10.0.0.5"}, False),
        (LOOPBACK, 8001, {"others": True}, False),
        ("::1", 80, {"others": True}, False),
        ("shop.example.com", 80, {"others": True}, False),
    ],
)
def test_a_program_reaches_the_website_and_public_addresses_if_it_may(address, port, fields, is_allowed):
    assert Reach(**{"address": PUBLIC} | fields).allows(address, port) is is_allowed


@pytest.mark.parametrize(
    ("address", "port", "is_allowed"),
    [
        (LOOPBACK, 8001, True),
        (LOOPBACK, 8000, False),
        (LOOPBACK, 80, False),
        ("127.0.0.2", 8001, False),
        ("127.0.0.2", 80, False),
        ("::1", 8001, False),
        ("10.0.0.5", 80, False),
        ("192.168.0.7", 80, True),
        ("192.168.0.7", 5432, False),
    ],
)
def test_of_private_addresses_only_websites_of_this_machine_and_the_scanned_one_are_reached(
    settings, address, port, is_allowed
):
    settings.ALLOW_PRIVATE_HOSTS, settings.LOCALHOST_WEBSITES = True, {"shop.localhost": 8001}
    assert Reach(address="192.168.0.7", others=True).allows(address, port) is is_allowed


def test_a_connection_leads_to_the_website(behind, monkeypatch):
    with FaultServer(answer(200, b"hello")) as server:
        Internet(monkeypatch).serve(server, address=PUBLIC)
        with behind().open("website", PUBLIC, 80, 5) as connection:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")


def test_errors_keep_their_kind(behind, monkeypatch):
    Internet(monkeypatch)
    with pytest.raises(ConnectionRefusedError):
        behind().open("website", PUBLIC, 80, 5)
    with pytest.raises(PermissionError):
        behind().open("website", OTHER, 80, 5)


def test_name_servers_are_reached_only_if_they_are_our_resolvers(behind):
    with FaultServer(answer(200)) as server:
        way_out = behind(resolvers=[(LOOPBACK, server.port)])
        way_out.open("tcp", LOOPBACK, server.port, 5).close()
        way_out.open("udp", LOOPBACK, server.port, 0).close()
        for kind, port in [("udp", server.port + 1), ("tcp", server.port + 1), ("website", server.port)]:
            with pytest.raises(PermissionError):
                way_out.open(kind, LOOPBACK, port, 5)


def test_names_are_looked_up_by_programs_that_may_reach_others(behind, monkeypatch):
    Internet(monkeypatch).zone |= {"shop.example.com.": [PUBLIC], "inside.example.com.": ["10.0.0.5"]}
    assert behind(others=True).addresses("shop.example.com", 5) == ([PUBLIC], "")
    assert behind(others=True).addresses("inside.example.com", 5) == ([], "private_address")
    assert behind().addresses("shop.example.com", 5)[0] == []


@pytest.mark.parametrize(
    "question",
    [b"", b"{", b"[" * 4000, b'["website"]', b'["website", "8.8.8.8", 443, NaN]', b'["udp", [], {}, 1]'],
)
def test_bad_questions_end_nothing(behind, monkeypatch, question):
    Internet(monkeypatch).zone["shop.example.com."] = [PUBLIC]
    way_out = behind(others=True)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        way_out.hand_over(theirs)
        ours.sendall(question)
        ours.shutdown(socket.SHUT_WR)
    with Path(os.devnull).open() as no_socket:
        way_out.hand_over(no_socket)
    assert way_out.addresses("shop.example.com", 5) == ([PUBLIC], "")


def test_a_hundred_questions_that_are_never_asked_do_not_use_up_the_worker(behind):
    way_out = behind()
    pairs = [socket.socketpair() for _ in range(100)]
    for ours, theirs in pairs:
        way_out.hand_over(theirs)
        theirs.close()
        ours.settimeout(1)
    refused = [ours.recv(1) == b"" for ours, _ in pairs[50:]]
    for ours, _ in pairs:
        ours.close()
    assert all(refused)
