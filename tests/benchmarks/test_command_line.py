import itertools
import json

import pytest

from benchmarks.command_line import Figure, Table, burst_of, compare, report


def make_table():
    table = Table("Speed", "On one machine.")
    table.add("verify", "us", 4.7361, "us")
    table.add("verify", "times the floor", 2.08, "times", at_most=2.2)
    table.add("sign", "times the floor", 3.5, "times", at_most=1.5)
    return table


@pytest.mark.parametrize(
    ("bounds", "value", "goal", "met"),
    [
        ({"at_most": 2.2}, 2.2, "<= 2.2", True),
        ({"at_most": 2.2}, 2.21, "<= 2.2", False),
        ({"at_least": 3}, 3, ">= 3", True),
        ({"at_least": 3}, 2.99, ">= 3", False),
        ({}, 1, None, None),
    ],
)
def test_figure_knows_whether_its_goal_is_met(bounds, value, goal, met):
    figure = Figure(name="n", value=value, unit="times", **bounds)
    assert (figure.goal, figure.met) == (goal, met)


def test_figure_as_json_has_the_five_members():
    figure = Figure(name="ES1: verify, 8 KB", value=1.23456, unit="times", at_most=1.5)
    assert figure.as_json() == {
        "name": "ES1: verify, 8 KB",
        "value": 1.2346,
        "unit": "times",
        "goal": "<= 1.5",
        "met": True,
    }


def test_table_shows_rows_columns_and_missed_goals():
    assert str(make_table()).splitlines() == [
        "Speed",
        "On one machine.",
        "             us  times the floor",
        "verify  4.74 us    2.08 (<= 2.2)",
        "sign              3.50 (<= 1.5!)",
        "Missed (!): 1 of 2 goals.",
    ]


def test_report_prints_one_flat_list_as_json(capsys):
    report([make_table(), make_table()], as_json=True)
    figures = json.loads(capsys.readouterr().out)
    assert len(figures) == 6
    assert {tuple(figure) for figure in figures} == {("name", "value", "unit", "goal", "met")}


def test_report_prints_tables_for_people(capsys):
    report([make_table()], as_json=False)
    assert capsys.readouterr().out == f"{make_table()}\n\n"


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
