"""A report on what an address finds: the worst of it in full, from one answer, so that no part disagrees."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal import service
from portal.exports.files import MAX_ROWS
from portal.forms import Address, Filters
from portal.gateway import Dashboard, FindingAnswer
from portal.gateway.messages import Finding, Note, Threat
from portal.models import Website
from portal.view_models.export_links import can_draw
from portal.view_models.filters import Chip, chips
from portal.view_models.finding import FindingText, finding_text
from portal.view_models.findings import NoteText, note_text
from portal.view_models.overview import CoverageRow, Emptiness, Overview, coverage_rows, emptiness, overview
from portal.view_models.site import count_text

MAX_FINDINGS = 100  # told in full: one answer of the service


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What it says; ``limit`` says what is left out, ``pdf_url`` is empty where there are no PDFs."""

    host: str
    account: str
    made_at: datetime
    filters: tuple[Chip, ...]
    count: str
    limit: str
    overview: Overview
    coverage: tuple[CoverageRow, ...]
    notes: tuple[NoteText, ...]
    findings: tuple[FindingText, ...]
    emptiness: Emptiness | None
    list_url: str
    pdf_url: str

    @property
    def title(self) -> str:
        """Of the page and of the PDF."""
        return _("Security report: %(host)s") % {"host": self.host}


def ask_for_report(request: HttpRequest, website: Website, address: Address) -> tuple[Report, Dashboard]:
    """The report, and the answer it was made of; raises GatewayError."""
    asked = replace(address.filters, page=1, page_size=MAX_FINDINGS)
    told = service.ask(website, asked.question())
    return report_of(told, website, address, absolute=request.build_absolute_uri), told


def report_of(
    told: Dashboard, website: Website, address: Address, *, absolute: Callable[[str], str]
) -> Report:
    """What ``told`` says; ``absolute`` makes a path into an address that can be handed on."""
    listed = replace(address, filters=address.filters.whole)
    about: Mapping[str, list[Note]] = defaultdict(list)
    for note in told.analyst_notes:
        about[note.finding_id or ""].append(note)
    findings = tuple(_finding(threat, about[threat.id], listed, absolute) for threat in told.threats)
    ids = {threat.id for threat in told.threats}
    return Report(
        host=told.host,
        account=str(website.account),
        made_at=told.dashboard.generated_at,
        filters=chips(told.dashboard.facets, listed),
        count=count_text(told, listed.filters),
        limit=_limit(told, findings),
        overview=overview(told, listed),
        coverage=coverage_rows(told.coverage),
        notes=tuple(note_text(note) for note in told.analyst_notes if note.finding_id not in ids),
        findings=findings,
        emptiness=None if findings else emptiness(told, listed),
        list_url=str(listed),
        pdf_url=str(replace(listed, path=f"{listed.path}report.pdf")) if can_draw() else "",
    )


def _finding(
    threat: Threat, notes: list[Note], listed: Address, absolute: Callable[[str], str]
) -> FindingText:
    """A row of the list as the page of a finding tells it; ``link`` is the address of that page."""
    path = replace(listed, filters=Filters()).of_finding(threat.id)
    answer = FindingAnswer(
        ok=True, host="", finding=Finding(**msgspec.structs.asdict(threat)), analyst_notes=notes
    )
    return finding_text(answer, listed, link=absolute(path) if path else "")


def _limit(told: Dashboard, findings: Sequence[FindingText]) -> str:
    """Say where the other findings are, if there are any."""
    if told.dashboard.total <= len(findings):
        return ""
    text = _("The worst %(shown)s are shown here. Files (CSV, JSON, SARIF) hold up to %(most)s findings.")
    return text % {"shown": number_format(len(findings)), "most": number_format(MAX_ROWS)}
