"""POST /v1/account/publicity: what may be published about an account's websites."""

import pytest

from audit.models import AuditEvent
from dashboard_api import models as api
from tests import factories
from tests.dashboard_api.calls import ask, error_of

pytestmark = pytest.mark.django_db
OTHER_SECRET = "es1_test_another-secret-of-another-account"


def call(client, **fields):
    return ask(client, {"portal_account_ref": "acct_0001", **fields}, path="/v1/account/publicity")


@pytest.fixture
def link():
    return factories.make_link()


def test_a_new_account_is_counted_and_its_websites_are_as_the_account(client, link):
    assert call(client).json() == {
        "ok": True,
        "publicity": "counted",
        "websites": [
            {"host": "shop.example.com", "publicity": "as_account", "effective": "counted", "region": "001"}
        ],
        "total": 1,
    }
    assert not AuditEvent.objects.filter(action="publicity.changed").exists()


def test_account_and_website_are_changed_on_record_and_the_stricter_one_holds(client, link):
    assert call(client, publicity="shown").json()["websites"][0]["effective"] == "shown"
    body = call(client, host=link.website.host, publicity="nothing", region="de").json()
    assert body["websites"] == [
        {"host": "shop.example.com", "publicity": "nothing", "effective": "nothing", "region": "DE"}
    ]
    call(client, publicity="nothing")
    body = call(client, host=link.website.host, publicity="shown").json()
    assert (body["websites"][0]["publicity"], body["websites"][0]["effective"]) == ("shown", "nothing")
    body = call(client, host=link.website.host, publicity="as_account").json()
    assert body["websites"][0]["publicity"] == "as_account"
    events = AuditEvent.objects.filter(action="publicity.changed").order_by("pk")
    assert [(event.before, event.after) for event in events[:2]] == [
        ({"publicity": "counted"}, {"publicity": "shown"}),
        ({"publicity": "", "region": ""}, {"publicity": "nothing", "region": "DE"}),
    ]
    assert {event.account for event in events} == {"acct_0001"}


def test_an_account_without_a_plan_may_still_opt_out(client, link):
    api.Entitlement.objects.update(status="expired")
    assert call(client, publicity="nothing").json()["publicity"] == "nothing"


def test_a_website_of_another_account_and_a_revoked_one_are_unknown(client, link):
    other = factories.make_account("acct_0002", secrets=(OTHER_SECRET,))
    website = factories.make_website("other.example.net")
    factories.make_link(other, website)
    for host in ("other.example.net", "unknown.example.net"):
        response = call(client, host=host, publicity="shown")
        assert (response.status_code, error_of(response)["code"]) == (404, "unknown_link")
    assert set(api.SiteLink.objects.values_list("publicity", flat=True)) == {""}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"publicity": "all"}, "publicity"),
        ({"host": "shop.example.com", "region": "XX"}, "region"),
        ({"region": "DE"}, "host"),
        ({"publicity": "as_account"}, "host"),
    ],
)
def test_a_wrong_field_is_refused(client, link, fields, field):
    response = call(client, **fields)
    assert response.status_code == 400
    assert error_of(response)["errors"][0]["field"] == field


def test_a_test_secret_changes_nothing(client, link):
    _, secret = api.Secret.objects.issue(link.account, by="tests", is_test=True)
    fields = {"portal_account_ref": "acct_0001", "publicity": "nothing"}
    response = ask(client, fields, path="/v1/account/publicity", secret=secret)
    assert response.json()["websites"][0]["host"] == "shop.example.com"
    assert api.Account.objects.get().publicity == "counted"
