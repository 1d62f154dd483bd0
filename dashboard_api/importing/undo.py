"""Take an import back: what only it brought disappears, and what it closed is open again. Record 0076."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, F, Q
from django.utils.translation import gettext as _

from audit.recording import record as audit
from dashboard_api import limits, standing_decisions
from dashboard_api.importing.apply import with_occurrences
from dashboard_api.importing.coverage import without_import
from dashboard_api.importing.journal import Before, Changes, OccurrenceKey, ScopeKey, merged
from dashboard_api.importing.later_scans import (
    AFTER_ALL_SCANS,
    LaterScan,
    PlannedAgain,
    apply_again,
    changed_in,
    fix_gone,
    fixed_in,
    plan_again,
)
from dashboard_api.importing.plan import (
    FALSE_POSITIVE,
    FIXED,
    OPEN,
    StoredOccurrence,
    is_gone,
    other_locations,
)
from dashboard_api.models import (
    AnalystNote,
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

_BATCH = 500
Row = TypeVar("Row", Finding, Occurrence)
# Decisions of analysts about the status, and the columns that keep them.
_DECISIONS = ("false_positive", "accepted_risk", "fixed", "reconsidered")
_DECIDED = ("status", "triage_until", "reviewed_at", "fixed_at")
_PRESENT = Count("occurrences", filter=Q(occurrences__gone_at=None))
# The fields that are read of findings to delete; their texts would take much memory.
_NEEDED = ("status", "severity", "source_severity", "rule", "title", "reviewed_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class _FindingBefore:
    """A finding with its replaced values (None: there was none), and whether an analyst worked on it."""

    finding: Finding
    before: Before
    has_work: bool


@dataclass(slots=True, kw_only=True)
class _Later:
    """The later imports of the scanner."""

    findings: set[int] = field(default_factory=set)  # that they and the import changed or list
    scans: list[LaterScan] = field(default_factory=list)  # those that prove absence

    def scan_of(self, part: ImportChange, changes: Changes) -> LaterScan | None:
        """Return the scan that has this part of the journal, if it proves absence."""
        if changes.scan is not None:
            self.scans.append(LaterScan(part.run, changes.scan))
        return self.scans[-1] if self.scans and self.scans[-1].run_id == part.run_id else None


@dataclass(slots=True, kw_only=True)
class UndoResult:
    """Numbers of findings by what happened to them when an import was taken back."""

    deleted: int = 0  # only the import brought them
    with_work: int = 0  # of those, with a note or a decision by an analyst, which disappears, too
    opened: int = 0  # the import had closed them
    closed: int = 0  # the import had opened them again
    restored: int = 0  # otherwise as they were before
    kept: int = 0  # later imports of the scanner list or closed them as well: as those left them

    def in_words(self) -> str:
        """Return the numbers as sentences."""
        deleted = str(self.deleted)
        if self.with_work:
            with_work = _("%(count)s with notes or decisions") % {"count": self.with_work}
            deleted = f"{deleted} ({with_work})"
        return _(
            "Deleted: %(deleted)s, open again: %(opened)s, fixed again: %(closed)s, "
            "otherwise as before: %(restored)s, kept because of later imports: %(kept)s."
        ) % {
            "deleted": deleted,
            "opened": self.opened,
            "closed": self.closed,
            "restored": self.restored,
            "kept": self.kept,
        }


def preview(run: ImportRun, *, now: datetime) -> UndoResult:
    """Return what ``undo`` would do; it only reads. Raise ValidationError like ``undo``."""
    _check(run, reason="preview", now=now)
    changes = _load(run)
    later = _pass_on(run, changes, is_preview=True)
    result = UndoResult(kept=len(later.findings - changes.findings.keys()))
    for batch in _findings_before(changes, run):
        _count(result, batch, fixed_in(_plans_of_opened(batch, changes, later.scans)))
    return result


@transaction.atomic
def undo(run: ImportRun, *, by: str, reason: str, now: datetime) -> UndoResult:
    """Take ``run`` back, completely or not at all.

    Findings that a later import of the same scanner reported again stay as that import left them. Raise
    ValidationError if the import was taken back before, is too old, or the reason is empty.
    """
    Website.objects.select_for_update(no_key=True).get(pk=run.website_id)
    locked = ImportRun.objects.select_for_update().get(pk=run.pk)
    _check(locked, reason=reason, now=now)
    changes = _load(locked)
    later = _pass_on(locked, changes)
    _delete(FindingEvent, changes.events)
    result = UndoResult(kept=len(later.findings - changes.findings.keys()))
    moved = _restore_occurrences(changes)
    plans: list[PlannedAgain] = []
    to_ask: list[int] = []
    for batch in _findings_before(changes, locked):
        to_ask += _open_before_and_after(batch)
        planned = _plans_of_opened(batch, changes, later.scans)
        _count(result, batch, fixed_in(planned))
        _restore(Finding, [(each.finding, each.before) for each in batch])
        plans += planned
    _remove_repeated_events(later.findings)
    recounted = {pk for pk, before in changes.findings.items() if before and "locations_count" in before}
    _show_remaining_locations((moved & later.findings) | _with_wrong_locations(moved | recounted))
    apply_again(plans, locked.website)
    _show_remaining_locations(_with_wrong_locations(changed_in(plans)))
    for numbers in _batches(moved - fixed_in(plans)):
        planned = _plans_of_moved(numbers, changes, later.scans)
        apply_again(planned, locked.website)
        _show_remaining_locations(_with_wrong_locations(changed_in(planned)))
    _restore_scopes(locked, changes.scopes)
    standing_decisions.apply_to(locked.website, locked.source, now)
    locked.changes.all().delete()
    _show_remaining_locations(_with_wrong_locations(fix_gone(locked.website, locked.source_id, to_ask)))
    _agree_with_decisions(locked, moved)
    locked.undone_at, locked.undone_by, locked.undone_reason = now, by, reason.strip()
    locked.save(update_fields=["undone_at", "undone_by", "undone_reason"])
    audit("import.undone", locked, by=by, reason=reason)
    return result


def _check(run: ImportRun, *, reason: str, now: datetime) -> None:
    if run.undone_at is not None:
        raise ValidationError(
            _("It was taken back on %(day)s by %(name)s.")
            % {"day": f"{run.undone_at:%Y-%m-%d}", "name": run.undone_by}
        )
    if run.imported_at < now - limits.UNDO_LIFETIME:
        raise ValidationError(
            _("Only imports of the last %(days)s days can be taken back.")
            % {"days": limits.UNDO_LIFETIME.days}
        )
    if not run.changes.exists():
        raise ValidationError(_("It changed nothing, so there is nothing to take back."))
    if not reason.strip():
        raise ValidationError({"reason": _("Say why: it is recorded with the import.")})


def _load(run: ImportRun) -> Changes:
    """Return all changes of ``run``, without the status before it where an analyst has decided since."""
    changes = Changes()
    for part in run.changes.iterator():
        changes.add(Changes.from_bytes(bytes(part.content)))
    changes.include_absent()
    for batch in _batches(changes.findings):
        for pk in _decided_since(run, batch, _DECISIONS):
            for name in _DECIDED:
                (changes.findings[pk] or {}).pop(name, None)
    return changes


def _decided_since(
    run: ImportRun, findings: Collection[int], events: Collection[str] = FindingEvent.Event.values
) -> set[int]:
    """Return the ids of those findings that have such an event by an analyst since ``run``."""
    since = FindingEvent.objects.filter(finding__in=findings, at__gte=run.imported_at, decision=None)
    return set(since.filter(event__in=events).exclude(by="").values_list("finding", flat=True))


def _pass_on(run: ImportRun, changes: Changes, *, is_preview: bool = False) -> _Later:
    """Move changes to the next import that changed or lists the same rows.

    If that import is taken back later, it restores what was there before ``run``.
    """
    later = _Later()
    changed = {*changes.findings, *(finding for finding, _ in changes.occurrences)}
    parts = ImportChange.objects.filter(
        run__website=run.website_id, run__source=run.source_id, run__undone_at=None, run__gt=run.pk
    )
    for part in parts.order_by("run_id", "pk").iterator():
        theirs = Changes.from_bytes(bytes(part.content))
        scan = later.scan_of(part, theirs)
        fixed = theirs.fixed
        _take_over_closed_false_positives(changes, theirs)
        if scan:
            _take_over_closed(run, changes, theirs, scan)
            scan.add_reported(theirs, changed)
        changes.occurrences |= _occurrences_of_added(changes, theirs)
        without_import(changes.scopes, theirs)
        decisions = _decisions_that_stay(changes, theirs)
        _move_events(_back_also_in(changes, theirs), changes, theirs)
        _move_events(_begun_by(changes, theirs), changes, theirs, [FindingEvent.Event.REGRESSED])
        later.findings |= changes.pass_on(theirs)
        changes.findings |= decisions
        if scan:
            scan.add_values_before(theirs)
        events = FindingEvent.objects.filter(pk__in=theirs.events, finding__in=fixed - theirs.fixed)
        changes.events += events.values_list("pk", flat=True)
        if not is_preview:
            part.content = theirs.to_bytes()
            part.save(update_fields=["content"])
    return later


def _opened(changes: Changes, status: str) -> set[int]:
    """Return the findings of this status that the import opened: those that came back, or were elsewhere."""
    return {pk for pk, before in changes.findings.items() if _has_status(before, status)}


def _has_status(before: Before, status: str) -> bool:
    """Return whether the finding had this status before the import, which changed it."""
    return before is not None and before.get("status") == status


def _take_over_closed_false_positives(changes: Changes, later: Changes) -> None:
    """Move false positives that ``later`` closed into ``changes``: it closed them because they were open."""
    for pk in _opened(changes, FALSE_POSITIVE) & later.fixed:
        _take_over_fix(pk, changes, later)


def _decisions_that_stay(changes: Changes, later: Changes) -> dict[int, dict[str, Any]]:
    """Take the decisions about false positives that ``later`` lists, but does not open, out of ``changes``.

    Without the import, ``later`` opens those of which it adds a location, or lists one that the import
    added: their events become its own. It opens no others, even if a scan has closed them in between.
    """
    listed = _opened(changes, FALSE_POSITIVE) & later.findings.keys()
    opened = {
        key[0]
        for key, before in later.occurrences.items()
        if key[0] in listed and (before is None or changes.occurrences.get(key, {}) is None)
    }
    _move_events({pk for pk in opened if not _has_status(later.findings[pk], FIXED)}, changes, later)
    _move_events(listed - opened, later, changes)
    decisions = {}
    for pk in listed - opened:
        before, theirs = changes.findings[pk] or {}, later.findings[pk] or {}
        decisions[pk] = {name: before.pop(name) for name in _DECIDED if name in before}
        for name in _DECIDED:
            theirs.pop(name, None)
    return decisions


def _back_also_in(changes: Changes, later: Changes) -> set[int]:
    """Return fixed findings that the import opened, and that ``later``, which lists them, would have."""
    listed = _opened(changes, FIXED) & later.findings.keys()
    return {pk for pk in listed if not _has_status(later.findings[pk], FIXED)}


def _begun_by(changes: Changes, later: Changes) -> set[int]:
    """Return findings that begin with ``later``; the import may have ended a decision about them."""
    return {pk for pk in changes.findings.keys() & later.findings.keys() if changes.findings[pk] is None}


def _move_events(
    findings: Collection[int],
    source: Changes,
    target: Changes,
    kinds: Collection[str] = FindingEvent.Event.values,
) -> None:
    """Move the events of these findings, and of these kinds, from one import's changes to another's."""
    for batch in _batches(findings):
        events = FindingEvent.objects.filter(finding__in=batch, event__in=kinds).values_list("pk", flat=True)
        moved = set(events).intersection(source.events)
        source.events = [pk for pk in source.events if pk not in moved]
        target.events += sorted(moved)


def _take_over_closed(run: ImportRun, changes: Changes, later: Changes, scan: LaterScan) -> None:
    """Move what ``later`` closed only because of ``run`` into ``changes``, as if ``run`` had closed it.

    That is what ``run`` moved to the category of ``scan``, and findings with locations that ``run`` found
    gone, and that the scan does not cover. The scan is asked again about what is open without ``run``.
    """
    if not later.absent_findings and not later.absent_occurrences:
        return
    category = scan.scan.scope.category
    moved: set[OccurrenceKey] = set()
    gone: set[OccurrenceKey] = set()
    for key, before in changes.occurrences.items():
        if before and before.get("category", category) != category:
            moved.add(key)
        if before and before.get("gone_at", run) is None:
            gone.add(key)
    for key in moved & later.absent_occurrences.keys():
        changes.occurrences[key] = merged(later.absent_occurrences.pop(key), changes.occurrences[key])
    closed = later.fixed.intersection(finding for finding, _ in moved | gone)
    for finding, occurrences in with_occurrences(list(closed - _decided_since(run, closed, _DECISIONS))):
        restored = _restored(finding.id, occurrences, changes, later)
        if any(row.gone_at is None and not is_gone(finding.rule, row, scan.scan) for row in restored):
            _take_over_fix(finding.id, changes, later)


def _restored(
    number: int, occurrences: Iterable[StoredOccurrence], changes: Changes, later: Changes
) -> Iterator[StoredOccurrence]:
    """Yield the occurrences of a finding that ``changes`` restores, as before these and ``later``."""
    for row in occurrences:
        key = (number, row.location_digest)
        if before := changes.occurrences.get(key):
            yield row._replace(**{**(later.absent_occurrences.get(key) or {}), **before})


def _take_over_fix(number: int, changes: Changes, later: Changes) -> None:
    """Move the fix of a finding, and of its locations, from ``later`` into ``changes``."""
    changes.findings[number] = merged(later.absent_findings.pop(number), changes.findings.get(number, {}))
    for key in [each for each in later.absent_occurrences if each[0] == number]:
        before = changes.occurrences.get(key, {})
        changes.occurrences[key] = merged(later.absent_occurrences.pop(key), before)


def _occurrences_of_added(changes: Changes, later: Changes) -> dict[OccurrenceKey, Before]:
    """Return the occurrences of findings that the import added, and that ``later`` reports as well.

    Only those that a later import reports stay; the journal does not name those of new findings.
    """
    added = [pk for pk in changes.findings.keys() & later.findings.keys() if changes.findings[pk] is None]
    keys = Occurrence.objects.filter(finding__in=added).values_list("finding_id", "location_digest")
    return dict.fromkeys(keys.iterator()) if added else {}


def _restore_occurrences(changes: Changes) -> set[int]:
    """Restore the occurrences of findings that stay; return the ids of these findings."""
    changed = {
        key: before
        for key, before in changes.occurrences.items()
        if before != {} and changes.findings.get(key[0], {}) is not None
    }
    findings = {finding for finding, _ in changed}
    for batch in _batches(findings):
        stored = Occurrence.objects.filter(finding__in=batch)
        own = [each for each in stored.iterator() if (each.finding_id, each.location_digest) in changed]
        _restore(Occurrence, [(each, changed[each.finding_id, each.location_digest]) for each in own])
    return findings


def _findings_before(changes: Changes, run: ImportRun) -> Iterator[list[_FindingBefore]]:
    """Yield the findings in batches, with what they were before the import."""
    slug = run.source.slug
    for batch in _batches([pk for pk, before in changes.findings.items() if before != {}]):
        new = [pk for pk in batch if changes.findings[pk] is None]
        stored = chain(
            Finding.objects.filter(pk__in=new).only(*_NEEDED),
            Finding.objects.filter(pk__in=set(batch).difference(new)),
        )
        decided = _decided_since(run, batch)
        noted = set(AnalystNote.objects.filter(finding__in=batch).values_list("finding", flat=True))
        yield [
            _FindingBefore(
                finding=each,
                before=_as_before(each, changes.findings[each.pk], slug),
                has_work=each.pk in decided | noted or each.reviewed_at is not None,
            )
            for each in stored
        ]


def _as_before(finding: Finding, before: Before, slug: str) -> Before:
    """Return the replaced values to restore, as the scanner's where a rating or confirmation is in force."""
    if before is None:
        return None
    if "severity" in before and finding.source_severity is not None:
        # An analyst or a standing decision has rated the finding: that stays, and the scanner's is restored.
        before = {name: value for name, value in before.items() if name != "severity"} | {
            "source_severity": before["severity"]
        }
    if "kind" in before and finding.source_kind is not None:
        # An analyst has confirmed the finding: that stays, and the scanner's kind is restored.
        before = {name: value for name, value in before.items() if name != "kind"} | {
            "source_kind": before["kind"]
        }
    if "rule" in before or "title" in before:
        rule, title = before.get("rule", finding.rule), before.get("title", finding.title)
        before = {**before, "problem": problem_key(slug, rule, title)}
    if "location" in before:
        before = {**before, "host": host_of(before["location"])}
    return before


