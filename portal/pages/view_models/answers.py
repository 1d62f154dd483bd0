"""The account's answer to a finding, its earlier ones, and the conversation with analysts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.crypto import get_random_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from foundation.texts.people import reference_of
from portal.pages.answer_forms import AnswerForm, MessageForm
from portal.pages.urls import Address
from portal.pages.view_models.people import People
from portal.texts import answers as words
from portal.texts import labels
from portal.texts.markdown import highlight_mentions, render_note
from signed_api.answers import ACCEPTED, DISPUTED, FIXED, WAITING, WILL_FIX, Answer, Message
from signed_api.findings import FindingResponse

EDITABLE_FOR = timedelta(hours=1)  # as the service has it
MAX_MENTIONED = 50  # names that the form suggests


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """An answer in words; ``outcome`` is empty while it is open, and ``decision`` is an analyst's text."""

    kind: str
    facts: tuple[str, ...]
    who: str
    at: datetime
    reason: str
    evidence: str
    decision: SafeString | str
    outcome: str
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """A message or an event; ``form`` changes the person's own message, for an hour."""

    id: str
    title: str
    is_event: bool
    at: datetime
    edited_at: datetime | None
    body: SafeString | str
    form: MessageForm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """The parts of a finding's page about the account's answer and the conversation.

    ``form`` answers the finding at ``url``, for people who may answer; ``message_form`` writes to the
    analysts at ``message_url``. ``key`` and ``message_key`` make a form that is sent twice count once.
    """

    open: AnswerView | None
    past: tuple[AnswerView, ...]
    due: str
    may_withdraw: bool
    may_confirm: bool
    form: AnswerForm | None
    no_dispute: str
    url: str
    key: str
    is_replacing: bool
    messages: tuple[MessageView, ...]
    message_form: MessageForm | None
    message_url: str
    message_key: str
    mentioned: tuple[str, ...]


def request_key() -> str:
    """Return a new key for a form, so that the service acts once however often the form is sent."""
    return get_random_string(24)


def answering(
    response: FindingResponse, address: Address, people: People, *, user_id: int | None = None
) -> Answering:
    """Return the parts for the finding of ``response``.

    ``user_id`` is the person's if they may answer; for others the parts have no forms.
    """
    finding, answer = response.finding, response.answer
    may_answer, me = user_id is not None, reference_of(user_id or 0)
    is_open = finding.status == labels.OPEN
    waits = answer is not None and answer.answer == WAITING
    return Answering(
        open=_answer_view(answer, people, response) if answer else None,
        past=tuple(_answer_view(each, people, response) for each in response.past_answers),
        due=_due_text(finding.due) if finding.due and not (answer and answer.due) else "",
        may_withdraw=may_answer and answer is not None,
        may_confirm=may_answer and waits and answer is not None and answer.by != me,
        form=form_about(response, people) if may_answer and is_open else None,
        no_dispute="" if response.may_dispute else _("Analysts have decided twice that it is a problem."),
        url=address.of_answer(finding.id),
        key=request_key(),
        is_replacing=answer is not None,
        messages=tuple(_message_view(each, people, me=me) for each in response.messages),
        message_form=MessageForm(auto_id="message-%s") if may_answer else None,
        message_url=address.of_message(finding.id),
        message_key=request_key(),
        mentioned=tuple(people.names.values())[:MAX_MENTIONED],
    )


def form_about(response: FindingResponse, people: People) -> AnswerForm:
    """Return the form about one finding, which begins with the open answer."""
    return AnswerForm(
        initial=_initial(response.answer, due=response.finding.due),
        assignees=people.names.items(),
        may_dispute=response.may_dispute,
        needs_evidence=any(each.outcome == "disagreed" for each in response.past_answers),
    )


