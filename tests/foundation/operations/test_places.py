"""Places of a process: as many as there are, and never the last one for an account that has others."""

from contextlib import ExitStack, suppress

import pytest

from foundation.operations import places as module
from foundation.operations.places import NoPlace, Places, SlowCallers


def test_an_account_never_holds_the_last_place():
    places = Places(3)
    assert [places.take(1) for _ in range(3)] == [True, True, False]
    assert places.take(2)
    assert not places.take(3), "all are held"
    assert [places.holds(account) for account in (1, 2, 3)] == [True, True, False]


def test_a_place_that_is_given_back_is_free_again():
    places = Places(2)
    for account in (1, 1, 2):
        assert places.take(account)
        places.give_back(account)
    assert places.take(1)
    assert places.take(2)
    assert not places.take(3)


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def number_held(callers, *accounts):
    """Return how many places these accounts get one after another, all held at the same time."""
    count = 0
    with ExitStack() as held:
        for account in accounts:
            try:
                held.enter_context(callers.place(account))
            except NoPlace:
                continue
            count += 1
    return count


def make_slow(callers, clock, account, kind=""):
    with callers.place(account, kind):
        clock.now += 1.1


def test_callers_have_all_threads_until_one_of_their_requests_is_slow(clock):
    callers = SlowCallers(2)
    assert number_held(callers, *[1] * 10) == 10
    make_slow(callers, clock, 1)
    assert number_held(callers, *[1] * 10) == 2
    assert number_held(callers, *[2] * 10) == 10


def test_a_caller_is_slow_for_two_minutes(clock):
    callers = SlowCallers(2)
    make_slow(callers, clock, 1)
    clock.now += 119
    assert number_held(callers, 1, 1, 1) == 2
    clock.now += 2
    assert number_held(callers, 1, 1, 1) == 3


def test_slow_callers_together_have_one_place_more_and_each_the_first(clock):
    callers = SlowCallers(2)
    for account in (1, 2, 3):
        make_slow(callers, clock, account)
    assert number_held(callers, 1, 1, 1, 2, 2, 3) == 4


def test_a_slow_request_that_fails_gives_its_place_back(clock):
    callers = SlowCallers(2)
    for _ in range(3):
        with suppress(OSError), callers.place(1):
            clock.now += 1.1
            raise OSError
    assert number_held(callers, 1, 1, 1) == 2


def test_requests_of_another_kind_have_all_places_until_one_of_them_is_slow(clock):
    callers = SlowCallers(2)
    make_slow(callers, clock, 1, "change")
    with callers.place(1, "change"), callers.place(1, "change"):
        assert number_held(callers, *[1] * 10) == 10
        make_slow(callers, clock, 1)
        assert number_held(callers, 1, 1) == 1, "an account has no more than three places in all"
        assert number_held(callers, 2) == 1
