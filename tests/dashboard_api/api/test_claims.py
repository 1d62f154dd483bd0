"""Claims by signed calls: an account proves its websites, and sees nothing of another's."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.models import OwnershipClaim, ScanJob, ScanSchedule, SiteLink
from dashboard_api.ownership import claims
from dashboard_api.ownership.claims import Check, Verdict
from signed_api.claims import CLAIM
from signed_api.example_calls import example_of
from tests.dashboard_api.calls import (
    CLAIM_CHECK_PATH,
    CLAIM_PATH,
    CLAIM_WITHDRAW_PATH,
    CLAIMS_PATH,
    PATH,
    ask,
    error_of,
)
from tests.factories import make_account, make_entitlement, make_website
from tests.faults.server import FaultServer, answer
from tests.foundation.outbound.internet import PUBLIC, Internet

pytestmark = pytest.mark.django_db
HOST = "shop.example.com"
OTHER_SECRET = "es1_test_another-secret-of-another-account"


@pytest.fixture
def account():
    return make_account()


@pytest.fixture
def internet(monkeypatch):
    internet = Internet(monkeypatch)
    internet.zone[f"{HOST}."] = [PUBLIC]
    return internet


@pytest.fixture
def site(internet):
    """A website on plain HTTP, without any file."""
    with FaultServer(answer(404, b"nothing here")) as server:
        internet.serve(server, port=80)
        yield server


def call(client, path, *, secret=None, **fields):
    options = {"secret": secret} if secret else {}
    return ask(client, {"portal_account_ref": "acct_0001", **fields}, path=path, **options)


def claimed(client, host=HOST):
    response = call(client, CLAIM_PATH, host=host)
    assert response.status_code == 200, response.content
    return response.json()["claim"]


def checked(client, claim, **fields):
    OwnershipClaim.objects.update(asked_at=None)
    return call(client, CLAIM_CHECK_PATH, claim_id=claim["claim_id"], **fields)


def test_a_claim_has_a_token_and_its_places(client, account):
    claim = claimed(client, "Shop.Example.com.")
    assert (claim["host"], claim["state"], claim["link_id"]) == (HOST, "pending", None)
    url = f"https://{HOST}/.well-known/threat-dashboard-challenge.txt"
    assert claim["instructions"]["file"] == {"url": url, "content": claim["token"]}
    assert claim["instructions"]["dns"] == {
        "name": f"_threat-dashboard-challenge.{HOST}",
        "relative_name": "_threat-dashboard-challenge.shop",
        "value": claim["token"],
    }
    tag = f'<meta name="threat-dashboard-verification" content="{claim["token"]}">'
    assert claim["instructions"]["meta"] == tag
    assert claimed(client) == claim
    assert AuditEvent.objects.get(action="ownership.claimed").account == account.ref


def test_a_public_suffix_and_one_claim_too_many_are_refused_with_the_reason(client, account):
    refused = call(client, CLAIM_PATH, host="co.uk")
    assert (refused.status_code, error_of(refused)["code"]) == (409, "claim_refused")
    assert "co.uk" in error_of(refused)["reasons"][0]
    for number in range(20):
        claimed(client, f"host-{number}.example.com")
    assert "or remove one" in error_of(call(client, CLAIM_PATH, host=HOST))["reasons"][0]


def test_claims_need_a_plan_but_can_be_listed_and_withdrawn_without_one(client):
    account = make_account(entitled=False)
    assert error_of(call(client, CLAIM_PATH, host=HOST))["code"] == "inactive_entitlement"
    entitlement = make_entitlement(account)
    claim = claimed(client)
    entitlement.delete()
    assert error_of(checked(client, claim))["code"] == "inactive_entitlement"
    assert call(client, CLAIMS_PATH).json()["total"] == 1
    assert call(client, CLAIM_WITHDRAW_PATH, claim_id=claim["claim_id"], reason="left").status_code == 200


def test_a_withdrawal_can_be_repeated_and_a_new_claim_has_another_token(client, account):
    claim = claimed(client)
    for _ in range(2):
        answer = call(client, CLAIM_WITHDRAW_PATH, claim_id=claim["claim_id"], reason="mistake")
        assert answer.json()["claim"]["ended_reason"] == "withdrawn"
    assert AuditEvent.objects.filter(action="ownership.withdrawn").count() == 1
    assert claimed(client)["token"] != claim["token"]


def test_a_claim_that_is_withdrawn_twice_at_once_is_withdrawn(client, account, monkeypatch):
    claim, withdraw = claimed(client), claims.withdraw

    def late(found, **values):
        withdraw(found, **values)
        return withdraw(found, **values)

    monkeypatch.setattr(claims, "withdraw", late)
    answer = call(client, CLAIM_WITHDRAW_PATH, claim_id=claim["claim_id"], reason="mistake")
    assert (answer.status_code, answer.json()["claim"]["ended_reason"]) == (200, "withdrawn")


def test_an_ended_claim_cannot_be_checked(client, account):
    claim = claimed(client)
    call(client, CLAIM_WITHDRAW_PATH, claim_id=claim["claim_id"], reason="mistake")
    error = error_of(checked(client, claim))
    assert (error["code"], error["ended_reason"]) == ("wrong_state", "withdrawn")


def test_the_claims_of_an_account_come_by_host_and_by_pages(client, account):
    for host in ("c.example.com", "a.example.com", "b.example.com"):
        claimed(client, host)
    first = call(client, CLAIMS_PATH, page_size=2).json()
    assert [claim["host"] for claim in first["claims"]] == ["a.example.com", "b.example.com"]
    assert first["total"] == 3
    assert [claim["host"] for claim in call(client, CLAIMS_PATH, page=2, page_size=2).json()["claims"]] == [
        "c.example.com"
    ]


def test_another_accounts_claim_is_unknown(client, account):
    claim = claimed(client)
    make_account("acct_0002", secrets=[OTHER_SECRET])
    theirs = {"portal_account_ref": "acct_0002", "secret": OTHER_SECRET}
    for path, fields in (
        (CLAIM_CHECK_PATH, {}),
        (CLAIM_WITHDRAW_PATH, {"reason": "mine"}),
    ):
        for claim_id in (claim["claim_id"], "999999"):
            refused = call(client, path, claim_id=claim_id, **theirs, **fields)
            assert (refused.status_code, error_of(refused)["code"]) == (404, "unknown_claim")
    nothing = {"ok": True, "claims": [], "total": 0}
    assert call(client, CLAIMS_PATH, **theirs).json() == nothing
    assert call(client, CLAIMS_PATH, claim_id=claim["claim_id"], **theirs).json() == nothing
    mine = call(client, CLAIM_PATH, host=HOST, **theirs).json()["claim"]
    assert mine["claim_id"] != claim["claim_id"]
    assert mine["token"] != claim["token"]


def test_a_token_on_the_website_verifies_and_links_it(client, account, internet):
    claim = claimed(client)
    with FaultServer(
        answer(200, claim["token"].encode() + b"\n", headers=[("Content-Type", "text/plain")])
    ) as server:
        internet.serve(server, port=80)
        proven = checked(client, claim).json()["claim"]
    assert (proven["state"], proven["method"], proven["strength"]) == ("verified", "file", "http")
    link = SiteLink.objects.get()
    assert proven["link_id"] == link.link_id
    fields = {"host": HOST, "link_id": link.link_id, "portal_account_ref": account.ref}
    assert ask(client, fields, path=PATH).status_code == 200


def test_a_check_says_what_it_found_and_what_to_do(client, account, site):
    claim = checked(client, claimed(client)).json()["claim"]
    assert (claim["state"], claim["link_id"]) == ("pending", None)
    assert [check["method"] for check in claim["checks"]] == ["dns", "file", "meta"]
    for check in claim["checks"]:
        assert check["outcome"] != "found"
        assert check["advice"]


def test_only_one_place_is_asked_where_one_is_named(client, account, site):
    claim = checked(client, claimed(client), method="meta").json()["claim"]
    assert [check["method"] for check in claim["checks"]] == ["meta"]


def test_a_second_check_at_once_is_too_soon(client, account, site):
    claim = claimed(client)
    assert checked(client, claim).status_code == 200
    refused = call(client, CLAIM_CHECK_PATH, claim_id=claim["claim_id"])
    assert (refused.status_code, error_of(refused)["code"]) == (429, "check_too_soon")
    assert 1 <= int(refused["Retry-After"]) <= 15


def test_a_website_of_another_account_is_contested_and_not_linked(client, account, internet):
    SiteLink.objects.link(make_account("acct_0002", secrets=[]), make_website(HOST), by="staff")
    claim = claimed(client)
    with FaultServer(
        answer(200, claim["token"].encode(), headers=[("Content-Type", "text/plain")])
    ) as server:
        internet.serve(server, port=80)
        contested = checked(client, claim).json()["claim"]
    assert (contested["state"], contested["link_id"]) == ("contested", None)


@pytest.fixture
def holder(account):
    """The account holds the website, and another one has a contested claim that DNS proves."""
    now = timezone.now()
    mine = claims.add(account, HOST, by="ada", now=now)
    claims.record_check(mine, Check(Verdict.FOUND, "file", "https"), now=now)
    theirs = claims.add(make_account("acct_0002", secrets=[OTHER_SECRET]), HOST, by="eve", now=now)
    claims.record_check(theirs, Check(Verdict.FOUND, "dns", "dns"), now=now)
    return mine


def test_only_a_holder_sees_the_proof_of_a_contested_claim(client, holder):
    (mine,) = call(client, CLAIMS_PATH, host=HOST).json()["claims"]
    theirs = OwnershipClaim.objects.get(account__ref="acct_0002")
    since = f"{theirs.contested_at:%Y-%m-%dT%H:%M:%SZ}"
    assert mine["others"] == [
        {"claim_id": str(theirs.pk), "method": "dns", "token": theirs.token, "since": since}
    ]
    (claim,) = call(client, CLAIMS_PATH, portal_account_ref="acct_0002", secret=OTHER_SECRET).json()["claims"]
    assert (claim["state"], claim["others"]) == ("contested", [])


def test_a_former_holder_reads_that_and_when_the_website_was_taken_over(client, holder):
    link, now = SiteLink.objects.get(), timezone.now() + timedelta(days=1)
    OwnershipClaim.objects.filter(pk=holder.pk).update(
        state="failing", misses=3, missed_at=now - timedelta(days=1)
    )
    claims.record_check(holder, Check(Verdict.MISSING), now=now)
    theirs = OwnershipClaim.objects.get(account__ref="acct_0002")
    claims.record_check(theirs, Check(Verdict.FOUND, "dns", "dns"), now=now)
    (mine,) = call(client, CLAIMS_PATH).json()["claims"]
    assert (mine["state"], mine["ended_reason"], mine["link_id"]) == ("ended", "taken_over", None)
    assert mine["ended_at"] == f"{now:%Y-%m-%dT%H:%M:%SZ}"
    fields = {"host": HOST, "link_id": link.link_id, "portal_account_ref": "acct_0001"}
    refused = error_of(ask(client, fields, path=PATH))
    assert (refused["code"], refused["reason"]) == ("revoked_link", "taken_over")
    assert claimed(client)["claim_id"] != mine["claim_id"]
    (open_claim,) = call(client, CLAIMS_PATH).json()["claims"]
    assert open_claim["state"] == "pending"


def test_a_claim_that_ended_is_listed_for_thirty_days(client, account):
    claim = claims.add(account, HOST, by="ada", now=timezone.now() - timedelta(days=60))
    claims.record_check(claim, Check(Verdict.MISSING), now=timezone.now() - timedelta(days=29))
    (found,) = call(client, CLAIMS_PATH).json()["claims"]
    assert (found["state"], found["ended_reason"]) == ("ended", "expired")
    OwnershipClaim.objects.update(ended_at=timezone.now() - timedelta(days=31))
    assert call(client, CLAIMS_PATH).json()["total"] == 0


def test_a_claim_says_since_when_the_page_looks_different(client, holder):
    website = SiteLink.objects.get().website

    def shown():
        (claim,) = call(client, CLAIMS_PATH, host=HOST).json()["claims"]
        return claim["different_page"]

    def scanned(days, **fields):
        at = timezone.now() - timedelta(days=days)
        ended = {"created_at": at, "ended_at": at, "state": "finished", "page": {"title": "Shop"}}
        return ScanJob.objects.create(website=website, by="ada", **ended | fields)

    scanned(9, reason="page_changed")
    scanned(8)
    assert shown() is None
    first, newest = (scanned(days, reason="page_changed") for days in (3, 2))
    assert shown() == {"job_id": str(newest.pk), "since": f"{first.created_at:%Y-%m-%dT%H:%M:%SZ}"}
    newest.page_confirmed_at = timezone.now()
    newest.save()
    assert shown() is None


def test_a_claim_says_that_the_schedule_of_its_scans_paused_itself(client, holder):
    link = SiteLink.objects.get()
    schedule = ScanSchedule.objects.create(link=link, anchor=timezone.now().date())
    (claim,) = call(client, CLAIMS_PATH, host=HOST).json()["claims"]
    assert claim["paused_schedule"] is None
    ScanSchedule.objects.update(pause_reason="blocked")
    (claim,) = call(client, CLAIMS_PATH, host=HOST).json()["claims"]
    assert claim["paused_schedule"]["reason"] == "blocked"
    assert claim["paused_schedule"]["set_at"] == f"{schedule.changed_at:%Y-%m-%dT%H:%M:%SZ}"
    theirs = {"portal_account_ref": "acct_0002", "secret": OTHER_SECRET}
    (other,) = call(client, CLAIMS_PATH, **theirs).json()["claims"]
    assert other["paused_schedule"] is None


def test_a_claim_that_was_withdrawn_is_found_by_its_id_only(client, account):
    claim = claimed(client)
    call(client, CLAIM_WITHDRAW_PATH, claim_id=claim["claim_id"], reason="mistake")
    assert call(client, CLAIMS_PATH, host=HOST).json()["total"] == 0
    (found,) = call(client, CLAIMS_PATH, claim_id=claim["claim_id"]).json()["claims"]
    assert (found["state"], found["ended_reason"]) == ("ended", "withdrawn")
    assert found["ended_at"]


def test_a_test_secret_gets_the_example_and_makes_no_claim(client, account):
    secret = account.secrets.model.objects.issue(account, by="ada", is_test=True)[1]
    response = call(client, CLAIM_PATH, host=HOST, secret=secret)
    assert response.json() == example_of(CLAIM)["response"]
    assert not OwnershipClaim.objects.exists()


@pytest.mark.parametrize(
    ("path", "fields", "field"),
    [
        (CLAIM_PATH, {}, "host"),
        (CLAIM_PATH, {"host": "not a host"}, "host"),
        (CLAIM_CHECK_PATH, {"claim_id": 7}, "claim_id"),
        (CLAIM_CHECK_PATH, {"claim_id": "0"}, "claim_id"),
        (CLAIM_CHECK_PATH, {"claim_id": "7", "method": "mail"}, "method"),
        (CLAIM_WITHDRAW_PATH, {"claim_id": "7"}, "reason"),
        (CLAIM_WITHDRAW_PATH, {"claim_id": "7", "reason": " "}, "reason"),
        (CLAIM_CHECK_PATH, {"claim_id": "7", "others": True}, "others"),
        (CLAIMS_PATH, {"page": 0}, "page"),
        (CLAIMS_PATH, {"page": 101, "page_size": 100}, "page"),
        (CLAIMS_PATH, {"page": 10**30}, "page"),
        (CLAIMS_PATH, {"claim_id": "x"}, "claim_id"),
        (CLAIMS_PATH, {"link_id": "x"}, "link_id"),
    ],
)
def test_a_wrong_field_is_named(client, account, path, fields, field):
    error = error_of(call(client, path, **fields))
    assert error["code"] == "invalid_request"
    assert [each["field"] for each in error["errors"]] == [field]


def test_the_command_checks_what_is_due(client, account, internet, capsys):
    claim = claimed(client)
    with FaultServer(
        answer(200, claim["token"].encode(), headers=[("Content-Type", "text/plain")])
    ) as server:
        internet.serve(server, port=80)
        call_command("check_claims")
        assert "Claims checked: 0." in capsys.readouterr().out
        OwnershipClaim.objects.update(next_check_at=timezone.now())
        call_command("check_claims")
    assert "verified" in capsys.readouterr().out
    assert SiteLink.objects.not_revoked().count() == 1


def test_a_check_that_fails_does_not_keep_the_claims_of_others_from_theirs(
    account, monkeypatch, capsys, caplog
):
    broken, other = (claims.add(account, host, by="ada", now=timezone.now()) for host in (f"a.{HOST}", HOST))
    OwnershipClaim.objects.update(next_check_at=timezone.now())

    def check_claim(claim, *, now):
        if claim == broken:
            raise ValueError("unforeseen")
        return claims.record_check(claim, Check(Verdict.FOUND, "file", "https"), now=now)

    monkeypatch.setattr("dashboard_api.management.commands.check_claims.check_claim", check_claim)
    call_command("check_claims")
    assert "Claims checked: 1." in capsys.readouterr().out
    other.refresh_from_db()
    broken.refresh_from_db()
    assert (other.state, broken.state) == ("verified", "pending")
    assert broken.next_check_at > timezone.now(), "it would be checked first again"
    assert "unforeseen" in caplog.text


def test_a_revoked_link_says_why_by_the_claim_to_the_website(client, account):
    claim = claims.add(account, HOST, by="ada", now=timezone.now())
    claims.record_check(claim, Check(Verdict.FOUND, "file", "https"), now=timezone.now())
    link = SiteLink.objects.get()
    link.revoke(by="ada", reason="test", now=timezone.now())
    fields = {"host": HOST, "link_id": link.link_id, "portal_account_ref": account.ref}
    for state, reason in (
        ("verified", "by_operator"),
        ("pending", "proof_awaited"),
        ("lapsed", "ownership_lapsed"),
        ("taken_over", "taken_over"),
        ("withdrawn", "claim_ended"),
    ):
        ended = {"state": "ended", "ended_reason": state, "ended_at": timezone.now()}
        OwnershipClaim.objects.update(**ended if state in OwnershipClaim.EndedReason else {"state": state})
        refused = error_of(ask(client, fields, path=PATH))
        assert (refused["code"], refused["reason"]) == ("revoked_link", reason)
