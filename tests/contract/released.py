"""The contract in lines: `python -m tests.contract.released` prints them."""

import os


def lines(document):
    """Return the routes with their bodies and statuses, and the members with types; sorted."""
    schemas = document["components"]["schemas"]
    found = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            bodies = operation.get("requestBody", {}).get("content", {}).values()
            route = f"{method.upper()} {path}"
            found |= {f"{route} takes {_type(body['schema'])}" for body in bodies}
            found |= {f"{route} answers {status}" for status in operation["responses"]}
    for name, schema in schemas.items():
        for member, kind in schema.get("properties", {}).items():
            required = ", required" if member in schema.get("required", ()) else ""
            found.add(f"{name}.{member}: {_type(kind)}{required}")
    return sorted(found)


def _type(schema):
    """Return a schema's type in words, without its bounds and descriptions."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(sorted(_type(each) for each in schema.get("anyOf") or schema["oneOf"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    kind = schema.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else kind


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from dashboard_api.contract.openapi import document

    print("\n".join(lines(document("https://api.example.com"))))  # noqa: T201
