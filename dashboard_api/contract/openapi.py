"""The OpenAPI 3.1 document, generated from the routes of ``signed_api`` and the error classes."""

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import msgspec.structs
from msgspec import Meta

import es1
from dashboard_api import errors
from dashboard_api.contract import (
    changelog,
    openapi_callbacks,
    openapi_health,
    openapi_public,
    openapi_reports,
)
from signed_api.all_routes import ROUTES
from signed_api.errors import ErrorResponse
from signed_api.example_calls import example_of
from signed_api.health import HealthResponse
from signed_api.reading import rules_of
from signed_api.reports import ReportResponse
from signed_api.routes import AUDIT, BILLING, CUSTOMER, OWNERSHIP, SCANS, Route

VERSION = changelog.VERSIONS[0][0]
REF_TEMPLATE = "#/components/schemas/{name}"
TEST_HEADER = "X-Service-Test"


def document(server_url: str) -> dict[str, Any]:
    """Return the whole document; ``server_url`` is the address of the service."""
    return {**_document_without_servers(), "servers": [{"url": server_url}]}


@functools.cache
def _document_without_servers() -> dict[str, Any]:
    # References to the schemas of these types, in their order, and the schemas by name
    (error, outcome, health, *answers), schemas = msgspec.json.schema_components(
        (ErrorResponse, ReportResponse, HealthResponse, *(route.response for route in ROUTES)),
        ref_template=REF_TEMPLATE,
    )
    schemas = {name: _for_any_language(schema) for name, schema in schemas.items()}
    _describe_errors(schemas["ErrorDetail"])
    schemas |= {route.request.__name__: _request_schema(route.request) for route in ROUTES}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Threat Dashboard API",
            "version": VERSION,
            "description": "The signed dashboard of one verified website, for its owner's backend.",
        },
        "tags": [
            {"name": CUSTOMER, "description": "Signed calls about one linked website."},
            {"name": AUDIT, "description": "Signed calls about the account itself."},
            {
                "name": OWNERSHIP,
                "description": "Signed calls that prove a website to be the account's own.",
            },
            {"name": BILLING, "description": "Signed calls about the plan of the account."},
            {"name": SCANS, "description": "Signed calls that scan one linked website."},
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
    """Return every error class that has a code, in the order of ``errors``."""
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.ApiError) and hasattr(error, "code"):
            yield error


def _for_any_language(schema: Any) -> Any:
    """Adapt the schema of a response to clients in any language.

    Removes defaults, because generated clients would send them back, and replaces Python's own anchors.
    """
    if isinstance(schema, list):
        return [_for_any_language(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    adapted = {name: _for_any_language(value) for name, value in schema.items() if name != "default"}
    if isinstance(adapted.get("description"), str):
        adapted["description"] = " ".join(adapted["description"].split())
    if isinstance(adapted.get("pattern"), str):
        adapted["pattern"] = adapted["pattern"].replace(r"\A", "^").replace(r"\Z", "$")
    properties = adapted.get("properties")
    if isinstance(properties, dict):
        adapted["required"] = list(properties)  # the service always sends all members
    return adapted


def _describe_errors(schema: dict[str, Any]) -> None:
    """List all codes, and require only the members that every refusal has."""
    codes = ", ".join(dict.fromkeys(error.code for error in refusals()))
    schema["properties"]["code"]["description"] = f"{codes}."
    schema["required"] = ["code", "message", "request_id"]


def _request_schema(request: type[msgspec.Struct]) -> dict[str, Any]:
    rules = rules_of(request)
    return {
        "type": "object",
        "properties": {
            name: rule.schema | {"description": _description(hint)}
            for (name, rule), hint in zip(rules.items(), _hints(request), strict=True)
        },
        "required": [name for name, rule in rules.items() if rule.is_required],
        "additionalProperties": False,
    }


def _hints(kind: type[msgspec.Struct]) -> list[Any]:
    """Return the annotated type of each member, in the order of the members."""
    hints = get_type_hints(kind, include_extras=True)
    return [hints[name] for name in kind.__struct_fields__]


def _description(annotated: Any) -> str:
    """Return the last description in an annotation: it is about the member, earlier ones about its type."""
    metas = get_args(annotated)[1:] if get_origin(annotated) is Annotated else ()
    described = [each.description for each in metas if isinstance(each, Meta) and each.description]
    return described[-1] if described else ""


def _operation(route: Route[Any, Any], answer: dict[str, Any], error: dict[str, Any]) -> dict[str, Any]:
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
                    "schema": {"$ref": REF_TEMPLATE.format(name=route.request.__name__)},
                    "example": example_of(route)["request"],
                }
            },
        },
        "responses": {"200": _response(route.summary, answer, example=example_of(route)["response"])}
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


