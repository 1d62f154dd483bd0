"""Claims: proofs, links that follow from them, holders, misses and ends."""

import sys
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import settings as limits_of
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from audit.models import AuditEvent
from dashboard_api.crawler import queue
from dashboard_api.models import Account, OwnershipClaim, ScanJob, ScanSchedule, SiteLink, Website
from dashboard_api.models.ownership import new_token
from dashboard_api.models.sites import NoWebsite
from dashboard_api.ownership import calendar, claims
from dashboard_api.ownership.claims import Check, Verdict
from dashboard_api.ownership.response import describe
from tests import factories
from tests.racing import race

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
HOST = "shop.example.com"
FILE = Check(Verdict.FOUND, "file", "https", {"dns": Verdict.MISSING})
DNS = Check(Verdict.FOUND, "dns", "dns")
FILE_WHILE_DNS_IS_SILENT = FILE._replace(places={"dns": Verdict.NOT_ASKED})
MISSING, NOT_ASKED = Check(Verdict.MISSING), Check(Verdict.NOT_ASKED)


def added(ref="acct_0001", host=HOST, *, now=NOW):
    account = Account.objects.filter(ref=ref).first() or factories.make_account(ref, secrets=())
    return claims.add(account, host, by="ada", now=now)


def checked(claim, check, after=timedelta()):
    return claims.record_check(claim, check, now=NOW + after)


def is_linked(claim):
    links = SiteLink.objects.not_revoked()
    return links.filter(account=claim.account, website__host=claim.host).exists()


def held_by_another(host=HOST):
    other = factories.make_account("acct_other", secrets=())
    link = SiteLink.objects.link(other, factories.make_website(host), by="ada")
    return other, link


def test_a_token_is_a_prefix_and_160_random_bits():
    token = new_token()
    assert len(token) == 5 + 32
    assert token.startswith("tdv1-")
    assert token != new_token()


def test_the_same_host_again_is_the_same_claim():
    claim = added()
    assert claims.add(claim.account, HOST, by="bob", now=NOW) == claim
    assert AuditEvent.objects.filter(action="ownership.claimed").count() == 1


def test_a_token_is_for_one_account_and_host_and_never_reused():
    first, second, third = added(), added("acct_0002"), added("acct_0003", "other.example.com")
    withdrawn = claims.withdraw(first, by="ada", reason="mistake", now=NOW)
    again = claims.add(first.account, HOST, by="ada", now=NOW)
    assert len({claim.token for claim in (first, second, third, withdrawn, again)}) == 4


def test_an_account_has_at_most_twenty_claims_that_wait():
    account = factories.make_account(secrets=())
    for number in range(claims.MAX_OPEN_CLAIMS):
        claims.add(account, f"host-{number}.example.com", by="ada", now=NOW)
    with pytest.raises(claims.TooManyClaims, match="or remove one"):
        claims.add(account, "one-more.example.com", by="ada", now=NOW)


def test_names_below_a_proven_domain_for_which_the_plan_has_no_room_wait_like_others(monkeypatch):
    monkeypatch.setattr(claims, "MAX_OPEN_CLAIMS", 3)
    account = factories.make_account(secrets=(), entitled=False)
    factories.make_entitlement(account, sites_limit=2)
    checked(claims.add(account, "example.com", by="ada", now=NOW), DNS)
    names = [claims.add(account, f"{name}.example.com", by="ada", now=NOW) for name in ("a", "b", "c", "d")]
    assert [claim.link_problem for claim in names] == ["", "no_room", "no_room", "no_room"]
    with pytest.raises(claims.TooManyClaims, match="or remove one"):
        claims.add(account, "e.example.com", by="ada", now=NOW)


def test_each_account_has_a_claim_checked_before_others_have_a_second():
    first = added(host="a.example.com")
    second = claims.add(first.account, "b.example.com", by="ada", now=NOW)
    other = added("acct_0002", now=NOW + timedelta(minutes=1))
    due = OwnershipClaim.objects.due(NOW + timedelta(hours=1))
    assert list(due) == [first, other, second]


def test_a_check_that_was_planned_while_the_clock_was_ahead_is_due():
    ahead, weekly = added(host="a.example.com"), added("acct_0002", host="b.example.com")
    for claim, days in ((ahead, 365), (weekly, 7)):
        claim.next_check_at = NOW + timedelta(days=days)
        claim.save()
    assert list(OwnershipClaim.objects.due(NOW)) == [ahead]


def test_an_account_that_gave_up_a_hundred_claims_in_a_day_adds_others_a_day_later():
    account, host = factories.make_account(secrets=()), "one-more.example.com"
    for number in range(claims.MAX_ENDED_A_DAY):
        claim = claims.add(account, f"host-{number}.example.com", by="ada", now=NOW)
        claims.withdraw(claim, by="ada", reason="mistake", now=NOW)
    with pytest.raises(claims.TooManyClaims, match="Add others tomorrow"):
        claims.add(account, host, by="ada", now=NOW)
    assert claims.add(factories.make_account("acct_0002", secrets=()), host, by="bob", now=NOW)
    assert claims.add(account, host, by="ada", now=NOW + timedelta(days=1))


@pytest.mark.parametrize("host", ["co.uk", "github.io", "router.lan"])
def test_a_name_without_an_owner_of_its_own_cannot_be_claimed(host):
    with pytest.raises(NoWebsite):
        added(host=host)
    assert not OwnershipClaim.objects.exists()


