from datetime import timedelta

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.models import Account
from tests.commands import run, run_json

pytestmark = pytest.mark.django_db


def test_account_is_made_with_a_year_of_the_standard_plan():
    today = timezone.now().date()
    output = run("create_account", "acct_0001", "--name", "Shop Ltd")
    assert f"Plan standard, active, {today} to {today + timedelta(days=365)}, at most 5 websites." in output
    assert "manage.py issue_secret acct_0001" in output
    account = Account.objects.get(ref="acct_0001")
    assert account.name == "Shop Ltd"
    assert account.entitlement.is_usable_on(today)


def test_the_longest_reference_is_on_record():
    ref = "a" * 128
    run("create_account", ref)
    run("issue_secret", ref)
    assert set(AuditEvent.objects.values_list("account", flat=True)) == {ref}
    with pytest.raises(CommandError, match="128 characters"):
        run("create_account", "a" * 129)


def test_account_is_made_with_the_entitlement_that_is_asked_for():
    answer = run_json(
        "create_account", "acct_0001", "--plan", "pro", "--status", "trialing", "--starts-on", "2026-01-01",
        "--ends-on", "2999-01-31", "--sites-limit", "3", "--features", "scans_daily, deep_scans,",
    )  # fmt: skip
    assert answer == {
        "changed": True,
        "account": "acct_0001",
        "name": "",
        "entitlement": {
            "plan": "pro",
            "status": "trialing",
            "starts_on": "2026-01-01",
            "ends_on": "2999-01-31",
            "renews": False,
            "cancels": False,
            "sites_limit": 3,
            "features": ["scans_daily", "deep_scans"],
            "usable": True,
        },
    }


def test_account_entitled_later_lasts_a_year_from_then():
    answer = run_json("create_account", "acct_0001", "--starts-on", "2999-01-01")
    assert answer["entitlement"]["ends_on"] == "3000-01-01"
    assert answer["entitlement"]["usable"] is False


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["with space"], "ref: Use printable ASCII characters without spaces."),
        (["acct_0001", "--ends-on", "2000-01-01"], "ends_on: The last day cannot be before the first"),
        (["acct_0001", "--ends-on", "tomorrow"], "tomorrow is not a day such as 2026-01-31"),
        (["acct_0001", "--ends-on", "2026-02-30"], "2026-02-30 is not a day: day is out of range for month"),
        (["acct_0001", "--sites-limit", "-1"], "sites_limit: Ensure this value is greater than"),
        (["acct_0001", "--status", "paid"], "invalid choice: 'paid'"),
        (["acct_0001", "--plan", " "], "plan: Name the plan"),
        (["acct_0001", "--name", "\udcff"], "must be UTF-8"),
    ],
)
def test_account_is_refused_as_a_whole(arguments, refusal):
    with pytest.raises(CommandError, match=refusal):
        run("create_account", *arguments)
    assert not Account.objects.exists()


def test_account_that_exists_is_left_alone():
    run("create_account", "acct_0001", "--name", "Shop Ltd")
    with pytest.raises(CommandError, match="already exists"):
        run("create_account", "acct_0001", "--name", "Another")
    assert Account.objects.get().name == "Shop Ltd"
