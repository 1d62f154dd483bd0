"""View models of the public page: the published documents in the reader's language."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard_api.public.publishing import STALE_AFTER
from foundation.texts.categories import TITLES
from foundation.texts.regions import region_label

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """An entry of the feed; ``tone`` names its colour."""

    severity: str
    tone: str
    domain: str
    description: str
    region: str
    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedView:
    """The feed, with its age."""

    entries: list[EntryView]
    made_at: datetime
    is_stale: bool
    is_sample: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """A table of numbers of websites; ``most`` is the largest, and scales the meters."""

    id: str
    title: str
    meaning: str
    numbers: Mapping[str, int]
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsView:
    """The statistics; ``websites`` is missing if there are too few."""

    made_at: datetime
    is_sample: bool
    websites: int | None
    tables: list[TableView]


def feed_view(document: Document, length: int | None = None) -> FeedView:
    """Return the published feed with its first ``length`` entries, or all."""
    made_at = datetime.fromisoformat(document["made_at"])
    return FeedView(
        entries=[
            EntryView(
                severity=_(each["severity"]),
                tone=each["severity"].lower(),
                domain=each["domain"],
                description=_(TITLES[each["category"]]),
                region=region_label(each["region"]),
                day=date.fromisoformat(each["day"]),
            )
            for each in document["entries"][:length]
        ],
        made_at=made_at,
        is_stale=timezone.now() - made_at > STALE_AFTER,
        is_sample=document.get("sample", False),
    )


def statistics_view(document: Document | None) -> StatisticsView | None:
    """Return the published statistics, if there are any."""
    if document is None:
        return None
    categories = {_(TITLES[name]): number for name, number in document["categories"].items()}
    tables = (
        ("grades", _("Grades"), _("Websites by grade."), document["grades"]),
        (
            "open",
            _("Open findings"),
            _("Websites with at least one open, confirmed finding of the severity."),
            {_(name): number for name, number in document["open"].items()},
        ),
        (
            "categories",
            _("Weaknesses"),
            _("Websites with an open, confirmed finding of this kind."),
            categories,
        ),
        (
            "regions",
            _("Regions"),
            _("Websites by region, as their owners chose it."),
            {region_label(name): number for name, number in document["regions"].items()},
        ),
    )
    return StatisticsView(
        made_at=datetime.fromisoformat(document["made_at"]),
        is_sample=document.get("sample", False),
        websites=document["websites"],
        tables=[
            TableView(id=name, title=title, meaning=meaning, numbers=numbers, most=max(numbers.values()))
            for name, title, meaning, numbers in tables
            if numbers
        ],
    )
