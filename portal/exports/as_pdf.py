"""The report as a tagged PDF, typeset by typst, which is optional (the extra ``pdf``)."""

import json
import logging
import re
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from foundation.addresses.hosts import readable_host
from portal.exports.errors import PdfFailed
from portal.exports.logo import LogoError, read_logo
from portal.exports.note_lines import note_lines
from portal.exports.report import ProblemPart, Report
from portal.pages.view_models.finding import FindingView
from portal.pages.view_models.findings import NoteView
from portal.pages.view_models.problems import ProblemRow
from portal.texts import labels
from portal.texts.evidence import beginning, is_long

logger = logging.getLogger(__name__)

PROGRAM = Path(__file__).parent / "typesetting.py"
SECONDS = 25  # wall-clock time; the program limits its own CPU time to less
MAX_BYTES = 16 * 1024 * 1024
_LONG_WORD = re.compile(r"[^\s\u200b]{24}")  # 24 characters without a space or a break point (U+200B)
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def render_pdf(report: Report) -> bytes:
    """Return the PDF; raises PdfFailed."""
    data = json.dumps(_template_data(report)).encode()
    try:
        if len(data) > MAX_BYTES:
            raise ValueError("the report is too large")  # noqa: TRY301 - one place logs all failures
        result = subprocess.run(  # noqa: S603 - our own program; the data is its standard input
            [sys.executable, "-I", str(PROGRAM)],  # -I: isolated from the user's packages and settings
            input=data,
            capture_output=True,
            timeout=SECONDS,
            env={},
            check=True,
        )
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        logger.warning("%s: no PDF: %s", report.host, type(error).__name__)
        raise PdfFailed from error
    if result.stderr:
        logger.warning("%s: %s", report.host, result.stderr[:200].decode(errors="replace"))
    return result.stdout


def _template_data(report: Report) -> dict[str, Any]:
    """Return the data for report.typ: all texts of the PDF, translated."""
    panel = report.do_first
    return {
        "lang": _language(),
        "title": report.title,
        "host": readable_host(report.host),
        "words": {
            "do_first": _("Do first"),
            "coverage": _("What was scanned"),
            "coverage_columns": [_("Scanner"), _("State"), _("Last scan")],
            "accepted": _("Accepted risks"),
            "notes": _("Notes from our analysts"),
            "findings": _("Findings"),
            "figures": _("Open findings on the whole website"),
            "trend": _("Open findings in the last 90 days"),
            "description": _("What it is"),
            "remediation": _("How to fix it"),
            "places": _("Where it was found"),
            "cut": _("Only the beginning of the evidence is shown."),
            "references": _("Read more"),
            "logo": _("Logo"),
            "boxes": _("A box replaces a character that this report’s fonts do not have."),
            "empty": report.empty_state.title if report.empty_state else "",
        },
        "color": settings.REPORT_COLOR,
        "logo": _logo(),
        "facts": _facts(report),
        "figures": _figures(report),
        "trend": _trend_points(report),
        "do_first": {
            "title": panel.title if panel else "",
            "rows": [_problem(row) for row in panel.rows] if panel else [],
        },
        "coverage": [
            [row.source, row.state, _moment(row.last_run_at) if row.last_run_at else "–"]
            for row in report.coverage
        ],
        "accepted": [
            {
                "tone": risk.tone,
                "severity": risk.severity,
                "title": breakable(risk.title),
                "title_lang": _language(risk.is_translated),
                "facts": " · ".join(filter(None, (risk.count, risk.end))),
            }
            for risk in report.accepted
        ],
        "notes": [_note(note) for note in report.notes],
        "limit": report.limit,
        "findings": [_finding(part) for part in report.problems],
    }


def _language(is_translated: bool = True) -> str:
    """Return the language of a text: the reader's, or English for a scanner's text."""
    return (get_language() or "en").partition("-")[0] if is_translated else "en"


def _logo() -> dict[str, Any] | None:
    try:
        logo = read_logo(settings.REPORT_LOGO)
    except LogoError as error:
        logger.warning("REPORT_LOGO %s", error)
        return None
    return {"format": logo.format, "content": list(logo.content)} if logo else None


