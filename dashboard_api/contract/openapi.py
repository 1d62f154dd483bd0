"""The OpenAPI 3.1 document, generated from the request fields, response structs and error classes."""

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin

import msgspec
import msgspec.structs
from msgspec import Meta

import es1
from dashboard_api import errors, limits
from dashboard_api.contract import examples, openapi_health, openapi_reports, responses
from dashboard_api.contract.meanings import MEANINGS
from dashboard_api.contract.requests import (
    CALLS_FIELDS,
    CALLS_PATH,
    CHANGES_FIELDS,
    CHANGES_PATH,
    CLAIM_CHECK_FIELDS,
    CLAIM_CHECK_PATH,
    CLAIM_FIELDS,
    CLAIM_PATH,
    CLAIM_WITHDRAW_FIELDS,
    CLAIM_WITHDRAW_PATH,
    CLAIMS_FIELDS,
    CLAIMS_PATH,
    DASHBOARD_FIELDS,
    DASHBOARD_PATH,
    FINDING_FIELDS,
    FINDING_PATH,
    Field,
)

VERSION = "1.13.0"
REF_TEMPLATE = "#/components/schemas/{name}"
TEST_HEADER = "X-Service-Test"
GROUP = "Customer threat intelligence"  # the specification's names, section 1
AUDIT_GROUP = "Audit and security"
OWNERSHIP_GROUP = "Ownership and onboarding"
_JSON_TYPES = {bool: "boolean", str: "string", int: "integer"}


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
        "seconds. A proof verifies the website and links it: link_id is for the calls about the website.",
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
        description="An addition to the specification: the claims that have not ended, by host.",
        question="ClaimsRequest",
        fields=CLAIMS_FIELDS,
        answer=responses.ClaimsResponse,
        absent_refusals=(*_NO_LINK, errors.InactiveEntitlement),
        group=OWNERSHIP_GROUP,
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
            {"name": openapi_reports.GROUP, "description": "Reports that programs send with a token."},
            {"name": openapi_health.GROUP, "description": "Whether the service answers calls."},
        ],
        "paths": {
            route.path: {"post": _operation(route, answer, error)}
            for route, answer in zip(ROUTES, answers, strict=True)
        }
        | openapi_reports.paths(outcome, _response, functools.partial(_by_status, schema=error))
        | openapi_health.paths(health, _response, _by_status([errors.MethodNotAllowed], schema=error)),
        "components": {"schemas": schemas, "securitySchemes": _security_schemes()},
    }


def refusals() -> Iterator[type[errors.ApiError]]:
    """Return all error classes with a code, in the order of the tree in ``errors``."""
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.ApiError) and hasattr(error, "code"):
            yield error


def _explicit(schema: Any) -> Any:
    """Return ``schema`` in a form that client generators understand, with a type for every value."""
    if isinstance(schema, list):
        return [_explicit(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _explicit(value) for name, value in schema.items()}
    if isinstance(made.get("description"), str):
        made["description"] = " ".join(made["description"].split())
    if isinstance(made.get("enum"), list):
        made.setdefault("type", _JSON_TYPES[type(made["enum"][0])])
        if len(made["enum"]) == 1:
            made["const"] = made.pop("enum")[0]
    return made


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
    codes = list(dict.fromkeys(error.code for error in refusals()))
    address = {"type": "string", "description": "Where the error is explained, on the same host."}
    return {"code": {"type": "string", "enum": codes}, "doc_url": address, **members}


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
                "schema": {"type": "string", "const": "true"},
            },
        },
        "content": {"application/json": {"schema": schema, **examples}},
    }


def _refusals_of(route: Route) -> Iterator[type[errors.ApiError]]:
    """Yield the errors of the route: all except those that only other routes have."""
    others = {error for other in ROUTES for error in other.own_refusals} - set(route.own_refusals)
    others.update(openapi_reports.OWN_REFUSALS, route.absent_refusals)
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
    return {
        "name": member.encode_name,
        "is_list": is_list and is_struct,
        "meaning": text_parts(own or MEANINGS.get(member.encode_name, "")),
        "fields": [_member_for_people(field) for field in msgspec.structs.fields(inner)] if is_struct else [],
    }


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
