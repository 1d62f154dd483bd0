"""The account's answers to one finding, and its messages with analysts."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from dashboard_api.answers.acts import MAX_DISPUTES
from dashboard_api.models import Answer, Finding, Message
from dashboard_api.queries.credentials import AccountSite
from signed_api import answers as contract
from signed_api import limits as contract_limits
from signed_api.findings import MessageChange

EXCERPT_LENGTH = 500


class Conversation(NamedTuple):
    """The open answer of an account to a finding, the ended ones, newest first, and the messages."""

    open: contract.Answer | None
    past: list[contract.Answer]
    messages: list[contract.Message]
    may_dispute: bool


def read_conversation(link: AccountSite, finding_id: int, status: str) -> Conversation:
    """Return the account's conversation about the finding with this status."""
    if not link.answers.version:
        return Conversation(open=None, past=[], messages=[], may_dispute=status == Finding.Status.OPEN)
    account_id = link.account_id
    answers = Answer.objects.filter(account=account_id, finding=finding_id).select_related("case")
    rows = list(answers.order_by("-pk")[: contract_limits.MAX_PAST_ANSWERS + 1])
    cases = {row.case_id for row in rows if row.case_id}
    messages = Message.objects.filter(Q(finding=finding_id) | Q(case__in=cases), account=account_id)
    latest = list(messages.order_by("-pk")[: contract_limits.MAX_MESSAGES])
    open_answers = [row for row in rows if row.ended_at is None]
    past = [row for row in rows if row.ended_at is not None]
    return Conversation(
        open=answer_of(open_answers[0]) if open_answers else None,
        past=[answer_of(row) for row in past[: contract_limits.MAX_PAST_ANSWERS]],
        messages=[message_of(row) for row in reversed(latest)],
        may_dispute=status == Finding.Status.OPEN and disputes_of(account_id, finding_id) < MAX_DISPUTES,
    )


def disputes_of(account_id: int, finding_id: int) -> int:
    """Count the disputes of the finding that analysts decided."""
    decided = Answer.objects.filter(account=account_id, finding=finding_id, outcome=Answer.Outcome.DISAGREED)
    return decided.count()


def answer_of(row: Answer) -> contract.Answer:
    """Return an answer as a member of a response; ``row.case`` must be loaded."""
    case = row.case if row.answer == Answer.Kind.DISPUTED else None
    return contract.Answer(
        id=str(row.pk),
        answer=row.answer,
        due=row.due_on,
        until=row.until,
        assignee=row.assignee,
        reason=row.reason,
        evidence=row.evidence,
        by=row.by,
        name=row.name,
        at=row.at,
        second_by=row.second_by,
        promised_on=case.promised_on if case and case.closed_at is None else None,
        decision=case.decision if case else "",
        ended_at=row.ended_at,
        outcome=row.outcome,
    )


def message_of(row: Message) -> contract.Message:
    """Return a message as a member of a response."""
    return contract.Message(
        id=str(row.pk),
        side=row.side,
        event=row.event,
        by=row.by,
        text=row.text,
        at=row.at,
        edited_at=row.edited_at,
    )


def messages_since(link: AccountSite, message_id: int, begin: datetime | None) -> list[MessageChange]:
    """Return the messages after this id that no member wrote, oldest first; with ``begin``, only later ones.

    Writers of messages lock the website, so the ids of its messages grow in the order of commits.
    """
    if not link.answers.version:
        return []
    rows = Message.objects.filter(account=link.account_id, website=link.website_id, pk__gt=message_id)
    rows = rows.exclude(side=Message.Side.MEMBER)
    if begin is not None:
        rows = rows.filter(at__gte=begin)
    found = rows.order_by("pk").select_related("finding")[: contract_limits.MAX_CHANGES]
    return [
        MessageChange(
            id=str(row.pk),
            side=row.side,
            event=row.event,
            by=row.by,
            text=row.text[:EXCERPT_LENGTH],
            at=row.at,
            edited_at=row.edited_at,
            finding_id=str(row.finding_id),
            finding_title=row.finding.title,
            findings=row.findings,
        )
        for row in found
    ]


def newest_message(link: AccountSite) -> int:
    """Return the id of the account's newest message about the website; 0 without one."""
    if not link.answers.version:
        return 0
    rows = Message.objects.filter(account=link.account_id, website=link.website_id)
    return rows.order_by("-pk").values_list("pk", flat=True).first() or 0