def test_a_proof_verifies_the_website_and_links_it():
    claim = checked(added(), FILE)
    assert (claim.state, claim.method, claim.strength) == ("verified", "file", "https")
    assert is_linked(claim)
    assert Website.objects.get(host=HOST).verification_method == "file"


@pytest.mark.parametrize("enabled", [True, False])
def test_a_proven_website_is_scanned_first_where_there_are_workers(settings, enabled):
    settings.CRAWLER_ENABLED = enabled
    claim = checked(added(), FILE)
    scans = ScanJob.objects.filter(website__host=claim.host)
    assert list(scans.values_list("priority", flat=True)) == [ScanJob.Priority.FIRST] * enabled
    weekly = ScanSchedule.objects.filter(link__website__host=claim.host)
    assert list(weekly.values_list("frequency", "profile")) == [("weekly", "standard")] * enabled
    claims.withdraw(claim, by="ada", reason="mistake", now=NOW)
    checked(claims.add(claim.account, HOST, by="ada", now=NOW), FILE)
    assert scans.count() == enabled


def test_without_a_proof_a_claim_waits_for_thirty_days():
    claim = checked(added(), MISSING, timedelta(days=29))
    assert claim.state == "pending"
    claim = checked(claim, NOT_ASKED, timedelta(days=30))
    assert (claim.state, claim.ended_reason, claim.next_check_at) == ("ended", "expired", None)
    assert not Website.objects.exists()


def test_without_room_in_the_plan_the_claim_says_so_and_links_later():
    account = factories.make_account(secrets=(), entitled=False)
    entitlement = factories.make_entitlement(account, sites_limit=0)
    claim = checked(claims.add(account, HOST, by="ada", now=NOW), FILE)
    assert claim.state == "verified"
    assert claim.link_problem == "no_room"
    assert not is_linked(claim)
    entitlement.sites_limit = 1
    entitlement.save()
    claim = checked(claim, FILE, timedelta(days=7))
    assert claim.link_problem == ""
    assert is_linked(claim)


def test_while_a_payment_is_missing_the_claim_says_that_the_plan_has_no_room_and_links_later():
    account = factories.make_account(secrets=(), entitled=False)
    entitlement = factories.make_entitlement(account, status="past_due", past_due_since=timezone.now().date())
    claim = checked(claims.add(account, HOST, by="ada", now=NOW), FILE)
    assert (claim.state, claim.link_problem, is_linked(claim)) == ("verified", "no_room", False)
    entitlement.status, entitlement.past_due_since = "active", None
    entitlement.save()
    claim = checked(claim, FILE, timedelta(days=7))
    assert (claim.link_problem, is_linked(claim)) == ("", True)


def test_a_website_of_another_account_is_contested():
    held_by_another()
    claim = checked(added(), FILE)
    assert claim.state == "contested"
    assert not is_linked(claim)


def proven_by_dns(ref="acct_0001", host="example.com"):
    claim = checked(added(ref, host), DNS)
    assert claim.state == "verified"
    return claim


def test_a_name_below_one_that_dns_proves_is_verified_at_once():
    above = proven_by_dns()
    claim = claims.add(above.account, HOST, by="ada", now=NOW)
    assert (claim.state, claim.method, is_linked(claim)) == ("verified", "dns", True)
    assert claims.proven_parents(claim) == [above]
    assert claims.add(above.account, HOST, by="ada", now=NOW) == claim
    assert AuditEvent.objects.filter(action="ownership.verified").count() == 2


def test_other_proofs_prove_no_names_below():
    above = checked(added(host="example.com"), FILE)
    assert claims.add(above.account, HOST, by="ada", now=NOW).state == "pending"


def test_only_the_accounts_own_claim_that_holds_counts_for_names_below():
    above = proven_by_dns("acct_other")
    assert added().state == "pending"
    claims.withdraw(above, by="ada", reason="sold", now=NOW)
    assert claims.add(above.account, "b.example.com", by="ada", now=NOW).state == "pending"


def test_a_proof_above_that_was_missing_at_the_last_look_proves_no_names_below():
    above = checked(proven_by_dns(), MISSING, timedelta(hours=1))
    assert above.state == "verified"
    assert claims.add(above.account, HOST, by="ada", now=NOW).state == "pending"


def test_a_proof_above_does_not_take_a_website_from_its_holder():
    held_by_another()
    above = proven_by_dns()
    claim = claims.add(above.account, HOST, by="ada", now=NOW)
    assert (claim.state, is_linked(claim)) == ("pending", False)
    assert checked(claim, DNS).state == "contested"


