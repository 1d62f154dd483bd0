"""Fields of each request, with their rules. All broken rules are reported together."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import msgspec

from dashboard_api import limits
from dashboard_api.contract.cursor import (
    CALL_PATTERN,
    PATTERN,
    CallPosition,
    Cursor,
    read_call_position,
    read_cursor,
)
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Finding, Kind, Severity
from foundation.hosts import InvalidHost, normalise_dns_name, normalise_host

ALL = "all"
NEXT_IMPORT = "next_import"
PROBLEM = "problem"
LOCATIONS = "locations"
SORTS = ("worst", "newest", "oldest", LOCATIONS)
_PROBLEM_ID = re.compile(rf"[a-z0-9-]{{1,{limits.MAX_PROBLEM_ID_LENGTH}}}")
ANSWERED, REFUSED = OUTCOMES = ("answered", "refused")
PROOFS = ("file", "meta")
_CLAIM = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
STATUSES = (*Finding.Status.values, ALL)

DASHBOARD_PATH = "/v1/site/dashboard"
FINDING_PATH = "/v1/site/finding"
CHANGES_PATH = "/v1/site/changes"
CALLS_PATH = "/v1/account/calls"
CLAIM_PATH = "/v1/site/claim"
CLAIM_CHECK_PATH = "/v1/site/claim/check"
CLAIM_WITHDRAW_PATH = "/v1/site/claim/withdraw"
CLAIMS_PATH = "/v1/site/claims"


class DashboardRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the dashboard; ``host`` is normalised."""

    host: str
    link_id: str
    portal_account_ref: str
    severity: tuple[Severity, ...] | None = None
    source: tuple[str, ...] | None = None
    kind: tuple[Kind, ...] | None = None
    query: str = ""
    page: int = 1
    page_size: int = limits.DEFAULT_PAGE_SIZE
    status: str = Finding.Status.OPEN
    group_by: str = ""
    problem: str = ""
    sort: str = SORTS[0]
    since: int = 0
    hosts: tuple[str, ...] | None = None


class FindingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for a single finding; ``host`` is normalised."""

    host: str
    link_id: str
    portal_account_ref: str
    finding_id: str


class ChangesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for changes; ``host`` is normalised."""

    host: str
    link_id: str
    portal_account_ref: str
    since: Cursor | None = None
    min_severity: Severity = Severity.INFO
    until: str = ""
    days: int = 0


class CallsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the calls of the account that signs it."""

    portal_account_ref: str
    day: date | None = None
    outcome: str = ""
    before: CallPosition | None = None
    page_size: int = limits.DEFAULT_CALLS


class ClaimRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request to claim a website."""

    portal_account_ref: str
    host: str


class ClaimCheckRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request to look for the token of a claim now; without a method, in every place."""

    portal_account_ref: str
    claim_id: int
    method: str = ""


class ClaimWithdrawRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request to withdraw a claim."""

    portal_account_ref: str
    claim_id: int
    reason: str


class ClaimsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the claims of the account that signs it."""

    portal_account_ref: str
    page: int = 1
    page_size: int = limits.DEFAULT_PAGE_SIZE


class BrokenRule(ValueError):
    """A value that breaks the rule of its field; the message continues "<field> ..."."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a request: the function that reads its value, and its schema in OpenAPI."""

    read: Callable[[Any], Any]
    schema: dict[str, Any]
    required: bool = False


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BrokenRule("must be a string")
    if "\0" in value:
        raise BrokenRule("must not contain the NUL character")
    return value


def _host(value: object) -> str:
    try:
        return normalise_host(_text(value))
    except InvalidHost as error:
        raise BrokenRule(str(error)) from error


def _severity(value: object) -> Severity:
    return Severity[_one_of(Severity.labels)(value).upper()]


def _severities(value: object) -> tuple[Severity, ...]:
    return tuple(sorted({_severity(each) for each in _several(value)}, reverse=True))


def _kinds(value: object) -> tuple[Kind, ...]:
    chosen = {_one_of(Kind.values)(each) for each in _several(value)}
    return tuple(kind for kind in Kind if kind in chosen)


def _sources(value: object) -> tuple[str, ...]:
    return tuple(sorted(set(_several(value))))


def _hosts(value: object) -> tuple[str, ...]:
    try:
        return tuple(sorted({normalise_dns_name(each) for each in _several(value)}))
    except InvalidHost as error:
        raise BrokenRule(str(error)) from error


