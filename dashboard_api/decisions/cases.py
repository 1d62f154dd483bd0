"""Decisions of analysts about questions and disputes of customers. Each function is one transaction."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction

from audit.recording import record as audit
from dashboard_api.answers import settling
from dashboard_api.answers.records import changed
from dashboard_api.decisions import triage
from dashboard_api.models import Answer, Case, Finding, Message, Website

Outcome = Case.Outcome
_MAX_TEXT = 4_000
# In the timeline of the findings, which every account with the website reads: not a word of the conversation.
AGREED_REASON = "An analyst looked at it again: it is not a problem."


@transaction.atomic
def agree(case: Case, *, by: str, person: str, text: str, now: datetime) -> int:
    """Make the findings of a dispute false positives; return their number.

    ``person`` is the customers' reference of the analyst, if the analyst is a customer as well. Raises
    ValidationError if the case was closed meanwhile or is the analyst's own, or without a text.
    """
    locked = _locked(case, by=by, person=person, text=text, kind=Case.Kind.DISPUTE)
    answers = list(Answer.objects.open().filter(case=locked).select_related("finding"))
    findings = [answer.finding for answer in answers if answer.finding.status == Finding.Status.OPEN]
    _tell(locked, "agreed", by=by, text=text, now=now)
    _close(locked, Outcome.AGREED, by=by, text=text, now=now)
    settling.end(answers, Answer.Outcome.AGREED, now, tell=False)
    for finding in findings:
        triage.decide(
            finding, Finding.Status.FALSE_POSITIVE, by=by, reason=AGREED_REASON, now=now, settles=False
        )
    settling.settle(locked.website_id, now)
    return len(findings)


@transaction.atomic
def disagree(case: Case, *, by: str, person: str, text: str, now: datetime) -> None:
    """End a dispute, and leave its findings open; raises ValidationError like ``agree``."""
    locked = _locked(case, by=by, person=person, text=text, kind=Case.Kind.DISPUTE)
    answers = list(Answer.objects.open().filter(case=locked))
    _tell(locked, "disagreed", by=by, text=text, now=now)
    _close(locked, Outcome.DISAGREED, by=by, text=text, now=now)
    settling.end(answers, Answer.Outcome.DISAGREED, now, tell=False)


@transaction.atomic
def ask(case: Case, *, by: str, person: str, text: str, now: datetime) -> None:
    """Ask back: the dispute waits for the customer's message; raises ValidationError like ``agree``."""
    locked = _locked(case, by=by, person=person, text=text, kind=Case.Kind.DISPUTE)
    _tell(locked, "asked", by=by, text=text, now=now)
    locked.waits_for_customer = True
    locked.save(update_fields=["waits_for_customer"])
    _record(locked, "asked", by=by, text=text)


@transaction.atomic
def reply(case: Case, *, by: str, person: str, text: str, now: datetime) -> None:
    """Answer a question, which closes it; raises ValidationError like ``agree``."""
    locked = _locked(case, by=by, person=person, text=text, kind=Case.Kind.QUESTION)
    _tell(locked, "message", by=by, text=text, now=now)
    _close(locked, Outcome.ANSWERED, by=by, text=text, now=now)


def _locked(case: Case, *, by: str, person: str, text: str, kind: str) -> Case:
    """Lock the website and the case; raise ValidationError unless the analyst may decide it."""
    Website.wait_for_imports([case.website_id])
    locked = Case.objects.select_for_update().get(pk=case.pk)
    if locked.closed_at is not None:
        who = f" by {locked.closed_by}" if locked.closed_by else ""
        raise ValidationError(f"It was closed meanwhile{who}: {locked.get_outcome_display().lower()}.")
    if locked.kind != kind:
        raise ValidationError(f"It is not a {Case.Kind(kind).label.lower()}.")
    if person and locked.by == person:
        raise ValidationError("You opened it yourself: another analyst must decide.")
    if not by.strip():
        raise ValidationError("Say who decides.")
    if not 0 < len(text.strip()) <= _MAX_TEXT:
        raise ValidationError({"text": f"Write 1 to {_MAX_TEXT:,} characters: the customer reads them."})
    return locked


def _tell(case: Case, event: str, *, by: str, text: str, now: datetime) -> None:
    """Add the analyst's words to the conversation."""
    Message.objects.create(
        account_id=case.account_id,
        website_id=case.website_id,
        finding_id=case.finding_id,
        case=case,
        findings=case.findings,
        side=Message.Side.ANALYST,
        event=event,
        by=by,
        text=text.strip(),
        at=now,
    )
    changed(case.account_id, case.website_id)


def _close(case: Case, outcome: str, *, by: str, text: str, now: datetime) -> None:
    case.closed_at, case.closed_by, case.outcome, case.decision = now, by, outcome, text.strip()
    case.save(update_fields=["closed_at", "closed_by", "outcome", "decision"])
    _record(case, outcome, by=by, text=text)


def _record(case: Case, event: str, *, by: str, text: str) -> None:
    audit(f"case.{event}", case, by=by, reason=text.strip()[:500], host=case.website.host)