def _refusals_of(route: Route[Any, Any]) -> Iterator[type[errors.ApiError]]:
    """Yield the errors that the route can return."""
    only_on_others = {code for other in ROUTES for code in other.own_codes} - set(route.own_codes)
    absent = only_on_others | set(route.absent_codes)
    unsigned = {*openapi_reports.OWN_REFUSALS, *openapi_public.OWN_REFUSALS, *openapi_callbacks.OWN_REFUSALS}
    return (error for error in refusals() if error not in unsigned and error.code not in absent)


def _by_status(refused: Iterable[type[errors.ApiError]], *, schema: dict[str, Any]) -> dict[str, Any]:
    """Return one response for each status, with an example for each code."""
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
            "members": members_for_people(route.response),
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
        "members": members_for_people(ReportResponse),
    }


def members_for_people(kind: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """Return the members of a response as rows of a table: name, meaning, members of inner objects."""
    return [
        _member_for_people(name, hint)
        for name, hint in zip(kind.__struct_encode_fields__, _hints(kind), strict=True)
    ]


def _fields_for_people(route: Route[Any, Any]) -> list[dict[str, Any]]:
    """Return the fields of the request as rows of a table."""
    request: type[msgspec.Struct] = route.request
    return [
        {
            "name": name,
            "required": "required" if rule.is_required else "optional",
            "type": _type_for_people(rule.schema),
            "meaning": text_parts(_description(hint)),
        }
        for (name, rule), hint in zip(rules_of(request).items(), _hints(request), strict=True)
    ]


def _member_for_people(name: str, hint: Any) -> dict[str, Any]:
    """Return a member with its meaning, and the members of its objects if it has any."""
    kind = _without_null(hint)
    is_list = get_origin(kind) is list
    inner = _without_null(get_args(kind)[0]) if is_list else kind
    is_struct = isinstance(inner, type) and issubclass(inner, msgspec.Struct)
    meaning = " ".join(filter(None, [(inner.__doc__ or "") if is_struct else "", _description(hint)]))
    return {
        "name": name,
        "is_list": is_list and is_struct,
        "meaning": text_parts(meaning),
        "fields": members_for_people(inner) if is_struct else [],
    }


def _without_null(hint: Any) -> Any:
    """Remove null and annotations from the type of a member."""
    if get_origin(hint) is Annotated:
        return _without_null(get_args(hint)[0])
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        return _without_null(next(each for each in get_args(hint) if each is not NoneType))
    return hint


def text_parts(text: str) -> list[tuple[bool, str]]:
    """Split a text at ``code`` in backticks; each part comes with a flag that tells whether it is code."""
    parts = re.split(r"`+([^`]+)`+", text)  # text and code in turn, beginning with text
    return [(number % 2 == 1, part) for number, part in enumerate(parts) if part]


def _type_for_people(schema: dict[str, Any]) -> str:
    allowed = [value for value in schema.get("enum", ()) if value]
    if allowed:
        return ", ".join(allowed)
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]  # the second is null
    bounds = [str(schema[bound]) for bound in ("minimum", "maximum") if bound in schema]
    return f"{kind} {' to '.join(bounds)}".strip()
