"""The page of one's own account."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.urls import reverse

from tests.factories import make_membership, make_portal_account, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.once]

PAGE = "/accounts/"


def text_of(response):
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


@pytest.mark.parametrize("page", [PAGE, "/accounts/2fa/", "/accounts/2fa/webauthn/"])
def test_a_stranger_is_sent_to_sign_in(client, page):
    assert client.get(page, follow=True).redirect_chain[-1][0].startswith("/accounts/login/?next=")


@pytest.mark.parametrize("is_staff", [False, True])
def test_a_person_sees_the_profile_and_what_is_and_is_not_switched_on(client, is_staff):
    client.force_login(make_user(is_staff=is_staff))
    page = text_of(client.get(PAGE))
    for words in (
        "owner@example.com",
        "Authenticator app Off.",
        "None. A passkey signs you in",
    ):
        assert words in page
    assert "Recovery codes" not in page
    assert {"Deutsch", "English"} <= set(text_of(client.get(PAGE, headers={"Accept-Language": "de"})).split())


def test_a_deployment_without_a_portal_has_the_page_without_memberships(client, settings):
    user = make_user()
    make_membership(user, make_portal_account())
    client.force_login(user)
    assert "Memberships" in text_of(client.get(PAGE))
    settings.ENABLE_PORTAL = False
    assert "Memberships" not in text_of(client.get(PAGE))


def test_the_link_to_the_members_leads_to_the_account_with_a_long_number(client):
    user = make_user()
    make_membership(user, make_portal_account(pk=1234568))
    client.force_login(user)
    assert 'href="/team/#account-1234568"' in client.get(PAGE).text


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


def checklist(client):
    found = re.search(r'aria-labelledby="checks-title".*?</section>', client.get(PAGE).text, re.DOTALL)
    return [mark == "ok" for mark in re.findall(r'class="state (ok|partial)"', found[0])]


def test_the_checklist_knows_what_is_missing(client):
    client.force_login(user := make_user())
    assert checklist(client) == [False, True]
    user.authenticator_set.create(type="totp", data={})
    assert checklist(client) == [True, True]
    user.email = ""
    user.save()
    assert checklist(client) == [True, False]


@pytest.mark.parametrize(("used", "is_enough"), [(0, True), (7, True), (8, False)])
def test_the_checklist_counts_recovery_codes(client, used, is_enough):
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    client.force_login(user := make_user())
    user.authenticator_set.create(type="totp", data={})
    codes = RecoveryCodes.activate(user)
    for code in codes.get_unused_codes()[:used]:
        codes.validate_code(code)
    assert checklist(client) == [True, is_enough, True]
