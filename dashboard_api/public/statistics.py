"""The statistics of all counted websites. Every number counts websites, not findings."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from dashboard_api.public.counting import (
    SEVERITIES,
    CountedWebsite,
    Population,
    is_crowd,
    published_number,
    rounded,
)
from foundation.texts.categories import TITLES

GRADES = "ABCDF"


def statistics(population: Population, *, made_at: datetime) -> dict[str, object]:
    """Return the document; it has no numbers if the population is too small to hide a website."""

    def numbers(
        names: Iterable[str], belongs: Callable[[CountedWebsite, str], bool], *, by_size: bool = False
    ) -> Mapping[str, int]:
        found = {}
        for name in names:
            part = [website for website in population if belongs(website, name)]
            if number := published_number(part, population):
                found[name] = number
        return dict(sorted(found.items(), key=lambda item: -item[1])) if by_size else found

    regions = sorted({website.region for website in population})
    return {
        "made_at": utc_text(made_at),
        "websites": rounded(len(population)) if is_crowd(population) else None,
        "grades": numbers(GRADES, lambda website, grade: website.grade == grade),
        "open": numbers(SEVERITIES, lambda website, severity: severity in website.open),
        "categories": numbers(TITLES, lambda website, name: name in website.categories, by_size=True),
        "regions": numbers(regions, lambda website, region: website.region == region, by_size=True),
    }


def utc_text(at: datetime) -> str:
    """Return a time in the form of published documents, such as 2026-11-23T06:00:00Z."""
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
