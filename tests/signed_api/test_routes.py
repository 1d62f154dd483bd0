"""The routes together: their names, their examples, and what each member means."""

from typing import Annotated, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import Meta

from signed_api import account, billing, claims, findings, scans
from signed_api.all_routes import ROUTES
from signed_api.example_calls import example_of
from signed_api.values import Member

STRUCTS = {
    kind
    for module in (account, billing, claims, findings, scans)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__module__ == module.__name__
}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_the_example_of_a_route_is_a_response_with_every_member(route):
    example = example_of(route)["response"]
    response = msgspec.convert(example, route.response)
    assert msgspec.to_builtins(response) == example
    assert list(msgspec.to_builtins(response)) == list(example)


def test_names_are_unique_so_that_schemas_have_no_dotted_names():
    names = [kind.__name__ for kind in STRUCTS]
    assert sorted(names) == sorted(set(names))
    assert len({route.path for route in ROUTES}) == len({route.name for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize(
    "kind", sorted(STRUCTS, key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__
)
def test_every_field_and_member_says_what_it_means(kind):
    assert kind.__doc__
    for name, hint in get_type_hints(kind, include_extras=True).items():
        assert is_described(hint), name


def is_described(hint):
    """Return whether an annotation describes the member, or its type is an object or a list of objects."""
    if get_origin(hint) is Annotated:
        kind, *metas = get_args(hint)
        return any(isinstance(meta, Meta) and meta.description for meta in metas) or is_described(kind)
    inner = [each for each in get_args(hint) or (hint,) if each is not type(None)]
    return all(isinstance(each, type) and issubclass(each, Member) for each in inner)
