"""Reading of requests: each field by its rule, all broken rules together."""

from datetime import date

import pytest

from signed_api.account import CALLS, PUBLICITY
from signed_api.all_routes import ROUTES
from signed_api.example_calls import LINK, example_of
from signed_api.findings import CHANGES, DASHBOARD
from signed_api.reading import BrokenFields, read, rules_of
from signed_api.scans import SCAN_CANCEL, SCAN_SCHEDULE
from signed_api.values import BrokenRule

BY_NAME = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)


def refuse_spaces(text):
    if " " in text:
        raise BrokenRule("must have no space")
    return text.lower()


CHECKS = dict.fromkeys(
    ("host", "hosts", "websites", "cursor", "call_position", "region", "time_zone"), refuse_spaces
)


def errors_of(route, **fields):
    with pytest.raises(BrokenFields) as refused:
        read(route, fields, CHECKS)
    return [(error["field"], error["message"]) for error in refused.value.errors]


@BY_NAME
def test_the_example_of_a_route_is_a_request(route):
    fields = example_of(route)["request"]
    request = read(route, fields, CHECKS)
    assert {name: getattr(request, name) for name in fields}.keys() == fields.keys()
    assert request.portal_account_ref == fields["portal_account_ref"]


@BY_NAME
def test_an_empty_optional_field_is_not_given(route):
    required = {name: example_of(route)["request"].get(name, "x") for name in required_of(route)}
    for empty in (None, ""):
        given = required | {name: empty for name in rules_of(route.request) if name not in required}
        assert read(route, given, CHECKS) == read(route, required, CHECKS)
        assert [field for field, _ in errors_of(route, **dict.fromkeys(required, empty))] == list(required)


def required_of(route):
    return [name for name, rule in rules_of(route.request).items() if rule.is_required]


@BY_NAME
@pytest.mark.parametrize("value", [["x"], {"x": 1}, 1.5, "a\0b"], ids=repr)
def test_a_value_of_another_type_breaks_the_rule_of_every_field(route, value):
    broken = {field for field, _ in errors_of(route, **dict.fromkeys(rules_of(route.request), value))}
    assert broken >= set(rules_of(route.request))


def test_all_broken_fields_are_named_together():
    assert errors_of(DASHBOARD, **LINK | {"host": "a b"}, severity="Severe", page=0, colour="red") == [
        ("host", "must have no space"),
        ("severity", "must be one of Critical, High, Medium, Low, Info"),
        ("page", "must be an integer from 1"),
        ("colour", f"is not a field; the fields are {', '.join(rules_of(DASHBOARD.request))}"),
    ]


@pytest.mark.parametrize(
    ("route", "fields", "broken"),
    [
        (DASHBOARD, {"group_by": "problem", "problem": "x"}, "group_by"),
        (DASHBOARD, {"older_than": 7, "query": "x"}, "older_than"),
        (DASHBOARD, {"fixed_since": 7}, "fixed_since"),
        (DASHBOARD, {"since": 7, "older_than": 7}, "older_than"),
        (DASHBOARD, {"sort": "locations"}, "sort"),
        (DASHBOARD, {"page": 501, "page_size": 20}, "page"),
        (CHANGES, {"days": 7, "until": "next_import"}, "days"),
        (PUBLICITY, {"region": "DE"}, "host"),
        (SCAN_SCHEDULE, {"hours": 4}, "hours"),
    ],
)
def test_fields_that_exclude_each_other_are_refused(route, fields, broken):
    known = {name: value for name, value in LINK.items() if name in required_of(route)}
    assert [field for field, _ in errors_of(route, **known | fields)] == [broken]


def test_words_are_read_in_their_own_spelling_and_order():
    request = read(DASHBOARD, LINK | {"severity": "low, CRITICAL,low", "source": "zap,nuclei"}, CHECKS)
    assert (request.severity, request.source) == ("Critical,Low", "nuclei,zap")
    assert read(CALLS, {"portal_account_ref": "a", "day": "2026-11-23"}, CHECKS).day == date(2026, 11, 23)


@pytest.mark.parametrize("value", ["7\n", "07", "-7", "٧", "1" * 19])
def test_an_id_is_matched_as_a_whole(value):
    assert errors_of(SCAN_CANCEL, **LINK, job_id=value) == [
        ("job_id", "must be job_id of a scan, exactly as answered")
    ]


@pytest.mark.parametrize("value", [True, 1.0, "1", 0, -1, 10**400])
def test_a_number_is_an_integer_within_its_bounds(value):
    assert [field for field, _ in errors_of(DASHBOARD, **LINK, page_size=value)] == ["page_size"]
