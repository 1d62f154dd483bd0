"""A person without an account publishes the proof of a website: the helper's link."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership import claims
from dashboard_api.ownership.claims import Check, Verdict
from portal.models import HelperLink
from tests.factories import make_account, make_membership, make_portal_account, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def claim(service, settings):
    settings.DASHBOARD_BASE_URL = ""
    return claims.add(make_account(), "shop.example.com", by="ada", now=timezone.now())


@pytest.fixture
def owner(claim, client):
    member = make_membership(make_user(), make_portal_account("acct_0001", name="Example Shop"))
    client.force_login(member.user)
    client.page = f"/websites/{member.account_id}/claims/{claim.pk}/"
    return client


@pytest.fixture
def link(owner):
    owner.post(f"{owner.page}helper/")
    return f"/prove/{HelperLink.objects.get().token}/"


def test_a_helper_reads_the_instructions_and_checks_and_sees_nothing_else(owner, link, claim, monkeypatch):
    assert link in owner.get(owner.page).content.decode()
    helper = Client(enforce_csrf_checks=True)
    page = helper.get(link)
    shown = page.content.decode()
    assert claim.token in shown
    assert "Example Shop asks you to publish the token" in shown
    for word in ("/websites/", "/sites/", "withdraw", "helper/end", "acct_0001"):
        assert word not in shown
    assert page["X-Robots-Tag"].startswith("noindex")
    form = {"csrfmiddlewaretoken": helper.cookies["csrftoken"].value}
    assert helper.post(f"{link}check/", form)["Location"] == link
    assert "did not find the token" in helper.get(link).content.decode()
    claims.record_check(claim, Check(Verdict.FOUND, "file", "https"), now=timezone.now())
    assert "The token was found." in helper.get(link).content.decode()
    assert AuditEvent.objects.filter(action="website.claim_checked", actor=None).count() == 1


@pytest.mark.parametrize("end", ["revoked", "expired", "claim withdrawn", "not signed"])
def test_a_link_that_has_ended_is_not_found(owner, link, claim, end):
    if end == "revoked":
        owner.post(f"{owner.page}helper/end/")
    elif end == "expired":
        HelperLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "claim withdrawn":
        claims.withdraw(claim, by="ada", reason="Sold.", now=timezone.now())
    else:
        link = f"{link[:-3]}xx/"
    before = OwnershipClaim.objects.get().asked_at
    for response in (Client().get(link), Client().post(f"{link}check/")):
        assert response.status_code == 404
        assert b"shop.example.com" not in response.content
    assert OwnershipClaim.objects.get().asked_at == before


def test_a_claim_has_one_link_at_a_time_and_it_works_for_14_days(owner, link):
    owner.post(f"{owner.page}helper/")
    made = HelperLink.objects.get()
    assert made.expires_at - made.created_at == timedelta(days=14)
    owner.post(f"{owner.page}helper/end/")
    owner.post(f"{owner.page}helper/")
    assert HelperLink.objects.count() == 2
    events = AuditEvent.objects.filter(action__startswith="helper_link").order_by("pk")
    actions = [event.action.removeprefix("helper_link.") for event in events]
    assert actions == ["created", "revoked", "created"]
