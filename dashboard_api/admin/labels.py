"""Translated words for values whose own labels belong to the API."""

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard_api.models import Finding, FindingEvent, Kind, Severity

Event = FindingEvent.Event

SEVERITY_LABELS: dict[int, str | Promise] = {
    Severity.CRITICAL: _("Critical"),
    Severity.HIGH: _("High"),
    Severity.MEDIUM: _("Medium"),
    Severity.LOW: _("Low"),
    Severity.INFO: _("Info"),
}
STATUS_LABELS: dict[str, str | Promise] = {
    Finding.Status.OPEN: _("Open"),
    Finding.Status.FIXED: _("Fixed"),
    Finding.Status.FALSE_POSITIVE: _("False positive"),
    Finding.Status.ACCEPTED_RISK: _("Accepted risk"),
}
EVENT_LABELS: dict[str, str | Promise] = {
    Event.FIXED: _("Fixed"),
    Event.REGRESSED: _("Came back"),
    Event.FALSE_POSITIVE: _("False positive"),
    Event.ACCEPTED_RISK: _("Accepted risk"),
    Event.RECONSIDERED: _("Reopened"),
    Event.DECISION_EXPIRED: _("The decision ended"),
    Event.RATED: _("Severity changed"),
    Event.CONFIRMED: _("Confirmed by an analyst"),
    Event.UNCONFIRMED: _("Confirmation taken back"),
}
FEATURE_LABELS: dict[str, str | Promise] = {
    "scans_daily": _("Daily scans"),
    "deep_scans": _("Deep scans"),
}
KIND_LABELS: dict[str, str | Promise] = {
    Kind.CONFIRMED: _("confirmed"),
    Kind.SUSPECTED: _("suspected"),
    Kind.INFORMATIONAL: _("informational"),
}


def feature_choices(features: Iterable[str]) -> list[tuple[str, str | Promise]]:
    """Return all features with a label, and those of ``features`` that have none, which a command can set."""
    others = [name for name in features if name not in FEATURE_LABELS]
    return [*FEATURE_LABELS.items(), *zip(others, others, strict=True)]
