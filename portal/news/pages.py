"""What the page of all that is new reads."""

from dataclasses import dataclass, replace

from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal import wording
from portal.forms import Address
from portal.gateway import Changes
from portal.gateway.messages import Threat
from portal.news.mails import Line, note_line
from portal.pages.findings import Row, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class SincePage:
    """Findings worst first, perhaps fewer than ``count`` says, and notes newest first."""

    host: str
    site_url: str
    count: str
    is_cut: bool
    findings: tuple[Row, ...]
    notes: tuple[Line, ...]


def since_page(changes: Changes, address: Address) -> SincePage:
    """What the service told of the website at ``address``."""
    shown = localize(changes.total)
    if changes.total_relation == "at_least":
        shown = _("%(count)s or more") % {"count": shown}
    text = ngettext("%(shown)s finding", "%(shown)s findings", changes.total)
    return SincePage(
        host=changes.host,
        site_url=str(address),
        count=text % {"shown": shown},
        is_cut=changes.total > len(changes.findings),
        findings=_rows(changes, address),
        notes=tuple(note_line(note, address) for note in changes.analyst_notes),
    )


def _rows(changes: Changes, address: Address) -> tuple[Row, ...]:
    """As the list of the website shows them, as far as is told here."""
    told = [
        Threat(id=each.id, severity=each.severity, title=each.title, location=each.location)
        for each in changes.findings
    ]
    return tuple(
        row if change.event == "new" else replace(row, state=wording.word(wording.EVENTS, change.event))
        for row, change in zip(rows(told, [], address), changes.findings, strict=True)
    )
