"""Plans: what an account may do for its price."""

from datetime import date
from typing import Any, ClassVar

import msgspec
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from foundation.texts.stored_texts import in_language

LARGEST = 2_147_483_647  # of an integer column
LIMIT_NAMES = {
    "websites": "Websites",
    "calls_per_day": "Calls a day",
    "scans_per_month": "Scans a month",
    "seats": "Members",
}


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of a plan; None means unlimited. Websites are always limited."""

    websites: int = 5
    calls_per_day: int | None = None
    scans_per_month: int | None = None
    seats: int | None = None


class Override(msgspec.Struct, frozen=True, kw_only=True):
    """Another value of one limit for one account; ``until`` is its last day, if any."""

    limit: str
    value: int | None
    reason: str
    until: date | None = None

    def holds_on(self, day: date) -> bool:
        """Return whether the override applies on ``day``."""
        return self.until is None or day <= self.until


def read_limits(values: Any) -> Limits:
    """Return the limits that ``values`` describe; raises ValidationError."""
    try:
        limits = msgspec.convert(values, Limits)
    except msgspec.ValidationError as error:
        text = "Give limits such as %(example)s: %(problem)s."
        example = '{"websites": 5, "calls_per_day": 10000}'
        raise ValidationError({"limits": text % {"example": example, "problem": error}}) from error
    for name, value in msgspec.structs.asdict(limits).items():
        check_limit(name, value)
    return limits


def check_limit(name: str, value: int | None) -> None:
    """Raise ValidationError for an unknown limit, or a value that no plan can have."""
    if name not in LIMIT_NAMES:
        names = ", ".join(LIMIT_NAMES)
        raise ValidationError({"limits": f"There is no limit {name}: use {names}."})
    if value is None and name == "websites":
        raise ValidationError({"limits": "Every plan limits its websites."})
    least = 1 if name in ("calls_per_day", "seats") else 0
    if value is not None and not least <= value <= LARGEST:
        text = "%(limit)s: give a number from %(least)s to %(most)s."
        raise ValidationError(
            {"limits": text % {"limit": LIMIT_NAMES[name], "least": least, "most": LARGEST}}
        )


class PlanQuerySet(models.QuerySet["Plan"]):
    """Queries of plans."""

    def newest(self, slug: str) -> "Plan | None":
        """Return the newest revision of a plan, if any."""
        return self.filter(slug=slug).order_by("-revision").first()

    def offered(self) -> list["Plan"]:
        """Return the newest revision of each plan that customers can choose, smallest first."""
        newest = {plan.slug: plan for plan in self.order_by("revision")}
        return sorted((plan for plan in newest.values() if plan.is_offered), key=lambda plan: plan.rank)


class Plan(models.Model):
    """A revision of a plan; it never changes after its first use by an account.

    Then triggers refuse its deletion, and changes except of ``is_offered`` (0001_plan).
    """

    slug = models.SlugField("name in programs", max_length=50, help_text="Such as team; it cannot change.")
    revision = models.PositiveIntegerField("revision", default=1, editable=False)
    name = models.JSONField("name", help_text='By language, such as {"en": "Team", "de": "Team"}.')
    rank = models.PositiveSmallIntegerField("rank", default=0, help_text="Smaller plans come first.")
    limits = models.JSONField(
        "limits",
        default=dict,
        help_text='Such as {"websites": 5, "seats": 3}; missing limits mean unlimited.',
    )
    features = models.JSONField(
        "features", default=list, blank=True, help_text='Such as ["scans_daily", "deep_scans"].'
    )
    trial_days = models.PositiveSmallIntegerField("days of trial", default=0)
    price_text = models.JSONField(
        "price", default=dict, blank=True, help_text="By language, as customers read it."
    )
    is_offered = models.BooleanField("offered", default=True, help_text="Customers see it among the plans.")
    used_at = models.DateTimeField("used since", null=True, editable=False)

    objects = PlanQuerySet.as_manager()

    class Meta:
        verbose_name = "plan"
        verbose_name_plural = "plans"
        ordering: ClassVar = ["rank", "slug", "-revision"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["slug", "revision"], name="dashboard_api_plan_revision"),
            models.CheckConstraint(name="dashboard_api_plan_revision_from_1", condition=Q(revision__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.slug}, revision {self.revision}"

    @property
    def title(self) -> str:
        """The name in the reader's language."""
        return in_language(self.name)

    @property
    def terms(self) -> Limits:
        """The column ``limits`` as an object; not to be confused with the terms of an entitlement."""
        return read_limits(self.limits)

    def clean(self) -> None:
        """Check the texts, limits and features; raises ValidationError."""
        read_limits(self.limits)
        errors = {}
        for field in ("name", "price_text"):
            texts = getattr(self, field)
            if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
                errors[field] = 'Give a text for each language, such as {"en": "Team", "de": "Team"}.'
        if not errors and not self.name.get("en"):
            errors["name"] = "Give the plan an English name."
        if not isinstance(self.features, list) or not all(
            isinstance(feature, str) and feature.strip() for feature in self.features
        ):
            errors["features"] = 'Give a list of names, such as ["scans_daily", "deep_scans"].'
        if errors:
            raise ValidationError(errors)
