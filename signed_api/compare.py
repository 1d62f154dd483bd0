"""The route that compares two import runs of one scanner of a linked website."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from signed_api import limits
from signed_api.routes import Route
from signed_api.values import (
    Count,
    Few,
    Member,
    Moment,
    Ok,
    PageField,
    PageSize,
    SiteRequest,
    Some,
    about,
    id_of,
    matching,
    one_of,
)

NEW, CAME_BACK, FIXED, ANSWERED = "new", "came_back", "fixed", "answered"
RE_RATED, NOT_REPORTED, STILL_OPEN = "re_rated", "not_reported", "still_open"
GROUPS = (NEW, CAME_BACK, FIXED, ANSWERED, RE_RATED, NOT_REPORTED, STILL_OPEN)
LISTED = GROUPS[:-1]  # with rows
VERSION, SCOPE, PROFILE, PARTIAL = "version", "scope", "profile", "partial"
NOT_RECORDED, EXPIRED = "not_recorded", "expired"  # why a count is not known


class CompareRequest(SiteRequest, frozen=True, kw_only=True, rename={"from_run": "from", "to_run": "to"}):
    """A request to compare two runs; the default is the last complete run and the one before it."""

    from_run: Annotated[
        str,
        id_of("the id of a run"),
        about("The earlier run. The default is the last complete run of the scanner before to."),
    ] = ""
    to_run: Annotated[
        str,
        id_of("the id of a run"),
        about("The later run. The default is the last complete run of the scanner."),
    ] = ""
    source: Annotated[
        str,
        matching("[A-Za-z0-9_-]{1,50}", "must be the short name of a scanner"),
        about(
            "The scanner by its short name. The default is the scanner of the last complete run that has an "
            "earlier one."
        ),
    ] = ""
    group: Annotated[
        str,
        one_of(LISTED),
        about("Only this group has findings then, by page and page_size; the others have their counts."),
    ] = ""
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE


class ComparedRun(Member, frozen=True, kw_only=True):
    """An import run: a report of the scanner, as it was stored."""

    id: Annotated[str, about("The id of the run; as text, because it may become longer.")]
    at: Annotated[Moment, about("When the scanner ran.")]
    imported_at: Annotated[Moment, about("When its report was stored; runs are in this order.")]
    state: Annotated[str, about("ok, partial or failed.")]
    detail: Annotated[str, about("What went wrong or was left out.")]
    version: Annotated[str | None, about("The scanner's version; empty: not in the report; null: unknown.")]
    profile: Annotated[
        str | None, about("quick, standard or deep; null: the report is not of a scan by this service.")
    ]
    scope: Annotated[
        str | None,
        about("In English, where missing findings counted as fixed; null: nowhere, or not on record."),
    ]
    findings: Annotated[Count, about("Findings in the report.")]
    new: Annotated[Count, about("Of them, findings that were not known before.")]
    reopened: Annotated[Count, about("Of them, findings that opened again.")]
    fixed: Annotated[Count, about("Findings that the run proved to be gone.")]
    open: Annotated[
        Count | None, about("Open findings of the scanner at the end of the run; null: not recorded.")
    ]


class ComparedFinding(Member, frozen=True, kw_only=True):
    """A finding in a group: severity and status at the end of both runs, its texts as they are now."""

    id: Annotated[str, about("The id; as text, because it may become longer.")]
    severity: Annotated[str, about("Critical, High, Medium, Low or Info, after the later run.")]
    severity_before: Annotated[
        str | None, about("The severity after the earlier run; null: it was not known then.")
    ]
    status: Annotated[str, about("open, fixed, accepted_risk or false_positive, after the later run.")]
    status_before: Annotated[
        str | None, about("The status after the earlier run; null: it was not known then.")
    ]
    title: Annotated[str, about("The title.")]
    location: Annotated[str, about("Where it is: the worst of its locations.")]
    rule: Annotated[str, about("The scanner's name for the check.")]
    problem: Annotated[str, about("The id of its problem; send it as problem in a dashboard request.")]
    new_check: Annotated[
        bool,
        about(
            "In the group new: whether no run of the scanner up to the earlier one had this rule. Then the "
            "check is new, and the problem may be old."
        ),
    ]


class ComparedGroup(Member, frozen=True, kw_only=True):
    """Findings with the same difference between both runs, the worst first."""

    name: Annotated[
        str,
        about(
            "new: open, and not known after the earlier run. came_back: open again. fixed: gone. answered: "
            "accepted_risk or false_positive since. re_rated: open in both, with another severity. "
            "not_reported: open in both, and missing in a later run that is partial or failed, which does "
            "not fix them. still_open: open in both, with those of the two groups before."
        ),
    ]
    count: Annotated[Count | None, about("How many findings; null: unknown, and reason says why.")]
    new_checks: Annotated[Count, about("How many of them have new_check.")]
    reason: Annotated[
        str | None,
        about(
            "Why the count is null. not_recorded: one of the runs was stored by a version before 0.2.0. "
            "expired: what the run listed is kept for about 30 days only."
        ),
    ]
    findings: Annotated[
        Some[ComparedFinding], about("The first ones, or the requested page of them. Empty for still_open.")
    ]
    filters: Annotated[
        dict[str, str],
        about("For still_open, the filters of a dashboard request that lists what is open now; else empty."),
    ]


class CompareResponse(Member, frozen=True, kw_only=True):
    """Two runs of one scanner compared; runs that were taken back do not count."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    source: Annotated[str, about("The scanner's short name.")]
    source_name: Annotated[str, about("The scanner's name as people read it.")]
    earlier: ComparedRun
    later: ComparedRun
    differences: Annotated[
        Few[str],
        about(
            "How the runs differ: version, scope or profile; partial: one of them is partial or failed. "
            "Others may be added."
        ),
    ]
    unknown_differences: Annotated[
        Few[str], about("Of version, scope and profile, those that are not known of both runs.")
    ]
    groups: Annotated[Few[ComparedGroup], about("All groups, always in this order.")]


def _between_fields(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "from" in given and "to" in given and int(given["from"]) >= int(given["to"]):
        yield "from", "must be an earlier run than to"
    if "group" not in given and given.get("page", 1) > 1:
        yield "page", "must be 1 without group"


COMPARE = Route(
    path="/v1/site/compare",
    name="siteCompare",
    summary="Two runs of one scanner compared",
    description="An addition to the specification: returns what is new, came back, was fixed, answered or "
    "rated again between two runs of one scanner, and how the runs themselves differ. No snapshot is stored: "
    "the state after a run comes from the order of findings and events.",
    request=CompareRequest,
    response=CompareResponse,
    own_codes=("unknown_run",),
    between_fields=_between_fields,
)
ROUTES: tuple[Route[Any, Any], ...] = (COMPARE,)
