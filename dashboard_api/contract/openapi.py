"""The OpenAPI 3.1 document, generated from the request fields, response structs and error classes."""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import msgspec.structs
from msgspec import Meta

import es1
from dashboard_api import errors, limits
from dashboard_api.contract import (
    examples,
    openapi_callbacks,
    openapi_health,
    openapi_public,
    openapi_reports,
    responses,
)
from dashboard_api.contract.fields import (
    ACCOUNT_FIELDS,
    CALLS_FIELDS,
    CHANGES_FIELDS,
    CLAIM_CHECK_FIELDS,
    CLAIM_FIELDS,
    CLAIM_WITHDRAW_FIELDS,
    CLAIMS_FIELDS,
    DASHBOARD_FIELDS,
    FINDING_FIELDS,
    PUBLICITY_FIELDS,
    SCAN_CANCEL_FIELDS,
    SCAN_FIELDS,
    SCAN_SCHEDULE_FIELDS,
    SCAN_STATUS_FIELDS,
    SCANS_FIELDS,
    SECRETS_FIELDS,
    WEBSITES_FIELDS,
)
from dashboard_api.contract.meanings import MEANINGS
from dashboard_api.contract.paths import (
    ACCOUNT_CHANGES_PATH,
    CALLS_PATH,
    CHANGES_PATH,
    CLAIM_CHECK_PATH,
    CLAIM_PATH,
    CLAIM_WITHDRAW_PATH,
    CLAIMS_PATH,
    DASHBOARD_PATH,
    ENTITLEMENT_PATH,
    FINDING_PATH,
    PUBLICITY_PATH,
    SCAN_CANCEL_PATH,
    SCAN_PATH,
    SCAN_SCHEDULE_PATH,
    SCAN_STATUS_PATH,
    SCANS_PATH,
    SECRETS_PATH,
    WEBSITES_PATH,
)
from dashboard_api.contract.values import Field

VERSION = "1.26.0"
REF_TEMPLATE = "#/components/schemas/{name}"
TEST_HEADER = "X-Service-Test"
GROUP = "Customer threat intelligence"  # the specification's names, section 1
AUDIT_GROUP = "Audit and security"
BILLING_GROUP = "Billing and entitlement"
OWNERSHIP_GROUP = "Ownership and onboarding"
SCANS_GROUP = "Crawler operations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A signed route: its path, request, response, and the errors that only it has, or that it never has."""

    path: str
    name: str
    summary: str
    description: str
    question: str
    fields: Mapping[str, Field]
    answer: type[msgspec.Struct]
    own_refusals: tuple[type[errors.ApiError], ...] = ()
    absent_refusals: tuple[type[errors.ApiError], ...] = ()
    group: str = GROUP