def _plans_of_opened(
    batch: Iterable[_FindingBefore], changes: Changes, scans: Sequence[LaterScan]
) -> list[PlannedAgain]:
    """Return what later scans prove about those findings that are open without the import."""
    opened = {
        each.finding.pk: each
        for each in batch
        if each.before
        and each.before.get("status") == Finding.Status.OPEN
        and each.finding.status == Finding.Status.FIXED
    }
    if not opened or not scans:
        return []
    rows = []
    for finding, occurrences in with_occurrences(list(opened)):
        each = opened[finding.id]
        values = {name: value for name, value in (each.before or {}).items() if name in finding._fields}
        stored = [
            (changes.occurrences.get((finding.id, row.location_digest), {}), row) for row in occurrences
        ]
        restored = [row._replace(**before) for before, row in stored if before is not None]
        rows.append((each.finding.fingerprint, finding._replace(**values), restored))
    return plan_again(rows, scans)


def _open_before_and_after(batch: Iterable[_FindingBefore]) -> list[int]:
    """Return the findings that the import reopened, where the import that had fixed them was taken back.

    A scan between the two may have found them gone as well, and then they are fixed since then.
    """
    status_before = ((each.finding, (each.before or {}).get("status")) for each in batch)
    return [each.pk for each, status in status_before if each.status == status == Finding.Status.OPEN]


