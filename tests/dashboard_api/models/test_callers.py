"""What is read of a caller is what its twin by the ORM reads."""

from datetime import timedelta

import pytest
from django.forms.models import model_to_dict
from django.utils import timezone

from dashboard_api.models import Account, Secret, SiteLink, Website, callers
from tests.factories import make_account, make_entitlement, make_finding, make_link, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    account = make_account(entitled=False)
    make_entitlement(account, plan="large", features=["notes", "é"], past_due_since=timezone.now().date())
    return account


@pytest.mark.parametrize("later", [timedelta(0), timedelta(hours=24), timedelta(hours=24, microseconds=1)])
def test_usable_secrets_are_those_that_may_have_signed(account, later):
    now = timezone.now().replace(microsecond=0)
    first = account.secrets.get()
    first.retire(now=now)
    revoked, _ = Secret.objects.issue(account, by="tests")
    revoked.revoke(now=now)
    Secret.objects.issue(account, by="tests")
    make_account("acct_0002")
    twins = Secret.objects.usable(now + later).filter(account__ref="acct_0001").select_related("account")
    read = callers.usable_secrets("acct_0001", now + later)
    assert read == list(twins)
    for secret, twin in zip(read, twins, strict=True):
        assert (secret.sealed, secret.account) == (twin.sealed, twin.account)
        assert secret.account.ref == twin.account.ref


def test_an_account_that_is_not_known_has_no_secrets():
    assert callers.usable_secrets("acct_9999", timezone.now()) == []


def test_a_link_is_found_with_its_website_and_what_the_account_paid_for(account):
    link = make_link(account)
    link.revoke(by="tests", reason="asked to", now=timezone.now())
    twin = SiteLink.objects.select_related("website", "account__entitlement").get(pk=link.pk)
    read = callers.find_link(account, link.link_id, link.website.host)
    assert read == twin
    assert (read.link_id, read.revoked_at, read.website_id) == (
        twin.link_id,
        twin.revoked_at,
        twin.website_id,
    )
    assert read.website.host == twin.website.host
    assert model_to_dict(read.account.entitlement) == model_to_dict(twin.account.entitlement)


def test_finding_a_link_is_one_statement(account, django_assert_num_queries):
    link = make_link(account)
    caller = Account(pk=account.pk, ref=account.ref)
    with django_assert_num_queries(1):
        read = callers.find_link(caller, link.link_id, link.website.host)
        assert (read.website.host, read.account.entitlement.plan) == ("shop.example.com", "large")


def test_sites_used_are_the_links_that_give_access(account):
    link = make_link(account)
    make_link(account, make_website("b.example.com")).revoke(
        by="tests", reason="asked to", now=timezone.now()
    )
    make_link(make_account("acct_0002"), link.website)
    read = callers.find_link(account, link.link_id, link.website.host)
    assert read.account.sites_used == Account.objects.get(pk=account.pk).sites_used == 1


def test_a_link_comes_with_the_tags_of_its_website(account):
    link = make_link(account)
    make_finding(link.website)
    read = callers.find_link(account, link.link_id, link.website.host)
    assert None not in read.website.tags
    assert read.website.tags == Website.objects.get(pk=link.website_id).tags


def test_a_link_of_another_account_host_or_id_is_not_found(account):
    link = make_link(account)
    other = make_account("acct_0002")
    make_website("other.example.com")
    assert callers.find_link(other, link.link_id, link.website.host) is None
    assert callers.find_link(account, link.link_id, "other.example.com") is None
    assert callers.find_link(account, link.link_id.upper(), link.website.host) is None


def test_an_account_that_paid_for_nothing_has_no_entitlement():
    account = make_account(entitled=False)
    link = make_link(account)
    read = callers.find_link(account, link.link_id, link.website.host)
    assert getattr(read.account, "entitlement", None) is None
