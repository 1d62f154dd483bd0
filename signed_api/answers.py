"""Answers of an account to findings, and the messages between its members and analysts: shared types."""

from datetime import date
from typing import Annotated

from signed_api import limits
from signed_api.values import Member, Moment, Number, NumericId, about

WILL_FIX, ACCEPTED, DISPUTED, FIXED = "will_fix", "accepted", "disputed", "fixed"
WAITING = "waiting"  # an accepted risk that waits for a second person
UNANSWERED = "none"
ANSWERS = (WILL_FIX, ACCEPTED, WAITING, DISPUTED, FIXED)
OVERDUE, THIS_WEEK, LATER, NO_DAY = "overdue", "this_week", "later", "none"
DUE = (OVERDUE, THIS_WEEK, LATER, NO_DAY)
UNASSIGNED = "none"

_ANSWER = (
    "will_fix, accepted (the risk), waiting (an accepted risk that a second person must confirm), disputed "
    "or fixed (to be checked by the next scan)."
)
_OUTCOME = (
    "Why it ended: replaced by a later answer, withdrawn, declined by the second person, expired, worse (the "
    "finding is worse now), agreed or disagreed (an analyst's decision), overtaken (a scan no longer finds "
    "it), fixed, gone, still_there, or decided (an analyst closed the finding). Others may be added."
)


class AnswerSummary(Member, frozen=True, kw_only=True):
    """The open answer of the account to a finding, as lists show it."""

    answer: Annotated[str, about(_ANSWER)]
    due: Annotated[date | None, about("will_fix: the day by which it will be fixed.")] = None
    until: Annotated[date | None, about("accepted and waiting: the last day.")] = None
    assignee: Annotated[str, about("will_fix: who fixes it, as a reference of the portal; or empty.")] = ""


class Answer(AnswerSummary, frozen=True, kw_only=True):
    """An answer of the account to a finding; no other account can read it.

    References of people, such as by, are opaque: whoever sends them gives them their meaning.
    """

    id: Annotated[NumericId, about("The id; as text, because it may become longer.")]
    reason: Annotated[str, about("Why, as typed.")] = ""
    evidence: Annotated[str, about("disputed: what shows that it is not a problem, as typed.")] = ""
    by: Annotated[str, about("Who answered; empty: through the API without a person, or a share link.")] = ""
    name: Annotated[str, about("The name that someone typed on a share link: nobody has verified it.")] = ""
    at: Annotated[Moment, about("When it was given.")]
    second_by: Annotated[str, about("The second person who confirmed the accepted risk; or empty.")] = ""
    promised_on: Annotated[
        date | None, about("disputed: the day by which an analyst answers, in UTC; null: answered.")
    ] = None
    decision: Annotated[str, about("What the analyst wrote about the dispute; empty: not decided.")] = ""
    ended_at: Annotated[Moment | None, about("When it ended; null: it is open.")] = None
    outcome: Annotated[str, about(_OUTCOME)] = ""


class Message(Member, frozen=True, kw_only=True):
    """A message about a finding, or an event in the conversation; text is Markdown."""

    id: Annotated[NumericId, about("The id; as text, because it may become longer.")]
    side: Annotated[str, about("member, analyst or service (an event that a scan or a day caused).")]
    event: Annotated[
        str,
        about(
            "message, or what happened to an answer: disputed, agreed, disagreed, asked (the analyst needs "
            "to know more), or its outcome. Others may be added."
        ),
    ]
    by: Annotated[str, about("A member: the portal's reference; an analyst: the name; or empty.")] = ""
    text: Annotated[str, about("The text, as Markdown; empty for an event without words.")] = ""
    at: Annotated[Moment, about("When it was written.")]
    edited_at: Annotated[Moment | None, about("When its author last changed it; null: never.")] = None


class FixTime(Member, frozen=True, kw_only=True):
    """The time that fixes took: of the findings of one severity that were fixed in the last 90 days."""

    severity: Annotated[str, about("Critical, High, Medium, Low or Info.")]
    median_days: Annotated[Number, about("Half of them were fixed in at most so many days.")]
    findings: Annotated[Number, about("How many were fixed.")]


def is_reference(text: str) -> bool:
    """Return whether ``text`` can be a reference of a person: printable ASCII without spaces or commas."""
    return 0 < len(text) <= limits.MAX_PERSON_LENGTH and all(
        "!" <= each <= "~" and each != "," for each in text
    )