def _initial(answer: Answer | None, *, due: date | None) -> dict[str, Any]:
    """Return what the form begins with: the open answer, and the day of the account's rules."""
    initial: dict[str, Any] = {"due": due if due and due >= timezone.localdate() else None}
    if answer is None:
        return initial
    kept = {
        "act": ACCEPTED if answer.answer == WAITING else answer.answer,
        "assignee": answer.assignee,
        "reason": answer.reason,
        "evidence": answer.evidence,
        "due": answer.due or initial["due"],
        "until": answer.until,
    }
    return {name: value for name, value in kept.items() if value}


def _due_text(due: date) -> str:
    is_over = due < timezone.localdate()
    text = _("It was due on %(day)s.") if is_over else _("It is due on %(day)s.")
    return text % {"day": labels.day(due)}


def _answer_view(answer: Answer, people: People, response: FindingResponse) -> AnswerView:
    return AnswerView(
        kind=labels.label(words.KINDS, answer.answer),
        facts=tuple(_facts(answer, people, response)),
        who=people.name(answer.by, typed=answer.name),
        at=answer.at,
        reason=answer.reason,
        evidence=answer.evidence,
        decision=render_note(answer.decision) if answer.decision else "",
        outcome=labels.label(words.OUTCOMES, answer.outcome) if answer.outcome else "",
        ended_at=answer.ended_at,
    )


def _facts(answer: Answer, people: People, response: FindingResponse) -> Iterator[str]:
    """Yield what an answer promises, and for an open one who or what decides about it."""
    if answer.due:
        yield _("by %(day)s") % {"day": labels.day(answer.due)}
    if answer.assignee:
        yield _("assigned to %(name)s") % {"name": people.name(answer.assignee)}
    if answer.until:
        yield _("until %(day)s") % {"day": labels.day(answer.until)}
    if answer.second_by:
        yield _("confirmed by %(name)s") % {"name": people.name(answer.second_by)}
    if answer.outcome:
        return
    if answer.answer == WAITING:
        yield _("waits for a second person")
    if answer.answer == DISPUTED:
        if _last_event(response.messages) == "asked":
            yield _("an analyst asked you a question: answer below")
        elif answer.promised_on:
            yield _("an analyst answers by %(day)s") % {"day": labels.day(answer.promised_on)}
    if answer.answer == FIXED:
        yield _what_decides(response)
    if answer.answer == WILL_FIX and answer.due and answer.due < timezone.localdate():
        yield _("overdue")


def _what_decides(response: FindingResponse) -> str:
    finding = response.finding
    if response.can_retest:
        return _("a retest decides whether it is gone")
    scanner = finding.source_name or finding.source
    return _("the next complete scan by %(scanner)s decides whether it is gone") % {"scanner": scanner}


def _last_event(messages: Sequence[Message]) -> str:
    """Return the last event of people in a dispute: a question of an analyst, or a message after it."""
    events = [each.event for each in messages if each.event in ("asked", "message", "disputed")]
    return events[-1] if events else ""


def _message_view(message: Message, people: People, *, me: str) -> MessageView:
    is_analyst = message.side == "analyst"
    who = message.by if is_analyst else people.name(message.by)
    is_event = message.event != "message"
    says = words.EVENTS_BY.get(message.event) if message.side != "service" else None
    if says:
        title = str(says) % {"who": who}
    elif is_event:
        title = labels.label(words.EVENTS, message.event)
    else:
        title = _("%(name)s, analyst") % {"name": who} if is_analyst else who
    is_own = message.event == "message" and message.side == "member" and message.by == me
    may_edit = is_own and timezone.now() - message.at < EDITABLE_FOR
    return MessageView(
        id=message.id,
        title=title,
        is_event=is_event,
        at=message.at,
        edited_at=message.edited_at,
        body=highlight_mentions(render_note(message.text), people.names.values()) if message.text else "",
        form=MessageForm(initial={"text": message.text}, auto_id=f"message-{message.id}-%s")
        if may_edit
        else None,
    )
