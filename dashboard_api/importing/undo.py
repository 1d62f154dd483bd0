"""Undo: take back the newest import of a scanner, and keep the decisions of analysts."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q, QuerySet

from audit.recording import record as audit
from dashboard_api import limits
from dashboard_api.answers.settling import keep_cases, revive, settle
from dashboard_api.decisions import standing
from dashboard_api.importing.journal import Before, Changes, ScopeKey
from dashboard_api.importing.later_scans import fix_gone
from dashboard_api.importing.plan import FALSE_POSITIVE, FIXED
from dashboard_api.models import (
    Coverage,
    CoverageScope,
    Finding,
    FindingEvent,
    ImportChange,
    ImportRun,
    Occurrence,
    Website,
)
from dashboard_api.models.hosts import host_of
from dashboard_api.models.problems import problem_key
from dashboard_api.models.scopes import summarise

_BATCH = 500  # rows in one statement
_MAX_NAMED = 5  # newer imports in a refusal
Row = TypeVar("Row", Finding, Occurrence)
# Events of analysts' decisions about the status, and the columns that store these decisions.
_DECISIONS = ("false_positive", "accepted_risk", "fixed", "reconsidered")
_DECISION_COLUMNS = ("status", "triage_until", "reviewed_at", "fixed_at")
# Of an analyst or a customer: a note, an answer, a message, a review, or an event by hand.
_HAS_WORK = (
    Q(notes__isnull=False)
    | Q(answers__isnull=False)
    | Q(messages__isnull=False)
    | Q(reviewed_at__isnull=False)
    | Q(events__by__gt="", events__decision=None)
)


@dataclass(slots=True, kw_only=True)
class UndoResult:
    """Numbers of findings by the effect of taking an import back."""

    deleted: int = 0  # the import had added them
    with_work: int = 0  # deleted ones with a note or decision by an analyst, which are lost
    opened: int = 0  # the import had closed them
    closed: int = 0  # the import had opened them again
    restored: int = 0  # the import had changed other values

    def in_words(self) -> str:
        """Return the numbers as sentences."""
        deleted = str(self.deleted)
        if self.with_work:
            with_work = f"{self.with_work} with notes, answers or decisions"
            deleted = f"{deleted} ({with_work})"
        return (
            f"Deleted: {deleted}, open again: {self.opened}, fixed again: {self.closed}, "
            f"otherwise as before: {self.restored}."
        )


def newer_imports(run: ImportRun) -> QuerySet[ImportRun]:
    """Return the imports of the same scanner that must be taken back before ``run``, the newest first."""
    changes = ImportChange.objects.filter(
        run__website=run.website_id, run__source=run.source_id, run__gt=run.pk
    )
    return ImportRun.objects.filter(pk__in=changes.values("run")).order_by("-pk")


def preview(run: ImportRun, *, now: datetime) -> UndoResult:
    """Return the result of ``undo`` without any change; raise ValidationError like ``undo``."""
    _check(run, now=now)
    return _outcome(_load(run))


@transaction.atomic
def undo(run: ImportRun, *, by: str, reason: str, now: datetime) -> UndoResult:
    """Take ``run`` back as a whole.

    Raise ValidationError if the scanner has newer imports, if ``run`` was taken back before, is too old or
    changed no data, or if the reason is empty.
    """
    Website.objects.select_for_update(no_key=True).get(pk=run.website_id)  # locks out other imports
    locked = ImportRun.objects.select_for_update().get(pk=run.pk)
    _check(locked, now=now)
    if not reason.strip():
        raise ValidationError({"reason": "Say why: it is recorded with the import."})
    changes = _load(locked)
    result = _outcome(changes)
    _pass_on_severities(changes.events)
    _delete(FindingEvent, changes.events)
    _restore_occurrences(changes)
    _restore_findings(changes, locked.source.slug)
    _match_locations_to_decisions(locked, {finding_id for finding_id, _digest in changes.occurrences})
    _restore_scopes(locked, changes.scopes)
    locked.changes.all().delete()
    fix_gone(locked.website, locked.source_id, changes.decisions_ended)
    standing.apply_to(locked.website, locked.source, now)
    revive(locked.pk)
    settle(locked.website_id, now)
    locked.undone_at, locked.undone_by, locked.undone_reason = now, by, reason.strip()
    locked.save(update_fields=["undone_at", "undone_by", "undone_reason"])
    audit("import.undone", locked, by=by, reason=reason)
    return result


def _check(run: ImportRun, *, now: datetime) -> None:
    if run.undone_at is not None:
        raise ValidationError(f"It was taken back on {run.undone_at:%Y-%m-%d} by {run.undone_by}.")
    if run.imported_at < now - limits.UNDO_LIFETIME:
        raise ValidationError(f"Only imports of the last {limits.UNDO_LIFETIME.days} days can be taken back.")
    if not run.changes.exists():
        raise ValidationError("It changed nothing, so there is nothing to take back.")
    newer = newer_imports(run).select_related("website", "source")
    if names := [f"{each} (import {each.pk})" for each in newer[:_MAX_NAMED]]:
        if more := newer.count() - len(names):
            names.append(f"and {more} more")
        imports = "; ".join(names)
        raise ValidationError(
            f"Take the newer imports of this scanner back first, the newest before the others: {imports}."
        )


def _load(run: ImportRun) -> Changes:
    """Return all changes of ``run``, except to the status of findings with a later decision by an analyst."""
    changes = Changes()
    for part in run.changes.iterator():
        changes.add(Changes.from_bytes(bytes(part.content)))
    for batch in _batches(changes.findings):
        for pk in _decided_since(run, batch):
            for name in _DECISION_COLUMNS:
                (changes.findings[pk] or {}).pop(name, None)
    return changes


def _decided_since(run: ImportRun, findings: Collection[int]) -> set[int]:
    """Return the findings with a decision by an analyst about their status since ``run``."""
    since = FindingEvent.objects.filter(finding__in=findings, at__gte=run.imported_at, decision=None)
    return set(since.filter(event__in=_DECISIONS).exclude(by="").values_list("finding", flat=True))


def _outcome(changes: Changes) -> UndoResult:
    """Count the findings by the effect of restoring ``changes``."""
    result = UndoResult()
    for batch in _batches([pk for pk, before in changes.findings.items() if before is None]):
        findings = Finding.objects.filter(pk__in=batch)
        result.deleted += findings.count()
        result.with_work += findings.filter(_HAS_WORK).order_by().values("pk").distinct().count()
    for batch in _batches([pk for pk, before in changes.findings.items() if before]):
        for pk, status in Finding.objects.filter(pk__in=batch).values_list("pk", "status"):
            before = (changes.findings[pk] or {}).get("status", status)
            if before in (status, FALSE_POSITIVE):
                result.restored += 1
            elif before == FIXED:
                result.closed += 1
            else:
                result.opened += 1
    return result


def _pass_on_severities(events: Collection[int]) -> None:
    """Let the next change of a severity begin where the deleted one did."""
    for batch in _batches(events):
        for deleted in FindingEvent.objects.filter(pk__in=batch, severity_before__isnull=False):
            later = FindingEvent.objects.filter(finding=deleted.finding_id, pk__gt=deleted.pk)
            following = later.filter(severity_before__isnull=False).order_by("pk").first()
            if following is not None:
                following.severity_before = deleted.severity_before
                following.save(update_fields=["severity_before"])


def _restore_occurrences(changes: Changes) -> None:
    """Restore the occurrences of findings that are older than the import."""
    # Without occurrences that were seen unchanged, or belong to findings that the import added.
    changed = {
        (finding_id, digest): before
        for (finding_id, digest), before in changes.occurrences.items()
        if before != {} and changes.findings.get(finding_id, {}) is not None
    }
    for batch in _batches({finding_id for finding_id, _digest in changed}):
        stored = Occurrence.objects.filter(finding__in=batch).iterator()
        _restore(
            Occurrence,
            [
                (each, changed[key])
                for each in stored
                if (key := (each.finding_id, each.location_digest)) in changed
            ],
        )


def _restore_findings(changes: Changes, slug: str) -> None:
    """Delete the findings that the import added; restore the others and their search words."""
    added = [pk for pk, before in changes.findings.items() if before is None]
    for batch in _batches(added):
        keep_cases(batch)
    _delete(Finding, added)
    for batch in _batches([pk for pk, before in changes.findings.items() if before]):
        stored = Finding.objects.filter(pk__in=batch)
        _restore(
            Finding, [(each, _as_before(each, changes.findings[each.pk] or {}, slug)) for each in stored]
        )
        stored.rewrite_words()


def _as_before(finding: Finding, before: Mapping[str, Any], slug: str) -> dict[str, Any]:
    """Return the values to restore; if a decision overrides one now, restore the scanner's value below it."""
    restored = dict(before)
    for name in ("severity", "kind"):
        value_of_scanner = restored.pop(f"source_{name}", restored.pop(name, None))
        if value_of_scanner is not None:
            is_overridden = getattr(finding, f"source_{name}") is not None
            restored[f"source_{name}" if is_overridden else name] = value_of_scanner
    if "rule" in before or "title" in before:
        rule, title = before.get("rule", finding.rule), before.get("title", finding.title)
        restored["problem"] = problem_key(slug, rule, title)
    if "location" in before:
        restored["host"] = host_of(before["location"])
    return restored


