import ast
from datetime import date, timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.billing import entitlements, plans
from dashboard_api.models import Entitlement, Plan
from tests.factories import make_account, make_entitlement, make_plan

pytestmark = pytest.mark.django_db

FIRST, LAST = date(2026, 1, 1), date(2026, 12, 31)
ROOT = Path(__file__).parents[3]
Status = Entitlement.Status


@pytest.fixture
def account():
    return make_account(entitled=False)


def change(account, **to):
    return entitlements.change(account, to, by="ada", reason="Asked for")


# Changes


def test_a_change_is_recorded_with_what_it_changed_who_and_why(account):
    make_entitlement(account, starts_on=FIRST, ends_on=LAST)
    change(account, status=Status.PAST_DUE, past_due_since=date(2026, 6, 1))
    event = AuditEvent.objects.get(action="entitlement.changed")
    assert event.before == {"status": "active", "past_due_since": None}
    assert event.after == {"status": "past_due", "past_due_since": "2026-06-01"}
    assert (event.account, event.reason) == (account.ref, "Asked for")


def test_a_change_to_the_same_values_records_nothing(account):
    make_entitlement(account)
    change(account, status=Status.ACTIVE)
    assert not AuditEvent.objects.filter(action="entitlement.changed").exists()


def test_an_account_without_an_entitlement_is_given_one_for_a_year(account):
    entitlement = change(account, plan="pro", starts_on=FIRST)
    assert (entitlement.plan, entitlement.ends_on) == ("pro", date(2027, 1, 1))


def test_a_field_that_does_not_exist_is_refused(account):
    with pytest.raises(ValueError, match="no colour"):
        change(account, colour="red")


def test_a_plan_that_renews_is_not_cancelled(account):
    assert change(account, renews=False, cancels=True).cancels
    assert not change(account, renews=True).cancels


@pytest.mark.once
def test_nothing_else_writes_entitlements():
    """``save``, ``create`` and ``update`` of entitlements are in ``billing.entitlements`` only."""
    writers = {
        "create",
        "update",
        "bulk_create",
        "bulk_update",
        "update_or_create",
        "get_or_create",
        "delete",
    }
    found = []
    for package in ("dashboard_api", "config", "portal"):
        for path in (ROOT / package).rglob("*.py"):
            if "migrations" in path.parts or path.parts[-2:] == ("billing", "entitlements.py"):
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                    continue
                called = ast.unparse(node.func)
                owner = called.rpartition(".")[0]
                is_write = node.func.attr in writers and "Entitlement.objects" in owner
                is_save = node.func.attr == "save" and owner.endswith("entitlement")
                if is_write or is_save:
                    found.append(f"{path.relative_to(ROOT)}: {called}")
    assert found == []


# Extensions


def extend(account, *, days, today):
    now = timezone.now().replace(year=today.year, month=today.month, day=today.day)
    return entitlements.extend(account, days=days, by="ada", now=now)


def test_extension_counts_from_the_last_day(account):
    make_entitlement(account, starts_on=FIRST, ends_on=LAST)
    assert extend(account, days=30, today=date(2026, 6, 1)).ends_on == date(2027, 1, 30)


def test_extension_of_an_expired_entitlement_counts_from_today_and_activates_it(account):
    make_entitlement(account, starts_on=FIRST, ends_on=LAST, status=Status.EXPIRED)
    today = date(2027, 3, 1)
    expired = extend(account, days=30, today=today)
    assert expired.ends_on == date(2027, 3, 31)
    assert expired.is_usable_on(today)


def test_extension_leaves_a_suspension_in_force(account):
    make_entitlement(account, status=Status.SUSPENDED, suspended_by_staff=True)
    assert extend(account, days=30, today=FIRST).status == Status.SUSPENDED


def test_extension_beyond_the_calendar_is_refused(account):
    make_entitlement(account)
    with pytest.raises(ValidationError, match="calendar"):
        extend(account, days=999_999_999, today=LAST)


