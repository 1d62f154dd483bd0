"""Coverage: the last run of each scope of a source, and the category of unnamed reports."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from dashboard_api.importing.journal import Journal, scope_values
from dashboard_api.models import Coverage, CoverageScope, Occurrence, Source, Website
from dashboard_api.models.scopes import summarise

EVERYWHERE = ""  # the target of reports that do not name all their targets


def record_run(
    website: Website,
    source: Source,
    run: CoverageScope,
    *,
    checked_addresses: Mapping[str, int | None],
    journal: Journal,
) -> set[str]:
    """Store ``run`` for each target in ``checked_addresses``, with the number of addresses checked.

    Return the targets where it is now the newest run. A run of the same time replaces the stored run, unless
    only the stored run was complete.
    """
    coverage = Coverage.objects.filter(website=website, source=source).first()
    rows = coverage.scopes.all() if coverage else []
    scopes = {(scope.category, scope.target): scope for scope in rows}
    if coverage and not scopes and EVERYWHERE in checked_addresses:
        # Coverage without scopes counts as one scope.
        scopes[run.category, EVERYWHERE] = CoverageScope.of(coverage, run.category)
    runs = {
        (run.category, target): CoverageScope(**scope_values(run) | {"urls_checked": count})
        for target, count in checked_addresses.items()
    }
    journal.record_scopes(scopes, runs)
    coverage = coverage or Coverage(website=website, source=source)
    updated = {
        target: scopes.setdefault((run.category, target), CoverageScope(category=run.category, target=target))
        for target in checked_addresses
    }
    newest_here = {target for target, scope in updated.items() if _update(scope, runs[run.category, target])}
    summarise(coverage, scopes.values())
    _save(coverage, list(updated.values()))
    return newest_here


def _update(scope: CoverageScope, run: CoverageScope) -> bool:
    """Update ``scope`` from ``run``; return whether ``run`` is its newest."""
    is_complete = run.state == Coverage.State.OK
    was_complete = scope.state == Coverage.State.OK
    # The pairs are compared by time, then False before True. A new scope has no state.
    is_newest = not scope.state or (scope.last_run_at, was_complete) <= (run.last_run_at, is_complete)
    if is_newest:
        scope.state, scope.detail, scope.version = run.state, run.detail, run.version
        scope.last_run_at, scope.urls_checked = run.last_run_at, run.urls_checked
    if is_complete and (scope.completed_at is None or scope.completed_at < run.last_run_at):
        scope.completed_at = run.last_run_at
    return is_newest


def _save(coverage: Coverage, scopes: list[CoverageScope]) -> None:
    """Upsert the scopes in one statement, by their unique key."""
    for scope in scopes:
        scope.pk, scope.coverage = None, coverage
    CoverageScope.objects.bulk_create(
        scopes,
        update_conflicts=True,
        unique_fields=["coverage", "category", "target"],
        update_fields=["state", "last_run_at", "completed_at", "urls_checked", "version", "detail"],
    )


def category_of(
    rules_and_locations: Collection[tuple[tuple[str, ...], str]], website: Website, source: Source
) -> str | None:
    """Return the category of a report that does not name it, by its similarity to earlier reports.

    It is the category that shares most rules and locations with the report, and at least half of them; a new
    one otherwise. Each rule is given as its id and older ids. An empty report continues the only category;
    None if there are several.
    """
    shared: defaultdict[str, set[tuple[tuple[str, ...], str]]] = defaultdict(set)  # by category
    categories = set()
    # Stored locations are cut to this length.
    reported = {(rules, location[:2000]) for rules, location in rules_and_locations}
    by_id = {(rule, location): (rules, location) for rules, location in reported for rule in rules}
    occurrences = Occurrence.objects.filter(finding__website=website, finding__source=source)
    reported_before = occurrences.order_by().values_list("category", "finding__rule", "location").distinct()
    for category, rule, location in reported_before.iterator():
        categories.add(category)
        if (rule, location) in by_id:
            shared[category].add(by_id[rule, location])
    if not categories:
        return ""
    if not reported:
        return categories.pop() if len(categories) == 1 else None
    best = max(sorted(categories), key=lambda category: len(shared[category]))
    return best if 2 * len(shared[best]) >= len(reported) else _new_category(categories)


def _new_category(categories: Collection[str]) -> str:
    number = len(categories) + 1
    while f"part {number}" in categories:
        number += 1
    return f"part {number}"
