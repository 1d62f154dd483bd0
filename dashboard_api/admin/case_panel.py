"""The case that is open in the queue, as its template shows it, and what customers say to be fixed."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from dashboard_api.admin.case_queue import is_overdue
from dashboard_api.admin.disputed_rules import RuleHistory, history_of
from dashboard_api.admin.finding_panel import FindingPanel, finding_panel
from dashboard_api.crawler import installed
from dashboard_api.models import Account, Answer, Case, Message
from dashboard_api.models.answers import STILL_LINKED
from signed_api import limits as contract_limits

MAX_FINDINGS = 20  # further findings of a dispute that are named
_EVENTS = {
    **dict(Answer.Outcome.choices),
    "disputed": "Disputes",
    "asked": "Asks",
    "ends_soon": "The accepted risk ends soon",
    "message": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message or an event of the conversation; ``event`` is empty for words alone, ``who`` if unknown."""

    who: str
    side: str
    event: str
    text: str
    at: datetime
    edited_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePanel:
    """The contents of the right side: the case, the first finding, both sides' words, and earlier decisions.

    ``others`` are further findings of a dispute that are still open, ``more_others`` the number not named.
    """

    case: Case
    about: FindingPanel
    customer: str
    is_overdue: bool
    lines: tuple[Line, ...]
    others: tuple[Answer, ...]
    more_others: int
    history: RuleHistory


def case_panel(case: Case, *, names_accounts: bool) -> CasePanel:
    """Return the panel of ``case``, which has its account, finding, website and source loaded."""
    customer = customer_name(case.account) if names_accounts else ""
    answers = Answer.objects.open().filter(case=case).exclude(finding=case.finding_id)
    others = tuple(answers.select_related("finding").order_by("-finding__severity", "pk")[:MAX_FINDINGS])
    words = Message.objects.filter(Q(case=case) | Q(finding=case.finding_id), account=case.account_id)
    latest = list(words.order_by("-pk")[: contract_limits.MAX_MESSAGES])
    return CasePanel(
        case=case,
        about=finding_panel(case.finding),
        customer=customer,
        is_overdue=is_overdue(case, timezone.localdate()),
        lines=tuple(_line(message, customer) for message in reversed(latest)),
        others=others,
        more_others=answers.count() - len(others) if len(others) == MAX_FINDINGS else 0,
        history=history_of(case.finding, case.account_id, without=case.pk),
    )


def customer_name(account: Account) -> str:
    """Return the name of an account, or its reference."""
    return account.name or account.ref


def said_to_be_fixed() -> QuerySet[Answer]:
    """Return open answers "fixed" about scanners that this deployment does not run, the oldest first.

    Answers about a website that the account no longer has are left out.
    """
    answers = Answer.objects.open().filter(STILL_LINKED, answer=Answer.Kind.FIXED)
    answers = answers.exclude(finding__source__slug__in=installed.profiles().keys())
    return answers.select_related("finding__source", "website", "account").order_by("at", "pk")


def _line(message: Message, customer: str) -> Line:
    who = {Message.Side.MEMBER: customer, Message.Side.ANALYST: message.by}
    return Line(
        who=who.get(Message.Side(message.side), ""),
        side=message.get_side_display(),
        event=_EVENTS.get(message.event, message.event),
        text=message.text,
        at=message.at,
        edited_at=message.edited_at,
    )
