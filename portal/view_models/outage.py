"""The notice on a page whose content is an older answer of the service."""

from dataclasses import dataclass
from datetime import UTC

from django.utils.translation import gettext as _

from portal import labels
from portal.last_answers import Outage


@dataclass(frozen=True, slots=True, kw_only=True)
class OutageNotice:
    """The times of the failed call and of the answer, as text, and the reference for support."""

    text: str
    reference: str


def outage_notice(outage: Outage, *, reference: str) -> OutageNotice:
    """Return the notice of ``outage``."""
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
    )
