"""The statement about a caller equals its ORM twin."""

from dataclasses import fields
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard_api.backends.revisions import EVERY_WEBSITE
from dashboard_api.models import Revision, Secret, SiteLink
from dashboard_api.queries import credentials
from tests.dashboard_api.calls import account_site
from tests.factories import (
    make_account,
    make_entitlement,
    make_finding,
    make_link,
    make_schedule,
    make_website,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    account = make_account(entitled=False, calls_per_second=3)
    make_entitlement(account, plan="large", features=["notes", "é"], past_due_since=timezone.now().date())
    return account


@pytest.mark.parametrize("later", [timedelta(0), timedelta(hours=24), timedelta(hours=24, microseconds=1)])
def test_usable_secrets_are_those_that_may_have_signed(account, later):
    now = timezone.now().replace(microsecond=0)
    first = account.secrets.get()
    first.retire(now=now)
    revoked, _ = Secret.objects.issue(account, by="tests")
    revoked.revoke(now=now)
    Secret.objects.issue(account, by="tests", for_portal=True)
    Secret.objects.issue(account, by="tests", is_test=True)
    make_account("acct_0002")
    twins = Secret.objects.usable(now + later).filter(account__ref="acct_0001").select_related("account")
    read = credentials.read_credentials("acct_0001", "", now + later).signers
    assert read == [
        (
            twin.pk,
            twin.account_id,
            twin.sealed,
            twin.is_test,
            twin.for_portal,
            twin.account.calls_per_second,
            twin.account.calls_burst,
            twin.account.entitlement.calls_per_day,
            twin.account.entitlement.sites_limit,
        )
        for twin in twins
    ]


@pytest.mark.parametrize("ref", ["acct_9999", "acct_0002"])
def test_an_account_that_is_unknown_or_has_no_usable_secret_takes_the_rows_of_another_one(account, ref):
    make_account("acct_0002").secrets.get().revoke(now=timezone.now())
    own = credentials.read_credentials("acct_0001", "", timezone.now())
    other = credentials.read_credentials(ref, "", timezone.now())
    assert (own.is_known, other.is_known) == (True, False)
    assert other.signers == own.signers


def test_without_any_secret_there_are_no_credentials(db):
    make_account(secrets=())
    assert credentials.read_credentials("acct_0001", "", timezone.now()) == (False, [], None)


def test_a_link_is_found_with_its_website_and_what_the_account_paid_for(account):
    link = make_link(account)
    make_finding(link.website)
    link.revoke(by="tests", reason="asked to", now=timezone.now())
    twin = SiteLink.objects.select_related("website", "account__entitlement").get(pk=link.pk)
    read = account_site(link)
    assert read == credentials.AccountSite(
        pk=twin.pk,
        account_id=twin.account_id,
        website_id=twin.website_id,
        host=twin.website.host,
        linked_at=twin.created_at,
        revoked_at=twin.revoked_at,
        paused_at=twin.paused_at,
        tags=tuple(Revision.objects.get(pk=number).tag for number in (twin.website_id, EVERY_WEBSITE)),
        schedules=frozenset(),
        sites_used=0,
        entitlement=read.entitlement,
    )
    for field in fields(credentials.EntitlementTerms):
        assert getattr(read.entitlement, field.name) == getattr(twin.account.entitlement, field.name)
    assert None not in read.tags


def test_the_schedules_are_those_of_all_linked_accounts_that_have_a_next_scan(account):
    link = make_link(account)
    soon, later, never = (timezone.now() + timedelta(days=days) for days in (1, 2, 0))
    others = [make_link(make_account(f"acct_001{number}"), link.website) for number in range(5)]
    others[3].revoke(by="tests", reason="asked to", now=timezone.now())
    SiteLink.objects.filter(pk=others[4].pk).update(paused_at=timezone.now())
    plans = [("quick", soon), ("standard", later), ("deep", None), ("deep", never), ("deep", never)]
    made = [
        make_schedule(other, profile=profile, next_at=next_at, paused_until=soon.date())
        for other, (profile, next_at) in zip(others, plans, strict=True)
    ]
    make_schedule(make_link(account, make_website("other.example.com")), profile="deep", next_at=never)
    assert account_site(link).schedules == {
        tuple(getattr(schedule, name) for name in credentials.ScheduleRow._fields) for schedule in made[:2]
    }


def test_a_secret_that_is_not_usable_shows_no_link(account):
    link = make_link(account)
    account.secrets.get().revoke(now=timezone.now())
    make_account("acct_0002")
    read = credentials.read_credentials(account.ref, link.link_id, timezone.now())
    assert (read.is_known, read.link) == (False, None)


def test_sites_used_are_the_links_that_give_access(account):
    link = make_link(account)
    revoked = make_link(account, make_website("b.example.com"))
    revoked.revoke(by="tests", reason="asked to", now=timezone.now())
    make_link(make_account("acct_0002"), link.website)
    assert account_site(link).sites_used == account.links.not_revoked().count() == 1


def test_a_link_of_another_account_or_id_is_not_found(account):
    link = make_link(account)
    make_account("acct_0002", secrets=["es1_test_of_another_account_012345"])
    for ref, link_id in (("acct_0002", link.link_id), (account.ref, link.link_id.upper()), (account.ref, "")):
        claimed = credentials.read_credentials(ref, link_id, timezone.now())
        assert (len(claimed.signers), claimed.link) == (1, None)


def test_an_account_that_paid_for_nothing_has_no_entitlement():
    account = make_account(entitled=False)
    link = make_link(account)
    assert account_site(link).entitlement is None
