"""Decisions of analysts about single findings. Later scans respect them, and they can have a last day.

Each function changes the finding and adds an event to its timeline, in one transaction. The module
``ended_decisions`` ends decisions after their last day.
"""

from datetime import date, datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from audit.recording import record as audit
from dashboard_api.answers.settling import settle
from dashboard_api.models import Finding, FindingEvent, Kind, Severity, Website

Event = FindingEvent.Event
EVENT_OF_STATUS = {
    Finding.Status.FALSE_POSITIVE: Event.FALSE_POSITIVE,
    Finding.Status.ACCEPTED_RISK: Event.ACCEPTED_RISK,
    Finding.Status.FIXED: Event.FIXED,
}
_STATUS_FIELDS = ("status", "triage_until", "fixed_at")
_KIND_FIELDS = ("kind", "source_kind")


@transaction.atomic
def decide(
    finding: Finding,
    status: str,
    *,
    by: str,
    reason: str,
    until: date | None = None,
    now: datetime,
    settles: bool = True,
) -> None:
    """Make ``finding`` a false positive, an accepted risk or fixed; ``until`` is the decision's last day.

    ``settles`` ends answers of customers to the finding; a caller with many findings does so once.

    A false positive loses its confirmation by an analyst.
    Raise ValidationError if the finding is fixed already, the reason is empty, or the day has passed.
    """
    event = EVENT_OF_STATUS[Finding.Status(status)]
    locked = _locked(finding)
    if locked.status == Finding.Status.FIXED:
        raise ValidationError("It is fixed: there is nothing to decide.")
    if until is not None and until < now.date():
        raise ValidationError("This day has passed: choose today or a later day, or leave it empty.")
    locked.status, locked.triage_until = status, until
    locked.fixed_at = now if event == Event.FIXED else None
    if locked.fixed_at is not None:
        locked.occurrences.filter(gone_at=None).update(gone_at=locked.fixed_at)
    if event == Event.FALSE_POSITIVE and locked.source_kind is not None:
        _restore_kind(locked)
    _save(locked, *_STATUS_FIELDS, *_KIND_FIELDS, now=now)
    _add_event(locked, event, by=by, reason=reason, now=now)
    if settles:
        settle(locked.website_id, now)


@transaction.atomic
def reopen(finding: Finding, *, by: str, reason: str, now: datetime) -> None:
    """Make ``finding`` open again; raise ValidationError if it is open, or the reason is empty.

    The locations that it had when it was fixed are present again.
    """
    locked = _locked(finding)
    if locked.status == Finding.Status.OPEN:
        raise ValidationError("It is open already.")
    if locked.fixed_at is not None:
        locked.shown_occurrences().update(gone_at=None)
    locked.status, locked.triage_until, locked.fixed_at = Finding.Status.OPEN, None, None
    _save(locked, *_STATUS_FIELDS, now=now)
    _add_event(locked, Event.RECONSIDERED, by=by, reason=reason, now=now)
    settle(locked.website_id, now)


@transaction.atomic
def override_severity(finding: Finding, severity: int | None, *, by: str, reason: str, now: datetime) -> None:
    """Replace the scanner's severity of ``finding``, or restore it with None.

    Raise ValidationError if the severity would not change, or the reason is empty.
    """
    locked = _locked(finding)
    scanner_severity = locked.severity if locked.source_severity is None else locked.source_severity
    new_severity = scanner_severity if severity is None else severity
    if new_severity == locked.severity:
        severity_name = locked.get_severity_display()
        raise ValidationError(f"It is {severity_name} already.")
    severity_before, before = locked.severity, locked.get_severity_display()
    locked.severity = new_severity
    locked.source_severity = None if new_severity == scanner_severity else scanner_severity
    _save(locked, "severity", "source_severity", now=now)
    # Without a reason, _add_event refuses the change.
    change = f"{before} to {Severity(new_severity).label}: {reason.strip()}" if reason.strip() else ""
    _add_event(locked, Event.RATED, by=by, reason=change, now=now, severity_before=severity_before)
    settle(locked.website_id, now)


@transaction.atomic
def confirm(finding: Finding, *, by: str, reason: str, now: datetime) -> None:
    """Confirm ``finding`` for an analyst, even if its scanner has confirmed it.

    Raise ValidationError if it cannot be confirmed (``can_confirm``), or the reason is empty.
    """
    locked = _locked(finding)
    if refusal := _refusal_to_confirm(locked):
        raise ValidationError(refusal)
    locked.source_kind = locked.kind
    locked.kind = Kind.CONFIRMED
    _save(locked, *_KIND_FIELDS, now=now)
    _add_event(locked, Event.CONFIRMED, by=by, reason=reason, now=now)


@transaction.atomic
def unconfirm(finding: Finding, *, by: str, reason: str, now: datetime) -> None:
    """Take the confirmation of ``finding`` back, and restore the scanner's kind.

    Raise ValidationError if no analyst has confirmed it, or the reason is empty.
    """
    locked = _locked(finding)
    if locked.source_kind is None:
        raise ValidationError("No analyst has confirmed it.")
    _restore_kind(locked)
    _save(locked, *_KIND_FIELDS, now=now)
    _add_event(locked, Event.UNCONFIRMED, by=by, reason=reason, now=now)


def can_confirm(finding: Finding) -> bool:
    """Return whether an analyst can confirm ``finding`` now."""
    return not _refusal_to_confirm(finding)


def _refusal_to_confirm(finding: Finding) -> str:
    """Return why ``finding`` cannot be confirmed; empty if it can."""
    if finding.source_kind is not None:
        return "An analyst has confirmed it already."
    if finding.status == Finding.Status.FIXED:
        return "It is fixed: there is nothing to confirm."
    if finding.status == Finding.Status.FALSE_POSITIVE:
        return "It is a false positive: reopen it first."
    if finding.kind == Kind.INFORMATIONAL:
        return "It is informational: there is no problem to confirm."
    return ""


def _restore_kind(finding: Finding) -> None:
    finding.kind = finding.source_kind or finding.kind
    finding.source_kind = None


def _locked(finding: Finding) -> Finding:
    Website.wait_for_imports([finding.website_id])
    return Finding.objects.select_for_update().get(pk=finding.pk)


def _save(finding: Finding, *names: str, now: datetime) -> None:
    """Save these fields; a decision counts as a review."""
    finding.reviewed_at = finding.reviewed_at or now
    finding.save(update_fields=[*names, "reviewed_at"])


def _add_event(
    finding: Finding, event: str, *, by: str, reason: str, now: datetime, severity_before: int | None = None
) -> None:
    if not reason.strip():
        raise ValidationError({"reason": "Say why: customers and colleagues will read it."})
    new_event = FindingEvent(
        finding=finding,
        website_id=finding.website_id,
        event=event,
        by=by,
        reason=reason.strip(),
        at=now,
        severity_before=severity_before,
    )
    new_event.full_clean(exclude=["finding"])  # it exists: the caller has locked it
    new_event.save()
    audit(f"finding.{event}", finding, by=by, reason=reason)
