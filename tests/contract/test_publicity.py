"""An owner chooses what may be published, from the portal through the signed API to the next run."""

import pytest
from django.test import override_settings

from audit.models import AuditEvent
from dashboard_api import models as api
from portal.models import Membership
from tests import factories

pytestmark = pytest.mark.django_db
IN_PROCESS = override_settings(
    DASHBOARD_BASE_URL="", DASHBOARD_APPLICATION="config.web.in_process.application"
)


@pytest.fixture
def link():
    return factories.make_link(website=factories.make_website("shop.example.de"))


def sign_in(client, role):
    account = factories.make_portal_account()
    membership = factories.make_membership(factories.make_user("ada"), account, role)
    client.force_login(membership.user)
    return f"/team/{account.pk}/publicity/"


@IN_PROCESS
def test_an_owner_changes_the_account_and_a_website(client, link):
    page = sign_in(client, Membership.Role.OWNER)
    shown = client.get(page).content.decode()
    assert '<input type="radio" name="publicity" value="counted"' in shown
    assert '<option value="DE" selected>Germany</option>' in shown
    response = client.post(page, {"publicity": "shown"}, follow=True)
    assert (
        "Saved. The feed changes within an hour, and the statistics next week." in response.content.decode()
    )
    client.post(page, {"host": "shop.example.de", "publicity": "nothing", "region": "150"})
    link.refresh_from_db()
    assert (api.Account.objects.get().publicity, link.publicity, link.region) == ("shown", "nothing", "150")
    chosen = AuditEvent.objects.filter(action="publicity.chosen").order_by("pk")
    assert [(event.actor_kind, event.account, event.host, event.after) for event in chosen] == [
        ("person", "acct_0001", "", {"publicity": "shown"}),
        ("person", "acct_0001", "shop.example.de", {"publicity": "nothing", "region": "150"}),
    ]
    assert AuditEvent.objects.filter(action="publicity.changed").count() == 2


@IN_PROCESS
@pytest.mark.parametrize("role", ["manager", "viewer"])
def test_others_neither_see_nor_change_it(client, link, role):
    page = sign_in(client, role)
    assert client.get(page).status_code == client.post(page, {"publicity": "shown"}).status_code == 404
    assert api.Account.objects.get().publicity == "counted"


@IN_PROCESS
def test_wrong_values_and_unknown_websites_change_nothing(client, link):
    page = sign_in(client, Membership.Role.OWNER)
    assert "Nothing was changed" in client.post(page, {"publicity": "all"}, follow=True).content.decode()
    fields = {"host": "other.example.de", "publicity": "nothing", "region": "DE"}
    assert client.post(page, fields).status_code == 404
    for wrong in ({"publicity": "shown"}, *({"region": region} for region in ("%", "inf", "²", " DE", "ZZ"))):
        fields = {"host": "shop.example.de", "publicity": "counted", "region": "DE"} | wrong
        assert "Nothing was changed" in client.post(page, fields, follow=True).content.decode()
    link.refresh_from_db()
    assert (link.publicity, link.region) == ("", "")
