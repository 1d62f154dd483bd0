"""View models of the page that compares two scans."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from foundation.texts.stored_texts import translate
from portal.models import Website
from portal.pages.urls import site_address
from portal.pages.view_models.findings import FindingRow, row_key
from portal.scans import labels
from portal.scans.view_models import url_of
from portal.texts import labels as words
from signed_api.compare import (
    ANSWERED,
    CAME_BACK,
    EXPIRED,
    FIXED,
    NEW,
    NOT_RECORDED,
    NOT_REPORTED,
    PARTIAL,
    PROFILE,
    RE_RATED,
    SCOPE,
    STILL_OPEN,
    VERSION,
    ComparedFinding,
    ComparedGroup,
    ComparedRun,
    CompareResponse,
)

_SCOPE_TITLE = "Scope of what is fixed: "
_TITLES = {
    NEW: gettext_lazy("New"),
    CAME_BACK: gettext_lazy("Came back"),
    FIXED: gettext_lazy("Fixed"),
    ANSWERED: gettext_lazy("Answered by an analyst"),
    RE_RATED: gettext_lazy("Another severity"),
    NOT_REPORTED: gettext_lazy("Not reported"),
    STILL_OPEN: gettext_lazy("Still open"),
}
_LEADS = {
    CAME_BACK: gettext_lazy("They were fixed or answered, and are open again."),
    ANSWERED: gettext_lazy(
        "Since then, a risk was accepted, or a finding turned out to be a false positive."
    ),
    NOT_REPORTED: gettext_lazy(
        "The later scan is not complete and does not list them, so they stay open. They also count as still "
        "open."
    ),
    STILL_OPEN: gettext_lazy("Open after both scans, whatever their severity."),
}
_DIFFERENCES = {
    VERSION: gettext_lazy(
        "The scanner has another version: it may check more, or rate findings differently."
    ),
    SCOPE: gettext_lazy("The scope differs: other hosts, ports or kinds of checks."),
    PROFILE: gettext_lazy("One scan was deeper than the other."),
    PARTIAL: gettext_lazy("A scan is not complete. Only what it checked can count as fixed."),
}
_UNKNOWN = {VERSION: gettext_lazy("version"), SCOPE: gettext_lazy("scope")}
_REASONS = {
    NOT_RECORDED: gettext_lazy(
        "One of these scans is from before scans could be compared, so what changed is not on record. The "
        "next two scans can be compared."
    ),
    EXPIRED: gettext_lazy("Unknown: what this scan listed was kept for 30 days only."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFact:
    """A fact about both scans; texts in English are marked on pages in other languages."""

    label: str
    earlier: str
    later: str
    is_changed: bool
    is_english: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of findings; ``more`` counts those that only the file has."""

    name: str
    title: str
    count: str
    lead: str
    note: str
    rows: tuple[FindingRow, ...]
    more: str
    list_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPage:
    """Two scans of one scanner compared; without ``groups``, ``missing`` says why."""

    host: str
    url: str
    site_url: str
    scans_url: str
    scanner: str
    earlier_at: datetime
    later_at: datetime
    file_url: str
    differences: tuple[str, ...]
    facts: tuple[RunFact, ...]
    groups: tuple[Group, ...]
    missing: str


def comparison_page(website: Website, found: CompareResponse, *, names_account: bool) -> ComparisonPage:
    """Return the page of a comparison; its URL names both runs, so that it shows the same later."""
    runs = (int(found.earlier.id), int(found.later.id))
    is_recorded = any(group.count is not None for group in found.groups)
    return ComparisonPage(
        host=website.host,
        url=url_of("comparison", website, *runs, names_account=names_account),
        site_url=str(site_address(website, names_account=names_account)),
        scans_url=url_of("scans", website, names_account=names_account),
        scanner=found.source_name[:100],
        earlier_at=found.earlier.at,
        later_at=found.later.at,
        file_url=url_of("comparison_file", website, *runs, names_account=names_account)
        if is_recorded
        else "",
        differences=tuple(_differences(found)),
        facts=tuple(_facts(found)),
        groups=tuple(_group(each, website, names_account=names_account) for each in found.groups)
        if is_recorded
        else (),
        missing="" if is_recorded else str(_REASONS[NOT_RECORDED]),
    )


