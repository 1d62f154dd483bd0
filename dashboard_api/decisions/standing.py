"""Suppression rules: they apply when they begin and after each import, until they are taken back.

Every function can be repeated without further changes. Each change is an event in the timeline of the
finding, with the decision and its reason. An analyst's decision about a single finding wins: a severity that
an analyst chose, or a finding that an analyst reopened.

A decision with a rule replaces the severity of the rule's findings. A decision without a rule is a minimum
severity, a "floor": it accepts the findings of the scanner below it.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Case, Exists, F, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from audit.recording import record as audit
from dashboard_api.answers.settling import settle
from dashboard_api.limits import TRIAGE_BATCH
from dashboard_api.models import (
    Account,
    Finding,
    FindingEvent,
    Severity,
    Source,
    StandingDecision,
    Website,
    problem_key,
)

Event = FindingEvent.Event
_USED_COLUMNS = ("pk", "website_id", "problem", "severity", "source_severity")


class Reach(NamedTuple):
    """Reach of a decision: numbers of findings, their websites, and the accounts that see them."""

    findings: int
    websites: int
    accounts: int


def apply_to(website: Website, source: Source, now: datetime) -> int:
    """Apply the active decisions to the findings of a source; return the number of changes.

    Without decisions this is one query. The caller has begun a transaction and locked the website.
    """
    by_rule = {each.rule: each for each in StandingDecision.objects.in_force(source, website)}
    if not by_rule:
        return 0
    floor = by_rule.pop("", None)
    findings = Finding.objects.filter(website=website, source=source)
    changed = _replace_severities(findings, list(by_rule.values()), now)
    if floor is not None:  # after the rules, because their severities count
        changed += _reopen(
            _accepted_by_a_floor(findings).filter(severity__gte=floor.severity),
            floor,
            lambda finding: f"It is {Severity(finding.severity).label} now, which is not accepted.",
            by="",
            now=now,
        )
        changed += _accept(findings, floor, now)
    return changed


def reach(decision: StandingDecision) -> Reach:
    """Count what ``decision`` would change; it may be unsaved."""
    findings: QuerySet[Finding] = Finding.objects.filter(source=decision.source)
    if decision.website is not None:
        findings = findings.filter(website=decision.website)
    else:
        # Where a website has a decision of its own, that one counts.
        others = StandingDecision.objects.active().filter(source=decision.source, rule=decision.rule)
        findings = findings.exclude(website__in=others.exclude(website=None).values("website"))
    findings = (
        _with_other_severity(findings, [decision]) if decision.rule else _below_floor(findings, decision)
    )
    websites = findings.order_by().values("website").distinct()
    accounts = Account.objects.filter(links__revoked_at=None, links__website__in=websites).distinct()
    return Reach(findings.count(), websites.count(), accounts.count())


def begin(decision: StandingDecision, now: datetime) -> int:
    """Store ``decision`` if it is new, and apply it; return the number of changed findings.

    Commits after each website. Raise ValidationError if an active decision has the same scanner, rule and
    website.
    """
    decision.full_clean()
    with transaction.atomic():
        is_new = decision.pk is None
        decision.save()
        if is_new:
            audit("standing_decision.begun", decision, by=decision.by, reason=decision.reason)
    changed = 0
    for website in websites_of(decision):
        with transaction.atomic():
            Website.wait_for_imports([website.pk])
            changed += apply_to(website, decision.source, now)
            settle(website.pk, now)
    return changed


def websites_of(decision: StandingDecision) -> Iterable[Website]:
    """Return the websites on which ``decision`` may have changed findings."""
    if decision.website is not None:
        return [decision.website]
    findings = Finding.objects.filter(website=OuterRef("pk"), source=decision.source_id)
    return Website.objects.filter(Exists(findings)).order_by("pk")


# Severities by rule


def _by_problem(decisions: Sequence[StandingDecision]) -> dict[str, StandingDecision]:
    """Return the decisions by problem key, the indexed column for their rules."""
    return {problem_key(each.source.slug, each.rule, ""): each for each in decisions}


def _with_other_severity(
    findings: QuerySet[Finding], decisions: Sequence[StandingDecision]
) -> QuerySet[Finding]:
    """Return the findings of these rules with another severity, unless an analyst has chosen it."""
    severities = {problem: each.severity for problem, each in _by_problem(decisions).items()}
    chosen = Case(*(When(problem=key, then=Value(severity)) for key, severity in severities.items()))
    by_analyst = FindingEvent.objects.filter(finding=OuterRef("pk"), event=Event.RATED, decision=None)
    of_rules = findings.filter(problem__in=severities).annotate(chosen=chosen)
    return of_rules.exclude(severity=F("chosen")).filter(~Exists(by_analyst))


def _replace_severities(
    findings: QuerySet[Finding], decisions: Sequence[StandingDecision], now: datetime
) -> int:
    if not decisions:
        return 0
    by_problem = _by_problem(decisions)

    def change(batch: Sequence[Finding]) -> None:
        for severity in Severity:
            ids = [each.pk for each in batch if by_problem[each.problem].severity == severity]
            # Keep the scanner's severity, unless an earlier decision has kept it already.
            Finding.objects.filter(pk__in=ids).update(
                source_severity=Coalesce("source_severity", "severity"), severity=severity
            )
        events = []
        for finding in batch:
            decision = by_problem[finding.problem]
            by, reason = decision.by, decision.reason
            events.append(_rating_event(finding, decision.severity, decision, by=by, reason=reason, now=now))
        _add_events(events)

    return _in_batches(_with_other_severity(findings, decisions), change)


def _rating_event(
    finding: Finding, severity: int, decision: StandingDecision, *, by: str, reason: str, now: datetime
) -> FindingEvent:
    change = f"{Severity(finding.severity).label} to {Severity(severity).label}: {reason}"
    event = _event(finding, Event.RATED, decision, by=by, reason=change, now=now)
    event.severity_before = finding.severity
    return event


# Minimum severities


def _below_floor(findings: QuerySet[Finding], floor: StandingDecision) -> QuerySet[Finding]:
    """Return open findings below the floor, unless an analyst has reopened them."""
    by_analyst = FindingEvent.objects.filter(finding=OuterRef("pk"), event=Event.RECONSIDERED, decision=None)
    below = findings.filter(status=Finding.Status.OPEN, severity__lt=floor.severity)
    return below.filter(~Exists(by_analyst))


def _accepted_by_a_floor(
    findings: QuerySet[Finding], floor: StandingDecision | None = None
) -> QuerySet[Finding]:
    """Return accepted risks with their last change of status by ``floor``, or by any minimum severity."""
    # They do not change the status.
    others = (Event.RATED, Event.CONFIRMED, Event.UNCONFIRMED, Event.SCANNER_RATED)
    last = FindingEvent.objects.filter(finding=OuterRef("pk")).exclude(event__in=others).order_by("-pk")
    accepted = findings.filter(status=Finding.Status.ACCEPTED_RISK)
    accepted = accepted.alias(accepted_by=Subquery(last.values("decision")[:1]))
    if floor is None:
        return accepted.filter(accepted_by__isnull=False)
    return accepted.filter(accepted_by=floor.pk)


def _accept(findings: QuerySet[Finding], floor: StandingDecision, now: datetime) -> int:
    def change(batch: Sequence[Finding]) -> None:
        _set_status(batch, Finding.Status.ACCEPTED_RISK)
        _add_events(
            _event(each, Event.ACCEPTED_RISK, floor, by=floor.by, reason=floor.reason, now=now)
            for each in batch
        )

    return _in_batches(_below_floor(findings, floor), change)


def _reopen(
    findings: QuerySet[Finding],
    floor: StandingDecision,
    reason_of: Callable[[Finding], str],
    *,
    by: str,
    now: datetime,
    ids: Sequence[int] | None = None,
) -> int:
    def change(batch: Sequence[Finding]) -> None:
        _set_status(batch, Finding.Status.OPEN)
        _add_events(
            _event(each, Event.RECONSIDERED, floor, by=by, reason=reason_of(each), now=now) for each in batch
        )

    return _in_batches(findings, change, ids)


def _set_status(batch: Sequence[Finding], status: Finding.Status) -> None:
    Finding.objects.filter(pk__in=[each.pk for each in batch]).update(status=status)


# The end of a decision


def take_back(decision: StandingDecision, website: Website, *, by: str, reason: str, now: datetime) -> int:
    """Take back the changes on ``website`` that ``decision`` made last; return the number of findings."""
    made_events = FindingEvent.objects.filter(decision=decision, website_id=website.pk)
    ids = list(made_events.order_by("finding").values_list("finding", flat=True).distinct())
    findings = Finding.objects.all()
    if not decision.rule:  # a minimum severity
        accepted = _accepted_by_a_floor(findings, decision)
        return _reopen(accepted, decision, lambda _finding: reason, by=by, now=now, ids=ids)

    def change(batch: Sequence[Finding]) -> None:
        ids = [each.pk for each in batch]
        Finding.objects.filter(pk__in=ids).update(severity=F("source_severity"), source_severity=None)
        _add_events(
            _rating_event(each, each.source_severity, decision, by=by, reason=reason, now=now)
            for each in batch
            if each.source_severity not in (None, each.severity)
        )

    last = FindingEvent.objects.filter(finding=OuterRef("pk"), event=Event.RATED).order_by("-pk")
    rated = findings.filter(source_severity__isnull=False)
    rated = rated.annotate(rated_by=Subquery(last.values("decision")[:1])).filter(rated_by=decision.pk)
    return _in_batches(rated, change, ids)


# Changes and their events


def _in_batches(
    findings: QuerySet[Finding],
    change: Callable[[Sequence[Finding]], None],
    ids: Sequence[int] | None = None,
) -> int:
    """Lock ``findings``, only ``ids`` if given, and call ``change`` with each batch; return their number."""
    if ids is None:
        ids = list(findings.order_by().values_list("pk", flat=True))
    changed = 0
    for start in range(0, len(ids), TRIAGE_BATCH):
        locked = findings.select_for_update().filter(pk__in=ids[start : start + TRIAGE_BATCH])
        if batch := list(locked.order_by("pk").only(*_USED_COLUMNS)):
            change(batch)
        changed += len(batch)
    return changed


def _event(
    finding: Finding, event: Event, decision: StandingDecision, *, by: str, reason: str, now: datetime
) -> FindingEvent:
    return FindingEvent(
        finding=finding,
        website_id=finding.website_id,
        event=event,
        by=by,
        reason=reason,
        at=now,
        decision=decision,
    )


def _add_events(events: Iterable[FindingEvent]) -> None:
    FindingEvent.objects.bulk_create(events)
