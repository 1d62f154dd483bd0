"""The report as a tagged PDF, drawn by typst where it is installed (the extra ``pdf``)."""

import json
import logging
import re
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from portal import labels
from portal.exports.errors import CannotDraw
from portal.exports.note_lines import lines_of
from portal.exports.report import Report
from portal.view_models.finding import FindingText
from portal.view_models.findings import NoteText

logger = logging.getLogger(__name__)

PROGRAM = Path(__file__).parent / "typesetting.py"
SECONDS = 25  # of the clock; the program bounds its own use of the processor below it
MAX_BYTES = 16 * 1024 * 1024
_LONG = re.compile(r"[^\s\u200b]{24}")  # a word that may have to be broken somewhere
_UNSHOWN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def draw(report: Report) -> bytes:
    """The PDF; raises CannotDraw."""
    told = json.dumps(_told(report)).encode()
    try:
        if len(told) > MAX_BYTES:
            raise ValueError("the report is too large")  # noqa: TRY301 - one place that says it failed
        done = subprocess.run(  # noqa: S603 - our own program; what is told travels on its input
            [sys.executable, "-I", str(PROGRAM)],
            input=told,
            capture_output=True,
            timeout=SECONDS,
            env={},
            check=True,
        )
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        logger.warning("%s: no PDF: %s", report.host, type(error).__name__)
        raise CannotDraw from error
    return done.stdout


def _told(report: Report) -> dict[str, Any]:
    """All texts of the PDF, translated, for the template to lay out."""
    return {
        "lang": (get_language() or "en").partition("-")[0],
        "title": report.title,
        "host": report.host,
        "words": {
            "coverage": _("What was checked"),
            "coverage_columns": [_("Engine"), _("State"), _("Last run")],
            "notes": _("Notes from our analysts"),
            "findings": _("Findings"),
            "description": _("What it is"),
            "remediation": _("How to fix it"),
            "evidence": _("Evidence"),
            "references": _("Read more"),
            "boxes": _("Boxes stand for characters that are in none of the fonts of this report."),
            "empty": report.emptiness.title if report.emptiness else "",
        },
        "facts": _facts(report),
        "coverage": [
            [row.source, row.state, _moment(row.last_run_at) if row.last_run_at else "–"]
            for row in report.coverage
        ],
        "notes": [_note(note) for note in report.notes],
        "limit": report.limit,
        "findings": [_finding(finding) for finding in report.findings],
    }


def _facts(report: Report) -> list[tuple[str, str]]:
    """The head: name and value of each."""
    seen = report.overview
    facts = [
        (_("Account"), report.account),
        (_("As of"), _moment(report.made_at)),
        (_("Filters"), "; ".join(f"{chip.title}: {chip.value}" for chip in report.filters) or _("None")),
        (_("Findings"), report.count),
        (_("Grade"), f"{seen.grade_text} – {seen.grade_meaning}" if seen.grade else seen.grade_title),
        (_("Coverage"), seen.coverage),
    ]
    return [(name, breakable(value)) for name, value in facts if value]


def _finding(found: FindingText) -> dict[str, Any]:
    steps = [f"{step.what} {_moment(step.at)}" for step in found.timeline]
    more = ngettext("+%(places)s more place", "+%(places)s more places", found.more_places)
    places = [more % {"places": found.more_places}] if found.more_places else []
    facts = [found.state, found.kind, found.source, found.rule, *places, *steps]
    links = [*found.weaknesses, *found.references]
    return {
        "tone": found.tone,
        "severity": found.severity,
        "title": breakable(found.title),
        "link": found.link,
        "location": breakable(found.location),
        "facts": breakable(" · ".join(fact for fact in facts if fact)),
        "description": breakable(found.description),
        "remediation": breakable(found.remediation),
        "evidence": breakable(found.evidence),
        "notes": [_note(note) for note in found.notes],
        "links": [{"text": breakable(known.text), "url": known.url} for known in links],
    }


def _note(note: NoteText) -> dict[str, Any]:
    lines = [asdict(line) | {"text": breakable(line.text)} for line in lines_of(note.body)]
    return {"about": f"{note.author}, {labels.day(note.written_at)}", "lines": lines}


def _moment(at: datetime) -> str:
    return _("%(moment)s UTC") % {"moment": labels.moment(at.astimezone(UTC))}


def breakable(text: str) -> str:
    """``text`` with places at which a long word may break, and without what no font shows."""
    return _LONG.sub("\\g<0>\u200b", _UNSHOWN.sub(" ", text.replace("\r\n", "\n")))
