from datetime import timedelta

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from dashboard_api.models import Entitlement
from tests.commands import run, run_json
from tests.factories import make_account

pytestmark = pytest.mark.django_db


@pytest.fixture
def entitlement():
    return make_account().entitlement


def test_entitlement_keeps_what_is_not_given(entitlement):
    run("set_entitlement", "acct_0001", "--plan", "pro")
    changed = Entitlement.objects.get()
    assert changed.plan == "pro"
    assert (changed.starts_on, changed.ends_on) == (entitlement.starts_on, entitlement.ends_on)
    assert (changed.status, changed.sites_limit) == (entitlement.status, entitlement.sites_limit)


def test_entitlement_changes_in_every_field(entitlement):
    answer = run_json(
        "set_entitlement", "acct_0001", "--plan", "pro", "--status", "past_due", "--starts-on", "2026-01-01",
        "--ends-on", "2999-01-31", "--renews", "--sites-limit", "0", "--features", "scans_daily",
    )  # fmt: skip
    assert answer == {
        "changed": True,
        "account": "acct_0001",
        "entitlement": {
            "plan": "pro",
            "status": "past_due",
            "starts_on": "2026-01-01",
            "ends_on": "2999-01-31",
            "renews": True,
            "cancels": False,
            "sites_limit": 0,
            "features": ["scans_daily"],
            "usable": True,
        },
    }
    entitlement.refresh_from_db()
    assert entitlement.past_due_since == timezone.now().date()


def test_entitlement_features_can_be_emptied(entitlement):
    run("set_entitlement", "acct_0001", "--features", "scans_daily")
    assert run_json("set_entitlement", "acct_0001", "--features", "")["entitlement"]["features"] == []


def test_entitlement_is_extended_by_days(entitlement):
    answer = run_json("set_entitlement", "acct_0001", "--extend-days", "30")
    assert answer["entitlement"]["ends_on"] == str(entitlement.ends_on + timedelta(days=30))


def test_suspension_is_printed_with_its_effect(entitlement):
    output = run("set_entitlement", "acct_0001", "--status", "suspended", "--extend-days", "30")
    assert "suspended" in output
    assert output.endswith("Calls are refused today.\n")


def test_account_without_an_entitlement_is_given_one():
    make_account(entitled=False)
    assert run_json("set_entitlement", "acct_0001", "--plan", "pro")["entitlement"]["usable"] is True


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["acct_0001"], "Say what to change"),
        (
            ["acct_9999", "--plan", "pro"],
            "no account acct_9999: create it in the admin or by 'manage.py onboard acct_9999'",
        ),
        (["acct_0001", "--plan", ""], "plan: This field cannot be blank."),
        (["acct_0001", "--plan", "pro", "--ends-on", "2000-01-01"], "ends_on: The last day cannot be before"),
        (["acct_0001", "--ends-on", "2999-01-01", "--extend-days", "1"], "either --ends-on or --extend-days"),
        (["acct_0001", "--extend-days", "0"], "0 is not a whole number from 1"),
        (["acct_0001", "--extend-days", "999999999"], "beyond the calendar"),
    ],
)
def test_entitlement_stays_as_it_was_when_refused(entitlement, arguments, refusal):
    with pytest.raises(CommandError, match=refusal):
        run("set_entitlement", *arguments)
    assert Entitlement.objects.filter(plan="standard", ends_on=entitlement.ends_on).exists()