def test_a_public_suffix_proves_nothing_below_it(settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    above = proven_by_dns(host="github.io")
    assert claims.add(above.account, "ada.github.io", by="ada", now=NOW).state == "pending"


HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def proven_by_another(check=FILE, found=True):
    """Return the claim of an account that has proven the website, where something was found."""
    holder = checked(added("acct_other"), check)
    if found:
        factories.make_finding(Website.objects.get(host=HOST))
    return holder


def let_fail(holder):
    """Let the token of the holder be missing for a day."""
    OwnershipClaim.objects.filter(pk=holder.pk).update(state="failing", misses=3, missed_at=NOW - DAY)


def looked_for(holder, check, claim, proof=FILE, after=DAY):
    """Return both claims after a check of the claim, before which the token of the holder was looked for.

    A token that is missing has been missing for a day.
    """
    if check is MISSING:
        let_fail(holder)
    return checked(holder, check, after), checked(claim, proof, after)


@pytest.mark.parametrize("proof", [FILE, DNS])
def test_a_claim_takes_a_website_over_whose_token_is_missing_and_begins_without_findings(proof):
    holder, claim = looked_for(proven_by_another(), MISSING, added(), proof)
    holder.refresh_from_db()
    assert (holder.state, holder.ended_reason, is_linked(holder)) == ("ended", "taken_over", False)
    assert (claim.state, is_linked(claim)) == ("verified", True)
    website = Website.objects.get(host=HOST)
    assert not website.findings.exists()
    assert website.links.get().account == claim.account
    former = Website.objects.exclude(host=HOST).get()
    assert (former.findings.count(), former.retired_at) == (1, NOW + DAY)
    assert former.links.get().account == holder.account
    assert AuditEvent.objects.get(action="ownership.taken_over").account == "acct_other"


@pytest.mark.parametrize("check", [FILE, DNS, NOT_ASKED])
def test_staff_decide_where_the_token_of_the_holder_is_there_or_could_not_be_asked_for(check):
    holder, claim = looked_for(proven_by_another(), check, added(), DNS)
    assert (claim.state, is_linked(claim), is_linked(holder)) == ("contested", False, True)


def test_a_token_that_is_missing_for_less_than_a_day_takes_no_website_and_later_checks_do():
    holder, claim = proven_by_another(), added()
    for hours in (1, 2, 8, 20):
        checked(holder, MISSING, hours * HOUR)
        assert checked(claim, FILE, hours * HOUR).state == "contested"
        assert is_linked(holder)
    checked(holder, MISSING, 26 * HOUR)
    assert checked(claim, FILE, 26 * HOUR).state == "verified"


def test_a_miss_of_an_earlier_check_takes_no_website():
    holder = checked(proven_by_another(), MISSING, HOUR)
    for check, hours in ((None, 2), (NOT_ASKED, 3)):
        if check:
            checked(holder, check, hours * HOUR)
        claim = checked(added(f"acct_{hours}"), DNS, hours * HOUR)
        assert (claim.state, is_linked(holder)) == ("contested", True)


def test_a_proof_that_was_found_while_another_look_missed_it_keeps_the_website():
    holder, claim = proven_by_another(), added()
    checked(holder, MISSING, DAY)
    checked(holder, FILE, DAY + timedelta(seconds=1))
    assert checked(claim, DNS, DAY).state == "contested"
    assert is_linked(holder)


def test_a_proof_by_dns_that_is_missing_while_the_file_is_there_keeps_the_website():
    holder, claim = looked_for(proven_by_another(DNS), FILE, added(), DNS)
    assert (holder.misses, claim.state, is_linked(holder)) == (1, "contested", True)


def test_while_our_own_network_may_be_at_fault_no_website_is_taken_over(monkeypatch):
    monkeypatch.setattr(claims, "judging_pauses", lambda _now: True)
    holder, claim = looked_for(proven_by_another(), MISSING, added(), DNS)
    assert (claim.state, is_linked(holder)) == ("contested", True)


@pytest.mark.parametrize("has_claim", [True, False])
def test_a_holder_whom_staff_confirmed_keeps_the_website(has_claim):
    holder, link = held_by_another()
    if has_claim:
        checked(holder.ownership_claims.get(), MISSING, DAY)
    else:
        holder.ownership_claims.all().delete()
    assert checked(added(), DNS, DAY).state == "contested"
    link.refresh_from_db()
    assert link.revoked_at is None


@pytest.mark.parametrize(("check", "is_taken"), [(FILE, False), (NOT_ASKED, False), (MISSING, True)])
def test_a_shared_website_is_taken_over_only_if_the_tokens_of_all_its_accounts_are_missing(check, is_taken):
    first = proven_by_another()
    second = checked(added("acct_second"), FILE)
    SiteLink.objects.link(second.account, Website.objects.get(host=HOST), by="staff")
    OwnershipClaim.objects.filter(pk=second.pk).update(
        state="verified", method="file", strength="https", verified_at=NOW
    )
    claim = added()
    let_fail(first)
    let_fail(second)
    checked(first, MISSING, DAY)
    checked(second, check, DAY)
    claim = checked(claim, DNS, DAY)
    assert (is_linked(claim), is_linked(first), is_linked(second)) == (is_taken, not is_taken, not is_taken)


def test_a_contested_claim_takes_over_once_the_token_of_the_holder_is_missing():
    holder, claim = looked_for(proven_by_another(), NOT_ASKED, added(), FILE)
    contested_at = claim.contested_at
    assert checked(claim, FILE, DAY + HOUR).contested_at == contested_at
    holder, claim = looked_for(holder, MISSING, claim, FILE, 2 * DAY)
    assert (claim.state, is_linked(claim), is_linked(holder)) == ("verified", True, False)
    assert AuditEvent.objects.filter(action="ownership.contested").count() == 1


def test_a_contested_claim_waits_for_staff_as_long_as_its_token_is_not_called_missing():
    held_by_another()
    claim = checked(added(), FILE)
    assert checked(claim, NOT_ASKED, 31 * DAY).state == "contested"
    assert checked(claim, MISSING, 29 * DAY).state == "contested"
    assert checked(claim, MISSING, 30 * DAY).ended_reason == "expired"


def test_an_accepted_claim_gets_the_website_without_the_findings_of_those_that_had_it():
    holder, _ = looked_for(proven_by_another(), FILE, added(), DNS)
    claim = OwnershipClaim.objects.get(state="contested")
    with pytest.raises(ValidationError):
        claims.decide(claim, accept=True, by="staff", reason=" ", now=NOW)
    claim = claims.decide(claim, accept=True, by="staff", reason="the invoice", now=NOW + DAY)
    assert (claim.state, claim.reason, is_linked(claim)) == ("verified", "the invoice", True)
    assert not Website.objects.get(host=HOST).findings.exists()
    holder.refresh_from_db()
    assert (holder.ended_reason, is_linked(holder)) == ("taken_over", False)


def test_an_accepted_claim_ends_the_link_of_a_holder_whom_staff_confirmed():
    _, link = held_by_another()
    claims.decide(checked(added(), DNS), accept=True, by="staff", reason="sold", now=NOW)
    link.refresh_from_db()
    assert link.revoked_at == NOW


def test_a_claim_that_staff_refused_leaves_later_ones_to_staff_while_the_holder_has_the_website():
    holder, claim = looked_for(proven_by_another(), NOT_ASKED, added(), DNS)
    claim = claims.decide(claim, accept=False, by="staff", reason="not the owner", now=NOW + DAY)
    assert (claim.state, claim.ended_reason, claim.reason) == ("ended", "refused", "not the owner")
    for ref in ("acct_0001", "acct_second"):
        again = added(ref, now=NOW + DAY)
        holder, again = looked_for(holder, MISSING, again, DNS, 2 * DAY)
        assert (again.state, is_linked(holder)) == ("contested", True)
    claims.withdraw(holder, by="eve", reason="sold", now=NOW + 3 * DAY)
    third = checked(added("acct_third"), FILE, 3 * DAY)
    assert is_linked(third)
    third, again = looked_for(third, MISSING, again, DNS, 4 * DAY)
    assert (again.state, is_linked(third)) == ("verified", False)


def test_staff_share_a_website_by_a_link_which_verifies_the_contested_claim():
    holder, claim = looked_for(proven_by_another(), FILE, added(), DNS)
    SiteLink.objects.link(claim.account, Website.objects.get(host=HOST), by="staff")
    claim.refresh_from_db()
    assert (claim.state, is_linked(claim), is_linked(holder)) == ("verified", True, True)


def test_staff_who_may_decide_read_of_contested_claims_and_of_takeovers(
    mailoutbox, django_capture_on_commit_callbacks
):
    factories.make_user("boss", is_staff=True, is_superuser=True)
    factories.make_user("analyst", is_staff=True)
    holder, claim = proven_by_another(), added()
    with django_capture_on_commit_callbacks(execute=True):
        claim = checked(claim, FILE, HOUR)
        checked(claim, FILE, 2 * HOUR)
        looked_for(holder, MISSING, claim)
    assert [(sent.recipients(), sent.subject) for sent in mailoutbox] == [
        (["boss@example.com"], f"{HOST} is contested"),
        (["boss@example.com"], f"{HOST} was taken over"),
    ]
    for sent in mailoutbox:
        assert "acct_other" in sent.body
        assert f"/admin/dashboard_api/ownershipclaim/{claim.pk}/change/" in sent.body


def test_a_mail_server_that_is_down_keeps_no_one_from_the_website(
    monkeypatch, django_capture_on_commit_callbacks
):
    factories.make_user("boss", is_staff=True, is_superuser=True)

    def fail(*_args, **_fields):
        raise OSError("refused")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
    holder, claim = proven_by_another(), added()
    with django_capture_on_commit_callbacks(execute=True):
        looked_for(holder, MISSING, claim)
    assert is_linked(claim)


def change_before(monkeypatch, model, action, **changed):
    """Let someone else change a row just before the action on it."""
    original = getattr(model, action)

    def late(row, **values):
        model.objects.filter(pk=row.pk).update(**changed)
        return original(row, **values)

    monkeypatch.setattr(model, action, late)


def test_a_claim_is_withdrawn_while_staff_revoke_its_link(monkeypatch):
    claim = checked(added(), FILE)
    change_before(monkeypatch, SiteLink, "revoke", revoked_at=NOW)
    claim = claims.withdraw(claim, by="ada", reason="sold", now=NOW)
    assert (claim.ended_reason, is_linked(claim)) == ("withdrawn", False)


def test_a_website_that_a_new_owner_took_over_meanwhile_stays_verified():
    former = left_with_findings()
    claim = checked(added(), FILE)
    with pytest.raises(ValidationError, match="former owners"):
        former.unverify(by="staff", reason="sold", now=NOW)
    claim.refresh_from_db()
    assert (claim.state, is_linked(claim)) == ("verified", True)


def test_the_website_is_locked_before_a_check_looks_whether_staff_archived_or_linked_it():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows")
    left_with_findings()
    claim = added()
    with CaptureQueriesContext(connection) as queries:
        checked(claim, FILE)
    asked = [each["sql"] for each in queries]
    locks = [number for number, sql in enumerate(asked) if "FOR NO KEY UPDATE" in sql]
    looks = [
        number
        for number, sql in enumerate(asked)
        if 'archived_at" IS NULL' in sql or 'revoked_at" IS NULL' in sql
    ]
    assert locks[0] < looks[0]


def left_with_findings(host=HOST):
    """Return a website with a finding, whose only holder has left."""
    _, link = held_by_another(host)
    factories.make_finding(link.website)
    link.revoke(by="ada", reason="left", now=NOW)
    return link.website


def without_room():
    """Return a verified claim that is not linked, and the plan that lacks room for it."""
    account = factories.make_account("acct_early", secrets=(), entitled=False)
    entitlement = factories.make_entitlement(account, sites_limit=0)
    return checked(claims.add(account, HOST, by="ada", now=NOW), FILE), entitlement


def with_room(entitlement):
    entitlement.sites_limit = 1
    entitlement.save()


def test_room_in_the_plan_does_not_open_what_another_account_got_meanwhile():
    early, entitlement = without_room()
    holder = checked(added("acct_holder"), DNS, timedelta(hours=1))
    assert is_linked(holder)
    factories.make_finding(Website.objects.get(host=HOST))
    with_room(entitlement)
    early = checked(early, FILE, timedelta(days=1))
    assert (early.state, is_linked(early)) == ("contested", False)


def test_room_in_the_plan_does_not_open_what_another_account_left_meanwhile():
    early, entitlement = without_room()
    holder = checked(added("acct_holder"), DNS, timedelta(hours=1))
    factories.make_finding(Website.objects.get(host=HOST))
    claims.withdraw(holder, by="eve", reason="sold", now=NOW)
    with_room(entitlement)
    early = checked(early, FILE, timedelta(days=1))
    assert is_linked(early)
    assert not Website.objects.get(host=HOST).findings.exists()


def test_an_account_without_room_in_its_plan_takes_no_website_from_another():
    holder = proven_by_another()
    account = factories.make_account("acct_late", secrets=(), entitled=False)
    entitlement = factories.make_entitlement(account, sites_limit=0)
    _, claim = looked_for(holder, MISSING, claims.add(account, HOST, by="ada", now=NOW))
    assert (claim.state, is_linked(holder)) == ("contested", True)
    with_room(entitlement)
    _, claim = looked_for(holder, MISSING, claim, after=2 * DAY)
    assert (claim.state, is_linked(claim), is_linked(holder)) == ("verified", True, False)
    assert not Website.objects.get(host=HOST).findings.exists()


def test_a_new_owner_begins_a_new_website_without_the_findings_of_former_owners():
    former = left_with_findings()
    claim = checked(added(), FILE)
    assert (claim.state, is_linked(claim)) == ("verified", True)
    new = Website.objects.get(host=HOST)
    assert (new.pk != former.pk, new.findings.count()) == (True, 0)
    former.refresh_from_db()
    assert (former.findings.count(), former.retired_at, former.archived_at) == (1, NOW, NOW)
    assert HOST in former.host
    assert AuditEvent.objects.filter(action="website.retired").count() == 1
    with pytest.raises(ValidationError, match="former owners"):
        former.restore()


def test_a_website_that_staff_archived_is_not_replaced():
    former = left_with_findings()
    former.archive(by="staff", reason="not ours", now=NOW)
    claim = checked(added(), FILE)
    assert (claim.state, claim.link_problem, is_linked(claim)) == ("verified", "archived", False)
    assert Website.objects.count() == 1


def test_a_website_that_staff_take_out_of_the_archive_does_not_open_to_another_owner():
    former = left_with_findings()
    former.archive(by="staff", reason="not ours", now=NOW)
    claim = checked(added(), FILE)
    former.restore()
    claim = checked(claim, FILE, timedelta(days=7))
    assert (claim.link_problem, is_linked(claim)) == ("", True)
    assert not Website.objects.get(host=HOST).findings.exists()


def lapsed():
    claim = checked(failing(), MISSING, 14 * DAY)
    assert (claim.state, claim.ended_reason, is_linked(claim)) == ("ended", "lapsed", False)
    return claim


def proven_again(claim, after):
    """Return the claim after its account added the website again, with the token in its place."""
    return checked(claims.add(claim.account, HOST, by="ada", now=NOW + after), FILE, after)


def test_a_lapsed_holder_does_not_read_what_a_later_owner_found():
    claim = lapsed()
    factories.make_finding(Website.objects.get(host=HOST))
    later = checked(added("acct_later"), FILE, 15 * DAY)
    website = Website.objects.get(host=HOST)
    factories.make_finding(website)
    SiteLink.objects.get(website=website).revoke(by="ada", reason="left", now=NOW)
    assert is_linked(proven_again(claim, 16 * DAY))
    assert not Website.objects.get(host=HOST).findings.exists()
    assert Website.objects.count() == 3
    assert later.account != claim.account


def test_a_new_owner_inherits_nothing_of_a_website_without_findings():
    former = checked(added("acct_former"), FILE)
    website = Website.objects.get(host=HOST)
    factories.make_note(website, body="Anna asked for this.")
    ScanJob.objects.create(website=website, account=former.account, by="former")
    claims.withdraw(former, by="eve", reason="sold", now=NOW)
    assert is_linked(checked(added(), FILE))
    new = Website.objects.get(host=HOST)
    assert not new.notes.exists()
    assert not new.scan_jobs.exists()


def test_a_lapsed_holder_does_not_read_what_was_found_where_nothing_was_before():
    claim = lapsed()
    later = checked(added("acct_later"), FILE, 15 * DAY)
    factories.make_finding(Website.objects.get(host=HOST))
    claims.withdraw(later, by="eve", reason="left", now=NOW + 16 * DAY)
    assert is_linked(proven_again(claim, 17 * DAY))
    assert not Website.objects.get(host=HOST).findings.exists()


def test_a_lapsed_holder_does_not_read_what_the_other_holder_found_since_then():
    claim = failing()
    other = added("acct_later")
    SiteLink.objects.link(other.account, Website.objects.get(host=HOST), by="staff")
    claim = checked(claim, MISSING, 15 * DAY)
    assert (claim.ended_reason, is_linked(claim), is_linked(other)) == ("lapsed", False, True)
    factories.make_finding(Website.objects.get(host=HOST))
    other.refresh_from_db()
    claims.withdraw(other, by="eve", reason="left", now=NOW + 16 * DAY)
    assert is_linked(proven_again(claim, 17 * DAY))
    assert not Website.objects.get(host=HOST).findings.exists()


def test_a_contested_claim_is_verified_once_no_other_account_holds_the_website():
    _, link = held_by_another()
    claim = checked(added(), FILE)
    assert claim.state == "contested"
    link.revoke(by="ada", reason="left", now=NOW)
    assert checked(claim, FILE, timedelta(hours=1)).state == "verified"


def test_a_decision_after_the_holder_left_does_not_hand_the_findings_over():
    _, link = held_by_another()
    factories.make_finding(link.website)
    claim = checked(added(), FILE)
    link.revoke(by="ada", reason="sold", now=NOW)
    claim = claims.decide(claim, accept=True, by="staff", reason="known", now=NOW)
    assert (claim.state, is_linked(claim)) == ("verified", True)
    assert not Website.objects.get(host=HOST).findings.exists()


def test_an_account_gets_its_own_findings_again():
    claim = checked(added(), FILE)
    factories.make_finding(Website.objects.get(host=HOST))
    claims.withdraw(claim, by="ada", reason="mistake", now=NOW)
    claim = checked(claims.add(claim.account, HOST, by="ada", now=NOW), FILE)
    assert claim.state == "verified"
    assert is_linked(claim)


def failing():
    claim = checked(added(), FILE)
    for hours in (0, 1, 7):
        claim = checked(claim, MISSING, timedelta(hours=hours))
        assert claim.state == "verified"
    claim = checked(claim, MISSING, timedelta(hours=31))
    assert claim.state == "failing"
    return claim


def test_three_misses_over_a_day_are_a_failure_and_fourteen_days_a_lapse():
    claim = failing()
    assert is_linked(claim)
    assert checked(claim, MISSING, timedelta(days=13)).state == "failing"
    claim = checked(claim, MISSING, timedelta(days=14))
    assert (claim.state, claim.ended_reason, claim.next_check_at) == ("ended", "lapsed", None)
    assert not is_linked(claim)


def test_a_website_whose_proof_has_been_missing_for_three_days_is_not_scanned():
    website = Website.objects.get(host=failing().host)
    assert OwnershipClaim.objects.current(NOW + timedelta(days=2)).exists()
    assert not OwnershipClaim.objects.current(NOW + timedelta(days=3)).exists()
    OwnershipClaim.objects.update(missed_at=timezone.now() - timedelta(days=3))
    with pytest.raises(ValidationError, match="no current proof"):
        queue.add(website, by="ada")
    SiteLink.objects.link(factories.make_account("acct_other", secrets=()), website, by="staff")
    assert OwnershipClaim.objects.current(NOW + timedelta(days=3)).exists()


def hour_of_checks(*, unasked, found):
    """Check other claims, some of which cannot be asked."""
    for number in range(unasked + found):
        claim = checked(added(f"acct_{number + 100}", f"host-{number}.example.com"), FILE)
        checked(claim, NOT_ASKED if number < unasked else FILE)


@pytest.mark.parametrize(
    ("unasked", "found", "pauses"), [(1, 4, False), (2, 7, True), (4, 0, False), (5, 0, True), (0, 9, False)]
)
def test_judging_pauses_while_over_a_fifth_of_an_hour_cannot_be_asked(unasked, found, pauses):
    claim = checked(added(), FILE, timedelta(days=-1))
    hour_of_checks(unasked=unasked, found=found)
    assert claims.judging_pauses(NOW) == pauses
    assert checked(claim, MISSING).misses == (0 if pauses else 1)
    assert not claims.judging_pauses(NOW + timedelta(hours=1))


@pytest.mark.parametrize("others", [1, 4])
def test_one_account_whose_websites_cannot_be_asked_does_not_stop_the_judging_of_others(others):
    claim = checked(added(), FILE, timedelta(days=-1))
    hour_of_checks(unasked=0, found=others)
    slow = factories.make_account("acct_slow", secrets=(), entitled=False)
    factories.make_entitlement(slow, sites_limit=20)
    for number in range(20):
        slow_claim = claims.add(slow, f"slow-{number}.example.com", by="ada", now=NOW)
        checked(checked(slow_claim, FILE), NOT_ASKED)
    assert checked(claim, MISSING).misses == 1


def test_a_pause_lapses_nothing_and_a_proof_counts_all_the_same():
    claim = failing()
    hour_of_checks(unasked=5, found=0)
    OwnershipClaim.objects.exclude(pk=claim.pk).update(checked_at=NOW + timedelta(days=15))
    assert checked(claim, MISSING, timedelta(days=15)).state == "failing"
    assert checked(claim, FILE, timedelta(days=15)).state == "verified"


def test_a_pause_delays_a_missing_proof_and_the_end_of_its_link_by_thirty_days_each_at_most():
    claim = checked(checked(added(), FILE), MISSING)
    hour_of_checks(unasked=5, found=0)
    states = []
    for day in range(1, 60):
        at = NOW + timedelta(days=day)
        OwnershipClaim.objects.exclude(pk=claim.pk).update(checked_at=at)
        claim = checked(claim, MISSING, timedelta(days=day))
        states.append(claim.state)
    assert (states.index("failing"), states.index("ended")) == (30, 58)
    assert (claim.ended_reason, is_linked(claim)) == ("lapsed", False)


def test_owners_read_of_a_missing_proof_twelve_days_before_the_link_ends():
    claim = checked(checked(added(), FILE), MISSING)
    for day in range(1, 20):
        claim = checked(claim, NOT_ASKED, timedelta(days=day))
    for hours in (0, 6):
        claim = checked(claim, MISSING, 20 * DAY + hours * HOUR)
    assert (claim.state, claim.missed_at) == ("failing", NOW + 18 * DAY + 6 * HOUR)
    assert describe(claim)["lapses_at"] == "2026-12-25T18:00:00Z"


def test_a_link_whose_end_has_passed_while_no_one_could_ask_has_no_date():
    claim = checked(failing(), NOT_ASKED, timedelta(days=13))
    assert describe(claim)["lapses_at"] == "2026-12-07T12:00:00Z"
    claim = checked(claim, NOT_ASKED, timedelta(days=14))
    assert (claim.state, describe(claim)["lapses_at"]) == ("failing", None)


def test_a_miss_of_a_clock_that_was_ahead_counts_from_now():
    claim = checked(checked(added(), FILE), MISSING, timedelta(days=365))
    for day in range(1, 4):
        claim = checked(claim, MISSING, timedelta(days=day))
    assert (claim.state, claim.missed_at) == ("failing", NOW + DAY)


def test_a_proof_that_is_back_ends_a_failure():
    claim = checked(failing(), DNS, timedelta(days=3))
    assert (claim.state, claim.misses, claim.strength) == ("verified", 0, "dns")


def test_a_lapsed_claim_begins_again_with_its_token_and_gets_the_same_link_within_180_days():
    claim = failing()
    link_id = SiteLink.objects.get().link_id
    claim = checked(claim, MISSING, 14 * DAY)
    again = proven_again(claim, 15 * DAY)
    assert (again, again.token, again.state) == (claim, claim.token, "verified")
    assert SiteLink.objects.not_revoked().get().link_id == link_id


@pytest.mark.parametrize("is_later", [True, False])
def test_a_claim_that_lapsed_180_days_ago_or_is_not_the_last_has_another_token(is_later):
    claim = lapsed()
    after = 15 * DAY
    if is_later:
        claims.withdraw(proven_again(claim, after), by="ada", reason="left", now=NOW + after)
    else:
        after += 180 * DAY
    again = claims.add(claim.account, HOST, by="ada", now=NOW + after)
    assert again.pk != claim.pk
    assert again.token != claim.token


def test_silence_of_the_network_lapses_nothing_for_thirty_days():
    claim = checked(added(), FILE)
    for day in range(30):
        claim = checked(claim, NOT_ASKED, timedelta(days=day))
    assert (claim.state, claim.misses) == ("verified", 0)


def test_a_proof_by_dns_that_cannot_be_asked_for_thirty_days_becomes_that_of_the_file():
    claim = checked(added(), DNS)
    for day in range(30):
        claim = checked(claim, FILE_WHILE_DNS_IS_SILENT, timedelta(days=day))
    assert (claim.state, claim.method) == ("verified", "dns")
    claim = checked(claim, FILE_WHILE_DNS_IS_SILENT, timedelta(days=30))
    assert (claim.state, claim.method, claim.unasked_at) == ("verified", "file", None)


def test_a_proof_by_dns_that_was_missing_for_a_day_is_not_kept_by_silence():
    claim = checked(added(), DNS)
    for hours in (0, 1, 25):
        claim = checked(claim, MISSING, hours * HOUR)
    claim = checked(claim, FILE_WHILE_DNS_IS_SILENT, 26 * HOUR)
    assert (claim.state, claim.method, claim.misses) == ("verified", "file", 0)


def test_a_withdrawn_claim_revokes_the_link_and_says_why():
    claim = checked(added(), FILE)
    with pytest.raises(ValidationError):
        claims.withdraw(claim, by="ada", reason="", now=NOW)
    claim = claims.withdraw(claim, by="ada", reason="sold", now=NOW)
    assert not is_linked(claim)
    assert AuditEvent.objects.get(action="ownership.withdrawn").reason == "sold"
    with pytest.raises(claims.WrongState, match="withdrawn"):
        claims.withdraw(claim, by="ada", reason="again", now=NOW)


def test_a_link_by_staff_has_a_claim_that_is_confirmed_by_hand():
    account = factories.make_account(secrets=())
    link = SiteLink.objects.link(account, factories.make_website(HOST), by="staff")
    claim = account.ownership_claims.get()
    assert (claim.state, claim.method, claim.next_check_at) == ("verified", "manual", None)
    link.revoke(by="staff", reason="pause", now=NOW)
    link.restore(by="staff", reason="on", now=NOW)
    assert account.ownership_claims.get() == claim


def test_a_website_that_staff_confirmed_can_be_proved_by_dns_afterwards():
    account = factories.make_account(secrets=())
    SiteLink.objects.link(account, factories.make_website(HOST), by="staff")
    claim = checked(account.ownership_claims.get(), MISSING)
    assert (claim.state, claim.method) == ("verified", "manual")
    claim = checked(claim, DNS)
    assert (claim.state, claim.method, is_linked(claim)) == ("verified", "dns", True)


def test_a_withdrawn_verification_ends_the_claims_to_the_website():
    claim = checked(added(), FILE)
    Website.objects.get(host=HOST).unverify(by="staff", reason="sold", now=NOW)
    claim.refresh_from_db()
    assert (claim.state, claim.ended_reason, claim.reason) == ("ended", "withdrawn", "sold")
    assert checked(claim, FILE).state == "ended"


def test_two_open_claims_to_one_host_are_impossible():
    claim = added()
    with pytest.raises(IntegrityError), transaction.atomic():
        OwnershipClaim.objects.create(account=claim.account, host=HOST, token=new_token(), by="x")


@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_make_one_claim_and_one_link():
    account = factories.make_account(secrets=())
    made = race(lambda _: claims.add(account, HOST, by="ada", now=NOW), times=4)
    assert len({claim.pk for claim in made}) == 1
    race(lambda _: claims.record_check(made[0], FILE, now=NOW), times=4)
    assert SiteLink.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_process_that_dies_between_proof_and_link_leaves_neither(monkeypatch):
    claim = added()
    with monkeypatch.context() as dying:
        dying.setattr(claims, "_link", lambda *_: sys.exit())
        with pytest.raises(SystemExit):
            checked(claim, FILE)
    claim.refresh_from_db()
    assert (claim.state, is_linked(claim)) == ("pending", False)
    assert not AuditEvent.objects.filter(action="ownership.verified").exists()
    assert is_linked(checked(claim, FILE))


class TwoAccounts(RuleBasedStateMachine):
    """Two accounts claim one host: links only with a proof, and a website only from who has lost it."""

    def __init__(self):
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()
        self.now = NOW
        self.accounts = [factories.make_account(f"acct_{name}", secrets=()) for name in "ab"]
        self.host = f"host-{self.accounts[0].pk}.example.com"
        self.proven, self.held, self.has_refused = set(), {}, False
        self.unasked_since = {}  # by claim: the first of the checks in a row that could not ask

    def claim_of(self, which):
        return OwnershipClaim.objects.open().filter(account=self.accounts[which], host=self.host).first()

    def is_linked(self, which):
        return self.accounts[which].links.filter(revoked_at=None).exists()

    @rule(which=st.integers(0, 1))
    def add(self, which):
        claims.add(self.accounts[which], self.host, by="ada", now=self.now)

    @rule(hours=st.sampled_from([1, 6, 24, 72, 24 * 8, 24 * 31]))
    def wait(self, hours):
        self.now += timedelta(hours=hours)

    @rule(which=st.integers(0, 1), check=st.sampled_from([FILE, DNS, MISSING, NOT_ASKED]))
    def check(self, which, check):
        claim = self.claim_of(which)
        if claim is None:
            return
        if check.verdict is Verdict.FOUND:
            self.proven.add(which)
        before, held = claim.state, self.is_linked(1 - which)
        after = claims.record_check(claim, check, now=self.now)
        if check is not NOT_ASKED or before not in OwnershipClaim.HOLDING:
            self.unasked_since.pop(claim.pk, None)
        elif self.now - self.unasked_since.setdefault(claim.pk, self.now) < calendar.UNASKED_FOR:
            assert after.state == before
        if before in ("pending", "contested") and after.state == "verified":
            assert check.verdict is Verdict.FOUND
        if held and before != "verified":
            assert self.is_linked(1 - which) != (after.state == "verified")

    @rule(which=st.integers(0, 1), times=st.integers(2, 8), hours=st.sampled_from([6, 24, 72]))
    def hear_nothing(self, which, times, hours):
        """Check several times in a row, when nothing can be asked."""
        for _ in range(times):
            self.check(which, NOT_ASKED)
            self.wait(hours)

    @rule(
        which=st.integers(0, 1),
        theirs=st.sampled_from([FILE, DNS, MISSING, NOT_ASKED]),
        own=st.sampled_from([FILE, DNS]),
    )
    def look(self, which, theirs, own):
        """Check a claim, before which the token of the holder is looked for."""
        self.add(which)
        self.wait(1)
        self.check(1 - which, theirs)
        is_held, holder = self.is_linked(1 - which), self.claim_of(1 - which)
        is_lost = theirs is MISSING and holder is not None and holder.state == "failing"
        self.check(which, own)
        if is_held and not is_lost:
            assert self.is_linked(1 - which)
        elif not self.has_refused:
            assert self.is_linked(which)

    @rule(which=st.integers(0, 1), accept=st.booleans())
    def decide(self, which, accept):
        claim = self.claim_of(which)
        if claim is None or claim.state != "contested":
            return
        after = claims.decide(claim, accept=accept, by="staff", reason="known", now=self.now)
        assert after.state == ("verified" if accept else "ended")
        self.has_refused |= not accept

    @rule(which=st.integers(0, 1))
    def find(self, which):
        """A scan of the website that this account holds finds something."""
        if self.is_linked(which):
            factories.make_finding(Website.objects.get(host=self.host))

    @rule(which=st.integers(0, 1))
    def withdraw(self, which):
        if claim := self.claim_of(which):
            claims.withdraw(claim, by="ada", reason="mistake", now=self.now)

    def teardown(self):
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    @invariant()
    def one_account_is_linked_at_most_and_has_a_claim(self):
        linked = [which for which in (0, 1) if self.is_linked(which)]
        for which in linked:
            assert which in self.proven
            assert self.claim_of(which).state in OwnershipClaim.HOLDING
        assert len(linked) < 2

    @invariant()
    def findings_are_not_inherited(self):
        """An account gets a website with findings only if it held this website before."""
        for which in (0, 1):
            if self.is_linked(which):
                website = Website.objects.get(host=self.host)
                held = self.held.setdefault(website.pk, set())
                assert which in held or not website.findings.exists()
                held.add(which)


@pytest.mark.slow
def test_two_accounts_never_share_a_website_or_its_findings_and_lose_none_whose_token_is_there():
    limits = limits_of(max_examples=20, stateful_step_count=20, deadline=None)
    run_state_machine_as_test(TwoAccounts, settings=limits)
