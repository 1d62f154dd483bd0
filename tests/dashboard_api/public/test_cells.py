"""The floor, the rounding and the attacks on published numbers."""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from dashboard_api.public.cells import LEAST, Rounding, Table, shortfall
from dashboard_api.public.population import CountedWebsite
from dashboard_api.public.sample import sample_websites
from dashboard_api.public.statistics import monday_of, statistics
from tests.dashboard_api.public import attacks

NOW = datetime(2026, 11, 23, 3, tzinfo=UTC)
DAY = date(2026, 11, 22)


def crowd(number, *, accounts=5, first=1, **fields):
    return [
        CountedWebsite(number=n, host=f"w{n}.com", accounts=frozenset({n % accounts}), **fields)
        for n in range(first, first + number)
    ]


def table_of(websites, key=b"key"):
    return Table(websites, Rounding(key, "2026-47"))


def document_of(websites, *, day=DAY, key=b"key", weeks=()):
    return statistics(websites, day=day, made_at=NOW, key=key, weeks=list(weeks))[0]


def test_a_cell_needs_15_websites_of_5_accounts_of_which_none_has_more_than_40_percent():
    assert shortfall(crowd(15)) is None
    assert shortfall(crowd(14)) == "few_websites"
    assert shortfall(crowd(100, accounts=4)) == "few_accounts"
    large = [replace(each, accounts=frozenset({9})) for each in crowd(11, first=100)]
    assert shortfall(crowd(15) + large) == "one_account"
    assert shortfall(crowd(15) + large[:10]) is None


def test_a_median_that_the_floor_removes_is_named_with_its_reason():
    many = crowd(15, days_to_fix={"High": 3})
    few = crowd(14, first=100, days_to_fix={"Low": 3})
    document, table = statistics(many + few, day=DAY, made_at=NOW, key=b"key", weeks=[])
    assert list(document["median_days_to_fix"]) == ["High"]
    removed = [each for each in table.removed if each.cell.startswith("days_to_fix")]
    assert removed == [
        ("days_to_fix Medium", 0, "few_websites"),
        ("days_to_fix Low", 14, "few_websites"),
    ]


def test_a_website_of_two_accounts_counts_for_each_of_them():
    shared = [replace(each, accounts=each.accounts | {9}) for each in crowd(15)]
    assert shortfall(shared) == "one_account"


