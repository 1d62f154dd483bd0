"""Complete scans after an import that is taken back: what they prove to be gone without it. Record 0184."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dashboard_api.importing.apply import apply_absent_plan
from dashboard_api.importing.journal import Journal, RecordedScan
from dashboard_api.importing.plan import AbsentFinding, AbsentPlan, StoredOccurrence, plan_absent
from dashboard_api.models import ImportRun, Website


class LaterScan:
    """A scan that proved absence when it was imported, as its journal has it."""

    def __init__(self, run: ImportRun, recorded: RecordedScan) -> None:
        self.journal, self.scan = Journal(run), recorded.scan()
        self.suppressed = frozenset(recorded.suppressed)
        self.incomplete: set[int] = set()  # findings of which it does not list every location


class PlannedAgain(NamedTuple):
    """A later scan, and what it proves about findings that it does not list."""

    by: LaterScan
    plan: AbsentPlan


def plan_again(
    rows: Iterable[tuple[str, AbsentFinding, Sequence[StoredOccurrence]]], scans: Iterable[LaterScan]
) -> list[PlannedAgain]:
    """Return what ``scans`` prove, one after the other, about findings, with fingerprint and occurrences."""
    remaining = {finding.id: (fingerprint, finding, list(own)) for fingerprint, finding, own in rows}
    plans = []
    for each in scans:
        absent = [
            (finding, own)
            for number, (fingerprint, finding, own) in remaining.items()
            if fingerprint not in each.suppressed and number not in each.incomplete
        ]
        plan = plan_absent(absent, each.scan)
        plans.append(PlannedAgain(each, plan))
        for number, _ in plan.fixed:
            del remaining[number]
        gone = set(plan.gone_occurrences)
        for reduced in plan.reduced:
            fingerprint, finding, own = remaining[reduced.id]
            own = [row._replace(gone_at=each.scan.absent_at) if row.id in gone else row for row in own]
            shown = reduced.shown.location if reduced.shown else finding.location
            remaining[reduced.id] = fingerprint, finding._replace(location=shown), own
    return plans


def fixed_in(plans: Iterable[PlannedAgain]) -> set[int]:
    """Return the findings that are fixed by ``plans``."""
    return {number for each in plans for number, _ in each.plan.fixed}


def apply_again(plans: Iterable[PlannedAgain], website: Website) -> None:
    """Store what is gone by ``plans`` as changes by these scans, so that they can be taken back as well."""
    for each in plans:
        apply_absent_plan(each.plan, website, each.by.scan, each.by.journal)
