"""robots.txt, as RFC 9309 reads it."""

import time

import pytest

from foundation.outbound.robots import read_robots, robots_of
from tests.faults.server import FaultServer, answer

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow: /", "/", False),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /private # ours", "/private/a", False),
        ("User-agent: *\nDisallow: /private", "/public", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /a/b\nAllow: /a/b", "/a/b", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x", True),
        ("User-agent: *\nDisallow: /*?sort=", "/list?sort=up", False),
        ("User-agent: *\nDisallow: /caf%C3%A9", "/café", False),
        ("User-agent: other\nDisallow: /", "/", True),
        ("User-agent: *\nDisallow: /\nUser-agent: ThreatDashboard\nDisallow: /a", "/b", True),
        ("User-agent: other\nUser-agent: threatdashboard\nDisallow: /a", "/a", False),
        ("Disallow: /\nnonsense\n\x00", "/", True),
        ("User-agent: *\nDisallow: /" + "*a" * 40, "/" + "a" * 3000, False),
        ("User-agent: *\nDisallow: /" + "*a" * 9 + "*b", "/" + "a" * 3000, True),
        ("User-agent: *\nDisallow: /" + "*a" * 9 + "*b$", "/" + "a" * 3000 + "b", False),
        ("User-agent: *\nDisallow: /a$", "/a", False),
        ("User-agent: *\nDisallow: /a$", "/ab", True),
        ("User-agent: *\nDisallow: /ab*ba$", "/aba", True),
        ("User-agent: *\nDisallow: /ab*ba$", "/abba", False),
        ("User-agent: *\nDisallow: *.pdf", "/a.pdf", False),
        ("User-agent: *\nDisallow: /a*$", "/abc", False),
        ("User-agent: *\nDisallow: /*a*b$", "/bab/aab", False),
    ],
)
def test_the_longest_rule_of_our_group_decides(text, path, allowed):
    assert read_robots(text)(path) is allowed


@pytest.mark.parametrize(
    ("status", "allowed"), [(200, False), (301, True), (404, True), (403, True), (500, False), (503, False)]
)
def test_a_server_that_fails_forbids_everything_and_one_without_the_file_nothing(settings, status, allowed):
    settings.ALLOW_PRIVATE_HOSTS = True
    with FaultServer(answer(status, b"User-agent: *\nDisallow: /")) as server:
        url = f"http://shop.localhost:{server.port}/"
        assert robots_of(url, "127.0.0.1", agent="ThreatDashboard/1 (job=7)")("/") is allowed
    assert server.received[0].head.startswith(b"GET /robots.txt ")
    assert server.received[0].header("user-agent") == "ThreatDashboard/1 (job=7)"


def test_a_website_that_does_not_answer_forbids_nothing(settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    assert robots_of("http://shop.localhost:1/", "127.0.0.1")("/")


def test_many_agents_with_many_rules_take_no_time():
    text = "User-agent: a\n" * 18_000 + "User-agent: *\n" + "Disallow: /a\n" * 18_000
    began = time.process_time()
    allows = read_robots(text)
    assert time.process_time() - began < 2
    assert allows("/b")
    assert not allows("/a")
