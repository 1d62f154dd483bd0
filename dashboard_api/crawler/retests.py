"""Retests: whether the scanner of one finding still reports it."""

from pathlib import Path

from dashboard_api.crawler.engines import Engine
from dashboard_api.importing.staging import stage
from dashboard_api.models import Finding, ScanJob
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import UnreadableReport
from foundation.outbound.names import origin_of

PAUSE_SECONDS = 30.0  # between the two runs that must both miss the finding
Outcome = ScanJob.Outcome


def outcome_of(engine: Engine, finding: Finding, report: Path) -> str:
    """Return what one report says about the finding, matched by fingerprint as in an import.

    The finding is gone only if the report is complete and covers all of its locations.
    """
    host = finding.website.host
    try:
        with report.open("rb") as file:
            scan = read_report(file, format_name=engine.format, max_bytes=engine.report_mb * 1024**2)
            rows = stage(scan, host, base_url=f"{origin_of(host)}/")
    except (OSError, UnreadableReport):
        return Outcome.INCONCLUSIVE
    # As if only this finding were stored: a row with an alias of it gets its fingerprint.
    rows.use_stored_aliases(lambda _fingerprints: {finding.fingerprint})
    if finding.fingerprint in rows:
        return Outcome.STILL_THERE
    is_whole = (scan.complete or engine.complete) and not rows.unreadable
    locations = finding.shown_occurrences().values("location", "category")
    is_covered = all(rows.scope.covers(rule=finding.rule, **each) for each in locations)
    return Outcome.GONE if is_whole and is_covered else Outcome.INCONCLUSIVE
