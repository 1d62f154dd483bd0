"""The second step: codes of an app and recovery codes, which work once."""

import re
import time
from urllib.parse import quote, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from config.operations import doctor
from tests.authenticator import code_of
from tests.config.identity.test_sign_in import ELSEWHERE, PASSWORD, fail, sign_in
from tests.config.operations.test_environment import TWO
from tests.factories import make_membership, make_portal_account, make_user
from tests.racing import race

pytestmark = pytest.mark.django_db

ACTIVATE = "/accounts/2fa/totp/activate/"
STEP = "/accounts/2fa/authenticate/"
CODES = "/accounts/2fa/recovery-codes/"
NOW = 1_800_000_015.0


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A clock that stops in the middle of a code's half minute."""

    class Clock:
        now = NOW

    monkeypatch.setattr(time, "time", lambda: Clock.now)
    return Clock


@pytest.fixture
def enrolled(client, clock):
    """Return a person with an app, and the key of the app."""
    make_user()
    sign_in(client)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": ACTIVATE})
    page = client.get(ACTIVATE).content.decode()
    key = re.search(r'id="authenticator_secret">(\w+)<', page)[1]
    done = client.post(ACTIVATE, {"code": code_of(key, at=clock.now)})
    assert done["Location"] == CODES
    clock.now += 120
    return key


def enter(code, client=None, **extra):
    client = client or Client()
    assert sign_in(client, **extra)["Location"] == STEP
    return client.post(STEP, {"code": code})


def test_the_page_to_set_it_up_asks_who_is_there_first(client):
    make_user()
    sign_in(client)
    assert client.get(ACTIVATE)["Location"].startswith("/accounts/reauthenticate/")


def test_the_password_alone_no_longer_suffices(enrolled):
    client = Client()
    sign_in(client)
    assert client.get("/team/").status_code == 302
    assert client.post(STEP, {"code": "000000"}).status_code == 200
    assert client.get("/team/").status_code == 302


def test_a_new_password_by_a_link_keeps_the_second_step(enrolled, at_once, mailoutbox, settings):
    settings.EMAIL_URL, client, new = "smtp://localhost", Client(), "another horse battery"
    client.post("/accounts/password/reset/", {"email": "owner@example.com"})
    link = re.search(r"/accounts/password/reset/key/\S+", mailoutbox[0].body)[0]
    form = client.get(link, follow=True)
    client.post(form.request["PATH_INFO"], {"password1": new, "password2": new}, follow=True)
    assert client.get("/team/").status_code == 302
    assert sign_in(client, password=new)["Location"] == STEP
    assert client.get("/team/").status_code == 302


def test_a_sign_in_that_began_with_the_former_password_ends_at_its_second_step(client, enrolled, clock):
    thief, new = Client(), "another horse battery"
    assert sign_in(thief)["Location"] == STEP
    words = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert client.post("/accounts/password/change/", words)["Location"] == "/accounts/"
    assert thief.post(STEP, {"code": code_of(enrolled, at=clock.now)})["Location"] == "/accounts/login/"
    assert "Please sign in again." in thief.get("/accounts/login/").content.decode()
    assert thief.get("/team/").status_code == 302
    assert client.get("/team/").status_code == 200


def test_the_code_that_set_the_app_up_does_not_sign_in(client, clock):
    make_user()
    sign_in(client)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": ACTIVATE})
    key = re.search(r'id="authenticator_secret">(\w+)<', client.get(ACTIVATE).content.decode())[1]
    code = code_of(key, at=clock.now)
    assert client.post(ACTIVATE, {"code": code})["Location"] == CODES
    clock.now += 5
    assert enter(code).status_code == 200
    clock.now += 60
    assert enter(code_of(key, at=clock.now))["Location"] == "/"


def test_a_right_code_takes_back_no_wrong_password_for_others(enrolled, clock):
    assert fail(Client(), 4, name="first") + fail(Client(), 4, name="second") == [200] * 8
    clock.now += 1
    assert enter(code_of(enrolled, at=clock.now))["Location"] == "/"
    attempts = [fail(Client(), 1, name=f"name{number}")[0] for number in range(13)]
    assert attempts == [200] * 12 + [429]