@pytest.mark.parametrize(
    ("count", "base"), [(57, 10), (640, 50), (7_777, 100), (54_321, 500), (7_654_321, 1_000)]
)
def test_numbers_are_rounded_to_a_neighbouring_multiple(count, base):
    numbers = {Rounding(str(key).encode(), "2026-47").rounded("x", count) for key in range(40)}
    assert numbers == {count // base * base, (count // base + 1) * base}


def test_a_number_is_the_same_all_week_and_its_limit_is_secret():
    first, other = Rounding(b"key", "2026-47"), Rounding(b"key", "2026-48")
    assert [first.rounded("x", 57) for _ in range(3)] == [first.rounded("x", 57)] * 3
    limits = {
        next(count for count in range(51, 61) if Rounding(bytes([key]), "2026-47").rounded("x", count) == 60)
        for key in range(200)
    }
    assert limits == set(range(51, 61))
    assert any(first.rounded(str(cell), 57) != other.rounded(str(cell), 57) for cell in range(50))


def test_small_groups_become_others_and_never_one_alone():
    groups = {"A": crowd(40), "B": crowd(30, first=100), "F": crowd(3, first=200)}
    table = table_of([each for group in groups.values() for each in group])
    assert set(table.partition("grade", groups)) == {"A", "other"}
    assert {(each.cell, each.reason) for each in table.removed} == {
        ("grade F", "few_websites"),
        ("grade B", "too_few_others"),
    }


def test_the_smallest_group_is_always_part_of_others():
    # Else they would appear with the first website of another group, and tell its grade.
    groups = {"A": crowd(20), "B": crowd(30, first=100), "C": crowd(40, first=200)}
    table = table_of([each for group in groups.values() for each in group])
    assert set(table.partition("grade", groups)) == {"B", "C", "other"}
    assert set(table.partition("grade", groups | {"F": crowd(1, first=300)})) == {"B", "C", "other"}


def test_a_property_of_every_website_is_no_number():
    websites = crowd(60, open=frozenset({"High"}))
    assert table_of(websites).subset("open High", websites) is None
    assert table_of(websites).subset("open High", websites[:50]) is None
    assert table_of(websites).subset("open High", websites[:40]) is not None
    assert table_of(websites).partition("grade", {"C": websites}) == {
        "other": table_of(websites).total("grade other")
    }


def test_too_few_websites_have_no_numbers():
    document = document_of(crowd(14, grade="A", open=frozenset({"High"})))
    assert document["websites"] == "<15"
    assert not any(
        document[name] for name in ("grades", "open", "weeks", "categories", "regions", "coverage")
    )


def test_small_countries_are_part_of_their_continent():
    websites = [
        *crowd(40, region="DE"),
        *crowd(9, first=100, region="AT"),
        *crowd(30, first=200, region="150"),
    ]
    websites += crowd(40, first=300, region="US") + crowd(20, first=400, region="JP")
    regions = {row["region"] for row in document_of(websites)["regions"]}
    assert regions == {"DE", "150", "US", "other"}


def test_published_weeks_are_never_counted_again():
    first = document_of(sample_websites())
    assert [row["week"] for row in first["weeks"]] == ["2026-11-16"] == [monday_of(DAY).isoformat()]
    again = document_of(sample_websites(seed=1), day=DAY + timedelta(days=3), weeks=first["weeks"])
    assert again["weeks"] == first["weeks"]
    later = document_of(sample_websites(seed=1), day=DAY + timedelta(days=7), weeks=first["weeks"])
    assert later["weeks"][0] == first["weeks"][0]
    assert [row["week"] for row in later["weeks"]] == ["2026-11-16", "2026-11-23"]


def test_no_number_of_many_populations_breaks_a_rule():
    for seed in range(100):
        attacks.check_population(seed)


def test_a_website_that_comes_and_goes_changes_a_number_only_by_the_chance_of_rounding():
    websites = sample_websites()
    victim, changed, numbers = websites[7], Counter(), Counter()
    for key in range(30):
        with_it = attacks.numbers_of(document_of(websites, key=bytes([key])))
        without = attacks.numbers_of(
            document_of([each for each in websites if each is not victim], key=bytes([key]))
        )
        for cell in with_it.keys() & without.keys():
            numbers["all"] += 1
            changed["all"] += with_it[cell] != without[cell]
    assert changed["all"] / numbers["all"] < 1 / 10


def test_an_owner_of_all_but_one_website_learns_nothing():
    own = [replace(each, accounts=frozenset({1})) for each in crowd(200, grade="C")]
    for victim in ([], crowd(1, first=900, grade="F"), crowd(1, first=900, grade="C", region="DE")):
        assert document_of(own + victim) == document_of(own)


def test_an_owner_of_all_accounts_but_one_cannot_count_the_others_exactly():
    # Several accounts of one owner pass the floor; then only the rounding protects, by its secret limit.
    own = crowd(40, accounts=8, grade="C")
    victim = crowd(1, first=900, grade="C")
    differs = sum(
        document_of(own + victim, key=bytes([key]))["websites"]
        != document_of(own, key=bytes([key]))["websites"]
        for key in range(100)
    )
    assert differs / 100 < 0.2


def test_no_name_and_no_account_is_in_a_document():
    websites = [replace(each, host=f"canary{each.number}.com") for each in sample_websites()]
    assert "canary" not in json.dumps(document_of(websites))
    assert LEAST > 15 - 1
