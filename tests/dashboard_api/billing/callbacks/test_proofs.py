"""Every order, many copies at once, and kills between any two statements: on the database of the tests."""

import os
import subprocess
import sys

import pytest
from django.db import connection

from dashboard_api.models import PlanPrice
from tests.dashboard_api.billing.callbacks import stripe_events
from tests.dashboard_api.billing.callbacks.proofs import life, orders
from tests.databases import url_of
from tests.factories import make_account, make_plan


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.django_db
def test_all_720_orders_of_a_life_end_in_one_state_also_with_copies():
    make_plan("acct_0001")
    number, ends = orders(provider="standard", bodies=life(make_account("acct_0001")))
    assert number == 720
    assert len(ends) == 1
    assert "'status': 'active'" in ends.pop()


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.django_db
def test_all_orders_of_a_life_at_stripe_end_in_one_state_also_if_the_checkout_comes_last():
    PlanPrice.objects.create(provider="stripe", price=stripe_events.PRICE, plan=make_plan())
    account = make_account()
    bodies = [stripe_events.checkout(account.billing_ref), *stripe_events.life()[1:]]
    number, ends = orders(provider="stripe", bodies=bodies)
    assert number == 720
    assert len(ends) == 1
    assert "'status': 'active'" in ends.pop()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_copies_from_8_processes_are_applied_once_and_kills_leave_nothing_half_applied():
    """One test, because each process that starts takes seconds; the kills are in all places."""
    command = [sys.executable, "-m", "tests.dashboard_api.billing.callbacks.proofs"]
    environment = os.environ | {
        "DATABASE_URL": url_of(connection),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
