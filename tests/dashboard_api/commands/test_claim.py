"""claim and list_claims: what the portal and the API do with claims, on the command line."""

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from audit.models import AuditActor, AuditEvent
from dashboard_api.models import OwnershipClaim, SiteLink
from dashboard_api.ownership import checks, claims
from dashboard_api.ownership.claims import Check, Verdict
from tests.commands import run, run_json
from tests.factories import make_account, make_website

pytestmark = pytest.mark.django_db
HOST = "shop.example.com"
REASON = ("--reason", "we called the owner", "--by", "Ada")


@pytest.fixture
def account():
    return make_account("acct_0001", secrets=())


@pytest.fixture
def finds(monkeypatch):
    """Let the next checks find the token in the file."""
    found = Check(Verdict.FOUND, "file", "https")
    monkeypatch.setattr(
        checks, "check_claim", lambda claim, _methods, *, now: claims.record_check(claim, found, now=now)
    )


@pytest.fixture
def held(account):
    """The website, which another account holds."""
    SiteLink.objects.link(make_account("acct_0002", secrets=()), make_website(HOST), by="ada")


def test_a_claim_is_added_once_and_says_where_its_token_goes(account):
    text = run("claim", "acct_0001", "Shop.Example.com.", "--by", "Ada")
    claim = OwnershipClaim.objects.get()
    assert text.count(claim.token) == 3
    assert f"a TXT record at _threat-dashboard-challenge.{HOST}" in text
    assert f"https://{HOST}/.well-known/threat-dashboard-challenge.txt" in text
    fields = run_json("claim", "acct_0001", HOST)
    assert (fields["claim_id"], fields["state"], fields["account"]) == (str(claim.pk), "pending", "acct_0001")
    claimed = AuditEvent.objects.get(action="ownership.claimed")
    assert AuditActor.objects.get(pk=claimed.actor).name == "Ada"


def test_a_check_that_finds_the_token_links_the_account(account, finds):
    run("claim", "acct_0001", HOST)
    fields = run_json("claim", "acct_0001", HOST, "--check")
    assert (fields["state_before"], fields["state"]) == ("pending", "verified")
    assert fields["link_id"] == SiteLink.objects.get().link_id
    with pytest.raises(CommandError, match="can be checked again in"):
        run("claim", "acct_0001", HOST, "--check")


@pytest.mark.parametrize(("option", "state"), [("--accept", "verified"), ("--refuse", "refused")])
def test_a_contested_claim_is_decided_with_a_reason(account, held, finds, option, state):
    run("claim", "acct_0001", HOST)
    assert run_json("claim", "acct_0001", HOST, "--check")["state"] == "contested"
    with pytest.raises(CommandError, match="Say why"):
        run("claim", "acct_0001", HOST, option)
    assert run_json("claim", "acct_0001", HOST, option, *REASON)["state"] == state
    assert AuditEvent.objects.get(action="ownership.decided").reason == "we called the owner"


def test_a_claim_is_withdrawn_with_its_link(account, finds):
    run("claim", "acct_0001", HOST)
    run("claim", "acct_0001", HOST, "--check")
    assert run_json("claim", "acct_0001", HOST, "--withdraw", *REASON)["state"] == "withdrawn"
    assert SiteLink.objects.get().revoked_at is not None
    with pytest.raises(CommandError, match=r"has no claim to .*: add it without an option"):
        run("claim", "acct_0001", HOST, "--withdraw", *REASON)


@pytest.mark.parametrize("option", ["--accept", "--refuse"])
def test_a_claim_that_is_not_contested_needs_no_decision(account, option):
    run("claim", "acct_0001", HOST)
    with pytest.raises(CommandError, match=r"The claim to .* is waiting for the proof"):
        run("claim", "acct_0001", HOST, option, *REASON)


def test_a_public_suffix_and_an_unknown_account_are_refused(account, settings):
    settings.ALLOW_PRIVATE_HOSTS = False
    with pytest.raises(CommandError):
        run("claim", "acct_0001", "co.uk")
    with pytest.raises(CommandError, match="There is no account acct_0009"):
        run("claim", "acct_0009", HOST)
    assert not OwnershipClaim.objects.exists()


def test_claims_are_listed_by_website_account_and_state(account):
    run("claim", "acct_0001", HOST)
    run("claim", "acct_0001", "blog.example.com")
    run("claim", "acct_0001", HOST, "--withdraw", *REASON)
    assert run("list_claims").split() == [
        "blog.example.com",
        "acct_0001",
        "pending",
        *_id("blog.example.com"),
    ]
    assert run("list_claims", "--host", HOST).strip() == "There are no such claims."
    assert HOST in run("list_claims", "--all", "--host", HOST)
    assert HOST in run("list_claims", "--state", "withdrawn", "--account", "acct_0001")


def test_a_contested_claim_is_listed_with_what_it_waits_for(account, finds):
    make_account("acct_0002", secrets=())
    for ref in ("acct_0002", "acct_0001"):
        run("claim", ref, HOST)
        run("claim", ref, HOST, "--check")
    contested = OwnershipClaim.objects.filter(account=account)
    assert ", waits for an answer, or a record in DNS  (" in run("list_claims")
    contested.update(strength="dns")
    assert ", waits for an answer; silence does not count yet  (" in run("list_claims")
    contested.update(objected_at=timezone.now())
    assert run_json("list_claims", "--account", "acct_0001")["waits_for"] == "a decision by staff"
    contested.update(objected_at=None)
    OwnershipClaim.objects.update(asked_at=None)
    run("claim", "acct_0002", HOST, "--check")
    assert run_json("list_claims", "--account", "acct_0001")["answer_due_at"]
    assert ", verified without an answer on 20" in run("list_claims")


def _id(host):
    return ["(claim", f"{OwnershipClaim.objects.get(host=host).pk})"]
