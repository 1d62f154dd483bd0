"""The page of one's own account."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.urls import reverse

from tests.factories import make_membership, make_portal_account, make_user

pytestmark = pytest.mark.django_db

PAGE = "/accounts/"


def text_of(response):
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


@pytest.mark.parametrize("page", [PAGE, "/accounts/2fa/", "/accounts/2fa/webauthn/"])
def test_a_stranger_is_sent_to_sign_in(client, page):
    assert client.get(page, follow=True).redirect_chain[-1][0].startswith("/accounts/login/?next=")


def test_a_person_sees_what_is_and_is_not_switched_on(client):
    client.force_login(make_user())
    page = text_of(client.get(PAGE))
    for words in ("owner · owner@example.com", "Off. Switched on", "None. A passkey signs you in"):
        assert words in page
    assert "Recovery codes" not in page


def test_staff_have_the_same_page(client):
    client.force_login(make_user("analyst", is_staff=True))
    assert "Authenticator app" in text_of(client.get(PAGE))


def test_a_deployment_without_a_portal_has_the_page_without_memberships(client, settings):
    user = make_user()
    make_membership(user, make_portal_account())
    client.force_login(user)
    assert "Memberships" in text_of(client.get(PAGE))
    settings.ENABLE_PORTAL = False
    assert "Memberships" not in text_of(client.get(PAGE))


@pytest.mark.parametrize("name", ["mfa_index", "mfa_list_webauthn"])
def test_pages_that_allauth_leads_back_to_lead_here(client, name):
    client.force_login(make_user())
    assert client.get(reverse(name))["Location"] == PAGE


def test_changing_the_password_leads_back_and_ends_other_sessions(client):
    user = make_user()
    client.force_login(user)
    other = type(client)()
    other.force_login(user)
    new = {"password1": "another horse battery", "password2": "another horse battery"}
    done = client.post("/accounts/password/change/", {"oldpassword": "correct horse battery", **new})
    assert done["Location"] == PAGE
    assert client.get(PAGE).status_code == 200
    assert other.get(PAGE).status_code == 302


def test_another_persons_passkey_is_not_there(client):
    theirs = Authenticator.objects.create(
        user=make_user("stranger"), type="webauthn", data={"name": "Theirs", "credential": {}}
    )
    client.force_login(make_user())
    client.post("/accounts/reauthenticate/", {"password": "correct horse battery"})
    assert "Theirs" not in text_of(client.get(PAGE))
    for name in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
        assert client.get(reverse(name, args=[theirs.pk])).status_code == 404
        assert client.post(reverse(name, args=[theirs.pk]), {"name": "Mine"}).status_code == 404
    assert Authenticator.objects.get().wrap().name == "Theirs"
