"""The language of a person's last page."""

import pytest
from django.test import Client

from portal.models import UserLanguage
from portal.models.languages import language_of
from tests.factories import make_membership, make_portal_account, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return make_membership(make_user("owner"), make_portal_account()).user


@pytest.fixture
def browser(person):
    client = Client()
    client.force_login(person)
    return client


def test_it_is_that_of_the_last_page_however_it_was_chosen(browser, person):
    assert language_of(person.pk) == "en"
    browser.get("/", headers={"accept-language": "de"})
    assert language_of(person.pk) == "de"
    browser.post("/language/", {"language": "en", "next": "/"})
    browser.get("/", headers={"accept-language": "de"})
    assert language_of(person.pk) == "en"


def test_each_person_has_a_language_in_a_shared_browser(browser, person):
    browser.get("/", headers={"accept-language": "de"})
    other = make_user("other")
    browser.force_login(other)
    browser.get("/", headers={"accept-language": "de"})
    assert (language_of(person.pk), language_of(other.pk)) == ("de", "de")


def test_the_language_is_deleted_with_the_person(browser, person):
    browser.get("/", headers={"accept-language": "de"})
    person.delete()
    assert not UserLanguage.objects.exists()
