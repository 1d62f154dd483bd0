import json

import pytest

from benchmarks.figures import Figure, Table, report


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
