"""Extreme responses: refused by the decoder, or shown like any other."""

import json
import re

import msgspec
import pytest

from signed_api.client import read_response
from signed_api.errors import BadResponse, RateLimited
from signed_api.findings import DASHBOARD
from signed_api.limits import MAX_RESPONSE_BYTES
from signed_api.transport import Exchange
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_dashboard, make_note, make_threat
from tests.portal.service_answers import answer_with
from tests.signed_api.responses import HOST

ODD_NUMBERS = [0, 2**53, -(2**53), 2**63, 10**400]
ODD_TIMES = ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"]
ODD_DAYS = ["0001-01-01", "9999-12-31"]


def exchange(body, status=200, **headers):
    return Exchange(url="", sent_headers={}, sent_body=b"", status=status, headers=headers, body=body)


def read(answer):
    return read_response(exchange(json.dumps(answer).encode()), DASHBOARD, host=HOST)


@pytest.fixture
def message():
    message = msgspec.to_builtins(make_dashboard(threats=[make_threat()], analyst_notes=[make_note()]))
    message["summary"] |= {"newest_open_days": 2, "first_check_by": "2026-11-30"}
    return message


def leaves(value, way=()):
    """Return the paths of numbers, days, times and lists."""
    if isinstance(value, dict | list):
        if isinstance(value, list):
            yield way, [[]]
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*way, key))
    elif type(value) is int:
        yield way, ODD_NUMBERS
    elif isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        yield way, ODD_TIMES
    elif isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        yield way, ODD_DAYS


def put(answer, way, value):
    answer = json.loads(json.dumps(answer))
    inner = answer
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = value
    return answer


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.django_db
def test_no_number_day_time_or_empty_list_breaks_the_page(client, monkeypatch, message):
    user, website = make_user(), make_portal_website(make_portal_account())
    make_membership(user, website.account)
    client.force_login(user)
    client.raise_request_exception = False
    broken = []
    for way, value in ((way, value) for way, values in leaves(message) for value in values):
        try:
            answer = read(put(message, way, value))
        except BadResponse:  # the page of refused responses has tests of its own
            continue
        answer_with(monkeypatch, DASHBOARD, lambda *_, answer=answer: answer)
        statuses = [client.get(path).status_code for path in (f"/sites/{HOST}/", "/")]
        broken += [(way, str(value)[:40])] * (statuses != [200, 200])
    assert broken == []


def of_lists(value, way=()):
    """Return the paths of lists with items, and the first item."""
    if isinstance(value, list) and value:
        yield way, value[0]
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value[:1]):
            yield from of_lists(inner, (*way, key))


def test_every_list_has_a_limit(message):
    message["threats"][0] |= {"references": ["https://example.com"], "cwe": [79], "cve": ["CVE-2024-1"]}
    message["entitlement"]["features"] = ["export"]
    assert read(message)
    lists = list(of_lists(message))
    assert len(lists) >= 13
    for way, one in lists:
        with pytest.raises(BadResponse, match="length <= "):
            read(put(message, way, [one] * 1_001))


def test_a_chart_of_two_megabytes_is_refused_before_it_is_drawn(message):
    labels = [f"label {number}" for number in range(100_000)]
    message["charts"] = [{"id": "source", "title": "", "type": "bar", "labels": labels, "series": []}]
    assert len(json.dumps(message)) < MAX_RESPONSE_BYTES
    with pytest.raises(BadResponse):
        read(message)


def test_responses_within_the_contract_fit(message):
    message["threats"] *= 100
    message["analyst_notes"] *= 50
    message["charts"] = [dict(chart, labels=["2026-11-02"] * 13) for chart in message["charts"]]
    assert len(read(message).threats) == 100


def test_every_file_of_another_tool_may_bring_a_source(message):
    message["coverage"] = message["coverage"][:1] * 300
    message["dashboard"]["facets"]["source"] = [{"value": "tool", "label": "Tool", "count": 1}] * 300
    series = [{"name": "", "values": [1] * 300}]
    message["charts"] = [dict(message["charts"][0], labels=["Tool"] * 300, series=series)]
    assert len(read(message).coverage) == 300


@pytest.mark.parametrize("body", [b"", b"<html>429 Too Many Requests</html>", b"{}", b'{"ok": true}'])
@pytest.mark.parametrize(
    ("headers", "seconds"), [({}, 0), ({"retry-after": "7"}, 7), ({"retry-after": "9" * 9}, 3600)]
)
def test_every_429_is_a_rate_limit_even_from_a_proxy(body, headers, seconds):
    with pytest.raises(RateLimited) as caught:
        read_response(exchange(body, 429, **headers), DASHBOARD, host=HOST)
    assert caught.value.retry_after == seconds
