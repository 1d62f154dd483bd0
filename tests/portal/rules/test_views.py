"""The page of rules about answers, from the portal through the signed API to the account."""

import pytest
from django.test import override_settings

from audit.models import AuditEvent
from dashboard_api import models as api
from portal.answers import service
from portal.models import Membership
from signed_api.errors import TimedOut
from tests import factories

pytestmark = pytest.mark.django_db
IN_PROCESS = override_settings(
    DASHBOARD_BASE_URL="", DASHBOARD_APPLICATION="config.web.in_process.application"
)
FORM = {
    "critical_days": "7",
    "high_days": "30",
    "medium_days": "",
    "low_days": "",
    "second_person": "on",
    "time_zone": "europe/berlin",
}
OWNER, MANAGER, CONTRIBUTOR, VIEWER = Membership.Role.values


@pytest.fixture
def link():
    return factories.make_link()


@pytest.fixture
def page(client, link):
    """Return a function that signs in a member with this role, and returns the address of the page."""

    def sign_in(role):
        account = factories.make_portal_account()
        membership = factories.make_membership(factories.make_user("ada"), account, role)
        client.force_login(membership.user)
        return f"/team/{account.pk}/rules/"

    return sign_in


def stored():
    account = api.Account.objects.get()
    names = ("critical_days", "high_days", "medium_days", "low_days", "second_person", "time_zone")
    return tuple(getattr(account, name) for name in names)


@IN_PROCESS
def test_an_owner_sets_days_a_second_person_and_the_zone(client, page):
    address = page(OWNER)
    response = client.post(address, FORM, follow=True)
    assert "The rules are saved." in response.text
    assert stored() == (7, 30, 0, 0, True, "Europe/Berlin")
    assert 'name="critical_days" value="7"' in response.text
    assert 'name="medium_days" min="1"' in response.text  # empty, not 0
    chosen = AuditEvent.objects.get(action="answer_rules.chosen")
    assert (chosen.actor_kind, chosen.account, chosen.after["critical_days"]) == ("person", "acct_0001", 7)
    assert AuditEvent.objects.filter(action="answer_rules.changed").count() == 1


@IN_PROCESS
def test_empty_fields_end_the_rules(client, page):
    address = page(OWNER)
    client.post(address, FORM)
    client.post(address, {"time_zone": "UTC"})
    assert stored() == (0, 0, 0, 0, False, "UTC")


@IN_PROCESS
def test_a_manager_reads_the_rules_and_cannot_change_them(client, page):
    api.Account.objects.update(critical_days=3)
    address = page(MANAGER)
    shown = client.get(address).text
    assert "Only owners can change these rules." in shown
    assert 'name="critical_days" value="3"' in shown
    assert shown.count(" disabled") == 6
    assert ">Save<" not in shown
    assert client.post(address, FORM).status_code == 404
    assert stored()[0] == 3


@IN_PROCESS
@pytest.mark.parametrize("role", [CONTRIBUTOR, VIEWER])
def test_others_neither_read_nor_change_the_rules(client, page, role):
    address = page(role)
    assert client.get(address).status_code == client.post(address, FORM).status_code == 404
    assert stored()[0] == 0


@IN_PROCESS
@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("high_days", "366", "less than or equal to 365"),
        ("high_days", "soon", "Enter a whole number."),
        ("time_zone", "Europe/Atlantis", "Choose a time zone from the list"),
    ],
)
def test_a_refused_form_keeps_what_was_typed(client, page, field, value, error):
    response = client.post(page(OWNER), FORM | {field: value})
    assert error in response.text
    assert f'value="{value}"' in response.text
    assert 'name="critical_days" value="7"' in response.text
    assert stored()[0] == 0


def test_a_form_that_the_service_does_not_answer_keeps_what_was_typed(client, page, monkeypatch):
    def fail(*_):
        raise TimedOut

    monkeypatch.setattr(service, "answer_rules_of", fail)
    address = page(OWNER)
    assert client.get(address).status_code == 504
    response = client.post(address, FORM)
    assert response.status_code == 504
    assert 'name="critical_days" value="7"' in response.text


@IN_PROCESS
@pytest.mark.parametrize("role", [OWNER, MANAGER])
def test_the_team_leads_to_the_rules(client, page, role):
    address = page(role)
    assert f'href="{address}"' in client.get("/team/").text
