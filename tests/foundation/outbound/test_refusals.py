"""Refusals: a protection's page in the place of the website's is recognised, and a healthy page is not."""

import pytest

from foundation.outbound.fetch import Fetched
from foundation.outbound.refusals import REFUSALS, is_refusal

pytestmark = pytest.mark.once


def page(body=b"<title>Shop</title>", status=200, headers=()):
    return Fetched(status=status, headers=dict(headers), body=body, is_whole=True, hops=())


@pytest.mark.parametrize("status", sorted(REFUSALS))
def test_a_status_of_refusals_is_one_whatever_its_page(status):
    assert is_refusal(page(status=status))


def test_a_caller_may_say_which_statuses_refuse():
    assert not is_refusal(page(status=403), {429})


@pytest.mark.parametrize(
    "body",
    [
        b"<html><title>Just a moment...</title>",  # Cloudflare
        b"<title>Request Rejected</title></head><body>Your support ID is: 40452045",  # F5
        b'<script>(function(){\nwindow["bobcmn"] = "10111";window["failureConfig"] = "524f";',  # F5's test
        b"<noscript>Please enable JavaScript to view the page content.<br/>Your support ID is: 0123.",
        b"<title>One moment, please...</title><h1>Please wait while your request is being",  # Imunify360
        b'<title>Bot Verification</title><form id="lsrecaptcha-form">',  # LiteSpeed
        b'<title>Verifying...</title><form method="POST" action="/.lsrecap/recaptcha?">',
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
def test_a_page_of_a_bot_protection_is_a_refusal_with_any_status(body):
    assert is_refusal(page(body))
    assert is_refusal(page(body, status=404))


@pytest.mark.parametrize("name", ["cf-mitigated", "x-amzn-waf-action", "sg-captcha"])
def test_a_bot_protection_that_says_so_only_in_a_header_is_noticed(name):
    assert is_refusal(page(b"", status=202, headers=[(name, "challenge")]))


@pytest.mark.parametrize(
    "body",
    [
        b'<title>Shop</title><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>',
        b"<title>Shop</title><script>window.awsWafCookieDomainList = ['example.com'];</script><h1>Shop</h1>",
        b'<h1>Shop</h1><script src="/_Incapsula_Resource?SWJIYLWA=719d&ns=4&cb=655034020" async></script>',
        b'<h1>Shop</h1><script src="/_sec/cp_challenge/sec-cpt-3-9.js"></script><div id="sec-overlay">',
        b'<script>window["loaderConfig"] = "/TSPD/?type=21";</script><script src="/TSPD/?type=18"></script>',
        b"<title>Shop</title><svg><title>One moment</title></svg>",
        b"<title>Bot Verification for shops</title>",
        b"<p>Write to us, and name your ticket. Your support ID is: shown above.",
    ],
)
def test_a_page_of_the_website_may_have_the_script_of_a_bot_protection(body):
    assert not is_refusal(page(body))
