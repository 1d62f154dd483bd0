"""Requests for a new password: recipients, limits, and what the response reveals."""

import re
from concurrent.futures import wait
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.utils import timezone

from config.identity import passwords
from config.models import Attempts
from config.web import background
from tests.factories import make_user
from tests.racing import race

RESET = "/accounts/password/reset/"
KNOWN, UNKNOWN = "owner@example.com", "nobody@example.com"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _mail_server(settings):
    settings.EMAIL_URL = "smtp://localhost"


def ask(email=KNOWN, client=None, **extra):
    return (client or Client()).post(RESET, {"email": email}, **extra)


def links(mailoutbox):
    return re.findall(r"\S+/password/reset/key/\S+", "\n".join(mail.body for mail in mailoutbox))


# Who is written to


def test_a_stranger_gets_no_mail(at_once, mailoutbox):
    make_user()
    ask(UNKNOWN)
    assert mailoutbox == []
    ask(KNOWN)
    assert [mail.to for mail in mailoutbox] == [[KNOWN]]


def test_an_address_is_found_as_it_was_typed_or_stored_and_counted_once(at_once, mailoutbox):
    make_user("ada", email="ada@xn--mller-kva.example")
    make_user("old", email="old@m\u00fcller.example")
    for typed in ("ada@m\u00fcller.example", "old@m\u00fcller.example", "ada@XN--mller-kva.example"):
        ask(typed, REMOTE_ADDR="192.0.2.7")
    stored = ["ada@xn--mller-kva.example", "old@m\u00fcller.example", "ada@xn--mller-kva.example"]
    assert [mail.to for mail in mailoutbox] == [[address] for address in stored]
    assert ask("ada@m\u00fcl\u00adler.example", REMOTE_ADDR="192.0.2.8").status_code == 302
    assert ask("ada@m\u00fcller.example", REMOTE_ADDR="192.0.2.8").status_code == 429


def test_a_former_address_gets_no_mail(at_once, mailoutbox):
    user = make_user()
    ask()
    user.email = "new@example.com"
    user.save()
    ask()
    ask("new@example.com")
    assert [mail.to for mail in mailoutbox] == [[KNOWN], ["new@example.com"]]


def test_a_link_to_a_former_address_no_longer_works(client, at_once, mailoutbox):
    user = make_user()
    ask()
    user.email = "new@example.com"
    user.save()
    (link,) = links(mailoutbox)
    page = client.get(link[link.index("/accounts/") :], follow=True).content.decode()
    assert "This link no longer works" in page


def test_a_sign_in_does_not_end_a_link_and_its_use_does(client, at_once, mailoutbox):
    user, new = make_user(), {"password1": "another horse battery", "password2": "another horse battery"}
    ask()
    user.last_login = timezone.now()
    user.save()
    link = re.search(r"/accounts/password/reset/key/\S+", links(mailoutbox)[0])[0]
    form = client.get(link, follow=True)
    assert client.post(form.request["PATH_INFO"], new).status_code == 302
    assert "This link no longer works" in Client().get(link, follow=True).content.decode()


def test_the_link_of_another_person_ends_no_session_until_its_form_is_sent(client, at_once, mailoutbox):
    make_user()
    ask()
    link = re.search(r"/accounts/password/reset/key/\S+", links(mailoutbox)[0])[0]
    client.force_login(make_user("other", email="other@example.com"))
    form = client.get(link, follow=True)
    assert "This link is for owner. If you go on, other is signed out here." in form.text
    assert client.get("/accounts/").status_code == 200
    new = {"password1": "another horse battery", "password2": "another horse battery"}
    done = client.post(form.request["PATH_INFO"], new, follow=True)
    assert "Your password is changed" in done.text
    assert client.get("/accounts/").status_code == 302
    assert client.login(username="owner", password="another horse battery")


NEW = {"password1": "another horse battery", "password2": "another horse battery"}


