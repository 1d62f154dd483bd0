"""The page of a shared problem, for people without an account: its findings, and their common facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models import problem_heading
from portal.pages.view_models.finding import (
    Link,
    LocationView,
    location_views,
    locations_left,
    reference,
    weaknesses,
)
from portal.pages.view_models.findings import (
    FindingRow,
    common_description,
    common_text,
    finding_rows,
    how_to_check,
    in_general,
    next_scans,
)
from portal.pages.view_models.hand_over import unique
from portal.sharing.view_models import count_text, list_title, without_evidence
from portal.texts import labels, topics
from portal.texts.stacks import StackFix, fixes_by_stack
from signed_api.findings import DashboardResponse, FindingDetail, Threat

MAX_LINKS = 20  # of each kind: rules, weaknesses, references


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedProblemFinding:
    """A finding of a shared problem; a text that all findings have in common is empty.

    Its fields are listed one by one, so that a new field of a finding is not shared by accident.
    """

    severity: str
    tone: str
    kind: str
    status: str
    title: str
    location: str
    description: str
    remediation: str
    evidence: str
    is_evidence_cut: bool
    locations: tuple[LocationView, ...]
    more_locations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedProblem:
    """A problem for a person without an account; ``filters`` names the filters that hide some findings."""

    host: str
    title: str
    is_title_translated: bool
    filters: str
    severity: str
    tone: str
    count: str
    generated_at: datetime
    fix: str
    description: str
    remediation: str
    fixes: tuple[StackFix, ...]
    check: str
    sources: str
    rules: tuple[str, ...]
    weaknesses: tuple[Link, ...]
    references: tuple[Link, ...]
    findings: tuple[SharedProblemFinding, ...]


def shared_problem(
    dashboard: DashboardResponse,
    filters: Filters,
    *,
    details: Mapping[str, FindingDetail],
    includes_evidence: bool,
) -> SharedProblem:
    """Return the problem with the findings of ``dashboard``; evidence is included only if that was chosen.

    ``details`` has findings with all their locations, by id.
    """
    threats = dashboard.threats if includes_evidence else list(map(without_evidence, dashboard.threats))
    title = problem_heading(dashboard, filters.problem)
    common = {
        "title": title,
        "description": common_description(threats),
        "remediation": common_text(threats, lambda threat: threat.remediation),
    }
    fix = topics.fix_of(filters.problem)
    worst = min(threats, key=lambda threat: labels.severity_rank(threat.severity)).severity
    return SharedProblem(
        host=dashboard.host,
        title=title,
        is_title_translated=bool(topics.title_of(filters.problem)),
        filters=list_title(dashboard, filters) if len(filters.active) > 1 else "",
        severity=labels.label(labels.SEVERITIES, worst),
        tone=labels.tone(worst),
        count=count_text(dashboard),
        generated_at=dashboard.dashboard.generated_at,
        fix="" if fix == common["remediation"] else fix,
        description=common["description"],
        remediation=common["remediation"],
        fixes=fixes_by_stack(filters.problem),
        check=how_to_check(
            dashboard.threats,
            shows_evidence=includes_evidence,
            decides=next_scans(
                [threat for threat in dashboard.threats if threat.status == labels.OPEN], dashboard.coverage
            ),
        ),
        sources=", ".join(unique(threat.source_name or threat.source for threat in threats)),
        rules=tuple(unique(threat.rule for threat in threats)[:MAX_LINKS]),
        weaknesses=_links(link for threat in threats for link in weaknesses(threat)),
        references=_links(filter(None, (reference(url) for threat in threats for url in threat.references))),
        findings=tuple(
            _finding(threat, row, common, _all_locations(details.get(threat.id), includes_evidence))
            for threat, row in zip(threats, finding_rows(threats, [], Address(path="")), strict=True)
        ),
    )


def _all_locations(finding: FindingDetail | None, includes_evidence: bool) -> tuple[LocationView, ...]:
    if finding is None:
        return ()
    return location_views(finding if includes_evidence else without_evidence(finding))


def _finding(
    threat: Threat, row: FindingRow, common: Mapping[str, str], locations: tuple[LocationView, ...]
) -> SharedProblemFinding:
    def own_text(name: str) -> str:
        text: str = getattr(threat, name)
        return "" if text == common[name] else text

    others = tuple(view for view in locations if view.location != threat.location or view.evidence)
    return SharedProblemFinding(
        severity=row.severity,
        tone=row.tone,
        kind=row.kind,
        status=row.status,
        title=own_text("title"),
        location=row.location,
        description="" if in_general(threat) == common["description"] else own_text("description"),
        remediation=own_text("remediation"),
        evidence=threat.evidence,
        is_evidence_cut=threat.evidence_truncated,
        locations=others,
        more_locations=locations_left(threat, locations),
    )


def _links(links: Iterable[Link]) -> tuple[Link, ...]:
    return tuple(dict.fromkeys(links))[:MAX_LINKS]
