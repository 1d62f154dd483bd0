"""Digest: the changes of one website for one member."""

from datetime import datetime
from typing import Self

import msgspec

from portal.models import Subscription
from portal.texts import labels
from signed_api.findings import Change, ChangesResponse, MessageChange, NoteChange
from signed_api.inventory import DOMAIN, InventoryResponse

MAX_FINDINGS = 50
MAX_MESSAGES = 100


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message about a finding, or what happened to an answer, as an e-mail tells it.

    ``id`` is empty for what a member did. ``findings`` counts the findings that it is about.
    """

    event: str
    id: str = ""
    by: str = ""
    text: str = ""
    finding_id: str = ""
    title: str
    findings: int = 1

    @classmethod
    def of(cls, change: MessageChange) -> Self:
        """Return the message of a response."""
        return cls(
            event=change.event,
            id=change.id,
            by=change.by,
            text=change.text,
            finding_id=change.finding_id,
            title=change.finding_title,
            findings=change.findings,
        )


class Reminder(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate or a domain that expires, as a scan read it at ``seen_at``.

    ``also`` has further websites with the same one.
    """

    kind: str
    name: str
    port: int | None = None
    issuer: str = ""
    fingerprint: str = ""
    valid_until: datetime
    seen_at: datetime
    also: list[str] = []

    def is_current_in(self, found: InventoryResponse) -> bool:
        """Return whether the website still has this certificate, or the domain this last day."""
        if self.kind == DOMAIN:
            return found.domain is not None and found.domain.valid_until == self.valid_until
        return any(each.current and each.fingerprint == self.fingerprint for each in found.certificates)


class Digest(msgspec.Struct, frozen=True, kw_only=True):
    """Changes since a cursor: findings, worst first and at most ``total``, and notes.

    Messages are alone, and so is a reminder.

    Unless ``is_exact``, ``total`` is a lower bound.
    """

    since: str = ""
    findings: list[Change] = []
    total: int = 0
    is_exact: bool = True
    notes: list[NoteChange] = []
    messages: list[Message] = []
    reminder: Reminder | None = None

    @classmethod
    def for_subscription(
        cls, changes: ChangesResponse, subscription: Subscription, *, since: str = ""
    ) -> Self:
        """Return the findings of ``changes`` that the member wants, and all notes."""
        findings = [change for change in changes.findings if subscription.includes(change.severity)]
        counted = sum(
            count for severity, count in changes.by_severity.items() if subscription.includes(severity)
        )
        return cls(
            since=since,
            findings=findings,
            total=max(counted, len(findings)),
            is_exact=changes.total_relation == "exact",
            notes=changes.analyst_notes,
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the digest that ``to_json`` wrote."""
        return msgspec.json.decode(text, type=cls)

    def to_json(self) -> str:
        """Return the digest as JSON."""
        return msgspec.json.encode(self).decode()

    @property
    def is_complete(self) -> bool:
        """Whether the digest lists all findings."""
        return self.is_exact and self.total == len(self.findings)

    def __bool__(self) -> bool:
        """Whether the digest has any content."""
        return bool(self.findings or self.notes or self.messages or self.reminder)

    def merged_with(self, later: Self) -> Self:
        """Return both digests as one; for a finding in both, the later change wins."""
        later_ids = {change.id for change in later.findings}
        earlier = [change for change in self.findings if change.id not in later_ids]
        findings = sorted(
            [*later.findings, *earlier], key=lambda change: labels.severity_rank(change.severity)
        )
        return msgspec.structs.replace(
            self,
            findings=findings[:MAX_FINDINGS],
            total=self.total + later.total - (len(self.findings) - len(earlier)),  # those in both count once
            is_exact=self.is_exact and later.is_exact,
            notes=list({note.id: note for note in (*later.notes, *self.notes)}.values()),
            messages=_shortened([*self.messages, *later.messages]),
        )

    def reduced_to(self, changes: ChangesResponse) -> Self:
        """Return the digest updated by ``changes``, the service's current changes since the same cursor.

        Findings that ``changes`` no longer lists are dropped, unless it is cut off before them. The others
        take their current values, such as a severity that an analyst has changed. Findings that had no room
        in the digest fill the gaps.
        """
        current = {change.id: change for change in changes.findings}
        is_cut = bool(current) and changes.total > len(current)
        cut_after = _order(changes.findings[-1]) if is_cut else None
        kept = [
            current.get(each.id, each)
            for each in self.findings
            if each.id in current or (cut_after is not None and _order(each) > cut_after)
        ]
        dropped_count = len(self.findings) - len(kept)
        total = self.total - dropped_count
        if changes.total_relation == "exact":
            total = max(len(kept), min(total, changes.total))
        own_ids = {change.id for change in self.findings}
        others = [change for change in changes.findings if change.id not in own_ids]
        gap_count = min(dropped_count, total - len(kept))
        findings = sorted([*kept, *others[:gap_count]], key=_order)
        return msgspec.structs.replace(self, findings=findings, total=total)


def _order(change: Change) -> tuple[int, int]:
    """Return the sort key of the service's list of changes: worst first, then newest."""
    return labels.severity_rank(change.severity), -int(change.id)


def _shortened(messages: list[Message]) -> list[Message]:
    """Return at most MAX_MESSAGES; further events without words are counted in one of the same kind."""
    kept = messages[:MAX_MESSAGES]
    for message in messages[MAX_MESSAGES:]:
        for index, each in enumerate(kept):
            if (each.event, each.text) == (message.event, message.text):
                kept[index] = msgspec.structs.replace(each, findings=each.findings + message.findings)
                break
    return kept