_NO_LINK = (errors.UnknownLink, errors.RevokedLink)
_OF_SCHEDULES = (errors.ScansNotIncluded, errors.OptedOut, errors.ConsentMissing, errors.NotScannable)
_OF_SCANS = (*_OF_SCHEDULES, errors.ScanCooldown, errors.CrawlerStopped)
_OF_CLAIMS = (errors.UnknownClaim, errors.WrongClaimState)
ROUTES = (
    Route(
        path=DASHBOARD_PATH,
        name="siteDashboard",
        summary="The threat dashboard of one linked website",
        description="Filters narrow the findings; an empty string or null means no filter. "
        f"The body is compact JSON of at most {limits.MAX_BODY_BYTES} bytes.",
        question="DashboardRequest",
        fields=DASHBOARD_FIELDS,
        answer=responses.DashboardResponse,
    ),
    Route(
        path=FINDING_PATH,
        name="siteFinding",
        summary="Everything about one finding of a linked website",
        description="An addition to the specification. The finding may have any status.",
        question="FindingRequest",
        fields=FINDING_FIELDS,
        answer=responses.FindingResponse,
        own_refusals=(errors.UnknownFinding,),
    ),
    Route(
        path=CHANGES_PATH,
        name="siteChanges",
        summary="New findings, regressions and notes of a linked website",
        description="An addition to the specification: open findings that are new or came back, and notes "
        "published since. A request with the cursor of the last response gets every change exactly once.",
        question="ChangesRequest",
        fields=CHANGES_FIELDS,
        answer=responses.ChangesResponse,
    ),
    Route(
        path=CALLS_PATH,
        name="accountCalls",
        summary="The signed calls of the account",
        description="An addition to the specification: the calls of the last "
        f"{limits.CALL_RECORD_LIFETIME.days} days whose signature was right, the newest first. An account "
        "without a plan may read them, too. Your own calls of this route, with the same secret from the same "
        "address, are left out.",
        question="CallsRequest",
        fields=CALLS_FIELDS,
        answer=responses.CallsResponse,
        absent_refusals=(errors.UnknownLink, errors.InactiveEntitlement, errors.RevokedLink),
        group=AUDIT_GROUP,
    ),
    Route(
        path=ENTITLEMENT_PATH,
        name="accountEntitlement",
        summary="The plan of the account",
        description="An addition to the specification: limits, usage, notices and history, in every state of "
        "the plan. It does not count against the calls of a day.",
        question="EntitlementRequest",
        fields=ACCOUNT_FIELDS,
        answer=responses.EntitlementResponse,
        absent_refusals=(*_NO_LINK, errors.InactiveEntitlement),
        group=BILLING_GROUP,
    ),
    Route(
        path=ACCOUNT_CHANGES_PATH,
        name="accountChanges",
        summary="The websites of the account, each with a version that changes with its data",
        description="An addition to the specification, for programs that look for news of many websites: "
        "request /v1/site/changes only for those whose version differs from the last. It does not count "
        "against the calls of a day.",
        question="AccountChangesRequest",
        fields=ACCOUNT_FIELDS,
        answer=responses.AccountChangesResponse,
        absent_refusals=_NO_LINK,
    ),
    Route(
        path=WEBSITES_PATH,
        name="accountWebsites",
        summary="The websites of the account that stay in its plan",
        description="An addition to the specification, for accounts with more websites than a smaller plan "
        "includes: with stay, chooses those that stay; the others are paused after 14 days, and nothing of "
        "them is deleted. The choice can be changed at any time.",
        question="WebsitesRequest",
        fields=WEBSITES_FIELDS,
        answer=responses.WebsitesResponse,
        absent_refusals=(errors.InactiveEntitlement, errors.RevokedLink),
        group=BILLING_GROUP,
    ),
    Route(
        path=CLAIM_PATH,
        name="siteClaim",
        summary="Claim a website",
        description="An addition to the specification: gives a token and its places. The same host "
        "again is the same claim. It waits 30 days for its proof, and is checked by itself until then.",
        question="ClaimRequest",
        fields=CLAIM_FIELDS,
        answer=responses.ClaimResponse,
        own_refusals=(errors.ClaimRefused,),
        absent_refusals=_NO_LINK,
        group=OWNERSHIP_GROUP,
    ),
    Route(
        path=CLAIM_CHECK_PATH,
        name="siteClaimCheck",
        summary="Check a claim now",
        description="An addition to the specification: looks for the token, for up to 12 "
        "seconds. A proof verifies the website and links it: link_id is for the calls about the website. If "
        "another account has the website, its token is looked for, too: without it, this account takes over.",
        question="ClaimCheckRequest",
        fields=CLAIM_CHECK_FIELDS,
        answer=responses.ClaimResponse,
        own_refusals=(*_OF_CLAIMS, errors.CheckTooSoon),
        absent_refusals=_NO_LINK,
        group=OWNERSHIP_GROUP,
    ),
    Route(
        path=CLAIM_WITHDRAW_PATH,
        name="siteClaimWithdraw",
        summary="Withdraw a claim",
        description="An addition to the specification: ends the claim and revokes its link. A repetition "
        "changes nothing.",
        question="ClaimWithdrawRequest",
        fields=CLAIM_WITHDRAW_FIELDS,
        answer=responses.ClaimResponse,
        own_refusals=_OF_CLAIMS,
        absent_refusals=(*_NO_LINK, errors.InactiveEntitlement),
        group=OWNERSHIP_GROUP,
    ),
    Route(
        path=CLAIMS_PATH,
        name="siteClaims",
        summary="The claims of the account",
        description="An addition to the specification: open claims by host, and for 30 days ended ones that "
        "were not withdrawn and are the last to their host; with claim_id, that claim.",
        question="ClaimsRequest",
        fields=CLAIMS_FIELDS,
        answer=responses.ClaimsResponse,
        absent_refusals=(*_NO_LINK, errors.InactiveEntitlement),
        group=OWNERSHIP_GROUP,
    ),
    Route(
        path=SECRETS_PATH,
        name="accountSecrets",
        summary="The secrets of the account",
        description="An addition to the specification, for the portal alone: the secrets that work, after "
        "the change that the request names. Calls that a customer signs are refused, so that a lost secret "
        "cannot issue another one.",
        question="SecretsRequest",
        fields=SECRETS_FIELDS,
        answer=responses.SecretsResponse,
        own_refusals=(errors.SecretRefused,),
        absent_refusals=(*_NO_LINK, errors.InactiveEntitlement),
        group=AUDIT_GROUP,
    ),
    Route(
        path=PUBLICITY_PATH,
        name="accountPublicity",
        summary="What may be published about the account's websites",
        description="An addition to the specification: answers what statistics and the live feed may use, "
        "after the change that the request names. It is in force within an hour. An account without a plan "
        "may change it, too.",
        question="PublicityRequest",
        fields=PUBLICITY_FIELDS,
        answer=responses.PublicityResponse,
        absent_refusals=(errors.InactiveEntitlement, errors.RevokedLink),
        group=AUDIT_GROUP,
    ),
    Route(
        path=SCAN_PATH,
        name="siteScan",
        summary="Scan a linked website",
        description="An addition to the specification: queues a scan. While one waits or runs, that one is "
        "returned, so the call can be repeated. With finding_id it is a retest of that finding.",
        question="ScanRequest",
        fields=SCAN_FIELDS,
        answer=responses.ScanResponse,
        own_refusals=(errors.UnknownFinding, errors.UnknownScan, *_OF_SCANS),
        group=SCANS_GROUP,
    ),
    Route(
        path=SCAN_STATUS_PATH,
        name="siteScanStatus",
        summary="One scan of a linked website",
        description="An addition to the specification: which scanner runs since when, and what it usually "
        "takes; at the end, the outcome. Ask every 3 seconds at most.",
        question="ScanStatusRequest",
        fields=SCAN_STATUS_FIELDS,
        answer=responses.ScanStatusResponse,
        own_refusals=(errors.UnknownScan,),
        group=SCANS_GROUP,
    ),
    Route(
        path=SCANS_PATH,
        name="siteScans",
        summary="The scans of a linked website",
        description="An addition to the specification: the newest first.",
        question="ScansRequest",
        fields=SCANS_FIELDS,
        answer=responses.ScansResponse,
        group=SCANS_GROUP,
    ),
    Route(
        path=SCAN_CANCEL_PATH,
        name="siteScanCancel",
        summary="Cancel a scan",
        description="An addition to the specification: a queued scan ends at once, a running one within 10 "
        "seconds; reports of scanners that had ended are kept. A repetition changes nothing.",
        question="ScanCancelRequest",
        fields=SCAN_CANCEL_FIELDS,
        answer=responses.ScanStatusResponse,
        own_refusals=(errors.UnknownScan,),
        group=SCANS_GROUP,
    ),
    Route(
        path=SCAN_SCHEDULE_PATH,
        name="siteScanSchedule",
        summary="Scans by schedule, and what may be scanned by hand",
        description="An addition to the specification: returns the schedule of the account for the website; "
        "with frequency, sets it first.",
        question="ScanScheduleRequest",
        fields=SCAN_SCHEDULE_FIELDS,
        answer=responses.ScanScheduleResponse,
        own_refusals=_OF_SCHEDULES,
        group=SCANS_GROUP,
    ),
)