def _several(value: object) -> list[str]:
    """Return the values of a list with commas."""
    values = [each.strip() for each in _text(value).split(",")]
    if len(values) > limits.MAX_FILTER_VALUES:
        raise BrokenRule(f"must have at most {limits.MAX_FILTER_VALUES} values")
    return values


def _problem(value: object) -> str:
    problem = _text(value)
    if not _PROBLEM_ID.fullmatch(problem):
        raise BrokenRule("must be the id of a problem, exactly as answered")
    return problem


def _one_of(allowed: list[str] | tuple[str, ...]) -> Callable[[object], str]:
    """Return a reader that ignores case and returns the allowed spelling."""
    spellings = {value.lower(): value for value in allowed}

    def read(value: object) -> str:
        spelling = spellings.get(_text(value).lower())
        if spelling is None:
            raise BrokenRule(f"must be one of {', '.join(allowed)}")
        return spelling

    return read


def _query(value: object) -> str:
    query = _text(value).strip()
    if len(query) > limits.MAX_QUERY_LENGTH:
        raise BrokenRule(f"must have at most {limits.MAX_QUERY_LENGTH} characters")
    return query


def _cursor(value: object) -> Cursor:
    try:
        return read_cursor(_text(value))
    except ValueError as error:
        raise BrokenRule("must be the cursor of an earlier answer, exactly as answered") from error


def _call_position(value: object) -> CallPosition:
    try:
        return read_call_position(_text(value))
    except ValueError as error:
        raise BrokenRule("must be before of an earlier answer, exactly as answered") from error


def _day(value: object) -> date:
    text = _text(value)
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:  # no day of the calendar
        pass
    raise BrokenRule("must be a day, such as 2026-11-23")


def _claim_id(value: object) -> int:
    text = _text(value)
    if not _CLAIM.fullmatch(text):
        raise BrokenRule("must be claim_id of a claim, exactly as answered")
    return int(text)


def _reason(value: object) -> str:
    text = _text(value).strip()
    if not text or len(text) > limits.MAX_REASON_LENGTH:
        raise BrokenRule(f"must have 1 to {limits.MAX_REASON_LENGTH} characters")
    return text


def _whole_number(*, at_most: int | None = None) -> Callable[[object], int]:
    """Return a reader of integers from 1; it refuses ``true``, ``1.0`` and ``"1"``."""
    bounds = f"an integer from 1 to {at_most:,}" if at_most else "an integer from 1"

    def read(value: object) -> int:
        if type(value) is not int or value < 1 or (at_most and value > at_most):
            raise BrokenRule(f"must be {bounds}")
        return value

    return read


def _lists(allowed: list[str]) -> dict[str, Any]:
    """Return the schema of values with commas between them."""
    value = "|".join(allowed)
    return {"type": ["string", "null"], "pattern": f"^$|^({value})(,({value}))*$"}


def _strings(allowed: list[str] | tuple[str, ...]) -> dict[str, Any]:
    return {"type": ["string", "null"], "enum": [*allowed, "", None]}


_SOME_TEXT = {"type": "string", "minLength": 1}
_WHOSE: dict[str, Field] = {
    "host": Field(
        read=_host,
        required=True,
        schema=_SOME_TEXT
        | {"description": "The website's domain name; case and one trailing dot do not matter."},
    ),
    "link_id": Field(
        read=_text,
        required=True,
        schema=_SOME_TEXT
        | {"description": "The UUID that linking the website returned, exactly as returned."},
    ),
    "portal_account_ref": Field(
        read=_text,
        required=True,
        schema=_SOME_TEXT
        | {
            "maxLength": limits.MAX_ACCOUNT_REF_LENGTH,
            "description": "The account whose secret signs the call.",
        },
    ),
}

