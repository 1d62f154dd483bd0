from datetime import date, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils import timezone

from dashboard_api.models import Entitlement
from tests.factories import make_account, make_entitlement

pytestmark = pytest.mark.django_db

FIRST, LAST = date(2026, 1, 1), date(2026, 12, 31)
DAY = timedelta(days=1)
Status = Entitlement.Status


@pytest.fixture
def account():
    return make_account(entitled=False)


def entitlement(**fields):
    return Entitlement(**({"starts_on": FIRST, "ends_on": LAST} | fields))


@pytest.mark.parametrize(
    ("day", "usable"),
    [(FIRST - DAY, False), (FIRST, True), (LAST, True), (LAST + DAY, False)],
)
def test_entitlement_is_usable_from_its_first_to_its_last_day(day, usable):
    assert entitlement().is_usable_on(day) is usable


@pytest.mark.parametrize(
    ("status", "usable"),
    [
        (Status.TRIALING, True),
        (Status.ACTIVE, True),
        (Status.SUSPENDED, False),
        (Status.EXPIRED, False),
    ],
)
def test_entitlement_is_usable_by_its_status(status, usable):
    assert entitlement(status=status).is_usable_on(date(2026, 6, 1)) is usable


@pytest.mark.parametrize(("days", "usable"), [(0, True), (7, True), (8, False)])
def test_entitlement_past_due_is_usable_for_seven_days_of_grace(days, usable):
    since = date(2026, 6, 1)
    past_due = entitlement(status=Status.PAST_DUE, past_due_since=since)
    assert past_due.is_usable_on(since + days * DAY) is usable
    assert past_due.status_on(since + days * DAY) == (Status.PAST_DUE if usable else Status.EXPIRED)


def test_entitlement_has_its_last_usable_day():
    assert entitlement().usable_until == LAST
    past_due = entitlement(status=Status.PAST_DUE, past_due_since=date(2026, 6, 1))
    assert past_due.usable_until == date(2026, 6, 8)


def test_entitlement_past_due_without_the_start_of_its_grace_is_not_usable():
    assert not entitlement(status=Status.PAST_DUE, past_due_since=None).is_usable_on(date(2026, 6, 1))


def test_a_payment_that_fails_on_the_last_day_gives_the_full_seven_days():
    past_due = entitlement(status=Status.PAST_DUE, past_due_since=LAST)
    assert past_due.usable_until == LAST + 7 * DAY
    assert past_due.is_usable_on(LAST + 7 * DAY)
    assert past_due.status_on(LAST + 7 * DAY) == Status.PAST_DUE
    assert not past_due.is_usable_on(LAST + 8 * DAY)
    assert past_due.status_on(LAST + 8 * DAY) == Status.EXPIRED


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.TRIALING])
def test_a_renewing_plan_stays_usable_three_days_past_its_period(status):
    renewing = entitlement(status=status, renews=True)
    assert renewing.usable_until == LAST + 3 * DAY
    assert renewing.is_usable_on(LAST + 3 * DAY)
    assert renewing.status_on(LAST + 3 * DAY) == status
    assert not renewing.is_usable_on(LAST + 4 * DAY)
    assert renewing.status_on(LAST + 4 * DAY) == Status.EXPIRED


@pytest.mark.parametrize("status", [Status.SUSPENDED, Status.EXPIRED])
def test_a_renewing_plan_that_was_stopped_has_no_grace(status):
    stopped = entitlement(status=status, renews=True)
    assert stopped.usable_until == LAST
    assert not stopped.is_usable_on(LAST)


@pytest.mark.parametrize(
    "fields",
    [
        {"ends_on": date.max, "renews": True},
        {"status": Status.PAST_DUE, "past_due_since": date.max},
    ],
)
def test_no_grace_goes_beyond_the_last_day_of_the_calendar(fields):
    assert entitlement(**fields).usable_until == date.max


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.TRIALING])
def test_entitlement_has_expired_after_its_last_day_whatever_is_stored(status):
    assert entitlement(status=status).status_on(LAST + DAY) == Status.EXPIRED


def test_entitlement_stays_suspended_after_its_last_day():
    assert entitlement(status=Status.SUSPENDED).status_on(LAST + DAY) == Status.SUSPENDED


def test_entitlement_cannot_end_before_it_starts(account):
    with pytest.raises(ValidationError) as refusal:
        entitlement(account=account, ends_on=FIRST - DAY).full_clean()
    assert refusal.value.message_dict == {"ends_on": ["The last day cannot be before the first, 2026-01-01."]}


def test_database_refuses_an_entitlement_that_ends_before_it_starts(account):
    with pytest.raises(IntegrityError, match="dashboard_api_entitlement_ends_after_start"):
        make_entitlement(account, starts_on=LAST, ends_on=FIRST)


def test_database_refuses_past_due_without_the_start_of_its_grace(account):
    with pytest.raises(IntegrityError, match="dashboard_api_entitlement_past_due_has_start"):
        make_entitlement(account, status=Status.PAST_DUE)


def test_entitlement_past_due_counts_its_grace_from_today_by_default(account):
    past_due = entitlement(account=account, status=Status.PAST_DUE)
    past_due.full_clean()
    assert past_due.past_due_since == timezone.now().date()

    past_due = entitlement(account=account, status=Status.PAST_DUE, past_due_since=FIRST)
    past_due.full_clean()
    assert past_due.past_due_since == FIRST


def test_entitlement_paid_again_forgets_its_grace(account):
    paid = entitlement(account=account, status=Status.ACTIVE, past_due_since=FIRST)
    paid.full_clean()
    assert paid.past_due_since is None


@pytest.mark.parametrize("features", [{"export": True}, ["export", 1], ["export", " "], "export"])
def test_entitlement_features_are_a_list_of_names(account, features):
    with pytest.raises(ValidationError, match="list of names"):
        entitlement(account=account, features=features).full_clean()


def test_entitlement_without_features_has_an_empty_list(account):
    bare = entitlement(account=account, features=None)
    bare.full_clean()
    assert bare.features == []