def test_wrong_codes_count_for_the_address_as_wrong_passwords_do(enrolled, clock):
    fail(Client(), 4, name="first")
    for _ in range(4):
        clock.now += 1
        assert enter("000000").status_code == 200
    attempts = [fail(Client(), 1, name=f"name{number}")[0] for number in range(13)]
    assert attempts == [200] * 12 + [429]


def test_who_asked_for_a_new_password_can_still_set_up_a_second_step(client, at_once, settings):
    settings.EMAIL_URL = "smtp://localhost"
    make_user()
    client.post("/accounts/password/reset/", {"email": "owner@example.com"})
    sign_in(client)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": ACTIVATE})
    assert "authenticator_secret" in client.get(ACTIVATE).content.decode()


def test_a_code_of_the_app_is_the_proof_that_a_new_owner_needs(enrolled, clock, settings):
    settings.EMAIL_URL, client, account = "smtp://localhost", Client(), make_portal_account()
    make_membership(get_user_model().objects.get(), account)
    enter(code_of(enrolled, at=clock.now), client)
    invite = reverse("portal:invite", args=[account.pk])
    asked = client.post(invite, {"email": "new@example.com", "role": "owner"})["Location"]
    way = re.search(r'href="(/accounts/2fa/reauthenticate/[^"]*)"', client.get(asked).text)[1]
    assert f"?next={quote(invite, safe='')}" in way
    clock.now += 60
    proof = {"code": code_of(enrolled, at=clock.now), "next": invite}
    assert "new@example.com is invited as Owner." in client.post(urlsplit(way).path, proof, follow=True).text


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_a_code_of_the_app_signs_in(enrolled, clock, steps):
    assert enter(code_of(enrolled, at=clock.now, steps=steps))["Location"] == "/"


@pytest.mark.parametrize("steps", [-2, 2, 100])
def test_a_code_of_another_time_does_not(enrolled, clock, steps):
    assert enter(code_of(enrolled, at=clock.now, steps=steps)).status_code == 200


def test_a_code_of_the_app_is_good_once_for_as_long_as_it_is_accepted(enrolled, clock):
    code = code_of(enrolled, at=clock.now, steps=1)
    assert enter(code).status_code == 302
    assert enter(code).status_code == 200
    clock.now += 45
    assert enter(f" {code[:3]}-{code[3:]}").status_code == 200


def _user():
    return Authenticator.objects.first().user


def test_a_recovery_code_signs_in_once(client, enrolled):
    codes = re.findall(r"<li><code>(\d{8})</code>", client.get(CODES).content.decode())
    assert len(set(codes)) == 10
    assert enter(codes[3])["Location"] == "/"
    assert enter(codes[3]).status_code == 200
    left = re.findall(r"<li><code>(\d{8})</code>", client.get(CODES).content.decode())
    assert left == codes[:3] + codes[4:]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["recovery code", "code of the app"])
def test_a_code_in_many_hands_signs_one_of_them_in(client, enrolled, clock, kind):
    codes = re.findall(r"<li><code>(\d{8})</code>", client.get(CODES).content.decode())
    code = codes[0] if kind == "recovery code" else code_of(enrolled, at=clock.now)
    browsers = [Client() for _ in range(4)]
    for browser in browsers:
        sign_in(browser)
    answers = race(lambda number: browsers[number].post(STEP, {"code": code}).status_code, times=4)
    assert sorted(answers) == [200, 200, 200, 302]


def test_recovery_codes_are_shown_only_to_who_proves_it_again(enrolled):
    client = Client()
    enter(code_of(enrolled, at=NOW + 120), client)
    for page in (CODES, f"{CODES}download/", f"{CODES}generate/"):
        assert client.get(page)["Location"].startswith("/accounts/reauthenticate/")


def test_guessing_codes_is_refused_for_the_person_from_everywhere(enrolled, clock):
    for number in range(5):
        address = f"192.0.2.{number}"
        client = Client(REMOTE_ADDR=address)
        assert enter(f"00000{number}", client).status_code == 200
    client = Client(REMOTE_ADDR="192.0.2.99")
    assert enter(code_of(enrolled, at=clock.now), client).status_code == 429


@pytest.mark.parametrize("page", ELSEWHERE)
def test_proving_it_again_leads_nowhere_else(client, page):
    make_user()
    sign_in(client)
    done = client.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": page})
    assert done["Location"] == "/"


