"""The canary: a website that refuses scans is distinguished from one that answers."""

import pytest

from dashboard_api.crawler.canary import look
from tests.faults.server import FaultServer, answer
from tests.foundation.outbound.internet import OTHER, PUBLIC, PUBLIC_6, Internet

HOST = "shop.example.com"


@pytest.fixture
def internet(monkeypatch):
    internet = Internet(monkeypatch)
    internet.zone |= {f"{HOST}.": [PUBLIC], "elsewhere.example.net.": [OTHER]}
    return internet


@pytest.mark.parametrize(
    ("status", "body", "headers", "reason"),
    [
        (200, b"<title>Shop</title>", [], ""),
        (500, b"broken, but its own", [], ""),
        (403, b"", [], "blocked"),
        (429, b"", [], "blocked"),
        (503, b"", [], "blocked"),
        (200, b"<html><title>Just a moment...</title>", [], "blocked"),
        (200, b"", [("cf-mitigated", "challenge")], "blocked"),
        (302, b"", [("Location", "http://elsewhere.example.net/")], "redirected_away"),
        (302, b"", [("Location", "/")], "redirect_loop"),
    ],
)
def test_the_home_page_decides(internet, status, body, headers, reason):
    with FaultServer(answer(status, body, headers=headers)) as server:
        internet.serve(server, port=80)
        assert look(HOST, PUBLIC) == reason


@pytest.mark.parametrize(
    "body",
    [
        b"<title>Request Rejected</title></head><body>Your support ID is: 40452045",  # F5
        b"<title>One moment, please...</title><h1>Please wait while your request is being",  # Imunify360
        b'<iframe src="/_Incapsula_Resource?SWUDNSAI=31">Request unsuccessful. Incapsula incident ID: 1-2',
        b'<META NAME="robots" CONTENT="noindex,nofollow">\n<script src="/_Incapsula_Resource?SWJIYLWA=50">',
        b'<title>Pardon Our Interruption</title><script src="/_Incapsula_Resource?SWJIYLWA=719d"></script>',
        b"<script>window.awsWafCookieDomainList = []; window.gokuProps = {};</script>",
        b'<meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=%2F&y=ipc">',  # SiteGround
        b"<title>You are being redirected...</title><script>var s={},sucuri_cloudproxy_js='',S='YT0n'",
        b'<script>function reload(x) {setCookie("acw_sc__v2", x);document.location.reload();}',  # Alibaba
        b'<iframe id="sec-cpt-if" provider="crypto" challenge="eyJ0b2tlbiI6">',  # Akamai
        b'document.cookie="__test="+toHex(slowAES.decrypt(c,2,a,b))',  # testcookie of free hosts
    ],
)
def test_a_page_of_a_bot_protection_means_that_the_scan_is_blocked(internet, body):
    with FaultServer(answer(200, body)) as server:
        internet.serve(server, port=80)
        assert look(HOST, PUBLIC) == "blocked"


@pytest.mark.parametrize(
    ("status", "header"),
    [(202, ("x-amzn-waf-action", "challenge")), (202, ("SG-Captcha", "challenge"))],
)
def test_a_bot_protection_that_says_so_only_in_a_header_is_noticed(internet, status, header):
    with FaultServer(answer(status, headers=[header])) as server:
        internet.serve(server, port=80)
        assert look(HOST, PUBLIC) == "blocked"


@pytest.mark.parametrize(
    "body",
    [
        b"<title>Shop</title><script>window.awsWafCookieDomainList = ['example.com'];</script><h1>Shop</h1>",
        b'<h1>Shop</h1><script src="/_Incapsula_Resource?SWJIYLWA=719d&ns=4&cb=655034020" async></script>',
        b'<h1>Shop</h1><script src="/_sec/cp_challenge/sec-cpt-3-9.js"></script><div id="sec-overlay">',
        b"<title>Shop</title><svg><title>One moment</title></svg>",
    ],
)
def test_a_page_of_the_website_may_have_the_script_of_a_bot_protection(internet, body):
    with FaultServer(answer(200, body)) as server:
        internet.serve(server, port=80)
        assert look(HOST, PUBLIC) == ""


def test_a_website_that_is_not_there_has_its_reason(internet):
    assert look(HOST, PUBLIC) == "connect_failed"


def test_only_the_address_that_is_scanned_is_asked(internet):
    internet.zone[f"{HOST}."] = [PUBLIC, PUBLIC_6, OTHER]
    with FaultServer(answer(200)) as server:
        internet.serve(server, address=OTHER, port=80)
        assert look(HOST, OTHER) == ""
    assert internet.connected == [(OTHER, 443), (OTHER, 80)]
    assert internet.lookups == 0
