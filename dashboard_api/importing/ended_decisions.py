"""The end of decisions: their findings open again, unless complete scans have proven them gone."""

from collections import defaultdict
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from audit.recording import record as audit
from dashboard_api.answers.settling import settle
from dashboard_api.decisions.standing import apply_to, take_back, websites_of
from dashboard_api.importing.later_scans import fix_gone
from dashboard_api.limits import TRIAGE_BATCH
from dashboard_api.models import Finding, FindingEvent, StandingDecision, Website

Event = FindingEvent.Event


def expire_triage(now: datetime) -> int:
    """End decisions after their last day, with a commit for each batch; return their number."""
    total = 0
    while number := _expire_batch(now):
        total += number
    return total


@transaction.atomic
def _expire_batch(now: datetime) -> int:
    expired = Finding.objects.filter(triage_until__lt=now.date()).order_by("triage_until", "pk")
    website_ids = dict(expired.values_list("pk", "website_id")[:TRIAGE_BATCH])  # by finding
    Website.wait_for_imports(website_ids.values())
    findings = list(expired.select_for_update().filter(pk__in=website_ids))
    ids_by_source: dict[tuple[int, int], list[int]] = defaultdict(list)
    for finding in findings:
        finding.status, finding.triage_until = Finding.Status.OPEN, None
        ids_by_source[finding.website_id, finding.source_id].append(finding.pk)
    Finding.objects.bulk_update(findings, ["status", "triage_until"])
    FindingEvent.objects.bulk_create(
        FindingEvent(finding=finding, website_id=finding.website_id, event=Event.DECISION_EXPIRED, at=now)
        for finding in findings
    )
    for (website, source), ids in ids_by_source.items():
        fix_gone(Website.objects.get(pk=website), source, ids)
        settle(website, now)
    if findings:
        audit("finding.decisions_expired", after={"findings": len(findings)})
    return len(findings)


def end(decision: StandingDecision, *, by: str, reason: str, now: datetime) -> int:
    """End ``decision`` and take its changes back; return the number of changed findings.

    Commits after each website, so another call completes an interrupted one. Raise ValidationError if the
    name or the reason is missing.
    """
    if decision.ended_at is None:
        decision.ended_at, decision.ended_by, decision.end_reason = now, by.strip(), reason.strip()
        if not (decision.ended_by and decision.end_reason):
            raise ValidationError({"reason": "Say why: customers and colleagues will read it."})
        decision.full_clean()
        with transaction.atomic():
            decision.save(update_fields=["ended_at", "ended_by", "end_reason"])
            audit("standing_decision.ended", decision, by=by, reason=reason)
    changed = 0
    for website in websites_of(decision):
        with transaction.atomic():
            Website.wait_for_imports([website.pk])
            changed += take_back(decision, website, by=decision.ended_by, reason=decision.end_reason, now=now)
            apply_to(website, decision.source, now)  # another decision may now apply
            _fix_reopened(decision, website, now)
            settle(website.pk, now)
    return changed


def _fix_reopened(decision: StandingDecision, website: Website, now: datetime) -> None:
    """Fix just opened findings that scans prove gone; their event becomes an expired decision."""
    reopened = FindingEvent.objects.filter(
        website_id=website.pk, event=Event.RECONSIDERED, decision__source=decision.source, at=now
    )
    opened = Finding.objects.filter(status=Finding.Status.OPEN, pk__in=reopened.values("finding"))
    fixed = fix_gone(website, decision.source_id, list(opened.values_list("pk", flat=True)))
    reopened.filter(finding__in=fixed).update(event=Event.DECISION_EXPIRED)
