"""A visitor with 30 days of documents learns neither whose a website is nor the count of a single one.

Each attack succeeds without the rule that stops it.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from unittest.mock import patch

import pytest

from dashboard_api.public import cells, masks
from dashboard_api.public.masks import Crowds
from dashboard_api.public.population import CountedWebsite
from dashboard_api.public.sample import sample_websites
from dashboard_api.public.statistics import statistics
from tests.dashboard_api.public.attacks import numbers_of

pytestmark = pytest.mark.once  # no database is asked

DAYS = [date(2026, 10, 26) + timedelta(days=number) for number in range(30)]  # from a Monday
VICTIM = CountedWebsite(
    number=9_001,
    host="schuhe.kz",
    accounts=frozenset({9_001}),
    region="KZ",
    is_named=True,
    grade="F",
    open=frozenset({"High"}),
    categories=frozenset({"sql-injection"}),
    found=True,
)
OTHERS = [
    replace(website, grade="C" if website.grade == "F" else website.grade) for website in sample_websites()
]


@pytest.fixture
def no_floor(monkeypatch):
    """Let every group be published."""
    for module in (cells, masks):
        monkeypatch.setattr(module, "shortfall", lambda *_, **__: None)
    with_some = "dashboard_api.public.statistics.shortfall"
    monkeypatch.setattr(with_some, lambda websites: None if websites else "few_websites")
    monkeypatch.setattr(masks, "MIN_CROWD", 1)


@pytest.fixture
def no_rounding(monkeypatch):
    monkeypatch.setattr(cells.Rounding, "rounded", lambda _self, _cell, count: count)


def documents(population_of, *, key=b"key", days=DAYS):
    """Return the documents of 30 days, each made with the weeks of the one before."""
    weeks, made = [], []
    for day in days:
        made_at = datetime(day.year, day.month, day.day, 3, tzinfo=UTC) + timedelta(days=1)
        document, _ = statistics(population_of(day), day=day, made_at=made_at, key=key, weeks=weeks)
        weeks = document["weeks"]
        made.append(document)
    return made


def joins_on_day_15(day):
    return [*OTHERS, VICTIM] if day >= DAYS[15] else OTHERS


def new_cells():
    """Return the cells that exist from the day on which the victim joins, and did not before."""
    numbers = [numbers_of(document).keys() for document in documents(joins_on_day_15)]
    new = {cell for cell in numbers[15] - numbers[14] if cell.startswith(("grade", "region"))}
    return {cell for cell in new if all(cell in later for later in numbers[15:])}


def test_a_group_of_one_website_does_not_appear_when_it_joins():
    assert new_cells() == set()


def test_without_the_floor_it_would(no_floor):
    assert new_cells() == {"grade F", "region KZ"}


def hidden_by_subtraction(family):
    """Return what a visitor finds by subtracting the shown groups from all websites."""
    document = documents(joins_on_day_15)[-1]
    numbers = {name: count for name, count in numbers_of(document).items() if name.startswith(family)}
    return document["websites"] - sum(numbers.values()), f"{family} {cells.OTHER}" in numbers


def test_no_group_is_found_by_subtracting_the_shown_ones(no_rounding):
    # Even exact numbers leave nothing, as the small groups are part of one with 15 websites or more.
    for family in ("grade", "region"):
        assert hidden_by_subtraction(family) == (0, True)


def shown_alone(table, cell, groups):
    """Return the numbers of groups as a table would that only leaves the small ones out."""
    return {
        name: table._number(f"{cell} {name}", websites)
        for name, websites in groups.items()
        if cells.shortfall(websites) is None
    }


def test_without_others_a_group_would_be_found(no_rounding, monkeypatch):
    monkeypatch.setattr(cells.Table, "partition", shown_alone)
    assert hidden_by_subtraction("grade") == (1, False)


def seen_moving(*, keys):
    """Return how often a number moves with the victim, which is there on each second day."""
    few, moves = OTHERS[:85], []
    for key in keys:
        made = documents(lambda day: [*few, VICTIM] if day.weekday() % 2 else few, key=key, days=TUESDAYS)
        for before, after in batched_pairs(made):
            moves += [after[cell] > before[cell] for cell in ("websites", "open High", "grade other")]
            assert all(after[cell] - before[cell] <= 10 for cell in before)
    return sum(moves) / len(moves)


TUESDAYS = [day for day in DAYS if day.weekday() < 2]  # and the Mondays before: each pair has one secret


def batched_pairs(made):
    numbers = list(map(numbers_of, made))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_the_difference_of_two_days_tells_no_more_than_the_chance_of_rounding():
    assert 0 < seen_moving(keys=[bytes([key]) for key in range(20)]) < 0.13  # one in ten


def test_without_rounding_each_difference_would_tell_it(no_rounding):
    assert seen_moving(keys=[b"key"]) == 1


def difference_of_groups(key):
    """Return how many more websites have High findings than grade D, as a visitor averages 30 days."""
    numbers = list(map(numbers_of, documents(lambda _day: NESTED, key=key, days=DAYS[::7])))
    return sum(each["open High"] - each["grade D"] for each in numbers) / len(numbers)


# All websites of grade D have an open High finding, and so has one website of another grade.
NESTED = [
    CountedWebsite(
        number=number,
        host=f"w{number}.com",
        accounts=frozenset({number % 7}),
        region="US",
        grade="D" if number < 43 else "B" if number < 73 else "A",
        open=frozenset({"High"}) if number < 44 else frozenset(),
    )
    for number in range(90)
]


def test_of_two_groups_the_difference_of_one_website_is_not_seen_in_30_days():
    found = Counter(round(difference_of_groups(bytes([key]))) for key in range(30))
    assert found[1] / found.total() < 1 / 2
    assert min(found) < 0 < 2 < max(found)


def test_without_rounding_the_difference_would_be_exact(no_rounding):
    assert difference_of_groups(b"key") == 1


def fitting():
    """Return the websites that a visitor who knows all customers finds for each mask."""
    found = defaultdict(list)
    for website in (*OTHERS, VICTIM):
        for domain, region in {(each.domain, each.region) for each in masks._masks(website)}:
            found[domain, region].append(website)
    return found


def test_an_entry_of_the_feed_fits_ten_websites_of_five_accounts_on_every_day():
    found = fitting()
    for population in map(joins_on_day_15, DAYS[14:16]):
        crowds = Crowds(population)
        for _, domain, region in {crowds.mask_of(website) for website in population}:
            assert len({each.host for each in found[domain, region]}) >= masks.MIN_CROWD
            accounts = {account for each in found[domain, region] for account in each.accounts}
            assert len(accounts) >= cells.MIN_ACCOUNTS


def test_without_the_crowd_an_entry_would_name_its_website(no_floor):
    _, domain, region = Crowds([*OTHERS, VICTIM]).mask_of(VICTIM)
    assert fitting()[domain, region] == [VICTIM]


def test_statistics_and_feed_together_show_no_region_of_few_websites():
    document = documents(joins_on_day_15)[-1]
    population = joins_on_day_15(DAYS[-1])
    crowds = Crowds(population)
    regions = Counter(website.region for website in population)
    shown = {row["region"] for row in document["regions"]} | {
        crowds.mask_of(website).region for website in population
    }
    assert all(regions[region] >= masks.MIN_CROWD for region in shown if len(region) == 2)
    with patch.object(masks, "MIN_CROWD", 1), patch.object(masks, "shortfall", lambda *_, **__: None):
        assert Crowds(population).mask_of(VICTIM).region == "KZ"