def _facts(report: Report) -> list[tuple[str, str]]:
    """Return the names and values at the top of the report."""
    overview = report.overview
    trend = (overview.trend.earlier, overview.trend.next_step) if overview.trend else ()
    facts = [
        (_("Organization"), report.account),
        (_("As of"), _moment(report.generated_at)),
        (_("Filters"), "; ".join(f"{chip.title}: {chip.value}" for chip in report.filters) or _("None")),
        (_("Findings"), report.count),
        (
            _("Grade"),
            f"{overview.grade_text} – {overview.grade_meaning}" if overview.grade else overview.grade_title,
        ),
        (_("Trend"), " · ".join(filter(None, trend))),
        (_("Your answers"), " · ".join(each.text for each in overview.answers)),
        (_("Days to fix, median of 90 days"), " · ".join(overview.fix_times)),
        (_("Scans"), overview.coverage),
    ]
    return [(name, breakable(value)) for name, value in facts if value]


def _figures(report: Report) -> list[dict[str, str]]:
    """Return the website's open findings by severity, and its changes in seven days."""
    overview = report.overview
    if not overview.is_checked:
        return []
    severities = [(count.label, count.tone, count.count) for count in overview.severities]
    changes = [(_("New in 7 days"), "", overview.new), (_("Fixed in 7 days"), "", overview.fixed)]
    return [
        {"name": name, "tone": tone, "value": number_format(number)}
        for name, tone, number in (*severities, *changes)
    ]


def _trend_points(report: Report) -> list[list[float]]:
    """Return the points of the line of open findings, in a square of 100 by 100; empty without a line."""
    trend = report.overview.trend
    return [list(corner) for corner in trend.line.corners] if trend and trend.line else []


def _problem(row: ProblemRow) -> dict[str, str]:
    findings = ngettext("%(findings)s finding", "%(findings)s findings", row.findings)
    facts = [findings % {"findings": number_format(row.findings)}, row.hosts, row.confirmed, row.sources]
    return {
        "tone": row.tone,
        "severity": row.severity,
        "title": breakable(row.title),
        "title_lang": _language(row.is_title_translated),
        "facts": breakable(" · ".join(filter(None, facts))),
        "fix": breakable(row.fix),
        "fix_lang": _language(row.is_fix_translated),
    }


def _finding(part: ProblemPart) -> dict[str, Any]:
    """Return a problem's worst finding in full, and the locations of its other findings."""
    finding = part.worst
    links = [*finding.weaknesses, *finding.references]
    return {
        **_place(finding),
        "tone": finding.tone,
        "severity": finding.severity,
        "title": breakable(part.title),
        "title_lang": _language(part.is_title_translated),
        "count": part.count,
        "description": breakable(finding.description),
        "remediation": breakable(finding.remediation),
        "evidence": breakable(beginning(finding.evidence)),
        "is_evidence_cut": finding.is_evidence_cut or is_long(finding.evidence),
        "links": [{"text": breakable(link.text), "url": link.url} for link in links],
        "others": [_place(other, worst=finding) for other in part.others],
    }


def _place(finding: FindingView, *, worst: FindingView | None = None) -> dict[str, Any]:
    """Return a finding's own facts; with ``worst``, only what differs from it."""
    steps = [f"{step.event} {_moment(step.at)}" for step in finding.timeline]
    count = finding.more_locations
    more = ngettext("+%(count)s more location", "+%(count)s more locations", count)
    locations = [more % {"count": number_format(count)}] if count else []
    if worst is None:
        facts = [
            finding.status,
            finding.answer,
            finding.kind,
            finding.source,
            finding.rule,
            *locations,
            *steps,
        ]
    else:
        severity = "" if finding.severity == worst.severity else finding.severity
        facts = [severity, finding.status, finding.answer, finding.kind, *locations, *steps[:1]]
    return {
        "link": finding.link,
        "location": breakable(finding.location or finding.title),
        "facts": breakable(" · ".join(fact for fact in facts if fact)),
        "notes": [_note(note) for note in finding.notes],
    }


def _note(note: NoteView) -> dict[str, Any]:
    lines = [asdict(line) | {"text": breakable(line.text)} for line in note_lines(note.body)]
    return {"about": f"{note.author}, {labels.day(note.written_at)}", "lines": lines}


def _moment(at: datetime) -> str:
    return _("%(moment)s UTC") % {"moment": labels.moment(at.astimezone(UTC))}


def breakable(text: str) -> str:
    """Return ``text`` without control characters, and with break points in long words."""
    return _LONG_WORD.sub("\\g<0>\u200b", _CONTROL_CHARACTERS.sub(" ", text.replace("\r\n", "\n")))
