"""The pages of claims: staff decide contested ones."""

from types import SimpleNamespace

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.models import OwnershipClaim, SiteLink
from dashboard_api.ownership import checks, claims
from dashboard_api.ownership.claims import Check, Verdict
from tests import factories

pytestmark = pytest.mark.django_db
PAGE = reverse("admin:dashboard_api_ownershipclaim_changelist")


@pytest.fixture
def contested():
    holder = factories.make_account("acct_other", secrets=())
    SiteLink.objects.link(holder, factories.make_website(), by="ada")
    claim = claims.add(factories.make_account(secrets=()), "shop.example.com", by="ada", now=timezone.now())
    return claims.record_check(claim, Check(Verdict.FOUND, "file", "https"), now=timezone.now())


@pytest.fixture
def staff(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    return client


@pytest.mark.parametrize(
    ("action", "state", "event"),
    [
        ("accept_claim", "verified", "ownership.decided"),
        ("refuse_claim", "ended", "ownership.decided"),
        ("withdraw_claim", "ended", "ownership.withdrawn"),
    ],
)
def test_staff_decide_with_a_reason(staff, contested, action, state, event):
    form = {"action": action, "_selected_action": contested.pk}
    assert b"Recorded with the claim." in staff.post(PAGE, form).content
    assert b"This field is required" in staff.post(PAGE, form | {"confirmed": "True"}).content
    staff.post(PAGE, form | {"confirmed": "True", "reason": "we called the owner"})
    contested.refresh_from_db()
    assert (contested.state, contested.reason) == (state, "we called the owner")
    assert AuditEvent.objects.get(action=event).reason == "we called the owner"


def test_the_home_leads_to_contested_claims(staff, contested):
    url = f"{PAGE}?state__exact=contested"
    assert url in staff.get(reverse("admin:index")).content.decode()
    assert b"shop.example.com" in staff.get(url).content
    page = staff.get(reverse("admin:dashboard_api_ownershipclaim_change", args=[contested.pk])).content
    assert b'value="accept_claim"' in page
    assert b'value="withdraw_claim"' not in page


def test_a_contested_claim_names_the_accounts_that_have_the_website(staff, contested):
    page = staff.get(reverse("admin:dashboard_api_ownershipclaim_change", args=[contested.pk]))
    assert "acct_other" in page.content.decode()


ADD = reverse("admin:dashboard_api_ownershipclaim_add")


def test_staff_claim_a_website_for_a_customer_once(staff):
    account = factories.make_account(secrets=())
    form = {"account": account.pk, "host": "Shop.Example.com."}
    page = staff.post(ADD, form, follow=True).content
    claim = OwnershipClaim.objects.get()
    assert (claim.host, claim.account, claim.state, claim.by) == (
        "shop.example.com",
        account,
        "pending",
        "boss",
    )
    staff.post(ADD, form)
    assert OwnershipClaim.objects.get() == claim
    assert b"shop.example.com" in page


@pytest.mark.parametrize("host", ["co.uk", "two words", "192.0.2.1"])
def test_a_host_that_nobody_can_own_is_refused_with_a_reason(staff, settings, host):
    settings.ALLOW_PRIVATE_HOSTS = False
    page = staff.post(ADD, {"account": factories.make_account(secrets=()).pk, "host": host})
    assert b"errorlist" in page.content
    assert not OwnershipClaim.objects.exists()


def test_a_customer_with_too_many_claims_gets_no_more(staff, monkeypatch):
    monkeypatch.setattr(claims, "MAX_OPEN_CLAIMS", 1)
    account = factories.make_account(secrets=())
    claims.add(account, "shop.example.com", by="ada", now=timezone.now())
    page = staff.post(ADD, {"account": account.pk, "host": "blog.example.com"}).content.decode()
    assert "1 websites wait for their proof" in page
    assert OwnershipClaim.objects.count() == 1


@pytest.fixture
def looks(monkeypatch):
    """The verdicts of the next checks, and the hosts that were checked."""
    looks = SimpleNamespace(verdict=Verdict.MISSING, hosts=[])

    def check(claim, _methods, *, now):
        looks.hosts.append(claim.host)
        return claims.record_check(claim, Check(looks.verdict, "file", "https"), now=now)

    monkeypatch.setattr(checks, "check_claim", check)
    return looks


def test_staff_check_a_claim_now_and_read_what_came_of_it(staff, looks):
    claim = claims.add(factories.make_account(secrets=()), "shop.example.com", by="ada", now=timezone.now())
    form = {"action": "check_claim", "_selected_action": claim.pk}
    assert "The token was not found." in staff.post(PAGE, form, follow=True).content.decode()
    assert "can be checked again in" in staff.post(PAGE, form, follow=True).content.decode()
    OwnershipClaim.objects.update(asked_at=None)
    looks.verdict = Verdict.FOUND
    assert "Checked: " in staff.post(PAGE, form, follow=True).content.decode()
    claim.refresh_from_db()
    assert claim.state == "verified"


def test_of_several_claims_one_is_checked_now_and_the_others_soon(staff, looks):
    account, now = factories.make_account(secrets=()), timezone.now()
    made = [claims.add(account, f"{name}.example.com", by="ada", now=now) for name in ("a", "b")]
    form = {"action": "check_claim", "_selected_action": [claim.pk for claim in made]}
    page = staff.post(PAGE, form, follow=True).content.decode()
    assert looks.hosts == ["a.example.com"]
    assert "The others will be checked within minutes." in page
    made[1].refresh_from_db()
    assert made[1].next_check_at <= timezone.now()
