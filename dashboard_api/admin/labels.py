"""The admin's labels of values; their own labels are part of the API."""

from collections.abc import Iterable

from django.utils.functional import Promise

from dashboard_api.models import Finding, FindingEvent, Kind, Severity

Event = FindingEvent.Event

SEVERITY_LABELS: dict[int, str | Promise] = {
    Severity.CRITICAL: "Critical",
    Severity.HIGH: "High",
    Severity.MEDIUM: "Medium",
    Severity.LOW: "Low",
    Severity.INFO: "Info",
}
STATUS_LABELS: dict[str, str | Promise] = {
    Finding.Status.OPEN: "Open",
    Finding.Status.FIXED: "Fixed",
    Finding.Status.FALSE_POSITIVE: "False positive",
    Finding.Status.ACCEPTED_RISK: "Accepted risk",
}
EVENT_LABELS: dict[str, str | Promise] = {
    Event.FIXED: "Fixed",
    Event.REGRESSED: "Came back",
    Event.FALSE_POSITIVE: "False positive",
    Event.ACCEPTED_RISK: "Accepted risk",
    Event.RECONSIDERED: "Reopened",
    Event.DECISION_EXPIRED: "The decision ended",
    Event.RATED: "Severity changed",
    Event.CONFIRMED: "Confirmed by an analyst",
    Event.UNCONFIRMED: "Confirmation taken back",
    Event.SCANNER_RATED: "Severity changed by the scanner",
}
FEATURE_LABELS: dict[str, str | Promise] = {
    "scans_daily": "Daily scans",
    "deep_scans": "Deep scans",
}
KIND_LABELS: dict[str, str | Promise] = {
    Kind.CONFIRMED: "confirmed",
    Kind.SUSPECTED: "suspected",
    Kind.INFORMATIONAL: "informational",
}


def feature_choices(features: Iterable[str]) -> list[tuple[str, str | Promise]]:
    """Return the known features, then unknown ones of ``features``, which a command can set."""
    others = [name for name in features if name not in FEATURE_LABELS]
    return [*FEATURE_LABELS.items(), *zip(others, others, strict=True)]