def document(server_url: str) -> dict[str, Any]:
    """Return the whole document, for the service at ``server_url``."""
    return {**_contract(), "servers": [{"url": server_url}]}


@functools.cache
def _contract() -> dict[str, Any]:
    (error, outcome, health, *answers), schemas = msgspec.json.schema_components(
        (
            responses.ErrorResponse,
            responses.ReportResponse,
            responses.HealthResponse,
            *(route.answer for route in ROUTES),
        ),
        ref_template=REF_TEMPLATE,
    )
    schemas = {name: _explicit(schema) for name, schema in schemas.items()}
    schemas["ErrorDetail"]["properties"] |= _error_members()
    schemas |= {route.question: _question_schema(route) for route in ROUTES}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Threat Dashboard API",
            "version": VERSION,
            "description": "The signed dashboard of one verified website, for its owner's backend.",
        },
        "tags": [
            {"name": GROUP, "description": "Signed calls about one linked website."},
            {"name": AUDIT_GROUP, "description": "Signed calls about the account itself."},
            {
                "name": OWNERSHIP_GROUP,
                "description": "Signed calls that prove a website to be the account's own.",
            },
            {"name": BILLING_GROUP, "description": "Signed calls about the plan of the account."},
            {"name": SCANS_GROUP, "description": "Signed calls that scan one linked website."},
            {"name": openapi_reports.GROUP, "description": "Reports that programs send with a token."},
            {"name": openapi_callbacks.GROUP, "description": "Events that payment providers sign."},
            {"name": openapi_public.GROUP, "description": "What is known of all websites together."},
            {"name": openapi_health.GROUP, "description": "Whether the service answers calls."},
        ],
        "paths": {
            route.path: {"post": _operation(route, answer, error)}
            for route, answer in zip(ROUTES, answers, strict=True)
        }
        | openapi_reports.paths(outcome, _response, functools.partial(_by_status, schema=error))
        | openapi_callbacks.paths(_response, _by_status(openapi_callbacks.REFUSALS, schema=error))
        | openapi_public.paths(
            _response,
            _by_status([errors.NotPublished, errors.MethodNotAllowed, errors.UnexpectedQuery], schema=error),
        )
        | openapi_health.paths(health, _response, _by_status([errors.MethodNotAllowed], schema=error)),
        "components": {"schemas": schemas, "securitySchemes": _security_schemes()},
    }