DASHBOARD_FIELDS: dict[str, Field] = _WHOSE | {
    "severity": Field(
        read=_severities,
        schema=_lists(Severity.labels)
        | {
            "description": f"{', '.join(Severity.labels)}, or several with commas (Critical,High); case does "
            "not matter."
        },
    ),
    "source": Field(
        read=_sources,
        schema={
            "type": ["string", "null"],
            "description": "A scanner by its slug, or several with commas (nuclei,zap).",
        },
    ),
    "kind": Field(
        read=_kinds,
        schema=_lists(Kind.values)
        | {
            "description": f"A certainty: {', '.join(Kind.values)}, or several with commas; case does not "
            "matter."
        },
    ),
    "query": Field(
        read=_query,
        schema={
            "type": ["string", "null"],
            "maxLength": limits.MAX_QUERY_LENGTH,
            "description": "Words that must all occur in title, description, location, rule or CVE; "
            "the last one also as the beginning of a word. Case and accents do not matter.",
        },
    ),
    "page": Field(
        read=_whole_number(),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "default": 1,
            "description": f"page times page_size is at most {limits.MAX_PAGE_DEPTH:,}.",
        },
    ),
    "page_size": Field(
        read=_whole_number(at_most=limits.MAX_PAGE_SIZE),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_PAGE_SIZE,
            "default": limits.DEFAULT_PAGE_SIZE,
        },
    ),
    "status": Field(
        read=_one_of(STATUSES),
        schema=_strings(STATUSES)
        | {"default": Finding.Status.OPEN.value, "description": "An addition to the specification."},
    ),
    "group_by": Field(
        read=_one_of([PROBLEM]),
        schema=_strings([PROBLEM])
        | {
            "description": "problem: pages list the problems in dashboard.problems, and threats is empty. "
            "Not together with problem."
        },
    ),
    "problem": Field(
        read=_problem,
        schema={
            "type": ["string", "null"],
            "maxLength": limits.MAX_PROBLEM_ID_LENGTH,
            "pattern": f"^$|^{_PROBLEM_ID.pattern}$",
            "description": "Only the findings of this problem, by the id that dashboard.problems or "
            "dashboard.do_first answered.",
        },
    ),
    "sort": Field(
        read=_one_of(SORTS),
        schema=_strings(SORTS)
        | {
            "default": SORTS[0],
            "description": "The order of the list: the worst, or what was stored last or first. locations "
            "only with group_by: the problems with most locations. Of problems, newest and oldest order the "
            f"worst {limits.MAX_SORTED_TOTALS:,} (each severity of a problem counts).",
        },
    ),
    "since": Field(
        read=_whole_number(at_most=limits.MAX_SINCE_DAYS),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_SINCE_DAYS,
            "description": "Only findings first seen in the last so many days of UTC, today included; "
            "counted as a search is.",
        },
    ),
    "hosts": Field(
        read=_hosts,
        schema={
            "type": ["string", "null"],
            "description": "Only findings whose location, the first of several, is on this host of the "
            "website, or on one of several with commas. Together with problem or group_by, counted as a "
            "search is.",
        },
    ),
}

FINDING_FIELDS: dict[str, Field] = _WHOSE | {
    "finding_id": Field(
        read=_text,
        required=True,
        schema=_SOME_TEXT | {"description": "The id of a finding, exactly as in a response."},
    ),
}

CHANGES_FIELDS: dict[str, Field] = _WHOSE | {
    "since": Field(
        read=_cursor,
        schema={
            "type": ["string", "null"],
            "maxLength": limits.MAX_CURSOR_LENGTH,
            "pattern": f"^$|{PATTERN}",
            "description": "The cursor of the last response; without it, only a new cursor is returned.",
        },
    ),
    "min_severity": Field(
        read=_severity,
        schema=_strings(Severity.labels)
        | {"default": Severity.INFO.label, "description": "Only findings of this severity and worse."},
    ),
    "until": Field(
        read=_one_of([NEXT_IMPORT]),
        schema=_strings([NEXT_IMPORT])
        | {"description": "Only the changes by the first import since the cursor; more: others follow."},
    ),
    "days": Field(
        read=_whole_number(at_most=limits.MAX_CHANGES_DAYS),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_CHANGES_DAYS,
            "description": "Instead of since: changes of this many days in UTC, today included.",
        },
    ),
}


CALLS_FIELDS: dict[str, Field] = {
    "portal_account_ref": _WHOSE["portal_account_ref"],
    "day": Field(
        read=_day,
        schema={
            "type": ["string", "null"],
            "pattern": f"^$|^{_DAY.pattern}$",
            "description": "Only the calls of this day, in UTC.",
        },
    ),
    "outcome": Field(
        read=_one_of(OUTCOMES),
        schema=_strings(OUTCOMES)
        | {"description": "answered: only calls with status 200; refused: only those with another."},
    ),
    "before": Field(
        read=_call_position,
        schema={
            "type": ["string", "null"],
            "pattern": f"^$|{CALL_PATTERN}",
            "description": "before of the last response: the calls that are older.",
        },
    ),
    "page_size": Field(
        read=_whole_number(at_most=limits.MAX_CALLS),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_CALLS,
            "default": limits.DEFAULT_CALLS,
        },
    ),
}


