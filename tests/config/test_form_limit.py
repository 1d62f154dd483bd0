"""Members send and export as much as a person does; what is on record stays for more than a year."""

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import AuditEvent
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user

pytestmark = pytest.mark.django_db
CHOICE = {"min_severity": "High", "frequency": "never"}


@pytest.fixture
def member(settings):
    settings.ACCOUNT_RATE_LIMITS = {"form": "3/h/user", "export": "2/h/user"}
    return make_membership(make_user("viewer"), make_portal_account(), "viewer")


def browser_of(user):
    browser = Client()
    browser.force_login(user)
    return browser


def send(browser, page, times=1, **fields):
    return [browser.post(page, fields).status_code for _ in range(times)]


def subscribe_url(member):
    return reverse("portal:subscribe", args=[member.pk])


def test_the_forms_of_a_member_have_a_limit_in_all_browsers_together(member):
    page = subscribe_url(member)
    first, second = browser_of(member.user), browser_of(member.user)
    assert send(first, page, 2, **CHOICE) + send(second, page, 2, **CHOICE) == [302, 302, 302, 429]
    assert AuditEvent.objects.filter(action="subscription.saved").count() == 3


def test_so_have_forms_that_are_refused_or_have_no_token(member):
    browser = browser_of(member.user)
    assert send(browser, "/team/999999/remove/") + send(browser, "/nothing/") == [404, 404]
    browser.handler.enforce_csrf_checks = True
    assert send(browser, subscribe_url(member), 2, **CHOICE) == [403, 429]
    assert AuditEvent.objects.filter(action="access.refused").count() == 3


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
    assert send(first, reverse("end_other_sessions"), 3) == [302] * 3
    assert AuditEvent.objects.filter(action__in=["sessions.ended", "form.sent"]).count() == 1


@pytest.mark.parametrize("page", ["findings.csv", "report/", "report.pdf"])
def test_files_have_a_limit(member, page):
    make_portal_website(member.account)
    browser = browser_of(member.user)
    statuses = [browser.get(f"/sites/shop.example.com/{page}").status_code for _ in range(3)]
    assert 429 not in statuses[:2]
    assert statuses[2] == 429


def test_someone_with_a_session_cannot_guess_its_password_all_day():
    browser = browser_of(make_user("owner"))
    new = {"password1": "another horse battery", "password2": "another horse battery"}
    page = reverse("account_change_password")
    assert send(browser, page, 11, oldpassword="wrong", **new) == [200] * 10 + [429]
