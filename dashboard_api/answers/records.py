"""Parts that every change of answers shares: versions, messages about events, and promised days."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from dashboard_api.models import Answer, Message, SiteLink

_SATURDAY = 5
BATCH = 500  # rows in one statement


class WrongState(Exception):
    """The finding, the answer or the message is not in a state for this act; the text says why."""


def changed(account_id: int, website_id: int) -> None:
    """Note that what the account reads about the website changed; call it in each transaction that did."""
    links = SiteLink.objects.filter(account=account_id, website=website_id)
    links.update(answers_version=F("answers_version") + 1)


def promised_on(now: datetime) -> date:
    """Return the day by which an analyst answers: DISPUTE_DAYS working days later, in the service's zone."""
    day = timezone.localdate(now)
    left = settings.DISPUTE_DAYS
    while left > 0 or day.weekday() >= _SATURDAY:
        day += timedelta(days=1)
        if day.weekday() < _SATURDAY:
            left -= 1
    return day


def say(answers: Iterable[Answer], event: str, *, now: datetime, text: str = "") -> None:
    """Add an event by the service to the conversation of each answer."""
    Message.objects.bulk_create(
        (
            Message(
                account_id=answer.account_id,
                website_id=answer.website_id,
                finding_id=answer.finding_id,
                case_id=answer.case_id,
                side=Message.Side.SERVICE,
                event=event,
                text=text,
                at=now,
            )
            for answer in answers
        ),
        batch_size=BATCH,
    )


def batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the ids in parts of at most BATCH."""
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
