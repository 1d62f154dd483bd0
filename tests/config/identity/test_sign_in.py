"""Sign-in: messages, redirects and limits of attempts."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from config.identity.sign_in import PasswordBackend, person_named
from config.models import Session
from tests.factories import make_user
from tests.racing import race

pytestmark = pytest.mark.django_db

LOGIN = "/accounts/login/"
PASSWORD = "correct horse battery"
ELSEWHERE = [
    "https://evil.example", "http://evil.example/", "HTTPS://EVIL.EXAMPLE", "https:evil.example", "http:evil",
    "https:/evil.example", "https:///evil.example", "//evil.example", "///evil.example", "////evil.example",
    "//evil.example/%2f..", "\\\\evil.example", "\\/evil.example", "/\\evil.example", "/\\/evil.example",
    "//evil.example\\@testserver/", "https://testserver@evil.example/", "//testserver:80@evil.example",
    "https://testserver.evil.example/", "https://evil.example#@testserver/", "/\t/evil.example",
    "/\n/evil.example", "\t//evil.example", " //evil.example", "/\r\n/evil.example",
    "javascript:alert(1)", "JavaScript:alert(1)", "java\nscript:alert(1)", " javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>", "vbscript:x", "file:///etc/passwd", "ftp://evil.example/",
    "//[evil.example]/", "https://[::1", "evil.example", "evil.example/sites/", "?next=//evil.example",
    "#//evil.example", "https://testserver/", "http://localhost/", "//testserver/", "mailto:a@evil.example",
]  # fmt: skip


def sign_in(client, name="owner", password=PASSWORD, next_page="", **extra):
    return client.post(LOGIN, {"login": name, "password": password, "next": next_page}, **extra)


def fail(client, times, name="owner", **extra):
    return [sign_in(client, name, "wrong", **extra).status_code for _ in range(times)]


# What is offered


@pytest.mark.parametrize(
    "page",
    [
        "signup/",
        "email/",
        "confirm-email/",
        "confirm-email/key/",
        "inactive/",
        "login/code/confirm/",
        "reauthenticate/code/",
        "reauthenticate/code/confirm/",
    ],
)
def test_pages_that_lead_nowhere_are_not_offered(client, page):
    assert client.get(f"/accounts/{page}").status_code == 404


def test_without_a_mail_server_the_page_says_whom_to_ask(client, settings):
    settings.EMAIL_URL = ""
    page = client.get("/accounts/password/reset/").content.decode()
    assert "This service sends no e-mail" in page
    assert "https://example.com/support" in page
    assert client.post("/accounts/password/reset/", {"email": "owner@example.com"}).status_code == 405


def test_with_a_mail_server_a_link_leads_to_a_new_password(client, settings, mailoutbox, at_once):
    settings.EMAIL_URL = "smtp://localhost"
    user = make_user()
    client.post("/accounts/password/reset/", {"email": "owner@example.com"})
    link = next(word for word in mailoutbox[0].body.split() if "/password/reset/key/" in word)
    form = client.get(urlsplit(link).path, follow=True)
    new = "another horse battery"
    done = client.post(form.request["PATH_INFO"], {"password1": new, "password2": new}, follow=True)
    assert "Your password is changed" in done.content.decode()
    user.refresh_from_db()
    assert user.check_password(new)
    assert "no longer works" in Client().get(urlsplit(link).path, follow=True).content.decode()


# Who comes in


@pytest.mark.parametrize("name", ["owner", "OWNER", "owner@example.com", "Owner@Example.com", " owner "])
def test_a_person_comes_in_by_user_name_or_address(client, name):
    make_user()
    assert sign_in(client, name)["Location"] == "/"


def test_typing_begins_in_the_first_field_and_after_a_wrong_password_in_that_of_the_password(client):
    def begins_at(page):
        return re.findall(r'name="(\w+)"[^>]*autofocus', page.text)

    make_user("ada")
    assert begins_at(client.get("/accounts/login/")) == ["login"]
    refused = client.post("/accounts/login/", {"login": "ada", "password": "wrong"})
    assert begins_at(refused) == ["password"]
    client.force_login(make_user("bob"))
    assert begins_at(client.get("/accounts/password/change/")) == ["oldpassword"]
    assert begins_at(client.get("/accounts/reauthenticate/")) == ["password"]


def test_an_address_of_two_people_signs_in_neither(client):
    make_user("ada", email="shared@example.com")
    make_user("bob", email="shared@example.com")
    assert sign_in(client, "shared@example.com").status_code == 200
    assert sign_in(client, "bob").status_code == 302


def test_a_user_name_goes_before_another_persons_address(client):
    make_user("owner@example.com", email="", password="first horse battery")
    make_user("other", email="owner@example.com")
    assert sign_in(client, "owner@example.com").status_code == 200
    assert sign_in(client, "owner@example.com", "first horse battery").status_code == 302


def test_who_does_not_exist_reads_what_a_wrong_password_reads(client):
    make_user()
    make_user("former", is_active=False)
    answers = set()
    for name, password in (
        ("owner", "wrong"),
        ("nobody", "wrong"),
        ("owner@example.com", "wrong"),
        ("nobody@example.com", "wrong"),
        ("former", PASSWORD),
    ):
        response = sign_in(Client(), name, password)
        assert response.status_code == 200
        answers.add(response.context["form"].non_field_errors().as_text())
    assert answers == {"* The name or the password is not correct."}


@pytest.mark.parametrize("name", ["owner", "owner@example.com", "nobody", "nobody@example.com", "former"])
def test_one_password_is_hashed_for_any_name(monkeypatch, rf, name):
    from django.contrib.auth.hashers import MD5PasswordHasher

    make_user()
    make_user("former", is_active=False)
    hashed = []
    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(
        MD5PasswordHasher, "encode", lambda self, *args: hashed.append(1) or encode(self, *args)
    )
    PasswordBackend().authenticate(rf.get("/"), username=name, password="wrong")
    assert len(hashed) == 1


def test_a_sign_in_starts_a_new_session_and_the_sign_out_ends_it(client):
    make_user()
    client.get(LOGIN)
    client.session["before"] = True
    client.session.save()
    before = client.session.session_key
    sign_in(client)
    during = client.session.session_key
    client.post("/accounts/logout/")
    assert before != during
    client.cookies["sessionid"] = during
    assert client.get("/team/").status_code == 302


# Where it leads


@pytest.mark.parametrize("page", ELSEWHERE)
def test_nothing_leads_elsewhere(client, page):
    make_user()
    assert sign_in(client, next_page=page)["Location"] == "/"
    again = client.get(LOGIN, {"next": page})
    assert again["Location"] == "/"
    assert client.post("/accounts/logout/", {"next": page})["Location"] in ("/", LOGIN)


@pytest.mark.parametrize(
    "page", ["/sites/shop.example.com/?severity=Low&query=a+b", "/%09/evil", "/accounts/"]
)
def test_a_path_of_this_site_is_where_the_sign_in_leads(client, page):
    make_user()
    assert sign_in(client, next_page=page)["Location"] == page


def test_the_admins_sign_in_is_the_same_and_leads_nowhere_else(client):
    response = client.get("/admin/login/?next=//evil.example")
    assert urlsplit(response["Location"]).path == LOGIN
    assert client.post("/admin/login/", {"username": "x", "password": "y"})["Location"].startswith(LOGIN)


# How often it may be tried


def test_the_sixth_attempt_on_a_name_is_refused_with_a_page_that_says_so(client):
    make_user()
    assert fail(client, 5) == [200] * 5
    refused = sign_in(client)
    assert refused.status_code == 429
    assert "Too many attempts" in refused.text
    assert "Wait 15 minutes" in refused.text
    assert refused["Retry-After"] == "900"


def test_other_spellings_of_a_name_count_as_the_same(client):
    make_user("boss", email="boss@example.com")
    names = ["boss", "BOSS", "bo\u017fs", "bos\u017f", "bo\u017f\u017f", "Boss"]
    assert [fail(client, 1, name=name)[0] for name in names] == [200] * 5 + [429]
    names = [f"{name}@example.com" for name in names]
    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    assert [fail(client, 1, name=name, **elsewhere)[0] for name in names] == [200] * 5 + [429]


def test_user_name_and_address_of_a_person_count_together(client):
    make_user("ada", email="ada@example.com")
    names = ["ada", "ada@example.com"] * 3
    assert [fail(client, 1, name=name)[0] for name in names] == [200] * 5 + [429]
    assert fail(client, 1, name="ada@example.net") == [200]


def test_a_person_signs_in_by_any_spelling_of_an_address_and_all_count_as_the_same(client):
    make_user("ada", email="ada@xn--mller-kva.example")
    typed = ["ada@m\u00fcller.example", "ada@mu\u0308ller.example", "Ada@xn--mller-kva.EXAMPLE"]
    for name in typed:
        assert sign_in(Client(), name).status_code == 302
    spellings = [*typed, "ada@m\u00fcl\u00adler.example", typed[0], typed[0]]
    assert [fail(client, 1, name=name)[0] for name in spellings] == [200] * 5 + [429]


def test_a_name_that_only_looks_alike_signs_nobody_in(client):
    make_user("kim", email="kim@example.com")
    assert person_named("k\u0131m") is None
    assert person_named("k\u0131m@example.com") is None
    assert person_named("KIM@example.com") is not None


def test_failures_from_elsewhere_lock_no_account_out(client):
    make_user()
    fail(client, 6)
    assert sign_in(client, REMOTE_ADDR="192.0.2.7").status_code == 302


def test_the_twenty_first_attempt_from_an_address_is_refused_whatever_the_name(client):
    make_user()
    attempts = [fail(client, 1, name=f"name{number}")[0] for number in range(21)]
    assert attempts == [200] * 20 + [429]
    assert sign_in(client)["Retry-After"] == "3600"
    assert sign_in(client, REMOTE_ADDR="192.0.2.7").status_code == 302


@pytest.mark.django_db(transaction=True)
def test_of_many_attempts_at_the_same_moment_no_more_pass(client):
    make_user()
    attempts = race(lambda _: fail(Client(), 1)[0], times=12)
    assert set(attempts) == {200, 429}
    assert attempts.count(200) <= 5


def test_the_people_of_an_office_sign_in_in_one_minute_and_failures_there_stay_limited(client):
    make_user()
    assert {sign_in(Client()).status_code for _ in range(60)} == {302}
    assert fail(client, 6) == [200] * 5 + [429]
    attempts = [fail(client, 1, name=f"name{number}")[0] for number in range(16)]
    assert attempts == [200] * 15 + [429]


def test_a_refused_attempt_does_not_prolong_the_wait(client, monkeypatch):
    from allauth.core.internal import ratelimit

    make_user()
    now = ratelimit.time.time()
    fail(client, 8)
    monkeypatch.setattr(ratelimit.time, "time", lambda: now + 15 * 60 + 5)
    assert sign_in(client).status_code == 302


def test_a_forged_forwarding_changes_no_count(client):
    make_user()
    attempts = [fail(client, 1, headers={"X-Forwarded-For": f"192.0.2.{number}"})[0] for number in range(6)]
    assert attempts == [200] * 5 + [429]


def test_behind_a_trusted_proxy_the_address_that_it_saw_counts(client, settings):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    make_user()
    for number in range(6):
        last = fail(client, 1, headers={"X-Forwarded-For": f"192.0.2.{number}, 198.51.100.1"})[0]
    assert last == 429
    assert sign_in(client, headers={"X-Forwarded-For": "198.51.100.2"}).status_code == 302


def test_the_addresses_of_one_ipv6_network_count_together(client):
    make_user()
    attempts = [fail(client, 1, REMOTE_ADDR=f"2001:db8:1:2::{number:x}")[0] for number in range(6)]
    assert attempts == [200] * 5 + [429]
    assert sign_in(client, REMOTE_ADDR="2001:db8:1:3::1").status_code == 302


def test_an_ipv4_address_counts_the_same_when_it_is_written_as_ipv6(client):
    make_user()
    written = ["192.0.2.9", "::ffff:192.0.2.9"] * 3
    attempts = [fail(client, 1, REMOTE_ADDR=address)[0] for address in written]
    assert attempts == [200] * 5 + [429]


def test_requests_for_passkeys_cannot_fill_the_table_of_sessions(settings):
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"passkey": "3/m/ip"}
    page = "/accounts/2fa/webauthn/login/"
    *asked, refused = [Client().get(page, headers={"accept": "application/json"}) for _ in range(4)]
    assert [response.status_code for response in asked] == [200] * 3
    assert (refused.status_code, refused["Retry-After"]) == (429, "60")
    assert "Wait a minute" in refused.text
    assert Client().head(page, headers={"accept": "application/json"}).status_code == 429
    assert Session.objects.count() == 3
    assert not Session.objects.filter(expire_date__gt=timezone.now() + timedelta(days=1)).exists()
    assert (
        Client(REMOTE_ADDR="192.0.2.7").get(page, headers={"accept": "application/json"}).status_code == 200
    )


def test_a_person_who_is_deactivated_is_signed_out_at_the_next_page(client):
    person = make_user()
    sign_in(client)
    assert client.get("/accounts/").status_code == 200
    person.is_active = False
    person.save()
    assert client.get("/accounts/")["Location"].startswith("/accounts/login/")