def _plans_of_moved(
    numbers: Sequence[int], changes: Changes, scans: Sequence[LaterScan]
) -> list[PlannedAgain]:
    """Return what later scans, which do not list them, prove about occurrences that were restored."""
    if not scans:
        return []
    stored = list(Finding.objects.filter(pk__in=numbers).values_list("pk", "fingerprint", "status"))
    fingerprints = {pk: fingerprint for pk, fingerprint, _status in stored}
    decided = {pk for pk, _fingerprint, status in stored if status not in (OPEN, FIXED)}
    rows = []
    for finding, occurrences in with_occurrences(list(fingerprints)):
        own = [
            row
            if (finding.id, row.location_digest) in changes.occurrences
            else row._replace(last_seen=AFTER_ALL_SCANS)
            for row in occurrences
        ]
        rows.append((fingerprints[finding.id], finding, own))
    return plan_again(rows, scans, decided=decided)


def _count(result: UndoResult, batch: Iterable[_FindingBefore], still_fixed: Container[int]) -> None:
    """Count in ``result`` what happens to the findings; later scans prove that some are fixed."""
    for each in batch:
        if each.finding.pk in still_fixed:
            result.kept += 1
        elif each.before is None:
            result.deleted += 1
            result.with_work += each.has_work
        elif each.before.get("status", each.finding.status) in (each.finding.status, FALSE_POSITIVE):
            result.restored += 1
        elif each.before["status"] == Finding.Status.FIXED:
            result.closed += 1
        else:
            result.opened += 1


