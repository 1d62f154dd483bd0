"""The notice on a page that shows an older answer of the service."""

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
    """A text with the times of the failed call and of the shown answer, and the reference for support.

    The page retries after ``wait_seconds``. ``replaces`` is the id of the notice that made this retry.
    """

    text: str
    reference: str
    wait_seconds: int
    replaces: str = ""

    @property
    def id(self) -> str:
        """The HTML id; htmx sends it with the retry, so that the server knows the last wait."""
        return f"outage-{self.wait_seconds}"


def outage_notice(outage: Outage, *, reference: str, trigger: str) -> OutageNotice:
    """Return the notice of ``outage``; it doubles the wait of the notice with the id ``trigger``."""
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
