"""Acts of an account about findings: answer, withdraw, confirm and decline."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from audit.recording import record as audit
from dashboard_api.answers import settling
from dashboard_api.answers.records import BATCH, WrongState, batches, changed, promised_on
from dashboard_api.models import Account, Answer, Case, Finding, Message, Severity, Website
from signed_api import limits as contract_limits
from signed_api.answering import CONFIRM, DECLINE, WITHDRAW, AnswerRequest
from signed_api.answers import ACCEPTED, DISPUTED, WILL_FIX

Kind, Outcome = Answer.Kind, Answer.Outcome
MAX_DISPUTES = 2  # of a finding by an account: the second with new evidence
_SECOND_PERSON_FROM = Severity.HIGH
_RULES = {
    Severity.CRITICAL: "critical_days",
    Severity.HIGH: "high_days",
    Severity.MEDIUM: "medium_days",
    Severity.LOW: "low_days",
}


class AlreadyAnswered(Exception):
    """A finding has an open answer, which the call must not replace."""


class TooManyDisputes(Exception):
    """The account has as many open disputes as it may have."""


class BadDay(Exception):
    """A day of the request is not possible; ``field`` is its name, and the text continues it."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The chosen findings, as they are now, with the open answers of the account by finding."""

    findings: Sequence[Finding]
    open: dict[int, Answer]

    @classmethod
    def of(cls, account_id: int, website_id: int, ids: Iterable[int]) -> "Chosen":
        """Read the findings of the website with these ids."""
        names = ("pk", "severity", "status", "first_seen", "source_id", "website_id")
        findings = Finding.objects.filter(website=website_id).only(*names)
        wanted = set(ids)
        answers = Answer.objects.open().filter(website=website_id, account=account_id)
        return cls(
            findings=[each for batch in batches(sorted(wanted)) for each in findings.filter(pk__in=batch)],
            open={each.finding_id: each for each in answers if each.finding_id in wanted},
        )

    def by_severity(self) -> dict[str, int]:
        """Count the findings by severity."""
        counts = Counter(finding.severity for finding in self.findings)
        return {severity.label: counts[severity] for severity in Severity}


def act(account: Account, website: Website, chosen: Chosen, request: AnswerRequest, now: datetime) -> None:
    """Do ``request.act`` for the chosen findings; the caller has begun a transaction and locked the website.

    Raises WrongState, AlreadyAnswered, TooManyDisputes or BadDay; then nothing may be committed.
    """
    if request.act == WITHDRAW:
        _withdraw(chosen, now)
    elif request.act in (CONFIRM, DECLINE):
        _second_person(chosen, request, now)
    else:
        _answer(account, website, chosen, request, now)
    audit(
        f"answer.{request.act}",
        account,
        by=request.by or account.ref,
        reason=request.reason,
        host=website.host,
        after={"findings": len(chosen.findings), "first": min(each.pk for each in chosen.findings)},
    )


def _answer(
    account: Account, website: Website, chosen: Chosen, request: AnswerRequest, now: datetime
) -> None:
    """Store a new answer to each finding, and end the answers that it replaces."""
    if any(finding.status != Finding.Status.OPEN for finding in chosen.findings):
        raise WrongState("Only open findings can be answered, and not all of these are open.")
    if request.only_unanswered and chosen.open:
        raise AlreadyAnswered
    today = now.astimezone(ZoneInfo(account.time_zone)).date()
    _check_days(request, today)
    if request.act == DISPUTED:
        _check_disputes(account, chosen, request)
    settling.end(chosen.open.values(), Outcome.REPLACED, now, tell=False)
    case = _open_dispute(account, website, chosen, request, now) if request.act == DISPUTED else None
    Answer.objects.bulk_create(
        (
            Answer(
                account=account,
                website=website,
                finding=finding,
                case=case,
                answer=_kind(account, finding, request),
                reason=request.reason,
                evidence=request.evidence,
                due_on=_due_on(account, finding, request, today),
                until=request.until,
                assignee=request.assignee,
                by=request.by,
                name=request.name,
                severity_then=finding.severity,
                at=now,
            )
            for finding in chosen.findings
        ),
        batch_size=BATCH,
    )
    changed(account.pk, website.pk)