def _restore(model: type[Row], rows: Iterable[tuple[Row, Before]]) -> None:
    """Delete the rows that had no values before the import, and set the values of the others."""
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
        if model is Finding:
            for batch in _batches([row.pk for row in changed]):
                Finding.objects.filter(pk__in=batch).rewrite_words()


def _remove_repeated_events(findings: Collection[int]) -> None:
    """Remove from the timelines what a later import repeats: fixed while fixed, or back while open.

    What an analyst has decided stays.
    """
    kinds = FindingEvent.Event
    for batch in _batches(findings):
        events = FindingEvent.objects.filter(finding__in=batch).order_by("finding", "pk")
        last: dict[int, str] = {}
        repeated = []
        for event in events:
            state = kinds.REGRESSED.value if event.event == kinds.RECONSIDERED else event.event
            if state not in (kinds.FIXED, kinds.FALSE_POSITIVE, kinds.REGRESSED):
                continue
            if not event.by and event.event == last.get(event.finding_id, kinds.REGRESSED.value):
                repeated.append(event.pk)
            last[event.finding_id] = state
        _delete(FindingEvent, repeated)


def _with_wrong_locations(findings: Collection[int]) -> set[int]:
    """Return those of ``findings`` whose number of locations, or shown one, is not of their occurrences."""
    wrong: set[int] = set()
    shown = Count("occurrences", filter=Q(occurrences__location=F("location")))
    for batch in _batches(findings):
        counted = Finding.objects.filter(pk__in=batch).annotate(present=_PRESENT, shown=shown)
        right = counted.filter(locations_count=F("present"), shown__gt=0).order_by()
        wrong.update(set(batch).difference(right.values_list("pk", flat=True)))
    return wrong