def copy_of(client):
    copy = Client()
    copy.cookies["sessionid"] = client.cookies["sessionid"].value
    return copy


def test_a_copy_of_the_cookie_cannot_use_a_link_that_its_person_opens(client, at_once, mailoutbox):
    client.force_login(make_user())
    thief = copy_of(client)
    ask(client=client)
    page = client.get(links(mailoutbox)[0])["Location"]
    assert 'name="password1"' not in thief.get(page).text
    assert client.post(page, NEW).status_code == 302


def test_the_link_of_another_person_moves_no_session(client, at_once, mailoutbox):
    make_user()
    client.force_login(make_user("victim", email="victim@example.com"))
    thief = copy_of(client)
    ask()
    thief.get(links(mailoutbox)[0])
    assert client.get("/accounts/").status_code == 200


def test_a_sign_in_forgets_a_link_that_was_opened_before_it(client, at_once, mailoutbox):
    user = make_user()
    ask()
    page = client.get(links(mailoutbox)[0])["Location"]
    client.post("/accounts/login/", {"login": user.username, "password": "correct horse battery"})
    thief = copy_of(client)
    assert 'name="password1"' not in thief.get(page).text
    assert thief.post(page, NEW).status_code == 200
    assert User.objects.get().check_password("correct horse battery")


def test_the_person_gets_an_e_mail_when_the_password_was_changed(client, at_once, mailoutbox, settings):
    client.force_login(make_user())
    client.get("/accounts/", headers={"accept-language": "de"})
    client.post("/accounts/password/change/", {"oldpassword": "correct horse battery", **NEW})
    ask()
    page = client.get(links(mailoutbox[1:])[0])["Location"]
    client.post(page, dict.fromkeys(NEW, "yet another battery"))
    assert [mail.to for mail in mailoutbox] == [[KNOWN]] * 3
    changed, _, by_link = mailoutbox
    assert changed.subject == by_link.subject == "Ihr Passwort wurde geändert"
    assert "http://testserver/accounts/" in changed.body
    assert "127.0.0.1" not in changed.body


@pytest.mark.parametrize("typed", ["Owner@Example.com", "owner@example.com", "OWNER@EXAMPLE.COM"])
def test_capitals_make_no_other_address(at_once, mailoutbox, typed):
    make_user(email="Owner@Example.com")
    ask(typed)
    assert [mail.to for mail in mailoutbox] == [["Owner@example.com"]]


def test_an_address_that_only_looks_alike_gets_no_mail(at_once, mailoutbox):
    make_user(email="kim@example.com")
    ask("k\u0131m@example.com")
    assert mailoutbox == []


def test_who_may_not_sign_in_any_more_gets_no_mail(at_once, mailoutbox):
    make_user(is_active=False)
    ask()
    assert mailoutbox == []


def test_the_mail_is_in_the_language_of_who_asked(at_once, mailoutbox):
    make_user()
    ask(headers={"accept-language": "de"})
    assert "Passwort" in mailoutbox[0].subject


def test_a_mail_server_that_fails_is_logged_without_the_address(at_once, monkeypatch, caplog):
    def fail(*_, **__):
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailMessage, "send", fail)
    make_user()
    assert ask().status_code == 302
    assert "ConnectionRefusedError" in caplog.text
    assert KNOWN not in caplog.text


# What the answer tells


def test_the_answer_is_the_same_for_known_and_unknown(at_once):
    make_user()
    token = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"')

    def answer(email):
        response = Client().post(RESET, {"email": email}, follow=True)
        return response.redirect_chain, token.sub(b"", response.content)

    assert answer(KNOWN) == answer(UNKNOWN)


def test_the_request_does_the_same_work_for_known_and_unknown(monkeypatch):
    make_user()
    monkeypatch.setattr(passwords, "run_later", lambda _: None)
    ask()  # whatever is done once
    statements = []

    def note(execute, sql, *args):
        statements.append(re.sub(r"\d+", "", sql))
        return execute(sql, *args)

    counts = []
    for email in (KNOWN, UNKNOWN):
        statements.clear()
        with connection.execute_wrapper(note):
            ask(email, REMOTE_ADDR="192.0.2.7")
        counts.append(list(statements))
    assert counts[0] == counts[1]
    assert not any("auth_user" in sql for sql in counts[0])


