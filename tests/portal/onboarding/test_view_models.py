"""Claims in words: each state, each outcome of a check, and what to do."""

import itertools
from datetime import timedelta

import msgspec
import pytest
from django.utils import translation

from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership import advice
from portal.models import Account
from portal.onboarding.view_models import OF_DNS, OUTCOMES, STATES, _outcome, claim_page, claim_rows
from signed_api.claims import ClaimCheck, OtherClaim
from tests.portal.dashboards import NOW, make_claim, make_claim_check
from tests.structs import build

LINK = "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e"
ACCOUNT = Account(pk=7, ref="acct_0001")


def page_of(**fields):
    return claim_page(ACCOUNT, make_claim(**fields), site_url="", is_owner=True)


def ended(reason):
    return {"state": "ended", "ended_reason": reason, "ended_at": NOW}


def test_every_state_and_outcome_of_the_service_has_words_here():
    assert set(STATES) == {*OwnershipClaim.State, *OwnershipClaim.EndedReason} - {"ended"}
    assert set(OUTCOMES) == set(advice._ADVICE)
    assert set(OF_DNS) == set(advice._OF_DNS)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"state": "pending"}, "Publish the token in one of these places"),
        ({"state": "contested"}, "Our team decides whose it is. Leave the token in its place."),
        (
            {"state": "failing", "lapses_at": NOW + timedelta(days=9)},
            "is removed on 29 Nov 2026.",
        ),
        ({"state": "failing"}, "Otherwise the website is removed."),
        (ended("lapsed"), "so the website was removed"),
        (ended("taken_over"), "Another organization verified this website and owns it now."),
        (ended("refused"), "our team has confirmed it"),
        (ended("expired"), "We did not find the token for 30 days."),
        (ended("withdrawn"), "Its proof has ended."),
        (ended("of_a_newer_service"), "Its proof has ended."),
        ({"state": "verified", "link_id": LINK}, "Keep the token in its place"),
        (
            {
                "state": "verified",
                "link_id": LINK,
                "method": "dns",
                "checks": [build(ClaimCheck, method="dns", at=NOW, outcome="name_missing")],
            },
            "Deep scans and names below this website need it: publish it again.",
        ),
        (
            {
                "state": "verified",
                "link_id": LINK,
                "method": "dns",
                "checks": [build(ClaimCheck, method="dns", at=NOW, outcome="servers_silent")],
            },
            "Keep the token in its place",
        ),
        ({"state": "verified", "link_id": LINK, "method": "manual"}, "our team has confirmed it"),
        ({"state": "verified"}, "It is verified, but our team removed it from your organization"),
        (
            {"state": "verified", "link_problem": "other"},
            "not active in your organization. Contact",
        ),
        ({"state": "verified", "link_problem": "no_room"}, "no room"),
        ({"state": "verified", "link_problem": "archived"}, "It is archived"),
        ({"state": "verified", "link_problem": "other"}, "organization. Contact support."),
        ({"state": "of_a_newer_service"}, "Its proof has ended."),
    ],
)
def test_each_state_is_one_clear_sentence(fields, words):
    text = page_of(**fields).text
    assert words in text
    assert "manage.py" not in text


def test_only_a_verified_and_linked_website_needs_no_action():
    claims = [
        make_claim(1, state="verified", link_id=LINK),
        make_claim(2, state="verified"),
        *(make_claim(3, state=state) for state in ("pending", "contested", "failing", "ended")),
    ]
    assert [row.needs_action for row in claim_rows(ACCOUNT, claims)] == [True] * 5 + [False]


def test_a_website_that_another_account_claims_says_so():
    other = build(OtherClaim, claim_id="9", method="dns", token="tdv1-x", since=NOW)
    claim = make_claim(state="verified", link_id=LINK, others=[other])
    (row,) = claim_rows(ACCOUNT, [claim])
    assert (row.text, row.tone) == ("Another organization is verifying this website.", "partial")
    (shown,) = claim_page(ACCOUNT, claim, site_url="", is_owner=True).others
    assert (shown.method, shown.token) == ("DNS record", "tdv1-x")


def test_only_a_claim_that_has_ended_leads_to_the_form_for_a_new_one():
    assert page_of(state="pending").add_url == ""
    page = page_of(**ended("lapsed"))
    assert page.add_url == "/websites/add/?account=acct_0001&host=shop.example.com"
    assert (page.state, page.withdraw_url, page.poll_url) == ("Removed", "", "")


def look_of(method="file", outcome="not_found", *, claim=None, **fields):
    page = page_of(checks=[make_claim_check(method, outcome, **fields)], **(claim or {}))
    return next(place.look for place in page.places if place.key == method)


@pytest.mark.parametrize(
    ("method", "outcome"),
    [*itertools.product(["file", "meta"], OUTCOMES), *itertools.product(["dns"], OF_DNS)],
)
def test_each_outcome_has_words_of_the_portal_in_both_languages(method, outcome):
    english = look_of(method, outcome, advice="The service's own words.").text
    with translation.override("de"):
        german = look_of(method, outcome, advice="The service's own words.").text
    assert "own words" not in english + german
    assert english != german


def test_a_missing_tag_reads_otherwise_than_a_missing_file():
    assert look_of("file").text != look_of("meta").text


def test_an_unknown_outcome_has_the_services_advice():
    assert look_of(outcome="of_a_newer_service", advice="Turn it on.").text == "Turn it on."
    assert look_of(outcome="of_a_newer_service").text == "The token was not found."


def test_a_proof_without_a_certificate_is_said_to_be_weak():
    proof = {"state": "verified", "link_id": LINK, "method": "file"}
    assert "Set up https" in look_of(outcome="found", claim={**proof, "strength": "http"}).text
    assert "Set up https" not in look_of(outcome="found", claim={**proof, "strength": "https"}).text


def test_a_website_that_the_team_confirmed_needs_no_proof():
    (place,) = page_of(state="verified", link_id=LINK, method="manual").places
    assert (place.key, place.title) == ("dns", "A DNS record, for deep scans")
    assert len(page_of(state="pending", method="manual").places) == 3


def test_no_record_is_advised_to_a_website_that_has_none():
    checks = [make_claim_check(outcome="tls_invalid")]
    with_dns = make_claim(checks=checks)
    without = msgspec.structs.replace(
        with_dns, instructions=msgspec.structs.replace(with_dns.instructions, dns=None)
    )
    texts = [_outcome(claim, checks[0]) for claim in (with_dns, without)]
    assert ["correct the certificate" in text for text in texts] == [True, True]
    assert ["DNS" in text for text in texts] == [True, False]


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("shop.localhost", "names that end in .localhost"),
        ("192.0.2.7", "only full domain names"),
        ("2001:db8::7", "only full domain names"),
        ("intranet", "only full domain names"),
        ("shop.example.com", "for this website"),
    ],
)
def test_a_website_without_a_dns_record_says_why(host, words):
    instructions = msgspec.structs.replace(make_claim().instructions, dns=None)
    assert words in page_of(host=host, instructions=instructions).no_dns_text
    assert page_of(host=host, instructions=instructions, state="ended").no_dns_text == ""
    assert page_of(host=host).no_dns_text == ""


def test_each_field_says_what_it_belongs_to():
    fields = [field.label for place in page_of().places for field in place.fields]
    assert fields == [
        "Address of the file",
        "Content of the file",
        "Tag for the home page",
        "Name of the record",
        "Short name, if your panel adds the domain",
        "Value of the record",
    ]