def _restore(model: type[Row], rows: Iterable[tuple[Row, Before]]) -> None:
    """Delete the rows that the import added; set the values of the others."""
    added: list[int] = []
    changed: list[Row] = []
    columns: set[str] = set()
    for row, before in rows:
        if before is None:
            added.append(row.pk)
            continue
        for name, value in before.items():
            setattr(row, name, value)
        changed.append(row)
        columns |= before.keys()
    _delete(model, added)
    if columns:
        model.objects.bulk_update(changed, sorted(columns), batch_size=100)


def _match_locations_to_decisions(run: ImportRun, findings: Collection[int]) -> None:
    """Mark locations as gone or present, to match the status that an analyst has chosen since ``run``.

    An open finding without a present location would be fixed by the next complete scan, whatever its scope.
    """
    present = Count("occurrences", filter=Q(occurrences__gone_at=None))
    is_fixed = Q(status=Finding.Status.FIXED)
    for batch in _batches(findings):
        decided = Finding.objects.filter(pk__in=_decided_since(run, batch))
        mismatched = Q(is_fixed, present__gt=0) | Q(~is_fixed, present=0)
        for finding in decided.annotate(present=present).order_by().filter(mismatched):
            if finding.status == Finding.Status.FIXED:
                finding.occurrences.filter(gone_at=None).update(gone_at=finding.fixed_at)
            else:
                finding.shown_occurrences().update(gone_at=None)


def _restore_scopes(run: ImportRun, scopes: Mapping[ScopeKey, Before]) -> None:
    """Restore the coverage by the scanner, or delete it if the import added all of it."""
    coverage = Coverage.objects.filter(website=run.website_id, source=run.source_id).first()
    if coverage is None or not scopes:
        return
    remaining: list[CoverageScope] = []
    for scope in coverage.scopes.all():
        before = scopes.get((scope.category, scope.target), {})
        if before is None:
            scope.delete()
            continue
        for name, value in before.items():
            setattr(scope, name, value)
        scope.save()
        remaining.append(scope)
    if remaining:
        coverage.completed_at = None  # summarise() takes the newest of the scopes
        summarise(coverage, remaining)
    else:
        coverage.delete()


def _delete(model: type[Finding | Occurrence | FindingEvent], ids: Collection[int]) -> None:
    for batch in _batches(ids):
        model.objects.filter(pk__in=batch).only("pk").delete()


def _batches(ids: Collection[int]) -> Iterator[list[int]]:
    """Yield these ids in batches: PostgreSQL takes at most 65,535 parameters."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]
