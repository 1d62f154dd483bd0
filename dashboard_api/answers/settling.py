"""The end of answers by scans, by analysts' decisions about findings, and by days.

Code that changes findings calls ``settle`` in the same transaction, which compares open answers with the
findings as they are now. So the cause of the change makes no difference.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import F, Q

from dashboard_api.answers.records import batches, changed, say
from dashboard_api.models import Answer, Case, Finding, Website

Kind, Outcome = Answer.Kind, Answer.Outcome
WARNED_BEFORE = timedelta(days=14)  # the end of an accepted risk
_RISKS = (Kind.ACCEPTED, Kind.WAITING)
# Outcomes of answers to a finding that is fixed now; accepted risks stay, in case it comes back.
_WHEN_FIXED = {Kind.WILL_FIX: Outcome.FIXED, Kind.DISPUTED: Outcome.OVERTAKEN, Kind.FIXED: Outcome.GONE}


def settle(website_id: int, now: datetime, *, run_id: int | None = None) -> None:
    """End the open answers that the findings of the website decide now; ``run_id`` is the import's.

    The caller has locked the website.
    """
    answers = Answer.objects.open().filter(website=website_id).select_related("finding")
    is_decided = (
        ~Q(finding__status=Finding.Status.OPEN)
        | Q(answer__in=_RISKS, finding__severity__gt=F("severity_then"))
        | Q(answer=Kind.FIXED, finding__last_seen__gt=F("at"))
    )
    by_outcome: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers.filter(is_decided).exclude(
        answer__in=_RISKS, finding__status=Finding.Status.FIXED, finding__severity__lte=F("severity_then")
    ):
        if outcome := _outcome(answer):
            by_outcome[outcome].append(answer)
    for outcome, ended in by_outcome.items():
        end(ended, outcome, now, run_id=run_id)


def _outcome(answer: Answer) -> str:
    """Return the outcome that the finding gives to an answer; empty while it stays open."""
    finding = answer.finding
    if finding.status == Finding.Status.FIXED:
        return _WHEN_FIXED.get(Kind(answer.answer), "")
    if finding.status != Finding.Status.OPEN:
        is_agreed = answer.answer == Kind.DISPUTED and finding.status == Finding.Status.FALSE_POSITIVE
        return Outcome.AGREED if is_agreed else Outcome.DECIDED
    if answer.answer in _RISKS:
        return Outcome.WORSE if finding.severity > answer.severity_then else ""
    return Outcome.STILL_THERE


def end(
    answers: Iterable[Answer],
    outcome: str,
    now: datetime,
    *,
    run_id: int | None = None,
    tell: bool = True,
    text: str = "",
) -> None:
    """End open answers with this outcome, and the cases without another open answer; the website is locked.

    ``tell`` adds the outcome to the conversations, with ``text``.
    """
    answers = list(answers)
    for batch in batches([answer.pk for answer in answers]):
        rows = Answer.objects.open().filter(pk__in=batch)
        rows.update(ended_at=now, outcome=outcome, ended_run=run_id)
    if tell:
        say(answers, outcome, now=now, text=text)
    _close_cases({answer.case_id for answer in answers if answer.case_id}, outcome, now)
    for account_id, website_id in {(answer.account_id, answer.website_id) for answer in answers}:
        changed(account_id, website_id)


def _close_cases(cases: set[int], outcome: str, now: datetime) -> None:
    """Close the open disputes that have no open answer left."""
    outcomes = {
        Outcome.AGREED: Case.Outcome.AGREED,
        Outcome.OVERTAKEN: Case.Outcome.OVERTAKEN,
        Outcome.DECIDED: Case.Outcome.ANSWERED,
    }
    finished = Case.objects.open().filter(pk__in=cases).exclude(answers__in=Answer.objects.open())
    ids = list(finished.values_list("pk", flat=True))
    Case.objects.filter(pk__in=ids).update(
        closed_at=now, outcome=outcomes.get(Outcome(outcome), Case.Outcome.WITHDRAWN)
    )


def revive(run_id: int) -> None:
    """Open the answers again that an import ended, because it is undone; the website is locked."""
    ended = Answer.objects.filter(ended_run=run_id)
    answered = Answer.objects.open().values("finding", "account")
    answers = [
        answer
        for answer in ended.order_by("-pk")
        if not answered.filter(finding=answer.finding_id, account=answer.account_id).exists()
    ]
    ids = [answer.pk for answer in answers]
    for batch in batches(ids):
        Answer.objects.filter(pk__in=batch).update(ended_at=None, outcome="", ended_run=None)
    cases = Case.objects.filter(pk__in={answer.case_id for answer in answers if answer.case_id}, closed_by="")
    cases.update(closed_at=None, outcome="")
    for account_id, website_id in {(answer.account_id, answer.website_id) for answer in answers}:
        changed(account_id, website_id)


def keep_cases(deleted: Collection[int]) -> None:
    """Let disputes of many findings go on without those that are about to be deleted."""
    answers = Answer.objects.open().filter(finding__in=deleted, case__isnull=False)
    for case in Case.objects.filter(pk__in=answers.values("case")):
        left = case.answers.exclude(finding__in=deleted).order_by("-finding__severity", "finding").first()
        if left is not None:
            Case.objects.filter(pk=case.pk).update(finding=left.finding_id)
            case.messages.filter(finding__in=deleted).update(finding=left.finding_id)


def end_accepted(now: datetime) -> int:
    """End accepted risks after their last day; return their number. Commits for each website."""
    total = 0
    for website_id, ids in _ending_before(now, timedelta(0)):
        with transaction.atomic():
            Website.wait_for_imports([website_id])
            answers = list(Answer.objects.open().filter(pk__in=ids))
            end(answers, Outcome.EXPIRED, now)
            total += len(answers)
    return total


def announce_ends(now: datetime) -> int:
    """Add an event to the conversation of accepted risks that end within WARNED_BEFORE; return their number.

    Risks that were accepted for a shorter time are not announced.
    """
    total = 0
    for website_id, ids in _ending_before(now, WARNED_BEFORE + timedelta(days=1)):
        with transaction.atomic():
            Website.wait_for_imports([website_id])
            rows = Answer.objects.open().filter(pk__in=ids, warned_at=None)
            answers = [each for each in rows.select_related("account") if _lasts_long(each)]
            say(answers, "ends_soon", now=now)
            Answer.objects.filter(pk__in=[answer.pk for answer in answers]).update(warned_at=now)
            for account_id in {answer.account_id for answer in answers}:
                changed(account_id, website_id)
            total += len(answers)
    return total


def _lasts_long(answer: Answer) -> bool:
    """Return whether the risk was accepted for more than WARNED_BEFORE."""
    begin = answer.at.astimezone(ZoneInfo(answer.account.time_zone)).date()
    return answer.until is not None and answer.until - begin > WARNED_BEFORE


def _ending_before(now: datetime, ahead: timedelta) -> Iterator[tuple[int, list[int]]]:
    """Yield each website with its accepted risks whose last day is before the day of now and ``ahead``."""
    last = (now + ahead + timedelta(days=1)).date()  # in any zone
    answers = Answer.objects.open().filter(answer__in=_RISKS, until__lte=last).select_related("account")
    by_website: dict[int, list[int]] = defaultdict(list)
    for answer in answers:
        today = (now + ahead).astimezone(ZoneInfo(answer.account.time_zone)).date()
        if answer.until is not None and answer.until < today:
            by_website[answer.website_id].append(answer.pk)
    yield from by_website.items()