@pytest.mark.parametrize("page", ELSEWHERE)
def test_the_second_step_leads_nowhere_else(enrolled, clock, page):
    assert enter(code_of(enrolled, at=clock.now), next_page=page)["Location"] == "/"


def test_the_second_step_leads_on_to_where_the_visitor_wanted(enrolled, clock):
    wanted = "/sites/shop.example.com/?severity=Low"
    assert enter(code_of(enrolled, at=clock.now), next_page=wanted)["Location"] == wanted


def test_staff_are_asked_for_the_second_step_too(client, clock, enrolled):
    user = _user()
    user.is_staff = user.is_superuser = True
    user.save()
    staff = Client()
    assert sign_in(staff, next_page="/admin/")["Location"] == STEP
    assert staff.get("/admin/").status_code == 302
    staff.post(STEP, {"code": code_of(enrolled, at=clock.now)})
    assert staff.get("/admin/").status_code == 200


def test_what_is_stored_shows_no_key_and_no_code(client, enrolled):
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert enrolled not in stored
    assert auth.decrypt(Authenticator.objects.get(type="totp").data["secret"]) == enrolled
    assert not re.search(r"'seed': '[0-9a-f]{80}'", stored)


def test_without_its_master_key_a_second_factor_lets_nobody_in_and_doctor_says_what_to_do(enrolled, settings):
    settings.MASTER_KEYS = [TWO]
    client = Client(raise_request_exception=False)
    response = enter("000000", client)
    assert (response.status_code, response["Retry-After"]) == (503, "30")
    assert client.get("/team/").status_code == 302
    lines = [line for line in doctor.problems() if "second factor" in line]
    assert len(lines) == 2, "the app, and its recovery codes"
    assert all("or delete it in the admin" in line for line in lines)


def test_the_admin_shows_factors_without_their_secrets_and_removes_a_lost_one(client, enrolled):
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    factor = Authenticator.objects.get(type="totp")
    place = f"/admin/mfa/authenticator/{factor.pk}/"
    page = client.get(f"{place}change/").content.decode()
    assert factor.data["secret"] not in page
    assert enrolled not in page
    assert client.get("/admin/mfa/authenticator/add/").status_code == 403
    client.post(f"{place}delete/", {"post": "yes"})
    assert not Authenticator.objects.filter(type="totp").exists()


def test_switching_it_off_takes_its_recovery_codes_along(client, enrolled):
    client.post("/accounts/2fa/totp/deactivate/")
    assert not Authenticator.objects.exists()
    assert sign_in(Client())["Location"] == "/"


def test_pictures_from_data_are_allowed_on_the_page_with_the_picture_alone(client, enrolled):
    def policy(page):
        return client.get(page)["Content-Security-Policy"]

    client.post("/accounts/2fa/totp/deactivate/")
    assert "img-src 'self' data:;" in policy(ACTIVATE) + ";"
    for page in ("/accounts/", "/accounts/2fa/webauthn/add/", "/accounts/login/", "/"):
        assert "data:" not in policy(page)


@pytest.mark.django_db(transaction=True)
def test_a_change_of_second_factors_ends_every_other_session_of_the_person(
    client, clock, at_once, mailoutbox, settings
):
    """A thief who is signed in already is out once the owner protects the account."""
    settings.EMAIL_URL = "smtp://localhost"
    make_user()
    bystander, thief, copy = Client(), Client(), Client()
    bystander.force_login(make_user("bystander"))
    sign_in(thief)
    sign_in(client)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": ACTIVATE})
    key = re.search(r'id="authenticator_secret">(\w+)<', client.get(ACTIVATE).text)[1]
    assert thief.get("/accounts/").status_code == 200
    copy.cookies["sessionid"] = client.cookies["sessionid"].value
    assert client.post(ACTIVATE, {"code": code_of(key, at=clock.now)})["Location"] == CODES
    statuses = [each.get("/accounts/").status_code for each in (client, thief, copy, bystander)]
    assert statuses == [200, 302, 302, 200]
    assert [mail.subject for mail in mailoutbox] == ["An authenticator app was added"]
    clock.now += 120
    other = Client()
    enter(code_of(key, at=clock.now), other)
    assert client.post("/accounts/2fa/totp/deactivate/").status_code == 302
    assert [each.get("/accounts/").status_code for each in (client, other)] == [200, 302]
