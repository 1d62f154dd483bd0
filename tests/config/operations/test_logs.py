"""Lines of the log: JSON or text, one for each event, without tokens, about their request."""

import json
import logging
import re
from pathlib import Path

import pytest
from django.urls import URLPattern, get_resolver

from config.operations.logs import JsonLines, OneInAHundred, TextLines
from foundation.operations.request_ids import begin_request, note_account, note_address

EVIL = "a\r\nb\x1b[31m\x00 \u2028 \u202e \u2066 ü"


def record(message="%s: %s", *args, level=logging.ERROR, **extra):
    made = logging.LogRecord(
        "dashboard_api.api.request", level, "", 1, message, args, extra.pop("exc_info", None)
    )
    vars(made).update(extra)
    return made


def logged(*args, **extra):
    return json.loads(JsonLines().format(record(*args, **extra)))


def test_a_line_has_the_facts_of_its_request():
    current = begin_request("callers-own")
    current.route = "v1/site/dashboard"
    note_account("acct_0001", secret_id=7)
    note_address("192.0.2.9")
    line = logged("revoked_link", status=403, level=logging.INFO)
    assert line.pop("at").endswith("Z")
    assert line.pop("ms") >= 0
    assert line == {
        "level": "INFO",
        "logger": "dashboard_api.api.request",
        "message": "revoked_link",
        "request_id": current.request_id,
        "caller_request_id": "callers-own",
        "account": "acct_0001",
        "secret_id": 7,
        "address": "192.0.2.9",
        "route": "v1/site/dashboard",
        "status": 403,
    }


def test_of_what_anyone_can_cause_one_in_a_hundred_is_logged_without_a_traceback():
    only = OneInAHundred()
    error = (OSError, OSError("evil"), None)
    records = [record("Invalid host: %s", "evil%s", exc_info=error) for _ in range(250)]
    passed = [each for each in records if only.filter(each)]
    assert [each.getMessage() for each in passed] == [
        f"Invalid host: evil%s ({number} since the start)" for number in (1, 101, 201)
    ]
    assert "exception" not in json.loads(JsonLines().format(passed[0]))


def test_an_exception_is_part_of_its_line():
    error = OSError(EVIL)
    text = JsonLines().format(record("unforeseen", exc_info=(OSError, error, None)))
    assert text.isascii()
    assert text.isprintable()
    assert "OSError" in json.loads(text)["exception"]


def test_nothing_else_that_is_attached_to_a_record_is_written():
    begin_request()
    assert "secret" not in JsonLines().format(record("failed", request="<GET /s/secret/>", token="secret"))


@pytest.mark.parametrize("lines", [JsonLines(), TextLines()])
def test_a_message_is_one_line_without_characters_that_change_it(lines):
    text = lines.format(record("%s", EVIL))
    assert text.replace("ü", "").isascii()
    assert text.isprintable()


def test_a_line_of_text_ends_with_the_id_of_its_request():
    current = begin_request()
    assert (
        TextLines()
        .format(record("late"))
        .endswith(f"ERROR dashboard_api.api.request: late [{current.request_id}]")
    )


def before_tokens(patterns, beginning="/"):
    """Yield the beginning of each address that has a token: what the routes have before it."""
    for pattern in patterns:
        path = beginning + str(pattern.pattern).removeprefix("^")
        if not isinstance(pattern, URLPattern):
            yield from before_tokens(pattern.url_patterns, path)
        elif "<str:token>" in path:
            yield path.partition("<str:token>")[0]


BEFORE_TOKENS = sorted({*before_tokens(get_resolver().url_patterns), "/accounts/password/reset/key/"})


@pytest.mark.parametrize("before", BEFORE_TOKENS)
def test_nginx_leaves_the_token_of_each_route_out_of_its_log(before):
    (paths,) = re.findall(r'"~\^\(\?<before_token>(.+?)\)"', Path("deploy/nginx.conf").read_text())
    assert before in paths.split("|")


@pytest.mark.parametrize("lines", [JsonLines(), TextLines()])
@pytest.mark.parametrize("before", BEFORE_TOKENS)
def test_a_token_is_left_out(lines, before):
    text = lines.format(record("%s: %s", "Service Unavailable", f"{before}a-secret_token:x/"))
    assert f"Service Unavailable: {before}.../" in text


@pytest.mark.parametrize("path", ["/sites/shop.example.com/", "/shares/1/revoke/", "/"])
def test_other_addresses_stay(path):
    assert logged("%s: %s", "Service Unavailable", path)["message"] == f"Service Unavailable: {path}"
