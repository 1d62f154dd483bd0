"""The admin's form for a new customer."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from dashboard_api import models as api
from dashboard_api.billing import entitlements
from portal import models as portal
from tests.factories import make_account, make_link, make_plan, make_user

pytestmark = pytest.mark.django_db
ADDRESS = "/admin/new-customer/"
INLINE_CODE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)
FIELDS = {
    "ref": "acct_0001", "name": "Example Shop", "owner": "ada@example.com", "host": "Shop.Example.com",
    "method": "dns", "plan": "gold", "starts_on": "2026-01-01", "ends_on": "2026-12-31", "sites_limit": "7",
}  # fmt: skip


@pytest.fixture
def operator(client):
    client.force_login(make_user("robin", is_staff=True, is_superuser=True))
    return client


def test_one_form_sets_up_a_customer_and_shows_the_secret_once(operator, settings):
    settings.EMAIL_URL = ""
    page = operator.post(ADDRESS, FIELDS)
    assert "no-store" in page["Cache-Control"]
    account, entitlement = api.Account.objects.get(), api.Entitlement.objects.get()
    assert (account.name, entitlement.plan, entitlement.sites_limit) == ("Example Shop", "gold", 7)
    assert f"{entitlement.starts_on} {entitlement.ends_on}" == "2026-01-01 2026-12-31"
    secret = api.Secret.objects.get(is_test=False, for_portal=False).reveal()
    assert secret in page.text
    assert api.Secret.objects.get(is_test=True).reveal() in page.text
    assert portal.Account.objects.get().reveal_secret() not in page.text
    website = api.Website.objects.get()
    assert (website.host, website.verified_by) == ("shop.example.com", "robin")
    assert f"/invitations/{portal.Invitation.objects.get().token}/" in page.text
    assert LogEntry.objects.get().get_change_message() == "Set up."
    again = operator.post(ADDRESS, FIELDS | {"plan": "other"})
    assert "gold, 2026-01-01 –" in again.text
    assert "nothing was changed" in again.text
    assert secret not in again.text
    assert api.Secret.objects.count() == 3


def test_the_form_is_offered_and_its_dates_are_those_of_a_year(operator):
    assert f'href="{ADDRESS}"' in operator.get(reverse("admin:dashboard_api_account_changelist")).text
    page = operator.get(ADDRESS)
    assert f'value="{timezone.now():%Y-%m-%d}"' in page.text
    assert not INLINE_CODE.search(page.text)


@pytest.mark.parametrize(("slug", "number"), [("team", 20), ("gold", 5)])
def test_without_a_number_of_websites_a_customer_has_those_of_each_plan(operator, slug, number):
    make_plan()
    make_plan("pro", limits={"websites": 40})
    assert operator.get(ADDRESS).context["form"]["sites_limit"].value() is None
    operator.post(ADDRESS, FIELDS | {"plan": slug, "sites_limit": ""})
    entitlement = api.Entitlement.objects.get()
    assert (entitlement.sites_limit, entitlement.overrides) == (number, [])
    entitlements.change(entitlement.account, {"plan": "pro"}, by="payments")
    assert api.Entitlement.objects.get().sites_limit == 40


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"host": "nonsense"}, "The host"),
        ({"owner": "ada"}, "valid email"),
        ({"ref": "acct 1"}, "Use printable ASCII"),
        ({"ends_on": "2025-01-01"}, "The last day cannot be before the first"),
        ({"sites_limit": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_mistake_is_named_and_changes_nothing(operator, changes, words):
    page = operator.post(ADDRESS, FIELDS | changes)
    assert words in page.text
    assert 'value="Example Shop"' in page.text
    assert not api.Account.objects.exists()
    assert not api.Website.objects.exists()
    assert not portal.Account.objects.exists()


def test_a_website_of_another_account_needs_a_tick_that_says_so(operator):
    theirs = make_link(make_account("acct_0009", name="Their Shop"))
    assert "is also linked to acct_0009 (Their Shop)" not in operator.get(ADDRESS).text
    page = operator.post(ADDRESS, FIELDS)
    [error] = page.context["form"].errors["shared"]
    assert "shop.example.com is also linked to acct_0009 (Their Shop)" in error
    assert error in page.text
    assert api.SiteLink.objects.get() == theirs
    assert "is set up" in operator.post(ADDRESS, FIELDS | {"shared": "on"}).text
    assert theirs.website.links.count() == 2


def test_it_needs_the_permissions_of_all_its_parts(client):
    assert client.get(ADDRESS).status_code == 302
    user = make_user("eve", is_staff=True)
    user.user_permissions.add(
        *Permission.objects.filter(
            content_type__app_label="dashboard_api",
            codename__in=["add_account", "add_website", "add_sitelink"],
        )
    )
    client.force_login(user)
    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, FIELDS).status_code == 403
    assert not api.Account.objects.exists()


def test_staff_of_the_service_alone_invite_nobody_to_the_portal(client, settings):
    user = make_user("eve", is_staff=True)
    models = ("account", "entitlement", "secret", "website", "sitelink")
    user.user_permissions.add(
        *Permission.objects.filter(
            content_type__app_label="dashboard_api", codename__in=[f"add_{model}" for model in models]
        )
    )
    client.force_login(user)
    assert client.post(ADDRESS, FIELDS).status_code == 403
    assert not portal.Invitation.objects.exists()
    settings.ENABLE_PORTAL = False
    assert client.get(ADDRESS).status_code == 200


def test_the_result_names_what_was_created(operator):
    page = operator.post(ADDRESS, FIELDS, headers={"accept-language": "de"}).text
    created = "account, plan, website, link, secret, test secret, portal access, portal website"
    assert f"Created: {created}, invitation." in page