@pytest.mark.django_db(transaction=True)
def test_the_mail_is_sent_by_another_thread_after_the_answer(monkeypatch, mailoutbox):
    make_user()
    jobs = []
    monkeypatch.setattr(background, "DELAY_SECONDS", 0)
    monkeypatch.setattr(background._of_all, "_threads", background.ThreadPoolExecutor(1))
    submit = background._of_all._threads.submit
    monkeypatch.setattr(background._of_all._threads, "submit", lambda *args: jobs.append(submit(*args)))
    assert ask().status_code == 302
    wait(jobs, timeout=30)
    assert len(links(mailoutbox)) == 1


def test_a_job_is_dropped_where_too_many_wait(monkeypatch, caplog):
    monkeypatch.setattr(background._of_all, "_room", background.BoundedSemaphore(1))
    monkeypatch.setattr(background._of_all._threads, "submit", lambda *_: None)
    background.run_later(print)
    background.run_later(print)
    assert caplog.text.count("one was dropped") == 1


# How often


@pytest.mark.parametrize("email", [KNOWN, UNKNOWN])
def test_an_address_is_written_to_three_times_an_hour_at_most(at_once, mailoutbox, email):
    make_user()
    asked = [ask(email.upper() if n % 2 else email, REMOTE_ADDR=f"192.0.2.{n}") for n in range(5)]
    assert [response.status_code for response in asked] == [302, 302, 302, 429, 429]
    assert asked[-1]["Retry-After"] == "3600"
    assert len(mailoutbox) == (3 if email == KNOWN else 0)


def test_a_sender_asks_five_times_an_hour_at_most(at_once):
    asked = [ask(f"name{n}@example.com").status_code for n in range(7)]
    assert asked == [302] * 5 + [429] * 2
    assert ask(REMOTE_ADDR="192.0.2.7").status_code == 302


def test_addresses_of_one_ipv6_network_are_one_sender(at_once):
    asked = [ask(f"name{n}@example.com", REMOTE_ADDR=f"2001:db8::{n}").status_code for n in range(6)]
    assert asked[-1] == 429


def test_after_an_hour_it_may_be_asked_again_and_nothing_old_is_kept():
    now = timezone.now()

    def allowed(minutes):
        return Attempts.objects.allow(
            {"a": 1}, period=timedelta(hours=1), now=now + timedelta(minutes=minutes)
        )

    assert [allowed(minutes) for minutes in (0, 30, 59, 61)] == [True, False, False, True]
    Attempts.objects.allow({"b": 1}, period=timedelta(hours=1), now=now + timedelta(hours=3))
    assert Attempts.objects.count() == 1


def test_no_name_is_kept_in_clear():
    Attempts.objects.allow({KNOWN: 1}, period=timedelta(hours=1), now=timezone.now())
    assert KNOWN not in str(Attempts.objects.values())


@pytest.mark.django_db(transaction=True)
def test_of_many_requests_at_the_same_moment_three_pass():
    limits = {f"reset of {KNOWN}": 3, "reset from 192.0.2.7": 5}
    passed = race(
        lambda _: Attempts.objects.allow(limits, period=timedelta(hours=1), now=timezone.now()), times=10
    )
    assert passed.count(True) == 3


# Where the link leads


def test_a_link_leads_to_the_address_of_the_settings_whatever_the_host_header(at_once, mailoutbox, settings):
    settings.PORTAL_BASE_URL = "https://portal.example.com"
    make_user()
    ask(HTTP_HOST="localhost:6666")
    (link,) = links(mailoutbox)
    assert link.startswith("https://portal.example.com/accounts/password/reset/key/")