def refusals() -> Iterator[type[errors.ApiError]]:
    """Return all error classes with a code, in the order of the tree in ``errors``."""
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.ApiError) and hasattr(error, "code"):
            yield error


def _explicit(schema: Any) -> Any:
    """Return the schema of a response in a form that generated clients of today and of later versions read.

    Words are not closed, so that a client takes one that is added later; their values are in the description.
    """
    if isinstance(schema, list):
        return [_explicit(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _explicit(value) for name, value in schema.items()}
    if isinstance(made.get("description"), str):
        made["description"] = " ".join(made["description"].split())
    made.pop("default", None)
    if isinstance(words := made.pop("enum", None), list):
        is_constant = words in ([True], [False])
        values = f"Always {json.dumps(words[0])}." if is_constant else _one_of(words)
        made["type"] = "boolean" if is_constant else "string"
        made["description"] = " ".join(filter(None, [values, made.get("description")]))
    return made


def _one_of(words: Sequence[str]) -> str:
    """Return the words as a sentence."""
    return f"{', '.join(words[:-1])} or {words[-1]}."


def _error_members() -> dict[str, Any]:
    """Return the schema of errors: their codes, and the details of each code."""
    details = {name: kind for error in refusals() for name, kind in error.detail_types.items()}
    members: dict[str, Any] = {name: {"type": kind} for name, kind in details.items()}
    members["reasons"]["items"] = {"type": "string"}
    members["errors"]["items"] = {
        "type": "object",
        "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
        "required": ["field", "message"],
    }
    codes = ", ".join(dict.fromkeys(error.code for error in refusals()))
    address = {"type": "string", "description": "The address of the page that explains the code."}
    return {"code": {"type": "string", "description": f"{codes}."}, "doc_url": address, **members}


def _question_schema(route: Route) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: field.schema for name, field in route.fields.items()},
        "required": [name for name, field in route.fields.items() if field.required],
        "additionalProperties": False,
    }


