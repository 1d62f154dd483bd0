"""A form of the admin that was open for a while changes only what its sender changed."""

from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils.datastructures import MultiValueDict

from dashboard_api.models import AnalystNote, Entitlement
from tests.factories import (
    make_account,
    make_note,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db


class Form(HTMLParser):
    """The fields of the form for an object, as a browser sends them."""

    def __init__(self, page):
        super().__init__()
        self.fields, self._select, self._area, self._is_open = MultiValueDict(), "", "", False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        its = dict(attributes)
        self._is_open |= tag == "form" and (its.get("id") or "").endswith("_form")
        if not self._is_open:
            return
        if tag == "input" and its.get("type") not in ("submit", "button"):
            if its.get("type") not in ("checkbox", "radio") or "checked" in its:
                empty = "on" if its.get("type") == "checkbox" else ""
                self.fields.appendlist(its["name"], its.get("value", empty) or "")
        elif tag == "select":
            self._select = its["name"]
        elif tag == "option" and "selected" in its:
            self.fields.appendlist(self._select, its["value"])
        elif tag == "textarea":
            self._area = its["name"]
            self.fields[self._area] = ""

    def handle_data(self, data):
        if self._area:
            self.fields[self._area] += data.removeprefix("\r\n")

    def handle_endtag(self, tag):
        self._area = "" if tag == "textarea" else self._area
        self._is_open &= tag != "form"


@pytest.fixture
def page(client):
    """Return a function that opens the page of an object and returns one that sends its form with changes."""
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))

    def page(thing):
        address = reverse(f"admin:{thing._meta.label_lower.replace('.', '_')}_change", args=[thing.pk])
        fields = Form(client.get(address).text).fields

        def send(**changes):
            for name, value in changes.items():
                assert name in fields
                fields[name] = value
            sent = client.post(address, dict(fields.lists()))
            assert sent.status_code == 302, sent.context["errors"]
            thing.refresh_from_db()

        return send

    return page


@pytest.mark.parametrize("is_inline", [True, False])
def test_a_suspension_is_kept(page, is_inline):
    account = make_account(name="Exmple Shop")
    entitlement = account.entitlement
    send = page(account if is_inline else entitlement)
    Entitlement.objects.update(status="suspended", suspended_by_staff=True, features=["charts"])
    send(**{"name": "Example Shop"} if is_inline else {"sites_limit": "7"})
    entitlement.refresh_from_db()
    assert (entitlement.status, entitlement.features) == ("suspended", ["charts"])
    assert account.name == "Example Shop" if is_inline else entitlement.sites_limit == 7


def test_a_note_that_became_internal_stays_so(page):
    note = make_note(make_website(), body="A tpyo", is_internal=False)
    send = page(note)
    AnalystNote(pk=note.pk, website=note.website, body=note.body, is_internal=True).save()
    send(body="A typo")
    assert (note.body, note.is_internal) == ("A typo", True)


def test_a_person_whose_rights_were_taken_away_does_not_get_them_again(page):
    person = make_user("grace", is_staff=True)
    group, other = (Group.objects.create(name=name) for name in ("Auditors", "Trainees"))
    person.groups.set([group, other])
    send = page(person)
    person.groups.remove(group)
    type(person).objects.filter(pk=person.pk).update(is_staff=False, is_active=False)
    send(first_name="Grace")
    assert (person.first_name, person.is_staff, person.is_active) == ("Grace", False, False)
    assert list(person.groups.all()) == [other]


def test_a_row_of_another_object_keeps_what_others_changed_too(page):
    account = make_portal_account()
    website = make_portal_website(account, "shop.example.com")
    send, link_id = page(account), website.link_id
    type(website).objects.update(link_id=link_id[:-1] + ("0" if link_id[-1] != "0" else "1"))
    send(**{"websites-0-host": "www.example.com"})
    website.refresh_from_db()
    assert website.host == "www.example.com"
    assert website.link_id != link_id


def test_what_two_people_changed_is_as_the_later_one_sent_it(page):
    note = make_note(make_website(), body="First")
    send = page(note)
    type(note).objects.update(body="Second")
    send(body="Third")
    assert note.body == "Third"


def test_a_page_holds_no_password_and_no_secret_a_second_time(client, page):
    account, person = make_portal_account(), make_user("grace")
    for thing in (account, person):
        address = reverse(f"admin:{thing._meta.label_lower.replace('.', '_')}_change", args=[thing.pk])
        names = Form(client.get(address).text).fields.keys()
        assert not {"initial-password", "initial-secret"} & names
