"""The view models of the page of the plan."""

from datetime import UTC, date, datetime

import pytest

from portal.plan.view_models import plan_section, state_in_words
from signed_api.billing import AccountEntitlement, EntitlementResponse, LimitUse, OfferedPlan
from tests.structs import build

DAY = date(2027, 1, 31)
LIMITS = {"websites": 5, "calls_per_day": None, "scans_per_month": 100, "seats": 3}


def shown_as(*, revision=2, **limits):
    """Return how the offered plans name the reader's, which has this revision and these limits."""
    answer = build(
        EntitlementResponse,
        ok=True,
        entitlement=build(
            AccountEntitlement, plan="team", revision=revision, status="active", ends_on=DAY, usable_until=DAY
        ),
        limits=[build(LimitUse, name=name, limit=limit, used=1) for name, limit in (LIMITS | limits).items()],
        plans=[
            build(OfferedPlan, slug="starter", revision=1, limits=LIMITS),
            build(OfferedPlan, slug="team", revision=2, limits=LIMITS),
        ],
    )
    section = plan_section(answer, members=1, now=datetime(2027, 1, 1, tzinfo=UTC))
    return [column.own for column in section.plans]


def test_the_offered_plan_with_the_terms_of_the_reader_is_theirs():
    assert shown_as() == ["", "yours"]


def test_another_version_of_the_readers_plan_is_not_called_theirs():
    assert shown_as(revision=1) == ["", "yours is an earlier version, with the limits above"]


@pytest.mark.parametrize("limits", [{"websites": 8}, {"seats": None}, {"calls_per_day": 10}])
def test_a_plan_with_a_limit_of_the_readers_own_says_where_their_limits_are(limits):
    assert shown_as(**limits) == ["", "yours, with the limits above"]


@pytest.mark.parametrize(
    ("plan", "words"), [("trial", "Your trial runs until"), ("team", "Your trial of Team runs until")]
)
def test_a_trial_of_the_plan_that_is_one_does_not_repeat_its_name(plan, words):
    own = build(AccountEntitlement, plan=plan, status="trialing", ends_on=DAY, usable_until=DAY)
    sentence, _ = state_in_words(own, date(2027, 1, 1))
    assert sentence == f"{words} 31 Jan 2027."


@pytest.mark.parametrize("status", ["active", "trialing"])
def test_a_renewal_that_no_payment_has_confirmed_is_not_promised_any_more(status):
    own = build(
        AccountEntitlement,
        plan="team",
        status=status,
        ends_on=DAY,
        usable_until=date(2027, 2, 3),
        renews=True,
    )
    on_the_day, _ = state_in_words(own, DAY)
    assert "not confirmed" not in on_the_day
    sentence, next_step = state_in_words(own, date(2027, 2, 1))
    assert sentence == "The payment for Team after 31 Jan 2027 is not confirmed yet."
    assert next_step.startswith("Everything works until 3 Feb 2027. If it is not confirmed by then, results")
