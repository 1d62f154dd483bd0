"""The statistics of a day: a document made of counted websites, and of the weeks published before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from statistics import median_low
from typing import Any

from dashboard_api.limits import TREND_WEEKS
from dashboard_api.public.cells import OTHER, TOO_FEW, Removed, Rounding, Table, shortfall
from dashboard_api.public.population import SEVERITIES, CountedWebsite, Population
from foundation.categories import TITLES
from foundation.regions import broader

METHOD = "1"  # of counting, rounding and the floor; a document with other rules has another number
MAX_CATEGORIES = 10
GRADES = "ABCDF"
_DAYS = (1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 90)

Week = Mapping[str, Any]


def monday_of(day: date) -> date:
    """Return the Monday of the last week that was over by the end of ``day``."""
    return day - timedelta(days=(day.weekday() + 1) % 7 + 6)


def statistics(
    population: Population, *, day: date, made_at: datetime, key: bytes, weeks: Sequence[Week]
) -> tuple[dict[str, Any], Table]:
    """Return the document of ``day``, and the table with what the floor removed.

    ``weeks`` are those of the newest document before: a published week is never counted again.
    """
    year, week, _ = day.isocalendar()
    table = Table(population, Rounding(key, f"{year}-{week:02}"))
    total = table.total("websites")
    document: dict[str, Any] = {
        "day": day.isoformat(),
        "made_at": made_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "stale": False,
        "method": METHOD,
        "websites": TOO_FEW if total is None else total,
        "grades": {},
        "open": {},
        "weeks": [dict(each) for each in weeks],
        "median_days_to_fix": {},
        "categories": [],
        "regions": [],
        "coverage": {},
    }
    if total is not None:
        document |= {
            "grades": table.partition("grade", _groups(population, "grade")),
            "open": _subsets(table, "open", SEVERITIES),
            "weeks": _weeks(table, weeks, monday_of(day)),
            "median_days_to_fix": _days_to_fix(table),
            "categories": _categories(table, total),
            "regions": _regions(table),
            "coverage": {"engines_per_website": median_low(each.engines for each in population)},
        }
    return document, table


def _groups(population: Population, name: str) -> dict[str, list[CountedWebsite]]:
    groups: dict[str, list[CountedWebsite]] = defaultdict(list)
    for website in population:
        groups[getattr(website, name)].append(website)
    return groups


def _subsets(table: Table, name: str, values: Sequence[str]) -> dict[str, int]:
    """Return the numbers of websites that have each value, without those that are not published."""
    numbers = {
        value: table.subset(
            f"{name} {value}", [each for each in table.population if value in getattr(each, name)]
        )
        for value in values
    }
    return {value: number for value, number in numbers.items() if number is not None}


def _weeks(table: Table, weeks: Sequence[Week], monday: date) -> list[dict[str, Any]]:
    """Return the published weeks, and the last closed one if it is new."""
    known = [dict(each) for each in weeks]
    if not known or known[-1]["week"] < monday.isoformat():
        row: dict[str, Any] = {"week": monday.isoformat()}
        for name in ("found", "fixed"):
            websites = [each for each in table.population if getattr(each, name)]
            row[name] = table.subset(f"{name} {row['week']}", websites)
        known.append(row)
    return known[-TREND_WEEKS:]


def _days_to_fix(table: Table) -> dict[str, int]:
    """Return the median over websites of their median, up to the next of a few round numbers."""
    medians = {}
    for severity in SEVERITIES:
        websites = [each for each in table.population if severity in each.days_to_fix]
        if reason := shortfall(websites):
            table.removed.append(Removed(f"days_to_fix {severity}", len(websites), reason))
            continue
        days = median_low(each.days_to_fix[severity] for each in websites)
        medians[severity] = next((step for step in _DAYS if days <= step), _DAYS[-1])
    return medians


def _categories(table: Table, total: int) -> list[dict[str, Any]]:
    numbers = _subsets(table, "categories", list(TITLES))
    rows = [
        {"id": name, "label": TITLES[name], "share": min(round(100 * number / total), 100)}
        for name, number in numbers.items()
    ]
    return sorted(rows, key=lambda row: (-row["share"], row["id"]))[:MAX_CATEGORIES]  # type: ignore[operator]


def _regions(table: Table) -> list[dict[str, Any]]:
    """Return the numbers of regions; countries that are too small are part of their continent."""
    groups = _groups(table.population, "region")
    for region in [each for each in groups if shortfall(groups[each]) and len(broader(each)) > 2]:
        small = groups.pop(region)
        table.removed.append(Removed(f"region {region}", len(small), shortfall(small) or "few_websites"))
        groups[broader(region)[1]] += small
    numbers = table.partition("region", groups)
    rows = [{"region": region, "websites": number} for region, number in numbers.items()]
    return sorted(rows, key=lambda row: (row["region"] == OTHER, -row["websites"], row["region"]))
