"""The OpenAPI 3.1 document, made of the field tables, the answers' structs and the error classes."""

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

import msgspec
import msgspec.structs
from msgspec import Meta

import es1
from dashboard_api import errors, policy
from dashboard_api.contract.answer import ChangesAnswer, DashboardAnswer, ErrorAnswer, FindingAnswer
from dashboard_api.contract.question import (
    CHANGES_FIELDS,
    CHANGES_PATH,
    DASHBOARD_FIELDS,
    DASHBOARD_PATH,
    FINDING_FIELDS,
    FINDING_PATH,
    Field,
)

VERSION = "1.6.0"
REF_TEMPLATE = "#/components/schemas/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One signed call: where, what is asked, what is answered, and the refusals that it alone has."""

    path: str
    name: str
    summary: str
    description: str
    question: str
    fields: Mapping[str, Field]
    answer: type[msgspec.Struct]
    own_refusals: tuple[type[errors.ApiError], ...] = ()


ROUTES = (
    Route(
        path=DASHBOARD_PATH,
        name="siteDashboard",
        summary="The threat dashboard of one linked website",
        description="Filters narrow the findings; an empty string or null means no filter. "
        f"The body is compact JSON of at most {policy.MAX_BODY_BYTES} bytes.",
        question="DashboardQuestion",
        fields=DASHBOARD_FIELDS,
        answer=DashboardAnswer,
    ),
    Route(
        path=FINDING_PATH,
        name="siteFinding",
        summary="Everything about one finding of a linked website",
        description="An addition to the specification. The finding may have any status.",
        question="FindingQuestion",
        fields=FINDING_FIELDS,
        answer=FindingAnswer,
        own_refusals=(errors.UnknownFinding,),
    ),
    Route(
        path=CHANGES_PATH,
        name="siteChanges",
        summary="What changed for the worse since a linked website was last asked about",
        description="An addition to the specification: open findings that are new or came back, and notes "
        "that can be read since. Ask with the cursor of the last answer, and nothing is left out or told "
        "twice.",
        question="ChangesQuestion",
        fields=CHANGES_FIELDS,
        answer=ChangesAnswer,
    ),
)


@functools.cache
def document() -> dict[str, Any]:
    """The whole document; it describes the contract, so it is the same for everybody."""
    (error, *answers), schemas = msgspec.json.schema_components(
        (ErrorAnswer, *(route.answer for route in ROUTES)), ref_template=REF_TEMPLATE
    )
    schemas |= {route.question: _question_schema(route) for route in ROUTES}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Threat Dashboard API",
            "version": VERSION,
            "description": "The signed dashboard of one verified website, for its owner's backend.",
        },
        "paths": {
            route.path: {"post": _operation(route, answer, error)}
            for route, answer in zip(ROUTES, answers, strict=True)
        },
        "components": {"schemas": schemas, "securitySchemes": _security_schemes()},
    }


def refusals() -> Iterator[type[errors.ApiError]]:
    """Every error class with a code, in the order of the tree in ``errors``."""
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.ApiError) and hasattr(error, "code"):
            yield error


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
        "summary": route.summary,
        "description": route.description,
        "security": [{"timestamp": [], "nonce": [], "signature": []}],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": REF_TEMPLATE.format(name=route.question)}}},
        },
        "responses": {"200": _response(route.summary, answer)} | _refusal_responses(route, error),
    }


def _response(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "headers": {
            "X-Request-Id": {"description": "Names this call in our log.", "schema": {"type": "string"}}
        },
        "content": {"application/json": {"schema": schema}},
    }


def _refusal_responses(route: Route, schema: dict[str, Any]) -> dict[str, Any]:
    codes = defaultdict(list)
    for error in refusals():
        if error in route.own_refusals or not any(error in other.own_refusals for other in ROUTES):
            codes[error.status].append(error.code)
    return {
        str(status): _response(", ".join(dict.fromkeys(codes[status])), schema) for status in sorted(codes)
    }


def _security_schemes() -> dict[str, Any]:
    meanings = {
        "timestamp": (es1.TIMESTAMP_HEADER, "The current time in whole Unix seconds."),
        "nonce": (es1.NONCE_HEADER, "Fresh and random in every attempt: 8 to 128 URL-safe characters."),
        "signature": (
            es1.SIGNATURE_HEADER,
            (
                "Lower-case hexadecimal HMAC-SHA256, keyed by the site API secret, of six lines joined by "
                "newlines: ES1, the timestamp, the nonce, POST, the path, and the SHA-256 of the body."
            ),
        ),
    }
    return {
        name: {"type": "apiKey", "in": "header", "name": header, "description": description}
        for name, (header, description) in meanings.items()
    }


def routes_for_people() -> list[dict[str, Any]]:
    """Each route as a part of the human page."""
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


def _fields_for_people(route: Route) -> list[dict[str, str]]:
    """The request's fields as rows of a table."""
    return [
        {
            "name": name,
            "required": "required" if field.required else "optional",
            "type": _type_for_people(field.schema),
            "description": field.schema.get("description", ""),
        }
        for name, field in route.fields.items()
    ]


def _members_for_people(route: Route) -> list[dict[str, Any]]:
    """The answer's members as rows of a table: name, meaning, inner fields."""
    rows = []
    for member in msgspec.structs.fields(route.answer):
        described = get_origin(member.type) is Annotated
        told, meta = get_args(member.type)[:2] if described else (member.type, Meta())
        is_list = get_origin(told) is list
        (listed,) = get_args(told) if is_list else (told,)
        is_struct = isinstance(listed, type) and issubclass(listed, msgspec.Struct)
        meanings = [(listed.__doc__ or "") if is_struct else "", meta.description or ""]
        rows.append(
            {
                "name": member.name,
                "is_list": is_list,
                "meaning": " ".join(filter(None, meanings)),
                "fields": [field.encode_name for field in msgspec.structs.fields(listed)]
                if is_struct
                else [],
            }
        )
    return rows


def _type_for_people(schema: dict[str, Any]) -> str:
    allowed = [value for value in schema.get("enum", ()) if value]
    if allowed:
        return ", ".join(allowed)
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    bounds = [str(schema[bound]) for bound in ("minimum", "maximum") if bound in schema]
    return f"{kind} {' to '.join(bounds)}".strip()