def _differences(found: CompareResponse) -> Iterable[str]:
    for name in found.differences:
        if name in _DIFFERENCES:
            yield str(_DIFFERENCES[name])
    names = [name for name in found.unknown_differences if name in _UNKNOWN]
    if PARTIAL in found.differences:  # such a scan has no scope of its own
        names = [name for name in names if name != SCOPE]
    if unknown := [str(_UNKNOWN[name]) for name in names]:
        yield _("Not on record for both scans: %(facts)s.") % {"facts": ", ".join(unknown)}


def _facts(found: CompareResponse) -> Iterable[RunFact]:
    runs = (found.earlier, found.later)
    yield _fact(_("Result"), *map(_state, runs), is_changed=PARTIAL in found.differences)
    yield _fact(_("Version"), *map(_version, runs), is_changed=VERSION in found.differences)
    if any(run.profile for run in runs):
        yield _fact(_("Scan"), *map(_profile, runs), is_changed=PROFILE in found.differences)
    if any(run.scope for run in runs):
        yield RunFact(
            label=_("Scope"),
            earlier=_scope(found.earlier),
            later=_scope(found.later),
            is_changed=SCOPE in found.differences,
            is_english=True,
        )
    yield _fact(_("Findings in the report"), *(number_format(run.findings) for run in runs))
    yield _fact(_("Open afterwards"), *("–" if run.open is None else number_format(run.open) for run in runs))


def _fact(label: str, earlier: str, later: str, *, is_changed: bool = False) -> RunFact:
    return RunFact(label=label, earlier=earlier, later=later, is_changed=is_changed)


def _state(run: ComparedRun) -> str:
    state = words.label(labels.ELSEWHERE, run.state)
    return f"{state}. {translate(run.detail)}" if run.detail else state


def _version(run: ComparedRun) -> str:
    return run.version[:50] if run.version else "–"


def _profile(run: ComparedRun) -> str:
    return words.label(labels.PROFILES, run.profile) if run.profile else _("Run elsewhere")


def _scope(run: ComparedRun) -> str:
    return (run.scope or "–").removeprefix(_SCOPE_TITLE)[:300].rstrip(" .")


def _group(group: ComparedGroup, website: Website, *, names_account: bool) -> Group:
    address = site_address(website, names_account=names_account)
    more = (group.count or 0) - len(group.findings) if group.name != STILL_OPEN else 0
    more_text = ngettext("%(count)s more is in the file.", "%(count)s more are in the file.", more)
    return Group(
        name=group.name,
        title=words.label(_TITLES, group.name),
        count="–" if group.count is None else number_format(group.count),
        lead=str(_LEADS.get(group.name, "")) if group.count else "",
        note=_note(group),
        rows=tuple(_row(each, group.name, address.of_finding(each.id)) for each in group.findings),
        more=more_text % {"count": number_format(more)} if more > 0 else "",
        list_url=address.with_filters(source=group.filters.get("source", ""))
        if group.name == STILL_OPEN and group.count
        else "",
    )


def _note(group: ComparedGroup) -> str:
    """Return why the count is unknown, or how many rows come from a new check."""
    if group.reason is not None:
        return str(_REASONS.get(group.reason, _("Unknown.")))
    if not group.new_checks:
        return ""
    text = ngettext(
        "%(count)s comes from a check that no earlier scan had, so the problem itself may be old.",
        "%(count)s come from checks that no earlier scan had, so the problems themselves may be old.",
        group.new_checks,
    )
    return text % {"count": number_format(group.new_checks)}


def _row(finding: ComparedFinding, group: str, url: str) -> FindingRow:
    return FindingRow(
        key=row_key(finding.id),
        url=url,
        severity=words.label(words.SEVERITIES, finding.severity),
        tone=words.tone(finding.severity),
        kind="",
        status=_change(finding, group),
        title=finding.title,
        location=finding.location,
        more_locations=0,
        source=finding.rule[:100],
        first_seen=None,
        last_seen=None,
        notes=0,
    )


def _change(finding: ComparedFinding, group: str) -> str:
    """Return what is special about a finding in its group."""
    if finding.new_check:
        return _("New check")
    if group == RE_RATED and finding.severity_before:
        return _("was %(severity)s") % {"severity": words.label(words.SEVERITIES, finding.severity_before)}
    if group == CAME_BACK and finding.status_before:
        return _("was: %(status)s") % {"status": words.label(words.STATUSES, finding.status_before)}
    return words.label(words.STATUSES, finding.status) if group == ANSWERED else ""
