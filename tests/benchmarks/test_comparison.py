import itertools

import pytest

from benchmarks.comparison import burst_of, compare


def test_ratio_is_the_median_of_the_rounds_own_ratios():
    # In the second round the machine is slow: both costs double, and the ratio is the same.
    mine, other = iter([20.0, 40.0, 22.0]), iter([10.0, 20.0, 10.0])
    costs = compare({"mine": lambda: next(mine), "other": lambda: next(other)}, rounds=3)
    assert costs.ratio("mine", "other") == 2.0
    assert costs.cost("mine") == 22.0


def test_contenders_take_turns():
    order = []
    compare({name: lambda name=name: order.append(name) or 1.0 for name in "ab"}, rounds=2)
    assert order == ["a", "b", "a", "b"]


def test_a_burst_returns_the_seconds_of_one_call():
    calls = itertools.count()
    assert 0 < burst_of(lambda: next(calls), seconds=0.001)() < 0.001
    assert next(calls) > 100


def test_ratio_refuses_rounds_that_differ_in_number():
    costs = compare({"a": lambda: 1.0}, rounds=2)
    costs.rounds["b"] = [1.0]
    with pytest.raises(ValueError, match="shorter"):
        costs.ratio("a", "b")
