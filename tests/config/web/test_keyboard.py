"""Single keys, which can be switched off in a browser."""

import pytest

from tests.factories import make_membership, make_portal_account, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def member(client):
    make_membership(person := make_user(), make_portal_account())
    client.force_login(person)
    return client


def test_single_keys_work_until_they_are_switched_off(member):
    assert 'data-single-keys="on"' in member.get("/help/").text
    page = member.post("/accounts/keyboard/", {"keys": "off"}, follow=True).text
    assert "are switched off in this browser" in page
    assert 'data-single-keys="off"' in page
    member.post("/accounts/keyboard/", {"keys": "on"})
    assert 'data-single-keys="on"' in member.get("/help/").text


def test_the_help_says_whether_they_work(member):
    assert "switch them off" in member.get("/help/").text
    member.post("/accounts/keyboard/", {"keys": "off"})
    assert "are switched off in this browser" in member.get("/help/").text


def test_the_choice_is_a_cookie_that_scripts_cannot_read(member):
    member.post("/accounts/keyboard/", {"keys": "off"})
    assert member.cookies["keys"]["httponly"]
    assert member.cookies["keys"]["samesite"] == "Lax"


def test_visitors_have_no_keys_and_nothing_to_switch(client):
    assert "keyboard.js" not in client.get("/accounts/login/").text
    assert client.post("/accounts/keyboard/")["Location"].startswith("/accounts/login/")
