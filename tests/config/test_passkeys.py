"""Passkeys, with a security key in software in place of a browser's."""

import json
import re
import time

import pytest
from django.test import Client

from tests.config.identity.test_sign_in import PASSWORD, sign_in
from tests.factories import make_user
from tests.passkeys import TOUCHED, VERIFIED, SecurityKey

pytestmark = pytest.mark.django_db

STEP = "/accounts/2fa/authenticate/"
BY_PASSKEY = "/accounts/2fa/webauthn/login/"
AJAX = {"X-Requested-With": "XMLHttpRequest"}


@pytest.fixture
def key():
    return SecurityKey(make_user("owner"))


@pytest.fixture
def browser():
    return Client(headers={"Origin": "https://testserver"})


def challenge_of_sign_in(browser):
    options = browser.get(BY_PASSKEY, headers=AJAX, secure=True).json()["request_options"]
    return options["publicKey"]["challenge"]


def challenge_of_second_step(browser, name):
    assert sign_in(browser, name, secure=True)["Location"] == STEP
    page = browser.get(STEP, secure=True).content.decode()
    data = json.loads(re.search(r'id="js_data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    return data["request_options"]["publicKey"]["challenge"]


def is_signed_in(browser):
    return browser.get("/team/", secure=True).status_code == 200


def test_a_passkey_signs_in_alone_with_a_pin_or_a_fingerprint(browser, key):
    answer = key.answer(challenge_of_sign_in(browser), flags=TOUCHED | VERIFIED)
    browser.post(BY_PASSKEY, {"credential": answer}, secure=True)
    assert is_signed_in(browser)


def test_the_people_of_an_office_sign_in_by_passkeys_within_a_minute(key, settings):
    assert settings.ACCOUNT_RATE_LIMITS["passkey"] == settings.ACCOUNT_RATE_LIMITS["login"] == "300/m/ip"
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"passkey": "12/m/ip"}
    for _ in range(12):
        browser = Client(headers={"Origin": "https://testserver"})
        answer = key.answer(challenge_of_sign_in(browser), flags=TOUCHED | VERIFIED)
        browser.post(BY_PASSKEY, {"credential": answer}, secure=True)
        assert is_signed_in(browser)


def test_a_touch_is_enough_for_the_second_step(browser, key):
    answer = key.answer(challenge_of_second_step(browser, "owner"), flags=TOUCHED)
    browser.post(STEP, {"credential": answer}, secure=True)
    assert is_signed_in(browser)


def test_a_touch_alone_does_not_sign_in_even_with_the_challenge_of_a_second_step(browser, key, monkeypatch):
    SecurityKey(make_user("thief", email="thief@example.com"), number=b"key-2")
    challenge, later = challenge_of_second_step(browser, "thief"), time.time() + 16 * 60
    monkeypatch.setattr(time, "time", lambda: later)  # the thief's own sign-in is over
    browser.post(BY_PASSKEY, {"credential": key.answer(challenge, flags=TOUCHED)}, secure=True)
    assert not is_signed_in(browser)


NO_ANSWERS = [
    "[]", "x", '{"id": 1}', '{"id": "a2V5LTE", "response": {}}', "[" * 5000 + "]" * 5000, "1" + "0" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_an_answer_that_no_passkey_makes_does_not_sign_in_and_is_no_error(browser, key, answer):
    challenge_of_sign_in(browser)
    refused = browser.post(BY_PASSKEY, {"credential": answer}, secure=True)
    assert refused["Location"] == "/accounts/login/"


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_nor_does_it_end_a_second_step_with_an_error(browser, key, answer):
    challenge_of_second_step(browser, "owner")
    assert browser.post(STEP, {"credential": answer}, secure=True).status_code == 200


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_nor_does_it_confirm_an_action(browser, key, answer):
    challenge = challenge_of_sign_in(browser)
    browser.post(BY_PASSKEY, {"credential": key.answer(challenge, flags=TOUCHED | VERIFIED)}, secure=True)
    refused = browser.post("/accounts/2fa/webauthn/reauthenticate/", {"credential": answer}, secure=True)
    assert refused["Location"] == "/accounts/login/"  # and from there to the start page, with a message


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_nor_does_it_become_a_passkey(browser, answer):
    person = make_user("owner")
    sign_in(browser, "owner", secure=True)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD}, secure=True)
    browser.get("/accounts/2fa/webauthn/add/", secure=True)
    page = browser.post("/accounts/2fa/webauthn/add/", {"name": "new", "credential": answer}, secure=True)
    assert (page.status_code, person.authenticator_set.count()) == (200, 0)