_CLAIM_ID = Field(
    read=_claim_id,
    required=True,
    schema={"type": "string", "pattern": r"^[1-9][0-9]{0,17}$", "description": "claim_id of a claim."},
)
CLAIM_FIELDS: dict[str, Field] = {
    "portal_account_ref": _WHOSE["portal_account_ref"],
    "host": _WHOSE["host"],
}
CLAIM_CHECK_FIELDS: dict[str, Field] = {
    "portal_account_ref": _WHOSE["portal_account_ref"],
    "claim_id": _CLAIM_ID,
    "method": Field(
        read=_one_of(PROOFS),
        schema=_strings(PROOFS) | {"description": "Look in one place only; the default is everywhere."},
    ),
}
CLAIM_WITHDRAW_FIELDS: dict[str, Field] = {
    "portal_account_ref": _WHOSE["portal_account_ref"],
    "claim_id": _CLAIM_ID,
    "reason": Field(
        read=_reason,
        required=True,
        schema={
            "type": "string",
            "minLength": 1,
            "maxLength": limits.MAX_REASON_LENGTH,
            "description": "Why.",
        },
    ),
}
CLAIMS_FIELDS: dict[str, Field] = {
    "portal_account_ref": _WHOSE["portal_account_ref"],
    "page": DASHBOARD_FIELDS["page"],
    "page_size": DASHBOARD_FIELDS["page_size"],
}


# Fields of a dashboard that exclude each other.
_EXCLUSIVE = (("group_by", "problem"),)


def read_dashboard_request(fields: Mapping[str, Any]) -> DashboardRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    values, errors = _checked(fields, DASHBOARD_FIELDS)
    depth = values.get("page", 1) * values.get("page_size", limits.DEFAULT_PAGE_SIZE)
    if depth > limits.MAX_PAGE_DEPTH:
        message = f"times page_size must be at most {limits.MAX_PAGE_DEPTH:,}: narrow the filters instead"
        errors.append({"field": "page", "message": message})
    errors += [
        {"field": field, "message": f"must not be given with {other}"}
        for field, other in _EXCLUSIVE
        if values.get(field) and values.get(other)
    ]
    if values.get("sort") == LOCATIONS and not values.get("group_by"):
        errors.append({"field": "sort", "message": f"must not be {LOCATIONS} without group_by"})
    if errors:
        raise InvalidRequest(errors)
    return DashboardRequest(**values)


def read_finding_request(fields: Mapping[str, Any]) -> FindingRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    return FindingRequest(**_valid(fields, FINDING_FIELDS))


def read_changes_request(fields: Mapping[str, Any]) -> ChangesRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    values, errors = _checked(fields, CHANGES_FIELDS)
    if "days" in values and values.keys() & {"since", "until"}:
        errors.append({"field": "days", "message": "must not be given with since or until"})
    if errors:
        raise InvalidRequest(errors)
    return ChangesRequest(**values)


def read_calls_request(fields: Mapping[str, Any]) -> CallsRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    return CallsRequest(**_valid(fields, CALLS_FIELDS))


def read_claim_request(fields: Mapping[str, Any]) -> ClaimRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    return ClaimRequest(**_valid(fields, CLAIM_FIELDS))


def read_claim_check_request(fields: Mapping[str, Any]) -> ClaimCheckRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    return ClaimCheckRequest(**_valid(fields, CLAIM_CHECK_FIELDS))


def read_claim_withdraw_request(fields: Mapping[str, Any]) -> ClaimWithdrawRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    return ClaimWithdrawRequest(**_valid(fields, CLAIM_WITHDRAW_FIELDS))


def read_claims_request(fields: Mapping[str, Any]) -> ClaimsRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    return ClaimsRequest(**_valid(fields, CLAIMS_FIELDS))


def _valid(fields: Mapping[str, Any], rules: Mapping[str, Field]) -> dict[str, Any]:
    """Return the values of the fields; raises InvalidRequest."""
    values, errors = _checked(fields, rules)
    if errors:
        raise InvalidRequest(errors)
    return values


def _checked(
    fields: Mapping[str, Any], rules: Mapping[str, Field]
) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return the values of the fields, and an error for each broken rule.

    An empty string or ``null`` in an optional field means that it was not supplied.
    """
    values: dict[str, Any] = {}
    errors: list[dict[str, str]] = []
    for name, field in rules.items():
        given = fields.get(name)
        if given is None or given == "":
            if field.required:
                errors.append({"field": name, "message": "is required"})
            continue
        try:
            values[name] = field.read(given)
        except BrokenRule as error:
            errors.append({"field": name, "message": str(error)})
    errors += [
        {"field": name[:64], "message": f"is not a field; the fields are {', '.join(rules)}"}
        for name in fields
        if name not in rules
    ]
    return values, errors
