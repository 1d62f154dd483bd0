"""The notice on a page whose content is an older answer of the service."""

import re
from dataclasses import dataclass
from datetime import UTC

from django.utils.translation import gettext as _

from portal.answers.last_answers import Outage
from portal.texts import labels

FIRST_WAIT_SECONDS = 30
_LONGEST_WAIT_SECONDS = 300
_ID = re.compile(r"outage-([0-9]{1,3})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutageNotice:
    """The times of the failed call and of the answer, as text, and the reference for support.

    After ``wait_seconds`` the page asks again by itself. ``replaces`` is the id of the notice that did so.
    """

    text: str
    reference: str
    wait_seconds: int
    replaces: str = ""

    @property
    def id(self) -> str:
        """The id of the element; htmx sends it with the next attempt, and so it has the next wait."""
        return f"outage-{self.wait_seconds}"


def outage_notice(outage: Outage, *, reference: str, trigger: str) -> OutageNotice:
    """Return the notice of ``outage``; it waits twice as long as the notice ``trigger`` that asked for it."""
    before = _ID.fullmatch(trigger)
    wait = min(2 * int(before[1]), _LONGEST_WAIT_SECONDS) if before else 0
    failed, received = outage.failed_at.astimezone(UTC), outage.received_at.astimezone(UTC)
    is_today = received.date() == failed.date()
    text = _("Could not reach the service at %(failed)s. Showing data from %(received)s UTC.")
    return OutageNotice(
        text=text
        % {
            "failed": f"{failed:%H:%M}",
            "received": f"{received:%H:%M}" if is_today else labels.moment(received),
        },
        reference=reference,
        wait_seconds=max(wait, FIRST_WAIT_SECONDS),
        replaces=trigger if before else "",
    )
