"""The pages of claims: staff decide contested ones."""

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.models import SiteLink
from dashboard_api.ownership import claims
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
        ("refuse_claim", "refused", "ownership.decided"),
        ("withdraw_claim", "withdrawn", "ownership.withdrawn"),
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
