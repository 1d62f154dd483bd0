import uuid
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils import timezone

from dashboard_api.models import LinkEvent, SiteLink, Website
from dashboard_api.models.accounts import AlreadyRevoked
from dashboard_api.models.sites import (
    AlreadyLinked,
    NotRevoked,
    NotVerified,
    NoWebsite,
    SitesLimitReached,
)
from tests.factories import make_account, make_link, make_website
from tests.racing import race

pytestmark = pytest.mark.django_db

NOW = timezone.now() + timedelta(hours=1)


def limited_account(sites_limit):
    account = make_account()
    account.entitlement.sites_limit = sites_limit
    account.entitlement.save()
    return account


def test_website_host_is_stored_in_one_form_and_exists_once_however_it_is_written():
    website = Website(host="BÜCHER.Example.COM.")
    website.full_clean()
    assert website.host == "xn--bcher-kva.example.com"
    make_website("shop.example.com")
    with pytest.raises(ValidationError, match="already exists"):
        Website(host="Shop.Example.COM.").full_clean()


def test_website_without_a_proper_host_is_refused_with_one_message():
    with pytest.raises(ValidationError) as refusal:
        Website(host="https://shop.example.com:8443/").full_clean()
    assert refusal.value.message_dict == {
        "host": [
            "The host must be a domain name or an address such as https://shop.example.com, without a port."
        ]
    }


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        ("co.uk", "Anyone can register a name below co.uk, .* such as shop.co.uk"),
        ("github.io", "Anyone can register a name below github.io"),
        ("router.lan", "router.lan is not a name on the internet"),
        ("expyuzz4wqqyqhjn.onion", "not a name on the internet"),
    ],
)
def test_a_name_without_an_owner_of_its_own_is_no_website(settings, host, problem):
    with pytest.raises(ValidationError, match=problem) as refusal:
        Website(host=host).full_clean()
    assert list(refusal.value.message_dict) == ["host"]
    earlier = make_website(host, verified=False)
    earlier.full_clean()  # one that was stored before can still be changed, but not verified
    with pytest.raises(NoWebsite, match=problem):
        earlier.verify(method="manual", by="Ada", at=NOW)
    settings.ALLOW_PRIVATE_HOSTS = True
    earlier.verify(method="manual", by="Ada", at=NOW)


def test_verification_records_method_who_and_when():
    website = make_website(verified=False)
    website.verify(method=Website.Method.FILE, by="Ada", at=NOW)
    website.refresh_from_db()
    assert (website.verification_method, website.verified_by, website.verified_at) == ("file", "Ada", NOW)


@pytest.mark.parametrize("fields", [{"by": " "}, {"method": ""}, {"method": "rumour"}])
def test_verification_needs_a_method_and_a_name(fields):
    website = make_website(verified=False)
    with pytest.raises(ValidationError):
        website.verify(**({"method": "dns", "by": "Ada", "at": NOW} | fields))
    website.refresh_from_db()
    assert website.verified_at is None


def test_database_refuses_half_a_verification():
    make_website(verified=False)
    with pytest.raises(IntegrityError, match="dashboard_api_website_verification_is_whole"):
        Website.objects.update(verified_at=NOW)


def test_link_has_a_lower_case_uuid_and_remembers_who_made_it():
    link = SiteLink.objects.link(make_account(), make_website(), by="Ada")
    assert str(uuid.UUID(link.link_id)) == link.link_id
    event = link.events.get()
    assert (event.action, event.by) == (LinkEvent.Action.LINKED, "Ada")


def test_link_needs_a_verified_website():
    with pytest.raises(NotVerified, match="verify"):
        SiteLink.objects.link(make_account(), make_website(verified=False), by="Ada")


def test_link_exists_once_and_a_revoked_one_is_to_be_restored_instead_of_linked_again():
    link = make_link()
    with pytest.raises(AlreadyLinked, match=link.link_id):
        SiteLink.objects.link(link.account, link.website, by="Ada")
    link.revoke(by="Ada", reason="asked to", now=NOW)
    with pytest.raises(AlreadyLinked, match="restore"):
        SiteLink.objects.link(link.account, link.website, by="Ada")