def _show_remaining_locations(findings: Collection[int]) -> None:
    """Update the copies of locations on findings that stay, but lost some of their occurrences."""
    stored = (Finding.objects.filter(pk__in=batch).iterator() for batch in _batches(findings))
    for finding in chain.from_iterable(stored):
        present = list(finding.shown_occurrences())
        if not present or len(present) >= limits.MAX_OCCURRENCES:
            continue
        if all(each.location != finding.location for each in present):
            finding.location, finding.evidence = present[0].location, present[0].evidence
        locations = [each.location for each in present]
        finding.other_locations = other_locations(finding.location, locations)
        finding.locations_count = len(present)
        finding.save(
            update_fields=["location", "host", "evidence", "other_locations", "locations_count", "words"]
        )


def _agree_with_decisions(run: ImportRun, findings: Collection[int]) -> None:
    """Let locations be gone, or there, as the status says that an analyst has decided since ``run``.

    A finding that is open nowhere would be fixed by the next complete scan of anything.
    """
    is_fixed = Q(status=Finding.Status.FIXED)
    for batch in _batches(findings):
        decided = Finding.objects.filter(pk__in=_decided_since(run, batch, _DECISIONS))
        counted = decided.annotate(present=_PRESENT).order_by()
        wrong = list(counted.filter((is_fixed & Q(present__gt=0)) | (~is_fixed & Q(present=0))))
        for finding in wrong:
            if finding.status == Finding.Status.FIXED:
                finding.occurrences.filter(gone_at=None).update(gone_at=finding.fixed_at)
            else:
                finding.shown_occurrences().update(gone_at=None)
        _show_remaining_locations([finding.pk for finding in wrong])


def _restore_scopes(run: ImportRun, scopes: Mapping[ScopeKey, Before]) -> None:
    """Restore the coverage by the scanner."""
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
        coverage.completed_at = None  # the newest of the scopes
        summarise(coverage, remaining)
    else:
        coverage.delete()


def _delete(model: type[Finding | Occurrence | FindingEvent], numbers: Collection[int]) -> None:
    for batch in _batches(numbers):
        model.objects.filter(pk__in=batch).only("pk").delete()


def _batches(numbers: Collection[int]) -> Iterator[list[int]]:
    """Yield these ids in batches: PostgreSQL takes at most 65,535 parameters."""
    ordered = sorted(numbers)
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]
