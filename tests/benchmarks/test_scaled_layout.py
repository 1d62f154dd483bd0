"""What the layout of several machines computes from the CPU that it measured."""

import pytest

from benchmarks import scaled_layout

COSTS = {"web process 1": 0.002, "web process 2": 0.004, "PostgreSQL": 0.001, "Redis": 0.0001}


def test_capacity_follows_from_the_cores_of_the_database():
    capacity = scaled_layout._capacity_table(COSTS).cells
    assert capacity["8 cores of PostgreSQL", "requests"].value == pytest.approx(8_000)
    assert capacity["8 cores of PostgreSQL", "web processes' cores"].value == pytest.approx(48)


def test_a_plan_leaves_room_and_the_primary_what_is_no_answer():
    plan = scaled_layout._plan_table(COSTS, staying=0.25).cells
    assert plan["1,000 a second", "web"].value == pytest.approx(6 / scaled_layout.BUSY)
    assert plan["1,000 a second", "PostgreSQL"].value == pytest.approx(1 / scaled_layout.BUSY)
    assert plan["1,000 a second", "of them, on the primary"].value == pytest.approx(0.25 / scaled_layout.BUSY)
