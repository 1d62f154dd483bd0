"""Sessions with their person: listed on the account page, and ended from there."""

import re
from datetime import timedelta

import pytest
from cryptography.fernet import Fernet
from django.contrib.sessions.backends.base import UpdateError
from django.core import signing
from django.test import Client
from django.utils import timezone

from config.identity.sessions import SIGNED_IN, SessionStore, browser_name, stored_key
from config.models import Session
from tests.factories import make_membership, make_portal_account, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.once]

PAGE = "/accounts/"
END = "/accounts/sessions/end/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1"
EDGE = "Mozilla/5.0 (Windows NT 10.0) Chrome/129 Safari/537.36 Edg/129.0"


PROOF = {"password": "correct horse battery"}


def prove(client):
    assert client.post("/accounts/reauthenticate/", PROOF).status_code == 302


def sign_in(user, agent=FIREFOX):
    client = Client(headers={"User-Agent": agent})
    answer = client.post("/accounts/login/", {"login": user.username, "password": "correct horse battery"})
    assert answer.status_code == 302
    return client


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox, Linux"),
        (SAFARI, "Safari, iPhone"),
        (EDGE, "Edge, Windows"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/129.0 Mobile Safari/537.36", "Chrome, Android"),
        ("curl/8.0", ""),
        ("", ""),
    ],
)
def test_a_browser_is_named_in_words(agent, name):
    assert browser_name(agent) == name


def test_the_account_page_lists_where_a_person_is_signed_in_now_with_this_browser_first():
    user = make_user()
    here = sign_in(user)
    sign_in(user, SAFARI)
    sign_in(make_user("stranger"), EDGE)
    text = " ".join(here.get(PAGE).text.split())
    assert text.index("Firefox, Linux") < text.index("(this one)") < text.index("Safari, iPhone")
    assert "Edge" not in text
    others = Session.objects.exclude(session_key=stored_key(here.session.session_key))
    others.update(expire_date=timezone.now())
    assert "Safari" not in here.get(PAGE).text


def test_signing_out_everywhere_else_ends_the_other_sessions_of_this_person_alone():
    user = make_user()
    here, there, theirs = sign_in(user), sign_in(user, SAFARI), sign_in(make_user("stranger"))
    copy = Client()  # of this browser's cookie
    copy.cookies["sessionid"] = here.cookies["sessionid"].value
    prove(here)
    page = here.post(END, follow=True)
    assert "You are signed out everywhere else." in page.text
    assert "Sign out everywhere else" not in page.text
    assert [client.get(PAGE).status_code for client in (here, there, copy, theirs)] == [200, 302, 302, 200]


def test_a_stolen_session_ends_no_other_without_a_proof_of_identity():
    user = make_user()
    here, there = sign_in(user), sign_in(user, SAFARI)
    proof = here.post(END)["Location"]
    assert proof.startswith("/accounts/reauthenticate/")
    assert [client.get(PAGE).status_code for client in (here, there)] == [200, 200]
    assert here.post(proof, PROOF)["Location"] == PAGE, "the form is repeated"
    assert [client.get(PAGE).status_code for client in (here, there)] == [200, 302]


def test_a_session_that_has_ended_stays_ended():
    copy = SessionStore(sign_in(make_user()).session.session_key)
    assert copy[SIGNED_IN]
    Session.objects.all().delete()
    copy.cycle_key()
    copy["another"] = "value"
    with pytest.raises(UpdateError):
        copy.save()
    assert not Session.objects.exists()


def test_the_button_that_ends_others_may_be_clicked_twice(monkeypatch):
    user = make_user()
    here = sign_in(user)
    sign_in(user, SAFARI)
    prove(here)
    first_click, cycle_key = Client(), SessionStore.cycle_key
    first_click.cookies["sessionid"] = here.cookies["sessionid"].value

    def after_the_first_click(session):
        monkeypatch.setattr(SessionStore, "cycle_key", cycle_key)
        assert first_click.post(END).status_code == 302
        cycle_key(session)

    monkeypatch.setattr(SessionStore, "cycle_key", after_the_first_click)
    second = here.post(END)
    assert (second.status_code, "sessionid" in second.cookies) == (302, False)
    assert first_click.get(PAGE).status_code == 200, "the browser has the cookie of the first response"


def test_only_a_form_of_the_person_ends_sessions():
    user = make_user()
    here = sign_in(user)
    assert Client().post(END)["Location"].startswith("/accounts/login/")
    assert here.get(END)["Location"] == PAGE
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = here.cookies
    assert strict.post(END).status_code == 403
    assert here.get(PAGE).status_code == 200
    assert Session.objects.count() == 1