def test_link_is_refused_when_the_entitlement_is_used_up():
    account = limited_account(1)
    make_link(account)
    with pytest.raises(SitesLimitReached, match="1 websites"):
        SiteLink.objects.link(account, make_website("blog.example.com"), by="Ada")


def test_link_looks_at_the_limit_as_it_is_now():
    account = limited_account(0)
    make_account_again = type(account).objects.get(pk=account.pk)
    make_account_again.entitlement.sites_limit = 1
    make_account_again.entitlement.save()
    assert account.entitlement.sites_limit == 0
    SiteLink.objects.link(account, make_website(), by="Ada")


def test_link_needs_the_name_of_a_person():
    with pytest.raises(ValidationError, match="by"):
        SiteLink.objects.link(make_account(), make_website(), by=" ")
    assert not SiteLink.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_links_made_at_once_never_exceed_the_limit():
    account = limited_account(2)
    websites = [make_website(f"site-{number}.example.com") for number in range(6)]
    outcomes = race(lambda number: SiteLink.objects.link(account, websites[number], by="Ada"), times=6)
    assert sum(isinstance(outcome, SitesLimitReached) for outcome in outcomes) == 4
    assert SiteLink.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_same_website_linked_at_once_is_linked_once():
    account, website = make_account(), make_website()
    outcomes = race(lambda _: SiteLink.objects.link(account, website, by="Ada"), times=4)
    assert sum(isinstance(outcome, AlreadyLinked) for outcome in outcomes) == 3


def test_revoked_link_gives_no_access_and_says_why():
    link = make_link()
    link.revoke(by="Ada", reason=" Contract ended ", now=NOW)
    link.refresh_from_db()
    assert link.revoked_at == NOW
    assert link not in SiteLink.objects.not_revoked()
    event = link.events.first()
    assert (event.action, event.by, event.reason, event.at) == ("revoked", "Ada", "Contract ended", NOW)


@pytest.mark.parametrize("fields", [{"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}, {"by": ""}])
def test_revocation_needs_a_reason_and_a_name(fields):
    link = make_link()
    with pytest.raises(ValidationError):
        link.revoke(**({"by": "Ada", "reason": "asked to", "now": NOW} | fields))
    assert link.revoked_at is None
    assert SiteLink.objects.not_revoked().get() == link
    assert link.events.count() == 1


def test_revoked_link_keeps_the_time_of_its_revocation_even_on_a_page_loaded_before():
    link = make_link()
    loaded_before = SiteLink.objects.get(pk=link.pk)
    link.revoke(by="Ada", reason="asked to", now=NOW)
    with pytest.raises(AlreadyRevoked):
        loaded_before.revoke(by="Grace", reason="asked to", now=NOW + timedelta(hours=1))
    link.refresh_from_db()
    assert link.revoked_at == NOW
    assert link.events.count() == 2


def test_restored_link_says_why_and_gives_access_again_only_with_a_reason_and_after_a_revocation():
    link = make_link()
    with pytest.raises(NotRevoked):
        link.restore(by="Ada", reason="Paid", now=NOW)
    link.revoke(by="Ada", reason="asked to", now=NOW)
    with pytest.raises(ValidationError, match="Say why"):
        link.restore(by="Ada", reason="", now=NOW)
    assert not SiteLink.objects.not_revoked().exists()
    link.restore(by="Grace", reason="Paid", now=NOW + timedelta(hours=1))
    assert SiteLink.objects.not_revoked().get() == link
    assert [event.action for event in link.events.all()] == ["restored", "revoked", "linked"]


def test_restored_link_counts_against_the_limit_again():
    account = limited_account(1)
    link = make_link(account)
    link.revoke(by="Ada", reason="asked to", now=NOW)
    make_link(account, make_website("blog.example.com"))
    with pytest.raises(SitesLimitReached):
        link.restore(by="Ada", reason="Paid", now=NOW)


def test_database_refuses_a_revocation_without_a_reason():
    link = make_link()
    with pytest.raises(IntegrityError, match="dashboard_api_linkevent_says_why"):
        link.events.create(action=LinkEvent.Action.REVOKED, by="Ada")
