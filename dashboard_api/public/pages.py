"""View models of the public page: published documents in the words of the reader's language."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _

from dashboard_api.public.cells import OTHER, TOO_FEW
from foundation.categories import TITLES
from foundation.regions import region_label

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """An entry of the feed; ``tone`` is the name of its colour."""

    severity: str
    tone: str
    domain: str
    description: str
    region: str
    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedView:
    """The feed, and when it was made."""

    entries: list[EntryView]
    made_at: datetime
    is_stale: bool
    is_sample: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberView:
    """A number in a table, and its share of ``most`` for a meter."""

    label: str
    number: int
    most: int
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """A table of numbers, with the id of its definition."""

    id: str
    title: str
    meaning: str
    rows: list[NumberView]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsView:
    """The statistics of a day; ``websites`` is None if there are too few."""

    day: date
    made_at: datetime
    is_stale: bool
    is_sample: bool
    websites: int | None
    engines: int | None
    tables: list[TableView]
    weeks: list[Document]


def feed_view(document: Document | None, length: int | None = None) -> FeedView | None:
    """Return the first entries of the published feed; None without one."""
    if document is None:
        return None
    return FeedView(
        entries=[
            EntryView(
                severity=_(each["severity"]),
                tone=each["severity"].lower(),
                domain=each["domain"],
                description=_category(each["category"]),
                region=region_label(each["region"]),
                day=date.fromisoformat(each["day"]),
            )
            for each in document["entries"][:length]
        ],
        made_at=datetime.fromisoformat(document["made_at"]),
        is_stale=document["stale"],
        is_sample=document.get("sample", False),
    )


def statistics_view(document: Document | None) -> StatisticsView | None:
    """Return the published statistics; None without any."""
    if document is None:
        return None
    websites = None if document["websites"] == TOO_FEW else int(document["websites"])
    return StatisticsView(
        day=date.fromisoformat(document["day"]),
        made_at=datetime.fromisoformat(document["made_at"]),
        is_stale=document["stale"],
        is_sample=document.get("sample", False),
        websites=websites,
        engines=document["coverage"].get("engines_per_website"),
        tables=[table for table in _tables(document) if table.rows] if websites else [],
        weeks=[{**each, "week": date.fromisoformat(each["week"])} for each in document["weeks"]],
    )


def _tables(document: Document) -> list[TableView]:
    regions = {each["region"]: each["websites"] for each in document["regions"]}
    shares = {each["id"]: each["share"] for each in document["categories"]}
    days = document["median_days_to_fix"]
    grades, severities = document["grades"], document["open"]
    return [
        TableView(
            id="grades",
            title=_("Grades"),
            meaning=_("Websites by grade."),
            rows=_rows({_other(name): number for name, number in grades.items()}),
        ),
        TableView(
            id="open",
            title=_("Open findings"),
            meaning=_("Websites with at least one open, confirmed finding of the severity."),
            rows=_rows({_(name): number for name, number in severities.items()}),
        ),
        TableView(
            id="categories",
            title=_("Weaknesses"),
            meaning=_("Share of the websites with an open, confirmed finding of this kind."),
            rows=_rows({_category(name): share for name, share in shares.items()}, most=100, unit="%"),
        ),
        TableView(
            id="days",
            title=_("Days until a fix"),
            meaning=_("The median over websites, of the last 90 days."),
            rows=_rows({_(name): number for name, number in days.items()}),
        ),
        TableView(
            id="regions",
            title=_("Regions"),
            meaning=_("Websites by region, as their owners chose it."),
            rows=_rows({_other(name, region_label(name)): number for name, number in regions.items()}),
        ),
    ]


def _rows(numbers: Mapping[str, int], *, most: int = 0, unit: str = "") -> list[NumberView]:
    most = most or max(numbers.values(), default=0)
    return [NumberView(label=label, number=number, most=most, unit=unit) for label, number in numbers.items()]


def _other(name: str, label: str = "") -> str:
    return _("Others") if name == OTHER else label or name


def _category(name: str) -> str:
    return _(TITLES.get(name, TITLES["weakness"]))
