"""Messages between members of an account and analysts."""

from datetime import datetime, timedelta

from django.db.models import Q

from audit.recording import record as audit
from dashboard_api.answers.records import WrongState, changed, promised_on
from dashboard_api.models import Account, Answer, Case, Finding, Message
from signed_api.answering import MessageRequest

EDITABLE_FOR = timedelta(hours=1)
AN_HOUR = timedelta(hours=1)
MAX_OF_ACCOUNT, MAX_OF_PERSON = 60, 20  # messages of members in an hour


class TooManyMessages(Exception):
    """The account or the person wrote too many messages; ``seconds`` until the next one is accepted."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__()


def case_of(account_id: int, finding_id: int) -> Case | None:
    """Return the open case of the account that the finding is part of, if there is one: a dispute first."""
    cases = Case.objects.open().filter(account=account_id)
    disputed = Answer.objects.open().filter(account=account_id, finding=finding_id)
    of_finding = Q(finding=finding_id) | Q(pk__in=disputed.values("case"))
    return cases.filter(of_finding).order_by("kind", "pk").first()


def write(account: Account, finding: Finding, request: MessageRequest, now: datetime) -> Message:
    """Store a member's message, and open a question unless a case is open; the website is locked.

    Raises TooManyMessages.
    """
    _check_number(account, request.by, now)
    case = case_of(account.pk, finding.pk)
    if case is None:
        case = Case.objects.create(
            kind=Case.Kind.QUESTION,
            account=account,
            website_id=finding.website_id,
            finding=finding,
            by=request.by,
            opened_at=now,
            promised_on=promised_on(now),
        )
    elif case.waits_for_customer:
        case.waits_for_customer, case.promised_on = False, promised_on(now)
        case.save(update_fields=["waits_for_customer", "promised_on"])
    message = Message.objects.create(
        account=account,
        website_id=finding.website_id,
        finding=finding,
        case=case,
        side=Message.Side.MEMBER,
        event="message",
        by=request.by,
        text=request.text,
        at=now,
    )
    changed(account.pk, finding.website_id)
    _record("written", account, finding, request)
    return message


def edit(account: Account, finding: Finding, request: MessageRequest, now: datetime) -> Message:
    """Replace the text of a member's message; raises WrongState unless its author does so within an hour."""
    messages = Message.objects.filter(account=account, side=Message.Side.MEMBER, event="message")
    message = messages.filter(pk=int(request.message_id)).filter(
        Q(finding=finding) | Q(case__in=_cases_of(account, finding))
    )
    found = message.first()
    if found is None:
        raise WrongState("This finding has no such message of a member.")
    if found.by != request.by:
        raise WrongState("Only its author can change a message.")
    if found.at < now - EDITABLE_FOR:
        raise WrongState("A message can be changed for an hour. Write another one.")
    found.text, found.edited_at = request.text, now
    found.save(update_fields=["text", "edited_at"])
    changed(account.pk, finding.website_id)
    _record("edited", account, finding, request)
    return found


def _record(event: str, account: Account, finding: Finding, request: MessageRequest) -> None:
    by, host = request.by or account.ref, finding.website.host
    audit(f"message.{event}", account, by=by, host=host, after={"finding": finding.pk})


def _cases_of(account: Account, finding: Finding) -> "list[int]":
    answers = Answer.objects.filter(account=account, finding=finding, case__isnull=False)
    return list(answers.values_list("case", flat=True))


def _check_number(account: Account, by: str, now: datetime) -> None:
    """Raise TooManyMessages if the account or the person wrote as many messages as allowed in an hour."""
    Account.objects.select_for_update().get(pk=account.pk)  # so that two calls cannot exceed the limit
    recent = Message.objects.filter(account=account, side=Message.Side.MEMBER, at__gt=now - AN_HOUR)
    for rows, most in ((recent, MAX_OF_ACCOUNT), (recent.filter(by=by), MAX_OF_PERSON)):
        times = list(rows.order_by("-at").values_list("at", flat=True)[:most])
        if len(times) == most:
            raise TooManyMessages(int((times[-1] + AN_HOUR - now).total_seconds()) + 1)
