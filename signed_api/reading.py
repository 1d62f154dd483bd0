"""Reads requests: applies the rule of each field, and reports all broken rules together."""

import functools
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from signed_api import limits
from signed_api.routes import Route
from signed_api.values import BrokenRule, Rule

_Request = TypeVar("_Request", bound=msgspec.Struct)
Checks = Mapping[str, Callable[[str], Any]]


class BrokenFields(ValueError):
    """The fields of a request that break their rules; ``errors`` has field and message of each.

    A message continues the name of its field, as in "page times page_size must be at most ...".
    """

    def __init__(self, errors: list[dict[str, str]]) -> None:
        self.errors = errors
        super().__init__(", ".join(f"{error['field']} {error['message']}" for error in errors))


def read(route: Route[_Request, Any], fields: Mapping[str, Any], checks: Checks) -> _Request:
    """Return the request of ``route`` with ``fields``; raises BrokenFields, which lists every broken one.

    An empty string or ``null`` in an optional field means that it was not given. ``checks`` has the functions
    that ``Rule.check`` names: each gets the text of a field, and returns its normal form or raises
    BrokenRule.
    """
    rules = rules_of(route.request)
    given: dict[str, Any] = {}
    errors: list[dict[str, str]] = []
    for name, rule in rules.items():
        value = fields.get(name)
        if value is None or value == "":
            if rule.is_required:
                errors.append({"field": name, "message": "is required"})
            continue
        try:
            value = rule.read(value)
            given[name] = checks[rule.check](value) if rule.check else value
        except BrokenRule as error:
            errors.append({"field": name, "message": str(error)})
    errors += [
        {"field": name[:64], "message": f"is not a field; the fields are {', '.join(rules)}"}
        for name in fields
        if name not in rules
    ]
    if given.get("page", 1) * given.get("page_size", limits.DEFAULT_PAGE_SIZE) > limits.MAX_PAGE_DEPTH:
        message = f"times page_size must be at most {limits.MAX_PAGE_DEPTH:,}{route.advice_for_pages}"
        errors.append({"field": "page", "message": message})
    if route.between_fields:
        errors += [{"field": name, "message": message} for name, message in route.between_fields(given)]
    if errors:
        raise BrokenFields(errors)
    names = dict(zip(rules, route.request.__struct_fields__, strict=True))  # "from" is no name in Python
    return route.request(**{names[name]: value for name, value in given.items()})


@functools.cache
def rules_of(request: type[msgspec.Struct]) -> dict[str, Rule]:
    """Return the rule of each field by its name in JSON, in order; raises TypeError if a field has none."""
    hints = get_type_hints(request, include_extras=True)
    names = zip(request.__struct_encode_fields__, request.__struct_fields__, strict=True)
    return {sent: _rule_of_field(sent, hints[name]) for sent, name in names}


def _rule_of_field(name: str, annotated: Any) -> Rule:
    if get_origin(annotated) is Annotated:
        for each in get_args(annotated)[1:]:
            if isinstance(each, Rule):
                return each
    raise TypeError(f"the field {name} has no rule")
