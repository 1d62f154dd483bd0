"""A form of the admin is not saved over changes that its sender did not see."""

from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils import timezone
from django.utils.datastructures import MultiValueDict

from dashboard_api.models import Account, AnalystNote, Entitlement, Plan
from tests.factories import (
    make_account,
    make_note,
    make_plan,
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
            """Send the form, or the one of the response with errors; return whether it was saved."""
            nonlocal fields
            for name, value in changes.items():
                fields.setlist(name, value if isinstance(value, list) else [value])
            sent = client.post(address, dict(fields.lists()))
            thing.refresh_from_db()
            send.response = sent
            fields = Form(sent.text).fields
            return sent.status_code == 302

        return send

    return page


def refused(send):
    return "This was changed after your page was opened" in send.response.text


@pytest.mark.parametrize("is_inline", [True, False])
def test_an_old_page_does_not_lift_a_suspension(page, is_inline):
    account = make_account(name="Exmple Shop")
    entitlement = account.entitlement
    thing = account if is_inline else entitlement
    send, change = page(thing), {"name": "Example Shop"} if is_inline else {"sites_limit": "7"}
    Entitlement.objects.update(status="suspended", suspended_by_staff=True)
    assert not send(**change)
    assert refused(send)
    assert not send(**change), "also the form of the response"
    entitlement.refresh_from_db()
    assert (entitlement.status, account.name) == ("suspended", "Exmple Shop")
    assert page(thing)(**change)
    entitlement.refresh_from_db()
    assert entitlement.status == "suspended"


def test_an_old_page_does_not_lift_a_suspension_by_staff_of_what_was_suspended_before(page):
    entitlement = make_account().entitlement
    Entitlement.objects.update(status="suspended")  # by a payment
    send = page(entitlement)
    Entitlement.objects.update(suspended_by_staff=True)
    assert not send(status="active")
    assert refused(send)


def test_groups_in_another_order_and_a_sign_in_are_no_change(page):
    person, groups = make_user("grace"), [Group.objects.create(name=name) for name in "abc"]
    person.groups.set(groups)
    send = page(person)
    person.groups.clear()
    for group in reversed(groups):
        person.groups.add(group)
    type(person).objects.filter(pk=person.pk).update(last_login=timezone.now())
    assert send(first_name="Grace")


def test_an_old_page_does_not_publish_a_note(page):
    note = make_note(make_website(), body="A tpyo", is_internal=False)
    send = page(note)
    AnalystNote(pk=note.pk, website=note.website, body=note.body, is_internal=True).save()
    assert not send(body="A typo")
    assert refused(send)
    assert (note.body, note.is_internal) == ("A tpyo", True)


def test_an_old_page_gives_no_rights_back(page):
    person, group = make_user("grace", is_staff=True), Group.objects.create(name="Auditors")
    person.groups.set([group])
    send = page(person)
    person.groups.clear()
    assert not send(first_name="Grace")
    assert refused(send)
    assert not person.groups.exists()


def test_an_old_page_of_an_account_does_not_change_its_websites_back(page):
    account = make_portal_account()
    website = make_portal_website(account, "shop.example.com")
    send = page(account)
    type(website).objects.update(host="www.example.com")
    assert not send(name="Example Shop")
    assert refused(send)
    website.refresh_from_db()
    assert website.host == "www.example.com"


def test_an_old_page_of_a_plan_makes_no_revision_without_the_changes_of_the_newest(page):
    plan = make_plan("professional")
    Plan.objects.update(used_at=timezone.now())  # so that an edit is the next revision
    first, second = page(plan), page(plan)
    assert first(calls_per_day="777")
    assert not second(price_en="9 a month"), "revision 2 follows it"
    assert Plan.objects.newest("professional").revision == 2


def test_what_was_changed_before_an_error_is_saved_once_it_is_corrected(page):
    person, group = make_user("grace"), Group.objects.create(name="Auditors")
    send = page(person)
    assert not send(groups=[str(group.pk)], email="no address")
    assert send(email="grace@example.com")
    assert (person.groups.get(), person.email) == (group, "grace@example.com")


def test_a_new_object_and_a_form_without_its_page_are_saved(client, page):
    client.post(reverse("admin:auth_group_add"), {"name": "Auditors"})
    group = Group.objects.get(name="Auditors")
    client.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "Trainees"})
    group.refresh_from_db()
    assert group.name == "Trainees"


def test_a_row_that_others_added_is_not_replaced_and_the_page_says_so(page):
    account = Account.objects.create(ref="acct_0042", name="Shop")
    send = page(account)
    Entitlement.objects.filter(account=make_account()).update(account=account, status="suspended")
    new = {"plan": str(make_plan().pk), "status": "active", "reason": "paid"}
    assert not send(**{f"entitlement-0-{name}": value for name, value in new.items()})
    assert "This was changed after your page was opened" in send.response.text
    assert Entitlement.objects.get(account=account).status == "suspended"
