"""Logs hold no token of a link."""

import logging

import pytest

from config.logs import WithoutTokens


def logged(path):
    record = logging.LogRecord("x", logging.ERROR, "", 1, "%s: %s", ("Service Unavailable", path), None)
    assert WithoutTokens().filter(record)
    return record.getMessage()


@pytest.mark.parametrize(
    "before",
    [
        "/s/",
        "/invitations/",
        "/notifications/unsubscribe/",
        "/news/stop/",
        "/accounts/password/reset/key/",
    ],
)
def test_a_token_is_left_out(before):
    assert logged(f"{before}a-secret_token:x/") == f"Service Unavailable: {before}.../"


@pytest.mark.parametrize("path", ["/sites/shop.example.com/", "/shares/1/revoke/", "/"])
def test_other_addresses_stay(path):
    assert logged(path) == f"Service Unavailable: {path}"
