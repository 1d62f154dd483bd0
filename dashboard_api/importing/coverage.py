"""Records of runs by scope, which show where a run is the newest. Decision record 0035."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from dashboard_api.models import Coverage, CoverageScope, Source, Website
from dashboard_api.models.scopes import summarise

EVERYWHERE = ""  # the target of reports that do not name all of theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The end of a scan of one category: its time, state and details."""

    category: str
    state: str
    detail: str
    version: str
    ended_at: datetime


def record_run(website: Website, source: Source, run: Run, *, urls: Mapping[str, int | None]) -> set[str]:
    """Store ``run`` for each target in ``urls``, with the number of addresses checked there.

    Return the targets where it is the newest run; the same run again is, unless it was complete before.
    """
    coverage = Coverage.objects.filter(website=website, source=source).first()
    scopes = _known_scopes(coverage)
    if coverage and not scopes and EVERYWHERE in urls:
        scopes[run.category, EVERYWHERE] = CoverageScope.of(coverage, run.category)
    coverage = coverage or Coverage(website=website, source=source)
    updated = {
        target: scopes.setdefault((run.category, target), CoverageScope(category=run.category, target=target))
        for target in urls
    }
    newest = {target for target, scope in updated.items() if _update(scope, run, urls[target])}
    summarise(coverage, list(scopes.values()))
    _save(coverage, list(updated.values()))
    return newest


def _known_scopes(coverage: Coverage | None) -> dict[tuple[str, str], CoverageScope]:
    return {(scope.category, scope.target): scope for scope in coverage.scopes.all()} if coverage else {}


def _update(scope: CoverageScope, run: Run, urls: int | None) -> bool:
    """Update ``scope`` from ``run``; return whether ``run`` is its newest."""
    is_complete = run.state == Coverage.State.OK
    is_new = not scope.state
    is_newest = is_new or (scope.last_run_at, scope.state == Coverage.State.OK) <= (run.ended_at, is_complete)
    if is_newest:
        scope.state, scope.detail, scope.version = run.state, run.detail, run.version
        scope.last_run_at, scope.urls_checked = run.ended_at, urls
    if is_complete and (scope.completed_at is None or scope.completed_at < run.ended_at):
        scope.completed_at = run.ended_at
    return is_newest


def _save(coverage: Coverage, scopes: list[CoverageScope]) -> None:
    """Insert or update all of them in one statement; their key is unique."""
    for scope in scopes:
        scope.pk, scope.coverage = None, coverage
    CoverageScope.objects.bulk_create(
        scopes,
        update_conflicts=True,
        unique_fields=["coverage", "category", "target"],
        update_fields=["state", "last_run_at", "completed_at", "urls_checked", "version", "detail"],
    )
