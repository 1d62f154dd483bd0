"""What one member is told of one website: the part of the service's answer that the member wants."""

from typing import Self

import msgspec

from portal import labels
from portal.gateway.messages import Change, Changes, NoteChange
from portal.models.notifications import Subscription

KEPT_FINDINGS = 50


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What is new since a cursor: findings worst first, perhaps fewer than ``total``, and notes.

    Not ``is_exact``: there may be more.
    """

    since: str = ""
    findings: list[Change] = []
    total: int = 0
    is_exact: bool = True
    notes: list[NoteChange] = []

    @classmethod
    def of(cls, changes: Changes, subscription: Subscription, *, since: str = "") -> Self:
        """What of ``changes`` the member wants to hear; every note is wanted."""
        findings = [change for change in changes.findings if subscription.wants(change.severity)]
        counted = sum(
            count for severity, count in changes.by_severity.items() if subscription.wants(severity)
        )
        return cls(
            since=since,
            findings=findings,
            total=max(counted, len(findings)),
            is_exact=changes.total_relation == "exact",
            notes=changes.analyst_notes,
        )

    @classmethod
    def read(cls, text: str) -> Self:
        """What ``str`` has written."""
        return msgspec.json.decode(text, type=cls)

    def __str__(self) -> str:
        return msgspec.json.encode(self).decode()

    def __bool__(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.findings or self.notes)

    def followed_by(self, later: Self) -> Self:
        """Both together; what is in both is told as it was told last."""
        told_again = {change.id for change in later.findings}
        earlier = [change for change in self.findings if change.id not in told_again]
        worst = sorted([*later.findings, *earlier], key=lambda change: labels.rank(change.severity))
        return msgspec.structs.replace(
            self,
            findings=worst[:KEPT_FINDINGS],
            total=self.total + later.total - (len(self.findings) - len(earlier)),
            is_exact=self.is_exact and later.is_exact,
            notes=list({note.id: note for note in (*later.notes, *self.notes)}.values()),
        )