def _operation(route: Route, answer: dict[str, Any], error: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": route.name,
        "tags": [route.group],
        "summary": route.summary,
        "description": route.description,
        "security": [{"timestamp": [], "nonce": [], "signature": []}],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": REF_TEMPLATE.format(name=route.question)},
                    "example": examples.REQUESTS[route.question],
                }
            },
        },
        "responses": {
            "200": _response(route.summary, answer, example=examples.RESPONSES[route.answer.__name__])
        }
        | _by_status(_refusals_of(route), schema=error),
    }


def _response(description: str, schema: dict[str, Any], **examples: Any) -> dict[str, Any]:
    return {
        "description": description,
        "headers": {
            "X-Request-Id": {"description": "The id of this call in our log.", "schema": {"type": "string"}},
            TEST_HEADER: {
                "description": "true on a response to a test secret, which is the example of this document.",
                "schema": {"type": "string"},
            },
        },
        "content": {"application/json": {"schema": schema, **examples}},
    }


def _refusals_of(route: Route) -> Iterator[type[errors.ApiError]]:
    """Yield the errors of the route: all except those that only other routes have."""
    others = {error for other in ROUTES for error in other.own_refusals} - set(route.own_refusals)
    others.update(openapi_reports.OWN_REFUSALS, openapi_public.OWN_REFUSALS, route.absent_refusals)
    others.update(openapi_callbacks.OWN_REFUSALS)
    return (error for error in refusals() if error not in others)


