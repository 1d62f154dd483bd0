"""Snapshots hold by their own order, whatever the order of arrival: values only, no database."""

from datetime import date
from itertools import permutations
from random import Random

from dashboard_api.billing.snapshots import Snapshot, best, effect, is_ambiguous, latest, merge

DAY = date(2026, 11, 23)


def snapshot(order, status="active", **fields):
    defaults = {"object_id": "sub_1", "ends_on": date(2026, 12, 31), "plan": "team"}
    return Snapshot(order=order, status=status, **(defaults | fields))


def arrive(events):
    held = ()
    for each in events:
        held = merge(held, each)
    return held


# A trial is paid, paid late, stopped and paid again; the last two happened in the same second.
LATE = {"status": "past_due"}
LIFE = [
    snapshot((10, 0), "trialing", facts={"status": "trialing"}),
    snapshot((20, 1), "active", facts={"status": "active"}, previous={"status": "trialing"}),
    snapshot((30, 1), "past_due", past_due_since=DAY, facts=LATE, previous={"status": "active"}),
    snapshot((40, 1), "suspended", facts={"status": "unpaid"}, previous=LATE),
    snapshot((50, 1), "past_due", past_due_since=DAY, facts=LATE, previous={"status": "unpaid"}),
    snapshot((50, 1), "active", facts={"status": "active"}, previous=LATE),
]


def test_all_720_orders_of_a_life_end_in_one_state_also_with_copies():
    dice = Random(1)
    ends = set()
    for order in permutations(LIFE):
        copies = [each for each in order for _ in range(dice.randint(1, 3))]
        dice.shuffle(copies)
        for events in (order, copies):
            held = arrive(events)
            ends.add((str(held), str(latest(held)), is_ambiguous(held)))
    assert len(ends) == 1
    assert latest(arrive(LIFE)) == LIFE[-1]


def test_a_chain_of_one_second_ends_with_the_values_that_nothing_replaced():
    chain = [
        snapshot((1, 1), "active", facts={"status": "active"}, previous={"status": "incomplete"}),
        snapshot((1, 1), "past_due", past_due_since=DAY, facts=LATE, previous={"status": "active"}),
        snapshot((1, 1), "suspended", facts={"status": "unpaid"}, previous=LATE),
    ]
    assert all(latest(arrive(order)) == chain[-1] for order in permutations(chain))


def test_members_in_another_order_are_the_same_snapshot():
    one, other = snapshot((1, 0), facts={"a": 1, "bb": 2}), snapshot((1, 0), facts={"bb": 2, "a": 1})
    assert len(arrive([one, other])) == 1


def test_a_contradiction_is_noticed_and_decided_alike_in_both_orders():
    pair = [snapshot((1, 0), "active"), snapshot((1, 0), "suspended")]
    assert is_ambiguous(arrive(pair))
    assert latest(arrive(pair)) == latest(arrive(reversed(pair)))


def test_an_overdue_extra_never_blocks_a_year_that_is_paid():
    year = snapshot((1, 0), renews=True)
    extra = snapshot((9, 0), "past_due", object_id="sub_2", ends_on=date(2027, 12, 31), past_due_since=DAY)
    ended = snapshot((9, 0), "active", object_id="sub_3", ends_on=date(2026, 1, 1))
    begun = snapshot((9, 0), "", object_id="sub_4")
    assert best([extra, year, ended, begun], DAY) == year
    assert best([extra, ended], DAY) == extra
    assert best([begun], DAY) is None


def test_a_cancelled_plan_does_not_renew():
    values = effect(snapshot((1, 0), cancels=True, renews=True))
    assert (values["renews"], values["cancels"], values["past_due_since"]) == (False, True, None)
