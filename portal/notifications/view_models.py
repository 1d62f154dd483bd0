"""What the page of all that is new reads."""

from dataclasses import dataclass, replace

from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal import labels
from portal.forms import Address
from portal.gateway import Changes
from portal.gateway.messages import Threat
from portal.notifications.emails import Line, note_line
from portal.view_models.findings import Row, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class SincePage:
    """Findings worst first, perhaps fewer than ``text`` says, and notes newest first."""

    host: str
    site_url: str
    text: str
    is_cut: bool
    findings: tuple[Row, ...]
    notes: tuple[Line, ...]


def since_page(changes: Changes, address: Address) -> SincePage:
    """What the service told of the website at ``address``."""
    return SincePage(
        host=changes.host,
        site_url=str(address),
        text=_since_an_email(changes) if changes.first_seen_count is None else _last_days(changes),
        is_cut=changes.total > len(changes.findings),
        findings=_rows(changes, address),
        notes=tuple(note_line(note, address) for note in changes.analyst_notes),
    )


def _since_an_email(changes: Changes) -> str:
    text = ngettext("%(shown)s finding", "%(shown)s findings", changes.total) % {"shown": _shown(changes)}
    explanation = _("Everything from the e-mail, and everything new since then, that is still open.")
    return f"{text}. {explanation}"


def _last_days(changes: Changes) -> str:
    """Say both numbers: the dashboard's, and how many findings are listed here."""
    found = changes.first_seen_count or 0
    new = ngettext(
        "%(found)s new finding in the last 7 days.", "%(found)s new findings in the last 7 days.", found
    ) % {"found": localize(found)}
    listed = ngettext(
        "%(shown)s is open now, or came back.",
        "%(shown)s are open now, or came back.",
        changes.total,
    ) % {"shown": _shown(changes)}
    return f"{new} {listed}"


def _shown(changes: Changes) -> str:
    shown = localize(changes.total)
    is_cut = changes.total_relation == "at_least"
    return _("%(count)s or more") % {"count": shown} if is_cut else shown


def _rows(changes: Changes, address: Address) -> tuple[Row, ...]:
    """As the list of the website shows them, as far as is told here."""
    told = [
        Threat(id=each.id, severity=each.severity, title=each.title, location=each.location)
        for each in changes.findings
    ]
    return tuple(
        row if change.event == "new" else replace(row, state=labels.word(labels.EVENTS, change.event))
        for row, change in zip(rows(told, [], address), changes.findings, strict=True)
    )
