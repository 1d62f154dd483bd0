"""The OpenAPI 3.1 document, made of the field table, the answer's structs and the error classes."""

import functools
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec
import msgspec.structs

import es1
from dashboard_api import errors, policy
from dashboard_api.contract.answer import DashboardAnswer, ErrorAnswer
from dashboard_api.contract.question import FIELDS

VERSION = "1.0.0"
REF_TEMPLATE = "#/components/schemas/{name}"
PATH = "/v1/site/dashboard"


@functools.cache
def document() -> dict[str, Any]:
    """The whole document; it describes the contract, so it is the same for everybody."""
    (answer, error), schemas = msgspec.json.schema_components(
        (DashboardAnswer, ErrorAnswer), ref_template=REF_TEMPLATE
    )
    schemas["DashboardQuestion"] = _question_schema()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Threat Dashboard API",
            "version": VERSION,
            "description": "The signed dashboard of one verified website, for its owner's backend.",
        },
        "paths": {PATH: {"post": _operation(answer, error)}},
        "components": {"schemas": schemas, "securitySchemes": _security_schemes()},
    }


def refusals() -> Iterator[type[errors.ApiError]]:
    """Every error class with a code, in the order of the tree in ``errors``."""
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.ApiError) and hasattr(error, "code"):
            yield error


def _question_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: field.schema for name, field in FIELDS.items()},
        "required": [name for name, field in FIELDS.items() if field.required],
        "additionalProperties": False,
    }


def _operation(answer: dict[str, Any], error: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": "siteDashboard",
        "summary": "The threat dashboard of one linked website",
        "description": "Filters narrow the findings; an empty string or null means no filter. "
        f"The body is compact JSON of at most {policy.MAX_BODY_BYTES} bytes.",
        "security": [{"timestamp": [], "nonce": [], "signature": []}],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": REF_TEMPLATE.format(name="DashboardQuestion")}}
            },
        },
        "responses": {"200": _response("The dashboard", answer)} | _refusal_responses(error),
    }


def _response(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "headers": {
            "X-Request-Id": {"description": "Names this call in our log.", "schema": {"type": "string"}}
        },
        "content": {"application/json": {"schema": schema}},
    }


def _refusal_responses(schema: dict[str, Any]) -> dict[str, Any]:
    codes = defaultdict(list)
    for error in refusals():
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


def fields_for_people() -> list[dict[str, str]]:
    """The request's fields as rows of the human page."""
    return [
        {
            "name": name,
            "required": "required" if field.required else "optional",
            "type": _type_for_people(field.schema),
            "description": field.schema.get("description", ""),
        }
        for name, field in FIELDS.items()
    ]


def members_for_people() -> list[dict[str, Any]]:
    """The answer's members as rows of the human page: name, meaning, inner fields."""
    rows = []
    for member in msgspec.structs.fields(DashboardAnswer):
        listed = getattr(member.type, "__args__", (member.type,))[0]
        is_struct = isinstance(listed, type) and issubclass(listed, msgspec.Struct)
        rows.append(
            {
                "name": member.name,
                "is_list": listed is not member.type,
                "meaning": (listed.__doc__ or "") if is_struct else "",
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