def test_a_new_password_ends_the_other_sessions_and_a_sign_out_its_own():
    user = make_user()
    here = sign_in(user)
    sign_in(user, SAFARI)
    new = dict.fromkeys(("password1", "password2"), "another horse battery")
    here.post("/accounts/password/change/", {"oldpassword": "correct horse battery", **new})
    assert "Safari" not in here.get(PAGE).text
    assert list(Session.objects.values_list("user_id", flat=True)) == [user.pk]
    here.post("/accounts/logout/")
    assert not Session.objects.filter(user_id=user.pk).exists()


def test_a_session_without_a_sign_in_belongs_to_nobody_and_no_address_is_stored():
    Client().get("/accounts/2fa/webauthn/login/", headers={"X-Requested-With": "XMLHttpRequest"})
    assert set(Session.objects.values_list("user_id", flat=True)) <= {None}
    here = sign_in(make_user())
    assert "127.0.0.1" not in str(
        Session.objects.get(session_key=stored_key(here.session.session_key)).get_decoded()
    )


def test_the_table_holds_no_key_that_opens_a_session():
    here = sign_in(make_user())
    (stored,) = Session.objects.values_list("session_key", flat=True)
    thief = Client()
    thief.cookies["sessionid"] = stored
    assert stored != here.session.session_key
    assert thief.get(PAGE).status_code == 302
    assert here.get(PAGE).status_code == 200


def test_a_copy_of_the_table_opens_no_session_and_sets_no_password(mailoutbox, at_once, settings):
    """Also while a form waits for a proof of identity, and a link to a new password is open."""
    settings.EMAIL_URL = "smtp://localhost"
    here, reader = sign_in(user := make_user()), Client()
    session = here.session
    session["account_authentication_methods"] = []
    session.save()
    membership = make_membership(user, make_portal_account())
    asked = here.post(f"/team/{membership.account_id}/invite/", {"email": "x@example.org", "role": "owner"})
    assert "reauthenticate" in asked["Location"]
    assert "account_reauthentication_state" in here.session
    reader.post("/accounts/password/reset/", {"email": user.email})
    link = re.search(r"/accounts/password/reset/key/\S+", mailoutbox[-1].body)[0]
    reader.get(link)
    assert "_password_reset_key" in reader.session
    assert all(row.get_decoded() for row in Session.objects.all())
    settings.MASTER_KEYS = [Fernet.generate_key()]  # a thief has only keys of their own
    assert [row.get_decoded() for row in Session.objects.all()] == [{}, {}]


def test_a_lost_master_key_or_a_session_of_other_code_asks_for_a_new_sign_in(settings):
    here = sign_in(make_user())
    keys, settings.MASTER_KEYS = settings.MASTER_KEYS, [Fernet.generate_key()]
    assert here.get(PAGE)["Location"].startswith("/accounts/login/")
    settings.MASTER_KEYS = keys
    assert here.get(PAGE).status_code == 200
    Session.objects.update(session_data=signing.dumps({"_auth_user_id": "1"}, salt=SessionStore().key_salt))
    assert here.get(PAGE)["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize(
    ("is_staff", "hours", "status"),
    [(False, 23, 200), (False, 25, 302), (True, 0.4, 200), (True, 0.6, 302)],
)
def test_a_session_without_a_page_for_too_long_ends(is_staff, hours, status):
    here = sign_in(make_user(is_staff=is_staff))
    Session.objects.update(last_page_at=timezone.now() - timedelta(hours=hours))
    assert here.get(PAGE).status_code == status
    assert Session.objects.filter(user_id__isnull=False).exists() == (status == 200)


@pytest.mark.parametrize(
    ("is_staff", "hours", "status"),
    [(False, 13.9 * 24, 200), (False, 14.1 * 24, 302), (True, 11.9, 200), (True, 12.1, 302)],
)
def test_a_session_ends_some_time_after_the_sign_in_however_busy_it_is(is_staff, hours, status):
    here = sign_in(make_user(is_staff=is_staff))
    session = here.session
    session[SIGNED_IN] = {"at": (timezone.now() - timedelta(hours=hours)).isoformat(), "browser": ""}
    session.save()
    assert here.get(PAGE).status_code == status


def test_the_person_reads_why_the_sign_in_is_asked_for_again():
    here = sign_in(make_user())
    Session.objects.update(last_page_at=timezone.now() - timedelta(days=2))
    assert "You were signed out to keep your account safe." in here.get(PAGE, follow=True).text


def test_pages_note_their_time_now_and_then_and_write_nothing_otherwise():
    here = sign_in(make_user())
    before = timezone.now() - timedelta(minutes=90)
    Session.objects.update(last_page_at=before)
    here.get(PAGE)
    noted = Session.objects.get().last_page_at
    assert noted > before
    here.get(PAGE)
    assert Session.objects.get().last_page_at == noted
