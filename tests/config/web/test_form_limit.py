"""Members send and export as much as a person does; what is on record stays for more than a year."""

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import AuditEvent
from config.web import form_limit
from foundation.operations import places
from foundation.operations.places import SlowCallers
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
NEW = {"password1": "another horse battery", "password2": "another horse battery"}
CHOICE = {"min_severity": "High", "frequency": "never"}


@pytest.fixture
def member(settings):
    settings.ACCOUNT_RATE_LIMITS = {"form": "3/h/key,5/h/user", "refused": "3/h/user", "export": "2/h/user"}
    return make_membership(make_user("viewer"), make_portal_account(), "viewer")


def browser_of(user):
    browser = Client()
    browser.force_login(user)
    return browser


def send(browser, page, times=1, **fields):
    return [browser.post(page, fields).status_code for _ in range(times)]


def subscribe_url(member):
    return reverse("portal:subscribe", args=[member.pk])


def test_the_forms_of_a_session_have_a_limit_and_those_of_a_member_in_all_browsers_together(member):
    page = subscribe_url(member)
    first, second = browser_of(member.user), browser_of(member.user)
    assert send(first, page, 5, **CHOICE) == [302, 302, 302, 429, 429]
    assert send(second, page, 3, **CHOICE) == [302, 302, 429], "a stolen session leaves room for the others"
    assert AuditEvent.objects.filter(action="subscription.saved").count() == 5


def test_forms_that_other_websites_can_send_do_not_count(member):
    browser = browser_of(member.user)
    browser.handler.enforce_csrf_checks = True
    assert send(browser, subscribe_url(member), 4, **CHOICE) == [403] * 4
    assert send(browser, "/nothing/", 4) == [404] * 4
    browser.handler.enforce_csrf_checks = False
    assert send(browser, subscribe_url(member), 1, **CHOICE) == [302]


@pytest.mark.parametrize("way", ["without a token", "to end a session", "to no page", "to read", "TRACE"])
def test_the_refusals_on_record_of_a_person_have_a_limit(member, way):
    browser = browser_of(member.user)
    browser.handler.enforce_csrf_checks = True
    ask = {
        "without a token": lambda: browser.post(subscribe_url(member), CHOICE),
        "to end a session": lambda: browser.post(reverse("account_logout")),
        "to no page": lambda: browser.post("/nothing/"),
        "to read": lambda: browser.get("/admin/see-as/shop.example.com/"),
        "TRACE": lambda: browser.trace("/nothing/"),
    }[way]
    if way == "to read":
        member.user.is_staff = True
        member.user.save()
    assert [ask().status_code for _ in range(4)] in ([403] * 4, [404] * 4)
    assert AuditEvent.objects.filter(action="access.refused").count() == 3


def test_slow_forms_leave_threads_to_other_people(member, monkeypatch):
    monkeypatch.setattr(form_limit, "_slow_senders", callers := SlowCallers(1))
    page, other = subscribe_url(member), make_membership(make_user("other"), member.account)
    with monkeypatch.context() as patch:
        patch.setattr(places, "SLOW_SECONDS", 0)
        assert send(browser_of(member.user), page, 1, **CHOICE) == [302]
    with callers.place(member.user.pk):
        response = browser_of(member.user).post(page, CHOICE)
        assert (response.status_code, response["Retry-After"]) == (503, "30")
        assert send(browser_of(other.user), subscribe_url(other), 1, **CHOICE) == [302]
    assert send(browser_of(member.user), page, 1, **CHOICE) == [302]


def test_pages_and_the_ways_to_end_a_session_have_no_part_in_it(member):
    browser = browser_of(member.user)
    send(browser, subscribe_url(member), 4, **CHOICE)
    assert browser.get("/notifications/").status_code == 200
    for way in ("account_change_password", "end_other_sessions", "account_logout"):
        assert browser.post(reverse(way)).status_code in (200, 302)


def test_staff_and_other_members_have_no_part_in_it(member):
    page, colleague = subscribe_url(member), make_membership(make_user("colleague"), member.account)
    send(browser_of(member.user), page, 4, **CHOICE)
    assert send(browser_of(colleague.user), subscribe_url(colleague), 1, **CHOICE) == [302]
    member.user.is_staff = True
    member.user.save()
    assert send(browser_of(member.user), page, 1, **CHOICE) == [302]


def test_ending_other_sessions_is_on_record_if_there_were_any(member):
    first, _second = browser_of(member.user), browser_of(member.user)
    first.post("/accounts/reauthenticate/", {"password": "correct horse battery"})
    assert send(first, reverse("end_other_sessions"), 3) == [302] * 3
    assert AuditEvent.objects.filter(action__in=["sessions.ended", "form.sent"]).count() == 1


@pytest.mark.parametrize("page", ["findings.csv", "report/", "report.pdf"])
def test_files_have_a_limit(member, page):
    make_portal_website(member.account)
    browser = browser_of(member.user)
    statuses = [browser.get(f"/sites/shop.example.com/{page}").status_code for _ in range(3)]
    assert 429 not in statuses[:2]
    assert statuses[2] == 429
    assert browser.get(f"/sites/shop.example.com/{page}")["Retry-After"] == "3600"


def test_someone_with_a_session_cannot_guess_its_password_all_day():
    browser = browser_of(make_user("owner"))
    page = reverse("account_change_password")
    assert send(browser, page, 11, oldpassword="wrong", **NEW) == [200] * 10 + [429]


@pytest.mark.parametrize(
    ("page", "limit"), [("account_change_password", "own_password"), ("account_reauthenticate", "proof")]
)
def test_wrong_passwords_of_a_stolen_session_leave_its_owner_room_elsewhere(settings, page, limit):
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {limit: "2/h/key,5/h/user"}
    owner = make_user("owner")
    stolen, own, another = (browser_of(owner) for _ in range(3))
    wrong = {"password": "wrong", "oldpassword": "wrong", **NEW}
    right = {"password": PASSWORD, "oldpassword": PASSWORD, **NEW}
    assert send(stolen, reverse(page), 6, **wrong) == [200, 200, 429, 429, 429, 429]
    assert send(another, reverse(page), 3, **wrong) == [200, 200, 429]
    assert own.post(reverse(page), right, REMOTE_ADDR="192.0.2.7").status_code == 302


def test_many_sessions_together_guess_no_more_than_a_person_may(settings):
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"proof": "2/h/key,5/h/user"}
    owner, page = make_user("owner"), reverse("account_reauthenticate")
    sent = [
        browser_of(owner).post(page, {"password": "wrong"}, REMOTE_ADDR=f"192.0.2.{n}").status_code
        for n in range(6)
    ]
    assert sent == [200] * 5 + [429]


def test_all_ways_to_prove_who_one_is_count_together(settings):
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"proof": "3/h/key"}
    browser = browser_of(make_user("owner"))
    ways = ("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn")
    assert [send(browser, reverse(way))[0] for way in (*ways, *ways)] == [200, 302, 302, 429, 429, 429]