def _by_status(refused: Iterable[type[errors.ApiError]], *, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a response for each status, with all its codes."""
    messages: dict[int, dict[str, str]] = defaultdict(dict)
    for error in refused:
        messages[error.status].setdefault(error.code, error.message)
    return {
        str(status): _response(", ".join(by_code), schema, examples=_refusal_examples(by_code))
        for status, by_code in sorted(messages.items())
    }


def _refusal_examples(messages: Mapping[str, str]) -> dict[str, Any]:
    return {
        code: {"value": {"ok": False, "error": {"code": code, "message": message, "request_id": "req-0001"}}}
        for code, message in messages.items()
    }


def _security_schemes() -> dict[str, Any]:
    meanings = {
        "timestamp": (es1.TIMESTAMP_HEADER, "The current time in whole Unix seconds."),
        "nonce": (es1.NONCE_HEADER, "A new random value for every attempt: 8 to 128 URL-safe characters."),
        "signature": (
            es1.SIGNATURE_HEADER,
            (
                "Lower-case hexadecimal HMAC-SHA256, keyed by the site API secret, of six lines joined by "
                "newlines: ES1, the timestamp, the nonce, POST, the path, and the SHA-256 of the body."
            ),
        ),
    }
    return openapi_reports.SECURITY_SCHEME | {
        name: {"type": "apiKey", "in": "header", "name": header, "description": description}
        for name, (header, description) in meanings.items()
    }


def routes_for_people() -> list[dict[str, Any]]:
    """Return a section of the documentation page for each route."""
    return [
        {
            "name": route.name,
            "path": route.path,
            "summary": route.summary,
            "description": route.description,
            "fields": _fields_for_people(route),
            "members": _members_for_people(route),
        }
        for route in ROUTES
    ]


def reports_for_people() -> dict[str, Any]:
    """Return the section of the documentation page about reports."""
    return {
        "parameters": [
            {"name": name, "meaning": meaning, "type": _type_for_people(schema), "required": name == "host"}
            for name, (schema, meaning) in openapi_reports.PARAMETERS.items()
        ],
        "members": [_member_for_people(each) for each in msgspec.structs.fields(responses.ReportResponse)],
    }


def health_for_people() -> list[dict[str, Any]]:
    """Return the members of the response about health as rows of a table."""
    return [_member_for_people(each) for each in msgspec.structs.fields(responses.HealthResponse)]


def _fields_for_people(route: Route) -> list[dict[str, Any]]:
    """Return the fields of the request as rows of a table."""
    return [
        {
            "name": name,
            "required": "required" if field.required else "optional",
            "type": _type_for_people(field.schema),
            "meaning": text_parts(field.schema.get("description") or MEANINGS.get(name, "")),
        }
        for name, field in route.fields.items()
    ]


def _members_for_people(route: Route) -> list[dict[str, Any]]:
    """Return the members of the response as rows of a table: name, meaning, inner fields."""
    return [_member_for_people(member) for member in msgspec.structs.fields(route.answer)]


def _member_for_people(member: msgspec.structs.FieldInfo) -> dict[str, Any]:
    """Return a member with its meaning, and if it is an object or a list of them, with its fields."""
    type_, description = _described(member.type)
    is_list = get_origin(type_) is list
    (inner,) = get_args(type_) if is_list else (type_,)
    is_struct = isinstance(inner, type) and issubclass(inner, msgspec.Struct)
    own = " ".join(filter(None, [(inner.__doc__ or "") if is_struct else "", description]))
    meaning = own or MEANINGS.get(member.encode_name, "")
    words = [] if is_struct else list(_words(member.type))
    if not all(word in meaning for word in words):
        meaning = f"{_one_of(words)} {meaning}"
    return {
        "name": member.encode_name,
        "is_list": is_list and is_struct,
        "meaning": text_parts(meaning),
        "fields": [_member_for_people(field) for field in msgspec.structs.fields(inner)] if is_struct else [],
    }


def _words(type_: Any) -> Iterator[str]:
    """Yield the words of a member's type, also of a list of them or next to null."""
    if get_origin(type_) is Literal:
        yield from (word for word in get_args(type_) if isinstance(word, str))
    else:
        for inner in get_args(type_):
            yield from _words(inner)


def _described(type_: Any) -> tuple[Any, str]:
    """Return a member's type without null, and its own description; the format of times is none."""
    metas: list[Meta] = []
    if get_origin(type_) is Annotated and type_ is not responses.Moment:
        type_, *metas = get_args(type_)
    if isinstance(type_, UnionType):
        (type_,) = (each for each in get_args(type_) if each is not NoneType)
    return type_, next((meta.description for meta in metas if meta.description), "")


def text_parts(text: str) -> list[tuple[bool, str]]:
    """Return the parts of a text with ``code`` in backticks, each with whether it is code."""
    parts = re.split(r"`+([^`]+)`+", text)
    return [(number % 2 == 1, part) for number, part in enumerate(parts) if part]


def _type_for_people(schema: dict[str, Any]) -> str:
    allowed = [value for value in schema.get("enum", ()) if value]
    if allowed:
        return ", ".join(allowed)
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    bounds = [str(schema[bound]) for bound in ("minimum", "maximum") if bound in schema]
    return f"{kind} {' to '.join(bounds)}".strip()
