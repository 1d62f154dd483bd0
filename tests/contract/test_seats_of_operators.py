"""Operators add members without the limit of the plan, and read when it is passed."""

import pytest
from django.urls import reverse

from dashboard_api.billing import entitlements
from portal.models import Membership
from tests.factories import make_link, make_membership, make_plan, make_portal_account, make_user

pytestmark = pytest.mark.django_db
WARNING = "Seats in the plan of acct_0001: 1. Taken: 2, with open invitations."


@pytest.fixture
def account(settings):
    """Return an account whose only seat is taken."""
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = "", "config.web.in_process.application"
    account = make_link().account
    make_plan(limits={"websites": 1, "seats": 1})
    entitlements.change(account, {"plan": "team"}, by="tests")
    own = make_portal_account(account.ref)
    make_membership(make_user("ada"), own)
    return own


def test_the_admin_warns_after_a_member_is_added(client, account):
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    fields = {"user": make_user("bob").pk, "account": account.pk, "role": "viewer"}
    response = client.post(reverse("admin:portal_membership_add"), fields, follow=True)
    assert WARNING in response.text
    assert Membership.objects.count() == 2


def test_the_admin_is_silent_while_seats_are_left(client, account):
    Membership.objects.all().delete()
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    fields = {"user": make_user("bob").pk, "account": account.pk, "role": "viewer"}
    response = client.post(reverse("admin:portal_membership_add"), fields, follow=True)
    assert Membership.objects.count() == 1
    assert "Taken:" not in response.text
