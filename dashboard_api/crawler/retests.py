"""Retests: whether the scanner of one finding still reports it. Decision record 0117."""

from pathlib import Path

from dashboard_api.crawler.engines import Engine
from dashboard_api.importing.staging import stage
from dashboard_api.models import Finding, ScanJob
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import UnreadableReport
from foundation.outbound.names import origin_of

PAUSE_SECONDS = 30.0  # between two looks that must both miss the finding
Outcome = ScanJob.Outcome


def outcome_of(engine: Engine, finding: Finding, report: Path) -> str:
    """Return what one report says about the finding, which the importer would recognise in it.

    It is gone only if the report is complete, and the check of the finding did not fail.
    """
    host = finding.website.host
    try:
        with report.open("rb") as file:
            scan = read_report(file, format_name=engine.format, max_bytes=engine.report_mb * 1024**2)
            rows = stage(scan, host, base_url=f"{origin_of(host)}/")
    except (OSError, UnreadableReport):
        return Outcome.INCONCLUSIVE
    rows.use_stored_aliases(lambda _fingerprints: {finding.fingerprint})
    if finding.fingerprint in rows:
        return Outcome.STILL_THERE
    is_whole = (scan.complete or engine.complete) and not rows.unreadable
    locations = finding.occurrences.filter(gone_at=None).values_list("location", flat=True)
    is_failed = any(rows.scope.is_failed(rule=finding.rule, location=each) for each in locations)
    return Outcome.GONE if is_whole and not is_failed else Outcome.INCONCLUSIVE
