"""E-mails about messages and answers, for the members whom they concern."""

import logging
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser

from foundation.operations.storage import is_storage_fault
from foundation.texts.people import reference_of
from portal.answers import service
from portal.models import Membership, PendingNotification, Subscription, Website
from portal.notifications import delivery
from portal.notifications.digest import Digest, Message
from signed_api.answering import AnswersRequest
from signed_api.answers import Answer
from signed_api.errors import UnknownFinding
from signed_api.findings import ALL, FindingResponse, MessageChange
from signed_api.limits import MAX_PAGE_SIZE

logger = logging.getLogger(__name__)
MAX_READ = 20  # conversations about events that are read for a response
MAX_MENTIONED = 10
MENTION, SECOND_PERSON = "mention", "second_person"
_TO_SPEAKER = ("gone", "still_there")  # what became of "we fixed it"
_TO_MANAGERS = ("ends_soon", "expired", "worse")  # an accepted risk ends
_TO_THREAD = ("message", "asked", "agreed", "disagreed", "overtaken", "declined", "decided")
EVENTS = (*_TO_THREAD, *_TO_SPEAKER, *_TO_MANAGERS)
_MANAGING = (Membership.Role.OWNER, Membership.Role.MANAGER)
_MENTIONED = re.compile(r"(?<![\w.@+-])@([\w.@+-]{1,150})")


class Thread(NamedTuple):
    """The conversation about a finding: its answers, newest first, and who wrote messages."""

    answers: Sequence[Answer] = ()
    authors: Collection[str] = ()

    @classmethod
    def of(cls, response: FindingResponse) -> "Thread":
        """Return the conversation of a finding."""
        answers = [response.answer] if response.answer else []
        authors = {message.by for message in response.messages if message.side == "member"}
        return cls([*answers, *response.past_answers], authors)

    def people(self, event: str) -> set[str]:
        """Return the references of the people whom ``event`` concerns."""
        assignees = [answer.assignee for answer in self.answers if answer.assignee]
        if event in _TO_SPEAKER:
            said = [answer.by for answer in self.answers if answer.outcome == event]
            return {*said[:1], *assignees[:1]}
        answered = {person for answer in self.answers for person in (answer.by, answer.second_by)}
        return {*self.authors, *answered, *assignees}


def digests(
    website: Website, members: Iterable[Membership], cursor: str, changes: Sequence[MessageChange]
) -> list[tuple[Subscription, Digest]]:
    """Return a digest for each of ``members`` whom one of the messages concerns; raises CallError.

    Call it outside any transaction, because it calls the service.
    """
    members = list(members)
    messages = [change for change in changes if change.event in EVENTS]
    if not messages or not members:
        return []
    threads = _threads(website, messages)
    by_member: dict[Membership, list[Message]] = {}
    for change in messages:
        people = threads.get(change.finding_id, Thread()).people(change.event)
        for member in members:
            is_manager = change.event in _TO_MANAGERS and member.role in _MANAGING
            if is_manager or reference_of(member.user_id) in people:
                by_member.setdefault(member, []).append(Message.of(change))
    return [
        (Subscription.of(member), Digest(since=cursor, messages=found)) for member, found in by_member.items()
    ]


def _threads(website: Website, messages: Sequence[MessageChange]) -> dict[str, Thread]:
    """Return the conversations by finding.

    Many events come from one act: then one call for the newest answers says who gave them, and only findings
    with an analyst's words are read. Older answers of such an act concern owners and managers alone.
    """
    unread = dict.fromkeys(message.finding_id for message in messages)
    answers: dict[str, list[Answer]] = {}
    if len(unread) > MAX_READ:
        unread = dict.fromkeys(message.finding_id for message in messages if message.side == "analyst")
        newest = service.get_answers(website, AnswersRequest(state=ALL, page_size=MAX_PAGE_SIZE))
        for each in newest.answers:
            answers.setdefault(each.finding_id, []).append(each.answer)
    threads = {finding_id: Thread(found) for finding_id, found in answers.items()}
    for finding_id in unread:
        try:
            threads[finding_id] = Thread.of(service.get_finding(website, finding_id))
        except UnknownFinding:  # deleted meanwhile
            continue
    return threads


def notify_mentions(
    website: Website, *, finding_id: str, title: str, text: str, author: AbstractBaseUser
) -> None:
    """Send an e-mail to the members of the website's account whom the message mentions as ``@name``.

    Call it after the message was written, outside any transaction. ``title`` is the finding's.
    """
    members = [member for member in _members(website) if member.user_id != author.pk]
    by_name = {member.user.get_username().casefold(): member for member in members}
    names = [name.casefold() for name in _MENTIONED.findall(text)]
    mentioned = dict.fromkeys(by_name.get(name) or by_name.get(name.rstrip(".+-@")) for name in names)
    to = [member for member in mentioned if member is not None][:MAX_MENTIONED]
    message = Message(event=MENTION, by=author.get_username(), text=text, finding_id=finding_id, title=title)
    _send(website, to, message)


def notify_second_person(website: Website, *, title: str, count: int, by: AbstractBaseUser) -> None:
    """Send an e-mail to the members who may confirm the accepted risk of ``count`` findings.

    Call it after the answer was given, outside any transaction. ``title`` is the first finding's.
    """
    to = [
        member
        for member in _members(website)
        if member.user_id != by.pk and member.role != Membership.Role.VIEWER
    ]
    message = Message(event=SECOND_PERSON, by=by.get_username(), title=title, findings=count)
    _send(website, to, message)


def _members(website: Website) -> list[Membership]:
    members = Membership.objects.filter(account=website.account_id)
    return list(members.select_related("user", "account", "subscription").order_by("pk"))


def _send(website: Website, members: Iterable[Membership], message: Message) -> None:
    """Send the message at once; what cannot be sent waits for the next run of ``notify``."""
    if not settings.EMAIL_URL or not settings.PORTAL_BASE_URL:
        return
    digest = Digest(messages=[message]).to_json()
    try:
        notifications = [
            PendingNotification.objects.create(membership=member, website=website, digest=digest)
            for member in members
            if Subscription.of(member).gets_messages
        ]
        delivery.send_now(notifications)
    except Exception as error:  # the message itself is stored
        if not is_storage_fault(error):
            raise
        logger.warning("%s: an e-mail about a message was not stored", website.host)
