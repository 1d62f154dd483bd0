"""What analysts decide about a finding, on the record: later scans respect it, the calendar may end it.

Each function changes the finding and writes its event in one transaction. Decision record 0031.
"""

from datetime import date, datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from dashboard_api.limits import DECISION_BATCH
from dashboard_api.models import Finding, FindingEvent, Severity

Event = FindingEvent.Event
DECISIONS = {
    Finding.Status.FALSE_POSITIVE: Event.FALSE_POSITIVE,
    Finding.Status.ACCEPTED_RISK: Event.ACCEPTED_RISK,
    Finding.Status.FIXED: Event.FIXED,
}
_STANDING = ("status", "decided_until", "fixed_at")


@transaction.atomic
def decide(
    finding: Finding, status: str, *, by: str, reason: str, until: date | None = None, now: datetime
) -> None:
    """Call ``finding`` a false positive, an accepted risk (up to and with the day ``until``) or fixed.

    Raises ValidationError when it is fixed already, when no reason is given, or when the day has passed.
    """
    event = DECISIONS[Finding.Status(status)]
    locked = _locked(finding)
    if locked.status == Finding.Status.FIXED:
        raise ValidationError("It is fixed: there is nothing to decide.")
    if until is not None and until < now.date():
        raise ValidationError("This day has passed: the decision would be over before it began.")
    locked.status, locked.decided_until = status, until
    locked.fixed_at = now if event == Event.FIXED else None
    _save(locked, *_STANDING, now=now)
    _record(locked, event, by=by, reason=reason, now=now)


@transaction.atomic
def reconsider(finding: Finding, *, by: str, reason: str, now: datetime) -> None:
    """Open it again; raises ValidationError when it is open, or when no reason is given."""
    locked = _locked(finding)
    if locked.status == Finding.Status.OPEN:
        raise ValidationError("It is open already.")
    locked.status, locked.decided_until, locked.fixed_at = Finding.Status.OPEN, None, None
    _save(locked, *_STANDING, now=now)
    _record(locked, Event.RECONSIDERED, by=by, reason=reason, now=now)


@transaction.atomic
def rate(finding: Finding, severity: int | None, *, by: str, reason: str, now: datetime) -> None:
    """Rate it other than its engine does, or with None as its engine does; the engine's is kept.

    Raises ValidationError when nothing would change, or when no reason is given.
    """
    locked = _locked(finding)
    engine = locked.severity if locked.engine_severity is None else locked.engine_severity
    wanted = engine if severity is None else severity
    if wanted == locked.severity:
        raise ValidationError(f"It is {locked.get_severity_display()} already.")
    before = locked.get_severity_display()
    locked.severity, locked.engine_severity = wanted, None if wanted == engine else engine
    _save(locked, "severity", "engine_severity", now=now)
    told = f"{before} to {Severity(wanted).label}: {reason.strip()}" if reason.strip() else ""
    _record(locked, Event.RATED, by=by, reason=told, now=now)


def expire_decisions(now: datetime) -> int:
    """Open again what was decided until a day that has passed; how many. Each batch is a commit."""
    total = 0
    while expired := _expire_batch(now):
        total += expired
    return total


@transaction.atomic
def _expire_batch(now: datetime) -> int:
    expired = Finding.objects.select_for_update().filter(decided_until__lt=now.date()).order_by("pk")
    found = list(expired[:DECISION_BATCH])
    for finding in found:
        finding.status, finding.decided_until = Finding.Status.OPEN, None
    Finding.objects.bulk_update(found, ["status", "decided_until"])
    FindingEvent.objects.bulk_create(
        FindingEvent(finding=finding, website_id=finding.website_id, event=Event.DECISION_EXPIRED, at=now)
        for finding in found
    )
    return len(found)


def _locked(finding: Finding) -> Finding:
    return Finding.objects.select_for_update().get(pk=finding.pk)


def _save(finding: Finding, *names: str, now: datetime) -> None:
    """Whoever decides has looked."""
    finding.looked_at = finding.looked_at or now
    finding.save(update_fields=[*names, "looked_at"])


def _record(finding: Finding, event: str, *, by: str, reason: str, now: datetime) -> None:
    if not reason.strip():
        raise ValidationError({"reason": "Say why: customers and colleagues will read it."})
    step = FindingEvent(
        finding=finding, website_id=finding.website_id, event=event, by=by, reason=reason.strip(), at=now
    )
    step.full_clean(exclude=["finding"])
    step.save()
