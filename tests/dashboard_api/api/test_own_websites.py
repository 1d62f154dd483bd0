"""Accounts, links, secrets and hosts in every combination: each caller reaches its own websites only."""

import itertools

import pytest

from tests.dashboard_api.calls import (
    ANSWER_PATH,
    ANSWERS_PATH,
    CHANGES_PATH,
    COMPARE_PATH,
    FINDING_PATH,
    INVENTORY_PATH,
    MESSAGE_PATH,
    PATH,
    SCAN_SCHEDULE_PATH,
    SCAN_STATUS_PATH,
    SCANS_PATH,
    SCRIPT_PATH,
    ask,
    error_of,
    fields_for,
)
from tests.factories import make_account, make_finding, make_link, make_website

pytestmark = pytest.mark.django_db

REFS = ("acct_1", "acct_2", "acct_3")
SECRETS = {ref: f"secret-of-{ref}-0001" for ref in REFS}
# What a caller does to the host and the link id of a link; only the first two are its own website.
VARIANTS = {
    "as it is": lambda host, link_id: (host, link_id),
    "case and dot": lambda host, link_id: (f"{host.upper()}.", link_id),
    "upper case": lambda host, link_id: (host, link_id.upper()),
    "braces": lambda host, link_id: (host, f"{{{link_id}}}"),
    "no dashes": lambda host, link_id: (host, link_id.replace("-", "")),
    "another host": lambda host, link_id: (
        "shared.example.com" if host[0] != "s" else "own.example.com",
        link_id,
    ),
    "subdomain": lambda host, link_id: (f"www.{host}", link_id),
}
PATHS = {
    PATH: {},
    FINDING_PATH: {"finding_id": "999999999"},
    CHANGES_PATH: {"days": 7},
    COMPARE_PATH: {"from": "1", "to": "2"},
    ANSWER_PATH: {"act": "will_fix", "finding_ids": "999999999"},
    ANSWERS_PATH: {},
    MESSAGE_PATH: {"finding_id": "999999999", "text": "Hello"},
    INVENTORY_PATH: {},
    SCRIPT_PATH: {"url": "https://cdn.example.net/a.js", "act": "pin"},
    SCANS_PATH: {},
    SCAN_STATUS_PATH: {"job_id": "999999999"},
    SCAN_SCHEDULE_PATH: {},
}
UNKNOWN = {
    COMPARE_PATH: "unknown_run",
    SCAN_STATUS_PATH: "unknown_job",
    SCRIPT_PATH: "unknown_script",
}
UNKNOWN |= dict.fromkeys((FINDING_PATH, ANSWER_PATH, MESSAGE_PATH), "unknown_finding")


@pytest.fixture
def links():
    """Three accounts, which share a website; each has one of its own, and the first has two."""
    accounts = {ref: make_account(ref, secrets=[SECRETS[ref]]) for ref in REFS}
    shared = make_website("shared.example.com")
    links = [make_link(accounts[ref], shared) for ref in REFS]
    links.append(make_link(accounts["acct_1"], make_website("own.example.com")))
    for link in links:
        make_finding(link.website, title=f"Of {link.website.host}")
    return links


def outcome(response):
    if response.status_code == 200:
        return 200, response.json()["host"]
    return response.status_code, error_of(response)["code"]


@pytest.mark.parametrize("path", PATHS)
def test_each_of_252_combinations_gets_what_belongs_to_the_account_that_signed(client, links, path):
    bodies, count = set(), 0
    for ref, link, signer, (name, change) in itertools.product(REFS, links, REFS, VARIANTS.items()):
        host, link_id = change(link.website.host, link.link_id)
        fields = fields_for(link, **PATHS[path]) | {
            "portal_account_ref": ref,
            "host": host,
            "link_id": link_id,
        }
        response = ask(client, fields, path=path, secret=SECRETS[signer])
        count += 1
        if signer != ref:
            expected = (401, "invalid_signature")
        elif link.account.ref == ref and name in ("as it is", "case and dot"):
            expected = (404, UNKNOWN[path]) if path in UNKNOWN else (200, link.website.host)
        else:
            expected = (404, "unknown_link")
            if link.account.ref != ref or link_id != link.link_id:
                bodies.add(response.content.replace(response["X-Request-Id"].encode(), b""))
            else:  # the caller's own link
                assert error_of(response)["host"] == link.website.host
        assert outcome(response) == expected, (ref, link, signer, name)
    assert count == 252
    assert len(bodies) == 1