def _kind(account: Account, finding: Finding, request: AnswerRequest) -> str:
    return Kind.WAITING if request.act == ACCEPTED and must_wait(account, finding) else request.act


def must_wait(account: Account, finding: Finding) -> bool:
    """Return whether the account's rules ask for a second person to accept the risk of the finding."""
    return account.second_person and finding.severity >= _SECOND_PERSON_FROM


def _check_days(request: AnswerRequest, today: date) -> None:
    """Raise BadDay for a day that has passed or is too late."""
    for name, day in (("due", request.due), ("until", request.until)):
        if day is not None and day < today:
            raise BadDay(name, "must be today or a later day, in the time zone of the account's rules")
    latest = today + timedelta(days=contract_limits.MAX_ACCEPTED_DAYS)
    if request.act == ACCEPTED and (request.until is None or request.until > latest):
        raise BadDay("until", f"must be at most {contract_limits.MAX_ACCEPTED_DAYS} days ahead: {latest}")


def _due_on(account: Account, finding: Finding, request: AnswerRequest, today: date) -> date | None:
    """Return the day of ``will_fix``: of the request, or by the account's rules, counted from today."""
    if request.act != WILL_FIX:
        return None
    days = getattr(account, _RULES.get(Severity(finding.severity), ""), 0)
    return request.due or (today + timedelta(days=days) if days else None)


def _check_disputes(account: Account, chosen: Chosen, request: AnswerRequest) -> None:
    """Raise TooManyDisputes or WrongState; a second dispute needs evidence, and there is no third."""
    Account.objects.select_for_update().get(pk=account.pk)  # so that two calls cannot exceed the limit
    open_disputes = Case.objects.open().filter(account=account, kind=Case.Kind.DISPUTE)
    if open_disputes.count() >= contract_limits.MAX_OPEN_DISPUTES:
        raise TooManyDisputes
    decided = Answer.objects.filter(account=account, outcome=Outcome.DISAGREED)
    counts: Counter[int] = Counter()
    for batch in batches([finding.pk for finding in chosen.findings]):
        counts.update(decided.filter(finding__in=batch).values_list("finding", flat=True))
    if counts and max(counts.values()) >= MAX_DISPUTES:
        raise WrongState("An analyst has decided twice about a dispute of one of these findings.")
    if counts and not request.evidence:
        raise WrongState("An analyst has disagreed before: send new evidence to dispute it once more.")


def _open_dispute(
    account: Account, website: Website, chosen: Chosen, request: AnswerRequest, now: datetime
) -> Case:
    """Open one case for all chosen findings, and add what was typed to its conversation."""
    first = min(chosen.findings, key=lambda finding: (-finding.severity, finding.pk))
    case = Case.objects.create(
        kind=Case.Kind.DISPUTE,
        account=account,
        website=website,
        finding=first,
        findings=len(chosen.findings),
        by=request.by,
        opened_at=now,
        promised_on=promised_on(now),
    )
    Message.objects.create(
        account=account,
        website=website,
        finding=first,
        case=case,
        findings=len(chosen.findings),
        side=Message.Side.MEMBER,
        event="disputed",
        by=request.by,
        text="\n\n".join(filter(None, (request.reason, request.evidence))),
        at=now,
    )
    return case


def _withdraw(chosen: Chosen, now: datetime) -> None:
    if not chosen.open:
        raise WrongState("None of these findings has an open answer to withdraw.")
    settling.end(chosen.open.values(), Outcome.WITHDRAWN, now, tell=False)


def _second_person(chosen: Chosen, request: AnswerRequest, now: datetime) -> None:
    """Confirm or decline accepted risks that wait for a second person; raises WrongState."""
    waiting = [answer for answer in chosen.open.values() if answer.answer == Kind.WAITING]
    if not waiting or len(waiting) < len(chosen.findings):
        raise WrongState("Not all of these findings wait for a second person.")
    if any(answer.by == request.by for answer in waiting):
        raise WrongState("Another person than the first must confirm or decline an accepted risk.")
    if request.act == DECLINE:
        settling.end(waiting, Outcome.DECLINED, now, text=request.reason)
        return
    for batch in batches([answer.pk for answer in waiting]):
        Answer.objects.filter(pk__in=batch).update(answer=Kind.ACCEPTED, second_by=request.by)
    changed(waiting[0].account_id, waiting[0].website_id)
