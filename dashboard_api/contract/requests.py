"""Signed requests. All broken rules are reported together."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, TypeVar

import msgspec

from dashboard_api import limits
from dashboard_api.contract.cursor import CallPosition, Cursor
from dashboard_api.contract.fields import (
    ACCOUNT_FIELDS,
    AS_ACCOUNT,
    CALLS_FIELDS,
    CHANGES_FIELDS,
    CLAIM_CHECK_FIELDS,
    CLAIM_FIELDS,
    CLAIM_WITHDRAW_FIELDS,
    CLAIMS_FIELDS,
    DASHBOARD_FIELDS,
    FINDING_FIELDS,
    LOCATIONS,
    PROFILES,
    PUBLICITY_FIELDS,
    SCAN_CANCEL_FIELDS,
    SCAN_FIELDS,
    SCAN_SCHEDULE_FIELDS,
    SCAN_STATUS_FIELDS,
    SCANS_FIELDS,
    SECRETS_FIELDS,
    SORTS,
    WEBSITES_FIELDS,
    WHOSE,
)
from dashboard_api.contract.values import BrokenRule, Field
from dashboard_api.errors import InvalidRequest
from dashboard_api.models import Finding, Kind, Severity


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
    older_than: int = 0
    fixed_since: int = 0
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


class EntitlementRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the entitlement of the account that signs it."""

    portal_account_ref: str


class AccountChangesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the versions of the account's websites."""

    portal_account_ref: str


class ClaimRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request to claim a website."""

    portal_account_ref: str
    host: str


class WebsitesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the websites of the account; ``stay``: hosts that stay in a smaller plan."""

    portal_account_ref: str
    stay: tuple[str, ...] = ()


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
    host: str = ""
    claim_id: int | None = None
    page: int = 1
    page_size: int = limits.DEFAULT_PAGE_SIZE


class SecretsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the usable secrets of the account; ``retire`` is the id of one to retire."""

    portal_account_ref: str
    issue: bool = False
    retire: int | None = None


class PublicityRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for what may be published about websites of the account, or for a change of it.

    Without a host, ``publicity`` is that of the account. None: unchanged.
    """

    portal_account_ref: str
    host: str = ""
    publicity: str | None = None
    region: str | None = None
    page: int = 1
    page_size: int = limits.DEFAULT_PAGE_SIZE


class ScanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request to scan a website; ``host`` is normalised."""

    host: str
    link_id: str
    portal_account_ref: str
    profile: str = PROFILES[0]
    consent: bool = False
    finding_id: str = ""
    confirmed_page: int | None = None


class ScanStatusRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for one scan; ``host`` is normalised."""

    host: str
    link_id: str
    portal_account_ref: str
    job_id: int


class ScanCancelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request to cancel a scan; ``host`` is normalised."""

    host: str
    link_id: str
    portal_account_ref: str
    job_id: int
    reason: str = ""


class ScansRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the scans of a website; ``host`` is normalised."""

    host: str
    link_id: str
    portal_account_ref: str
    finding_id: int | None = None
    page: int = 1
    page_size: int = limits.DEFAULT_PAGE_SIZE


class ScanScheduleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request for the schedule of scans, or with a frequency to set it; ``host`` is normalised."""

    host: str
    link_id: str
    portal_account_ref: str
    frequency: str = ""
    profile: str = PROFILES[0]
    start_hour: int = limits.SCAN_START_HOUR
    hours: int = limits.SCAN_HOURS
    time_zone: str = "UTC"
    paused_until: date | None = None
    consent: bool = False


# Fields of a dashboard that exclude each other.
_EXCLUSIVE = (
    ("group_by", "problem"),
    ("older_than", "query"),
    ("fixed_since", "query"),
    ("fixed_since", "since"),
    ("fixed_since", "older_than"),
)


def read_dashboard_request(fields: Mapping[str, Any]) -> DashboardRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    values, errors = _checked(fields, DASHBOARD_FIELDS, advice=": narrow the filters instead")
    errors += [
        {"field": field, "message": f"must not be given with {other}"}
        for field, other in _EXCLUSIVE
        if values.get(field) and values.get(other)
    ]
    if values.get("sort") == LOCATIONS and not values.get("group_by"):
        errors.append({"field": "sort", "message": f"must not be {LOCATIONS} without group_by"})
    if values.get("fixed_since") and values.get("status") != Finding.Status.FIXED:
        errors.append({"field": "fixed_since", "message": "must not be given without status fixed"})
    if values.get("since", limits.MAX_SINCE_DAYS + 1) <= values.get("older_than", 0):
        errors.append({"field": "older_than", "message": "must be less than since"})
    if errors:
        raise InvalidRequest(errors)
    return DashboardRequest(**values)


def read_changes_request(fields: Mapping[str, Any]) -> ChangesRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    values, errors = _checked(fields, CHANGES_FIELDS)
    if "days" in values and values.keys() & {"since", "until"}:
        errors.append({"field": "days", "message": "must not be given with since or until"})
    if errors:
        raise InvalidRequest(errors)
    return ChangesRequest(**values)


def _too_deep(values: Mapping[str, Any], advice: str) -> list[dict[str, str]]:
    """Return the error of a page that is further back than lists go."""
    if values.get("page", 1) * values.get("page_size", limits.DEFAULT_PAGE_SIZE) <= limits.MAX_PAGE_DEPTH:
        return []
    message = f"times page_size must be at most {limits.MAX_PAGE_DEPTH:,}{advice}"
    return [{"field": "page", "message": message}]


def read_secrets_request(fields: Mapping[str, Any]) -> SecretsRequest:
    """Return the checked request for secrets; raises InvalidRequest."""
    return SecretsRequest(**_valid(fields, SECRETS_FIELDS))


def read_publicity_request(fields: Mapping[str, Any]) -> PublicityRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    request = PublicityRequest(**_valid(fields, PUBLICITY_FIELDS))
    if not request.host and (request.region is not None or request.publicity == AS_ACCOUNT):
        raise InvalidRequest([{"field": "host", "message": "host must name the website that is changed."}])
    return request


def read_scan_request(fields: Mapping[str, Any]) -> ScanRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    values, errors = _checked(fields, SCAN_FIELDS)
    if values.get("finding_id") and "profile" in values:
        errors.append({"field": "finding_id", "message": "must not be given with profile"})
    if errors:
        raise InvalidRequest(errors)
    return ScanRequest(**values)


def read_scan_schedule_request(fields: Mapping[str, Any]) -> ScanScheduleRequest:
    """Return the checked request; raises InvalidRequest, which names all broken fields."""
    values, errors = _checked(fields, SCAN_SCHEDULE_FIELDS)
    if "frequency" not in values:
        errors += [
            {"field": field, "message": "must not be given without frequency"}
            for field in SCAN_SCHEDULE_FIELDS
            if field in values and field not in WHOSE
        ]
    if errors:
        raise InvalidRequest(errors)
    return ScanScheduleRequest(**values)


def _valid(fields: Mapping[str, Any], rules: Mapping[str, Field]) -> dict[str, Any]:
    """Return the values of the fields; raises InvalidRequest."""
    values, errors = _checked(fields, rules)
    if errors:
        raise InvalidRequest(errors)
    return values


def _checked(
    fields: Mapping[str, Any], rules: Mapping[str, Field], *, advice: str = ""
) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return the values of the fields, and an error for each broken rule.

    An empty string or ``null`` in an optional field means that it was not supplied. ``advice`` ends the
    message about a page that is too far back.
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
    return values, errors + _too_deep(values, advice)


_Request = TypeVar("_Request", bound=msgspec.Struct)


def _reader(
    request_type: type[_Request], rules: Mapping[str, Field]
) -> Callable[[Mapping[str, Any]], _Request]:
    """Return a function that checks fields by ``rules``; it raises InvalidRequest with all broken fields."""

    def read(fields: Mapping[str, Any]) -> _Request:
        return request_type(**_valid(fields, rules))

    return read


read_finding_request = _reader(FindingRequest, FINDING_FIELDS)
read_calls_request = _reader(CallsRequest, CALLS_FIELDS)
read_entitlement_request = _reader(EntitlementRequest, ACCOUNT_FIELDS)
read_account_changes_request = _reader(AccountChangesRequest, ACCOUNT_FIELDS)
read_websites_request = _reader(WebsitesRequest, WEBSITES_FIELDS)
read_claim_request = _reader(ClaimRequest, CLAIM_FIELDS)
read_claims_request = _reader(ClaimsRequest, CLAIMS_FIELDS)
read_claim_check_request = _reader(ClaimCheckRequest, CLAIM_CHECK_FIELDS)
read_claim_withdraw_request = _reader(ClaimWithdrawRequest, CLAIM_WITHDRAW_FIELDS)
read_scans_request = _reader(ScansRequest, SCANS_FIELDS)
read_scan_status_request = _reader(ScanStatusRequest, SCAN_STATUS_FIELDS)
read_scan_cancel_request = _reader(ScanCancelRequest, SCAN_CANCEL_FIELDS)
