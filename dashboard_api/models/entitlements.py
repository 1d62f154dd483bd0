"""Entitlements: the plan of an account. Calls are answered only while it is usable."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, ClassVar

import msgspec
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q, Value
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.models.accounts import Account
from dashboard_api.models.plans import Limits, Override, Plan


class EntitlementStatus(models.TextChoices):
    """The status that operators or billing set; the dates can end access earlier."""

    TRIALING = "trialing", "Trialing"
    ACTIVE = "active", "Active"
    PAST_DUE = "past_due", "Past Due"
    SUSPENDED = "suspended", "Suspended"
    EXPIRED = "expired", "Expired"


class Terms:
    """The status and dates of an entitlement, and the rules about them."""

    status: str
    starts_on: date
    ends_on: date
    renews: bool
    past_due_since: date | None

    def status_on(self, day: date) -> str:
        """Return the status that holds on ``day``; past its last usable day, a plan has expired."""
        if self.status in (EntitlementStatus.SUSPENDED, EntitlementStatus.EXPIRED):
            return self.status
        return EntitlementStatus.EXPIRED if day > self.usable_until else self.status

    def is_usable_on(self, day: date) -> bool:
        """Return whether calls are answered on ``day``."""
        if self.status in (EntitlementStatus.SUSPENDED, EntitlementStatus.EXPIRED):
            return False
        return self.starts_on <= day <= self.usable_until

    def may_grow_on(self, day: date) -> bool:
        """Return whether websites can be added on ``day``, even before the plan starts."""
        return self.status_on(day) in (EntitlementStatus.TRIALING, EntitlementStatus.ACTIVE)

    @property
    def usable_until(self) -> date:
        """The last day on which calls are answered, including days of grace."""
        if self.status == EntitlementStatus.PAST_DUE:
            # clean() sets past_due_since; without it, the plan has expired.
            return _later(self.past_due_since or date.min, limits.PAST_DUE_GRACE)
        if self.renews and self.status in (EntitlementStatus.ACTIVE, EntitlementStatus.TRIALING):
            return _later(self.ends_on, limits.RENEWAL_GRACE)
        return self.ends_on


def _later(day: date, grace: timedelta) -> date:
    """Return ``day`` plus ``grace``, but at most the last day of the calendar."""
    return day + min(grace, date.max - day)


class AgreedTerms(msgspec.Struct, Terms, frozen=True, kw_only=True):
    """The plan that staff set, independent of payments."""

    plan: str
    plan_revision: int | None
    starts_on: date
    ends_on: date
    renews: bool
    sites_limit: int
    features: list[str]

    # Constants, not fields: payments do not change what staff set.
    status = EntitlementStatus.ACTIVE
    past_due_since = None


def has_status(status: str, day: date, *, prefix: str = "") -> Q:
    """Return the condition ``Terms.status_on(day) == status``; ``prefix`` leads to the entitlement."""

    def where(**conditions: object) -> Q:
        return Q(**{f"{prefix}{name}": value for name, value in conditions.items()})

    in_status = where(status=status)
    if status == EntitlementStatus.SUSPENDED:
        return in_status
    renewing = where(
        status__in=(EntitlementStatus.ACTIVE, EntitlementStatus.TRIALING),
        renews=True,
        ends_on__gte=day - limits.RENEWAL_GRACE,
    )
    late = where(status=EntitlementStatus.PAST_DUE)
    in_grace = where(past_due_since__gte=day - limits.PAST_DUE_GRACE)
    ended = (where(ends_on__lt=day) & ~renewing & ~late) | (late & ~in_grace)
    if status == EntitlementStatus.EXPIRED:
        return in_status | (ended & ~where(status=EntitlementStatus.SUSPENDED))
    return in_status & ~ended


class Entitlement(Terms, models.Model):
    """The plan of an account, with its dates and limits; at most one for each account."""

    Status = EntitlementStatus

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="entitlement")
    plan = models.CharField(max_length=50, default="standard")
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    starts_on = models.DateField()
    ends_on = models.DateField(help_text="The last day of the plan, or of its current period.")
    renews = models.BooleanField(
        default=False,
        help_text="The plan renews after its last day; it stays usable for three days more.",
    )
    past_due_since = models.DateField(
        null=True, blank=True, help_text="Starts the seven days of grace of a past due account."
    )
    cancels = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The customer has cancelled: the plan ends on its last day.",
    )
    suspended_by_staff = models.BooleanField(
        "suspended by staff",
        default=False,
        db_default=False,
        editable=False,
        help_text="Payments do not lift it; staff must set another status.",
    )
    # The plan that staff set, if any. A payment can replace it with a better one.
    agreed = models.JSONField(null=True, editable=False)
    plan_revision = models.ForeignKey(
        Plan, on_delete=models.PROTECT, null=True, blank=True, related_name="entitlements", editable=False
    )
    overrides = models.JSONField(default=list, db_default=Value([], models.JSONField()), editable=False)
    # Limits in force: the plan's, changed by overrides. NULL means unlimited.
    sites_limit = models.PositiveIntegerField(default=5)
    calls_per_day = models.PositiveIntegerField(null=True, editable=False)
    scans_per_month = models.PositiveIntegerField(null=True, editable=False)
    seats = models.PositiveIntegerField(null=True, editable=False)
    features = models.JSONField(default=list, blank=True, help_text='Such as ["scans_daily", "deep_scans"].')
    # Usage of the limits at the last run of watch_limits.
    limit_states = models.JSONField(default=list, db_default=Value([], models.JSONField()), editable=False)

    class Meta:
        verbose_name = "entitlement"
        verbose_name_plural = "entitlements"
        ordering: ClassVar = ["account"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_entitlement_ends_after_start",
                condition=Q(ends_on__gte=models.F("starts_on")),
            ),
            models.CheckConstraint(
                name="dashboard_api_entitlement_past_due_has_start",
                condition=~Q(status="past_due") | Q(past_due_since__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.plan} of {self.account}"

    def clean(self) -> None:
        """Check the dates and features, and set ``past_due_since`` when the account becomes past due."""
        if self.status != self.Status.PAST_DUE:
            self.past_due_since = None
        elif self.past_due_since is None:
            self.past_due_since = timezone.now().date()
        if self.renews:
            self.cancels = False
        self.plan = self.plan.strip()
        self.features = self.features or []
        errors: dict[str, Any] = {}
        if not self.plan:
            errors["plan"] = "Name the plan, such as standard."
        if self.starts_on and self.ends_on and self.ends_on < self.starts_on:
            errors["ends_on"] = f"The last day cannot be before the first, {self.starts_on.isoformat()}."
        if not isinstance(self.features, list) or not all(
            isinstance(feature, str) and feature.strip() for feature in self.features
        ):
            errors["features"] = 'Give a list of names, such as ["scans_daily", "deep_scans"].'
        if errors:
            raise ValidationError(errors)

    @property
    def own_overrides(self) -> list[Override]:
        """The overrides, including ended ones."""
        return msgspec.convert(self.overrides, list[Override])

    @property
    def terms(self) -> AgreedTerms | None:
        """The current plan as terms; None unless it is active, or suspended by staff."""
        if self.status != self.Status.ACTIVE and not self.suspended_by_staff:
            return None
        names = ("plan", "starts_on", "ends_on", "renews", "sites_limit", "features")
        values = {name: getattr(self, name) for name in names}
        return AgreedTerms(plan_revision=self.plan_revision_id, **values)

    @property
    def agreed_terms(self) -> AgreedTerms | None:
        """The plan that staff set, if any."""
        return msgspec.convert(self.agreed, AgreedTerms) if self.agreed else None

    @property
    def is_as_agreed(self) -> bool:
        """Whether the current plan is the one that staff set, apart from overrides."""
        terms, agreed = self.terms, self.agreed_terms
        if terms is None or agreed is None:
            return False
        if self.plan_revision is not None:  # overrides can change sites_limit
            terms = msgspec.structs.replace(terms, sites_limit=agreed.sites_limit)
        return terms == agreed

    @property
    def limits(self) -> Limits:
        """The limits in force."""
        return Limits(
            websites=self.sites_limit,
            calls_per_day=self.calls_per_day,
            scans_per_month=self.scans_per_month,
            seats=self.seats,
        )

    def copy_limits(self, day: date) -> None:
        """Copy the limits that hold on ``day`` from the plan and the overrides to this row.

        An entitlement without a revision of a plan keeps its own limits.
        """
        if self.plan_revision is None:
            return
        values = msgspec.structs.asdict(self.plan_revision.terms)
        values |= {each.limit: each.value for each in self.own_overrides if each.holds_on(day)}
        self.sites_limit = values.pop("websites")
        for name, value in values.items():
            setattr(self, name, value)


def new_entitlement(account: Account, fields: Mapping[str, Any]) -> Entitlement:
    """Return an unsaved entitlement: by default active, for a year from today."""
    starts_on = fields.get("starts_on", timezone.now().date())
    dates = {"starts_on": starts_on, "ends_on": starts_on + limits.ENTITLEMENT_PERIOD}
    return Entitlement(account=account, **(dates | dict(fields)))
