"""An owner issues and retires secrets of the API in the portal."""

import re

import pytest
from django.test import override_settings

from audit.models import AuditEvent
from dashboard_api.models import Secret
from tests import factories
from tests.dashboard_api.calls import ask

pytestmark = pytest.mark.django_db
IN_PROCESS = override_settings(
    DASHBOARD_BASE_URL="", DASHBOARD_APPLICATION="config.web.in_process.application"
)
PASSWORD = "correct horse battery"


@pytest.fixture
def account():
    factories.make_link()
    account = factories.make_portal_account()
    factories.make_portal_website(account, "shop.example.com")
    return account


def sign_in(client, account, role):
    person = factories.make_user("ada")
    factories.make_membership(person, account, role)
    client.post("/accounts/login/", {"login": person.username, "password": PASSWORD})
    return f"/api/{account.pk}/secrets/"


@IN_PROCESS
def test_an_owner_issues_a_secret_uses_it_and_retires_it(client, account):
    page = sign_in(client, account, "owner")
    assert f'href="{page}"' in client.get("/api/").text
    assert "This portal uses it" in client.get(page).text
    assert "/accounts/reauthenticate/" in client.post(page, {"issue": "1"})["Location"]
    assert Secret.objects.count() == 1
    issued = client.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": page})
    assert f'action="{page}"' in issued.text
    secret = re.search(r'id="new-secret"[^>]* value="([^"]+)"', issued.text)[1]
    assert "no-store" in issued["Cache-Control"]
    fields = {"portal_account_ref": "acct_0001"}
    assert ask(client, fields, path="/v1/account/entitlement", secret=secret).status_code == 200
    listed = client.get(page).text
    assert secret not in listed
    assert "Last used" in listed
    retire = re.search(r'name="retire" value="(\d+)"', listed)[1]
    assert "The secret works for one more day." in client.post(page, {"retire": retire}, follow=True).text
    assert "Works until" in client.get(page).text
    events = AuditEvent.objects.filter(action__startswith="api_secret.").order_by("pk")
    assert [(event.action, event.actor_kind) for event in events] == [
        ("api_secret.issued", "person"),
        ("api_secret.retired", "person"),
    ]


@IN_PROCESS
def test_the_portals_secret_is_not_retired_and_a_broken_form_is_refused(client, account):
    page = sign_in(client, account, "owner")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    own = Secret.objects.get().pk
    assert "This portal uses that secret." in client.post(page, {"retire": own}, follow=True).text
    assert client.post(page, {"retire": "x"}).status_code == 400


@IN_PROCESS
@pytest.mark.parametrize("role", ["manager", "viewer"])
def test_other_members_have_no_secrets(client, account, role):
    page = sign_in(client, account, role)
    assert client.get(page).status_code == client.post(page, {"issue": "1"}).status_code == 404
    assert page not in client.get("/api/").text