# Plans


def test_the_limits_and_features_of_a_plan_are_copied_to_its_accounts(account):
    make_plan()
    entitlement = change(account, plan="team")
    entitlement.refresh_from_db()
    assert (entitlement.sites_limit, entitlement.seats, entitlement.calls_per_day) == (20, 3, None)
    assert entitlement.features == ["scans_daily"]


def test_an_account_keeps_its_revision_until_it_is_moved(account):
    first = make_plan()
    change(account, plan="team")
    second = make_plan(limits={"websites": 1})
    assert (second.revision, second.pk) != (first.revision, first.pk)
    assert change(account, plan="team", status=Status.TRIALING).sites_limit == 20
    plans.move_accounts(second, by="ada", reason="New prices")
    assert account.entitlement.__class__.objects.get(account=account).sites_limit == 1


def test_a_revision_that_no_account_has_had_can_be_changed():
    first = make_plan()
    assert make_plan(limits={"websites": 2}).pk == first.pk


def test_a_used_revision_is_no_longer_offered_without_a_new_one(account):
    plan = make_plan()
    change(account, plan="team")
    assert make_plan(is_offered=False).pk == plan.pk
    assert Plan.objects.offered() == []


@pytest.mark.parametrize("fields", [{"limits": {"websites": 99}}, {"rank": 3}, {"used_at": None}])
def test_the_database_refuses_to_change_a_used_revision(account, fields):
    make_plan()
    change(account, plan="team")
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        Plan.objects.update(**fields)


def test_the_database_refuses_to_delete_a_used_revision(account):
    plan = make_plan()
    change(account, plan="team")
    change(account, plan="other")
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        plan.delete()


@pytest.mark.parametrize(
    "limits", [{"websites": -1}, {"websites": None}, {"seats": 0}, {"colour": 1}, {"seats": "3"}, []]
)
def test_limits_that_no_plan_can_have_are_refused(limits):
    with pytest.raises(ValidationError):
        make_plan(limits=limits)


def test_a_plan_that_is_not_in_the_list_keeps_the_limits_of_the_entitlement(account):
    change(account, plan="custom", sites_limit=7)
    assert change(account, status=Status.SUSPENDED).sites_limit == 7


# Overrides


def override(account, limit, value, **options):
    return entitlements.override(account, limit, value, by="ada", reason="Migration", **options)


def test_an_override_holds_instead_of_the_plan_until_its_last_day(account):
    make_plan()
    change(account, plan="team")
    today = timezone.now().date()
    assert override(account, "seats", 9, until=today).seats == 9
    later = timezone.now() + timedelta(days=1)
    assert entitlements.change(account, {}, by="billing", now=later).seats == 3


def test_an_override_can_lift_a_limit_and_end_again(account):
    make_plan()
    change(account, plan="team")
    assert override(account, "seats", None).seats is None
    assert entitlements.end_override(account, "seats", by="ada", reason="Done").seats == 3


def test_another_number_of_websites_than_the_plan_has_is_an_override(account):
    make_plan()
    entitlement = change(account, plan="team", sites_limit=2)
    assert entitlement.sites_limit == 2
    assert [each.limit for each in entitlement.own_overrides] == ["websites"]
    assert change(account, sites_limit=20).own_overrides == []


@pytest.mark.parametrize(
    ("limit", "value", "options", "refusal"),
    [
        ("colour", 1, {}, "no limit colour"),
        ("websites", None, {}, "limits its websites"),
        ("seats", 2, {"until": date(2020, 1, 1)}, "past"),
    ],
)
def test_an_override_that_cannot_hold_is_refused(account, limit, value, options, refusal):
    make_plan()
    change(account, plan="team")
    with pytest.raises(ValidationError, match=refusal):
        override(account, limit, value, **options)


def test_an_override_needs_a_plan_of_the_list(account):
    make_entitlement(account)
    with pytest.raises(ValidationError, match="no plan of the list"):
        override(account, "seats", 2)
