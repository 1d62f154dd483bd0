"""POST /v1/account/secrets: the portal lists, issues and retires the secrets of an account."""

import pytest

from audit.models import AuditEvent
from dashboard_api.models import Entitlement, Secret
from tests import factories
from tests.dashboard_api.calls import ask, error_of

pytestmark = pytest.mark.django_db
OTHER_SECRET = "es1_test_another-secret-of-another-account"


@pytest.fixture
def portal():
    """Return the only secret of an account, which is the portal's."""
    factories.make_link()
    Secret.objects.update(for_portal=True)
    return Secret.objects.get()


def call(client, **fields):
    return ask(client, {"portal_account_ref": "acct_0001", **fields}, path="/v1/account/secrets")


def reason(response):
    assert (response.status_code, error_of(response)["code"]) == (409, "secret_refused")
    return error_of(response)["reason"]


def test_a_secret_is_issued_once_listed_and_works(client, portal):
    assert call(client).json()["secret"] is None
    body = call(client, issue=True).json()
    newest, own = body["secrets"]
    assert body["secret"].startswith(newest["hint"])
    assert (newest["state"], newest["for_portal"], newest["last_used_at"]) == ("active", False, None)
    assert (own["id"], own["for_portal"]) == (str(portal.pk), True)
    assert call(client).json()["secret"] is None
    fields = {"portal_account_ref": "acct_0001"}
    assert ask(client, fields, path="/v1/account/entitlement", secret=body["secret"]).status_code == 200
    event = AuditEvent.objects.filter(action="secret.issued").latest("pk")
    assert (event.account, body["secret"] in str(event.after)) == ("acct_0001", False)


def test_a_customers_own_secret_issues_none(client, portal):
    clear = call(client, issue=True).json()["secret"]
    fields = {"portal_account_ref": "acct_0001", "issue": True}
    assert reason(ask(client, fields, path="/v1/account/secrets", secret=clear)) == "portal_only"
    assert Secret.objects.count() == 2


def test_two_secrets_of_the_customer_work_next_to_the_portals(client, portal):
    call(client, issue=True)
    call(client, issue=True)
    assert reason(call(client, issue=True)) == "too_many"
    assert Secret.objects.count() == 3


def test_a_secret_is_retired_and_the_portals_is_not(client, portal):
    issued = call(client, issue=True).json()["secrets"][0]["id"]
    retired = call(client, retire=issued).json()["secrets"][0]
    assert (retired["state"], retired["retires_at"] is not None) == ("retiring", True)
    assert reason(call(client, retire=issued)) == "not_active"
    assert reason(call(client, retire=str(portal.pk))) == "in_use"


def test_another_accounts_secret_is_unknown(client, portal):
    other = factories.make_account("acct_0002", secrets=(OTHER_SECRET,))
    assert reason(call(client, retire=str(other.secrets.get().pk))) == "unknown"


@pytest.mark.parametrize("fields", [{"issue": "yes"}, {"retire": "x"}, {"retire": 1}])
def test_broken_fields_are_named(client, portal, fields):
    (error,) = error_of(call(client, **fields))["errors"]
    assert error["field"] in fields


def test_an_account_without_a_plan_may_retire_a_secret(client, portal):
    Entitlement.objects.update(status="expired")
    assert call(client, issue=True).status_code == 200
