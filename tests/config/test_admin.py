"""The admin's page of people, and the frame of its pages."""

import re

import pytest
from django.utils.html import strip_tags

from config.operations import SUBJECTS
from tests.config.test_sessions import PAGE, SAFARI, sign_in
from tests.factories import make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/auth/user/"


def test_an_operator_sees_how_often_a_person_is_signed_in_and_ends_all_of_it():
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    person = make_user()
    here, there, theirs = sign_in(person), sign_in(person, SAFARI), sign_in(make_user("stranger"))
    page = operator.get(f"{LIST}{person.pk}/change/").text
    assert '<div class="readonly">2</div>' in page
    action = {"action": "end_sessions", "_selected_action": str(person.pk)}
    assert "2 sessions were ended." in operator.post(LIST, action, follow=True).text
    assert [client.get(PAGE).status_code for client in (here, there, theirs)] == [302, 302, 200]


@pytest.mark.parametrize(
    ("address", "crumbs"),
    [
        ("dashboard_api/finding/", "Home › Findings and customers › Findings"),
        ("dashboard_api/account/add/", "Home › Findings and customers › Customers › Add customer"),
        ("auth/user/", "Home › People › Users"),
        ("mfa/authenticator/", "Home › People › Authenticators"),
        ("audit/auditevent/", "Home › Audit › Audit events"),
    ],
)
def test_breadcrumbs_have_names_that_operators_know(address, crumbs):
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    page = operator.get(f"/admin/{address}").text
    shown = re.search(r'<div class="breadcrumbs">(.*?)</div>', page, re.DOTALL)[1]
    assert " ".join(strip_tags(shown).replace("&rsaquo;", "›").split()) == crumbs


def test_the_navigation_has_a_subject_for_every_page():
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    subjects = operator.get("/admin/").context["subjects"]
    assert [subject["name"] for subject in subjects] == [name for name, _ in SUBJECTS]


@pytest.mark.parametrize(
    ("query", "label"), [("", "Filter"), ("?queue=all&status__exact=fixed&o=2", "Filter (2)")]
)
def test_the_button_of_the_filters_counts_those_that_narrow_the_list(query, label):
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    page = operator.get(f"/admin/dashboard_api/finding/{query}").text
    button = re.search(r'filter-button".*?>(.*?)</button>', page, re.DOTALL)[1]
    assert " ".join(button.split()) == label
