"""Retests: whether the scanner of one finding still reports its rule. Decision record 0117."""

from pathlib import Path

from dashboard_api.crawler.engines import Engine
from dashboard_api.models import Finding, ScanJob
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import ReportedFinding, UnreadableReport

PAUSE_SECONDS = 30.0  # between two looks that must both miss the finding
Outcome = ScanJob.Outcome


def outcome_of(engine: Engine, finding: Finding, report: Path) -> str:
    """Return what one report says about the rule of the finding; gone only if the report is complete."""
    try:
        with report.open("rb") as file:
            scan = read_report(file, format_name=engine.format, max_bytes=engine.report_mb * 1024**2)
            if any(isinstance(row, ReportedFinding) and row.cleaned().rule == finding.rule for row in scan):
                return Outcome.STILL_THERE
            return Outcome.GONE if scan.complete or engine.complete else Outcome.INCONCLUSIVE
    except (OSError, UnreadableReport):
        return Outcome.INCONCLUSIVE
