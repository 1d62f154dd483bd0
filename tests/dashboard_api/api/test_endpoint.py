"""The contract's order of checks, one test for each row, and that an earlier one answers first."""

import io
import json
import logging
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.db import OperationalError, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

import es1
from config.operations.logs import JsonLines, TextLines
from dashboard_api.api import authentication, request, response_cache
from dashboard_api.api.mistakes import ADVICE
from dashboard_api.models import Nonce, SecretUse, nonces
from signed_api import example_calls
from tests.dashboard_api.calls import PATH, ask, compact, error_of, fields_for, post, signed_headers
from tests.factories import SECRET, make_account, make_link, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def link():
    return make_link()


def refused(response, status, code):
    """Every refusal has the same shape and the same fixed headers."""
    assert response.status_code == status, response.content
    body = response.json()
    assert list(body) == ["ok", "error"]
    assert body["ok"] is False
    assert list(body["error"])[:3] == ["code", "message", "request_id"]
    assert body["error"]["code"] == code
    assert body["error"]["message"]
    assert_fixed_headers(response)
    assert response["X-Request-Id"] == body["error"]["request_id"]
    if status == 401:
        assert response["WWW-Authenticate"] == f'ES1 error="{code}"'
    return body["error"]


def assert_fixed_headers(response):
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    assert response["X-Request-Id"]


class Unread(io.BytesIO):
    """A body that must not be touched."""

    def read(self, *_):
        raise AssertionError


@pytest.mark.parametrize("host", ["testserver", "portal.example.com:8080"])
def test_a_call_without_https_is_refused_before_its_body_is_read(client, link, settings, host):
    settings.HTTPS, settings.ALLOWED_HOSTS = True, ["testserver", "portal.example.com"]
    body = compact(fields_for(link))
    response = post(client, body, signed_headers(body), HTTP_HOST=host, **{"wsgi.input": Unread()})
    refused(response, 403, "https_required")


def test_a_call_over_https_is_answered_where_it_is_required(client, link, settings):
    settings.HTTPS = True
    body = compact(fields_for(link))
    assert post(client, body, signed_headers(body), **{"wsgi.url_scheme": "https"}).status_code == 200


def test_a_call_from_this_machine_by_an_allowed_name_needs_no_https(client, link, settings):
    settings.HTTPS, settings.ALLOWED_HOSTS = True, ["portal.example.com", "127.0.0.1"]
    body = compact(fields_for(link))
    assert post(client, body, signed_headers(body), HTTP_HOST="127.0.0.1:8000").status_code == 200


@pytest.mark.parametrize(
    "path", [PATH + "/", "/v1/site/Dashboard", "/v1/", "/v1/site", "/v1//site/dashboard"]
)
def test_check_1_another_path_is_404_in_json_without_a_redirect(client, path):
    refused(client.post(path, b"{}", "application/json"), 404, "not_found")


def test_check_1_an_encoded_path_is_another_path(client, link):
    body = compact(fields_for(link))
    response = post(client, body, signed_headers(body), RAW_URI="/v1/site/%64ashboard")
    refused(response, 404, "not_found")


@pytest.mark.parametrize("method", ["get", "head", "put", "patch", "delete", "options", "trace"])
def test_check_2_another_method_is_405_and_names_the_allowed_one(client, method):
    response = getattr(client, method)(PATH)
    assert response.status_code == 405
    assert response["Allow"] == "POST"
    if method != "head":
        refused(response, 405, "method_not_allowed")


def test_check_2_a_method_in_lower_case_is_another_method(client, link):
    body = compact(fields_for(link))
    response = client.generic("post", PATH, body, "application/json", headers=signed_headers(body))
    refused(response, 405, "method_not_allowed")


def test_check_3_a_query_string_is_refused(client, link):
    body = compact(fields_for(link))
    response = client.generic(
        "POST", PATH + "?page=2", body, "application/json", headers=signed_headers(body)
    )
    refused(response, 400, "unexpected_query")


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/json",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "application/jsonp",
    ],
)
def test_check_4_another_content_type_is_415(client, link, content_type):
    body = compact(fields_for(link))
    refused(
        post(client, body, signed_headers(body), content_type=content_type),
        415,
        "unsupported_media_type",
    )


def test_check_4_a_content_encoding_is_415(client, link):
    body = compact(fields_for(link))
    headers = signed_headers(body) | {"content-encoding": "gzip"}
    refused(post(client, body, headers), 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']
)
def test_check_4_utf_8_may_be_named(client, link, content_type):
    body = compact(fields_for(link))
    assert post(client, body, signed_headers(body), content_type=content_type).status_code == 200


@pytest.mark.parametrize("length", ["", "-5", "+143", "1_0", "1e2", "ten"])
def test_check_5_a_missing_or_odd_length_is_411(client, link, length):
    body = compact(fields_for(link))
    response = post(client, body, signed_headers(body), CONTENT_LENGTH=length)
    refused(response, 411, "length_required")


def test_check_5_a_chunked_body_is_411(client, link):
    body = compact(fields_for(link))
    headers = signed_headers(body) | {"transfer-encoding": "chunked"}
    refused(post(client, body, headers), 411, "length_required")


def test_check_5_a_length_beyond_any_number_is_413(client, link):
    body = compact(fields_for(link))
    response = post(client, body, signed_headers(body), CONTENT_LENGTH="9" * 40)
    refused(response, 413, "body_too_large")


def test_check_5_a_body_over_8192_bytes_is_413_and_not_read(client):
    class Unread(io.BytesIO):
        def read(self, *args):
            raise AssertionError("the body was read")

    response = post(client, b"", {}, CONTENT_LENGTH="8193", **{"wsgi.input": Unread()})
    assert refused(response, 413, "body_too_large")["max_bytes"] == 8192


def test_check_5_a_body_of_8192_bytes_is_read(client, link):
    body = compact(fields_for(link))
    body += b" " * (8192 - len(body))
    assert post(client, body, signed_headers(body)).status_code == 200


def test_check_5_a_body_shorter_than_declared_is_400(client, link):
    body = compact(fields_for(link))
    response = post(client, body, signed_headers(body), CONTENT_LENGTH=str(len(body) + 1))
    refused(response, 400, "incomplete_body")


@pytest.mark.parametrize("header", ["x-service-timestamp", "x-service-nonce", "x-service-signature"])
def test_check_6_a_missing_header_is_401_with_its_reason(client, link, header):
    body = compact(fields_for(link))
    headers = signed_headers(body)
    del headers[header]
    assert refused(post(client, body, headers), 401, "invalid_signature")["reason"] == "missing_header"


@pytest.mark.parametrize("header", ["x-service-timestamp", "x-service-nonce", "x-service-signature"])
def test_check_6_a_header_sent_twice_is_malformed(client, link, header):
    body = compact(fields_for(link))
    headers = signed_headers(body)
    headers[header] = f"{headers[header]},{headers[header]}"  # how servers join repeated headers
    error = refused(post(client, body, headers), 401, "invalid_signature")
    assert (error["reason"], error["header"]) == ("malformed_header", header)
    assert error["expected"] in error["message"]


@pytest.mark.parametrize("skew", [-301, 301])
def test_check_7_a_timestamp_outside_the_window_is_401_with_the_skew(client, link, monkeypatch, skew):
    monkeypatch.setattr(request.time, "time", lambda: 1_767_225_600.9)
    response = ask(client, fields_for(link), now=1_767_225_600 - skew)
    error = refused(response, 401, "stale_timestamp")
    assert error["server_time"] == 1_767_225_600
    assert error["window_seconds"] == 300
    assert error["skew_seconds"] == skew


def test_check_7_a_timestamp_in_milliseconds_is_named(client, link):
    error = refused(ask(client, fields_for(link), now=1_767_225_600_000), 401, "stale_timestamp")
    assert error["message"] == "The timestamp looks like milliseconds: send whole seconds."
    assert (
        "milliseconds" not in refused(ask(client, fields_for(link), now=1), 401, "stale_timestamp")["message"]
    )


def test_check_7_the_clock_answers_before_the_body_is_believed(client):
    refused(ask(client, b"not json", now=1), 401, "stale_timestamp")


MALFORMED = {
    "empty": b"",
    "list": b"[]",
    "text": b'"x"',
    "trailing": b"{} {}",
    "not-utf-8": b'{"host":"\xff"}',
    "utf-16": '{"a":1}'.encode("utf-16"),
    "bom": b"\xef\xbb\xbf{}",
    "duplicate": b'{"portal_account_ref":"acct_0001","portal_account_ref":"acct_0002"}',
    "nested-duplicate": b'{"portal_account_ref":"acct_0001","x":{"a":1,"a":2}}',
    "nan": b'{"portal_account_ref":"acct_0001","page":NaN}',
    "infinity": b'{"portal_account_ref":"acct_0001","page":-Infinity}',
    "overflow": b'{"portal_account_ref":"acct_0001","page":1e999}',
    "surrogate": b'{"portal_account_ref":"acct_0001","query":"\\ud800"}',
    "surrogate-name": b'{"portal_account_ref":"acct_0001","\\udfff":1}',
    "deep": b'{"portal_account_ref":"acct_0001","x":' + b"[" * 9 + b"]" * 9 + b"}",
    "bomb": b'{"portal_account_ref":"acct_0001","x":' + b"[" * 4000 + b"]" * 4000 + b"}",
    "huge-number": b'{"portal_account_ref":"acct_0001","page":' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_check_8_a_body_that_is_not_one_strict_object_is_400(client, link, body):
    refused(ask(client, body), 400, "malformed_json")


def test_check_8_an_integer_of_thousands_of_digits_is_refused_in_plain_words(client, link):
    body = compact(fields_for(link)).replace(b"{", b'{"page":' + b"1" * 5000 + b",", 1)
    error = refused(ask(client, body), 400, "malformed_json")
    assert error["message"] == "The body is not strict JSON: a number is too large."


@pytest.mark.parametrize("ref", [None, 1, "", "x" * 129, "acct\n1", "acct\0", ["acct_0001"], True])
def test_check_8_a_reference_that_cannot_name_an_account_is_400(client, link, ref):
    error = refused(ask(client, fields_for(link, portal_account_ref=ref)), 400, "invalid_request")
    assert [entry["field"] for entry in error["errors"]] == ["portal_account_ref"]


def test_check_9_an_unknown_account_and_a_wrong_secret_get_the_same_answer(client, link):
    unknown = error_of(ask(client, fields_for(link, portal_account_ref="acct_9999")))
    wrong = error_of(ask(client, fields_for(link), secret="another-secret-0001"))
    for error in (unknown, wrong):
        assert error.pop("request_id")
        assert error.pop("body_sha256")
        assert error.pop("canonical_sha256")
    assert unknown == wrong


@pytest.mark.parametrize("usable", [0, 1, 2])
def test_check_9_every_account_costs_the_same_work(client, link, monkeypatch, usable):
    secrets = [link.account.secrets.get()]
    if usable == 2:
        link.account.secrets.issue(link.account, by="tests", secret="another-secret-0001")
    if usable == 0:
        secrets[0].revoke(now=timezone.now())
    tried = []
    check = es1.check_signature
    monkeypatch.setattr(
        es1, "check_signature", lambda keys, *a, **kw: tried.append(len(keys)) or check(keys, *a, **kw)
    )
    ask(client, fields_for(link))
    ask(client, fields_for(link, portal_account_ref="acct_9999"))
    assert tried == [5, 5]


@pytest.mark.parametrize("ref", ["acct_9999", "acct_0002"])
def test_check_9_the_secret_of_another_account_opens_no_unknown_one(client, link, ref):
    """The newest secret takes the place of one of an unknown account, and must verify nothing."""
    make_account("acct_0002", secrets=["a-secret-that-was-revoked"]).secrets.get().revoke(now=timezone.now())
    refused(ask(client, fields_for(link, portal_account_ref=ref)), 401, "invalid_signature")
    assert not Nonce.objects.exists()


def test_check_9_unknown_accounts_run_the_same_statements(client, link):
    statements = []
    for fields in (fields_for(link), fields_for(link, portal_account_ref="acct_9999")):
        with CaptureQueriesContext(connections["default"]) as captured:
            ask(client, fields, secret="another-secret-0001")
        statements.append([each["sql"].replace("acct_9999", "acct_0001") for each in captured])
    assert statements[0] == statements[1]
    assert len(statements[0]) == 1


def test_check_9_a_lost_master_key_is_503_for_unknown_accounts_too(client, link, settings):
    settings.MASTER_KEYS = ["YW5vdGhlci1rZXktZm9yLXRlc3RzLTAxMjM0NTY3ODk="]
    fields = fields_for(link, portal_account_ref="acct_9999")
    refused(ask(client, fields), 503, "unavailable")


def test_check_9_an_account_without_a_usable_secret_is_refused(client, link):
    link.account.secrets.get().revoke(now=link.created_at)
    refused(ask(client, fields_for(link)), 401, "invalid_signature")


def test_check_9_a_lost_master_key_is_503_and_the_log_names_the_setting(client, link, settings, caplog):
    settings.MASTER_KEYS = ["YW5vdGhlci1rZXktZm9yLXRlc3RzLTAxMjM0NTY3ODk="]
    refused(ask(client, fields_for(link)), 503, "unavailable")
    [record] = [record for record in caplog.records if "MASTER_KEYS" in record.getMessage()]
    assert record.levelname == "ERROR"
    assert "manage.py doctor" in record.getMessage()


def test_check_10_a_wrong_signature_is_401_and_shows_what_the_server_saw(client, link):
    body = compact(fields_for(link))
    headers = signed_headers(body)
    expected = headers["x-service-signature"]
    headers["x-service-signature"] = "0" * 64
    response = post(client, body, headers)
    error = refused(response, 401, "invalid_signature")
    assert error["reason"] == "mismatch"
    assert (error["method"], error["path"]) == ("POST", PATH)
    assert len(error["body_sha256"]) == 64
    canonical = es1.canonical_string(
        headers["x-service-timestamp"], headers["x-service-nonce"], "POST", PATH, body
    ).encode()
    assert error["canonical_sha256"] == es1.body_digest(canonical)
    assert error["canonical_length"] == len(canonical)
    assert error["doc_url"] == "http://testserver/v1/docs#error-invalid_signature"
    assert "mistake" not in error
    assert expected not in response.content.decode()


def signed_otherwise(fields, *, secret=SECRET, path=PATH, serialise=None, change=str):
    """Return headers for the compact ``fields`` whose signature is of other lines, or by another secret."""
    headers = signed_headers(compact(fields))
    body = serialise(fields).encode() if serialise else compact(fields)
    lines = es1.canonical_string(
        headers["x-service-timestamp"], headers["x-service-nonce"], "POST", path, body
    )
    return headers | {"x-service-signature": es1.signature(secret, change(lines))}


def with_upper_case_digest(lines):
    first, _, digest = lines.rpartition("\n")
    return f"{first}\n{digest.upper()}"


MISTAKES = {
    "secret_newline": [{"secret": f"{SECRET}\n"}, {"secret": f"{SECRET}\r\n"}],
    "full_url": [{"path": f"http://testserver{PATH}"}, {"path": f"https://testserver{PATH}"}],
    "trailing_slash": [{"path": f"{PATH}/"}],
    "upper_case_digest": [{"change": with_upper_case_digest}],
    "other_body": [
        {"serialise": json.dumps},
        {"serialise": partial(json.dumps, separators=(",", ":"), ensure_ascii=False)},
        {"serialise": lambda fields: f"{compact(fields).decode()}\n"},
    ],
}


@pytest.mark.parametrize(
    ("mistake", "signing"), [(mistake, each) for mistake, several in MISTAKES.items() for each in several]
)
def test_check_10_a_usual_mistake_is_named_to_the_holder_of_the_secret(client, link, mistake, signing):
    fields = fields_for(link, query="café")
    body = compact(fields)
    response = post(client, body, signed_otherwise(fields, **signing), HTTP_HOST="testserver")
    error = refused(response, 401, "invalid_signature")
    assert (error["reason"], error["mistake"]) == ("mismatch", mistake)
    assert error["message"] == ADVICE[mistake]
    assert not Nonce.objects.exists()


@pytest.mark.parametrize("ref", [None, "acct_unknown"])
def test_check_10_no_mistake_is_named_without_the_secret(client, link, ref):
    fields = fields_for(link) | ({"portal_account_ref": ref} if ref else {})
    headers = signed_otherwise(fields, secret=f"{SECRET if ref else 'another-secret-0001'}\n")
    error = refused(post(client, compact(fields), headers), 401, "invalid_signature")
    assert "mistake" not in error


def test_check_10_an_unknown_account_is_the_same_work(client, link, monkeypatch):
    tried = []
    monkeypatch.setattr(authentication, "mistake_of", lambda secrets, *_: tried.append(len(secrets)))
    for ref in (link.account.ref, "acct_unknown"):
        ask(client, fields_for(link, portal_account_ref=ref), secret="another-secret-0001")
    assert tried[0] == tried[1]


def test_check_10_no_bit_of_the_body_and_no_character_of_a_header_may_change(client, link):
    body = compact(fields_for(link, query="x" * 40)).ljust(200)
    assert len(body) == 200
    headers = signed_headers(body)
    bodies = [bytes([*body[:at], body[at] ^ 1 << at % 8, *body[at + 1 :]]) for at in range(len(body))]
    # A change of the JSON itself, or of the reference, may lead to another refusal.
    assert {post(client, changed, headers).status_code for changed in bodies} == {400, 401}
    for name, value in headers.items():
        for at in range(len(value)):
            changed = headers | {name: value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :]}
            assert post(client, body, changed).status_code == 401, changed
    assert not Nonce.objects.exists()
    assert post(client, body, headers).status_code == 200


def test_check_10_a_body_changed_after_signing_is_401(client, link):
    headers = signed_headers(compact(fields_for(link)))
    refused(post(client, compact(fields_for(link, page=2)), headers), 401, "invalid_signature")


def test_check_11_a_nonce_is_accepted_once(client, link):
    body = compact(fields_for(link))
    headers = signed_headers(body)
    assert post(client, body, headers).status_code == 200
    refused(post(client, body, headers), 401, "replayed_nonce")


def test_check_11_a_nonce_is_spent_across_rotated_secrets(client, link):
    link.account.secrets.issue(link.account, by="tests", secret="another-secret-0001")
    assert ask(client, fields_for(link), nonce="nonce-000").status_code == 200
    refused(
        ask(client, fields_for(link), nonce="nonce-000", secret="another-secret-0001"), 401, "replayed_nonce"
    )


def test_check_11_accounts_do_not_share_nonces(client, link):
    other = make_link(make_account("acct_0002", secrets=["another-secret-0002"]), link.website)
    assert ask(client, fields_for(link), nonce="nonce-000").status_code == 200
    answer = ask(client, fields_for(other), nonce="nonce-000", secret="another-secret-0002")
    assert answer.status_code == 200


@pytest.mark.parametrize("fields", [{"page": 0}, {"host": "other.example.com"}, {"severity": "Hgih"}])
def test_check_11_a_nonce_stays_spent_when_a_later_check_refuses(client, link, fields):
    assert ask(client, fields_for(link, **fields), nonce="nonce-000").status_code in (400, 404)
    refused(ask(client, fields_for(link), nonce="nonce-000"), 401, "replayed_nonce")


def test_check_11_after_lost_nonces_earlier_calls_are_refused_and_later_ones_accepted(
    client, link, monkeypatch
):
    now = int(time.time())
    Nonce.objects.raise_fence(datetime.fromtimestamp(now, tz=UTC))
    monkeypatch.setattr(request.time, "time", lambda: now)
    for signed_at in (now - 1, now + 300):
        response = ask(client, fields_for(link), now=signed_at)
        refused(response, 503, "unavailable")
        assert response["Retry-After"] == "301"
    monkeypatch.setattr(request.time, "time", lambda: now + 301)
    assert ask(client, fields_for(link), now=now + 301).status_code == 200


def test_a_replay_is_no_use_of_the_secret(client, link):
    body = compact(fields_for(link))
    headers = signed_headers(body)
    post(client, body, headers)
    used = SecretUse.objects.get()
    nonces.forget_uses()
    post(client, body, headers)
    assert SecretUse.objects.get().last_used_at == used.last_used_at


@pytest.mark.django_db(transaction=True)
def test_check_11_a_nonce_stays_spent_when_the_view_fails_later(client, link, monkeypatch):
    monkeypatch.setattr(response_cache, "build_dashboard", lambda *_: 1 / 0)
    refused(ask(client, fields_for(link), nonce="nonce-000"), 500, "internal_error")
    monkeypatch.undo()
    refused(ask(client, fields_for(link), nonce="nonce-000"), 401, "replayed_nonce")


def test_check_11_a_nonce_is_kept_until_its_timestamp_can_no_longer_be_accepted(client, link, monkeypatch):
    now = int(time.time())
    monkeypatch.setattr(request.time, "time", lambda: now)
    assert ask(client, fields_for(link), now=now + 300, nonce="nonce-000").status_code == 200
    assert Nonce.objects.get().expires_at == now + 300 + 300 + 60


def test_check_11_without_its_store_nothing_is_accepted(client, link, monkeypatch):
    def down(*args, **kwargs):
        raise OperationalError("no such host")

    monkeypatch.setattr(type(Nonce.objects.all()), "claim", down)
    response = ask(client, fields_for(link))
    refused(response, 503, "unavailable")
    assert int(response["Retry-After"]) > 0


def test_a_refused_call_stores_nothing(client, link):
    ask(client, fields_for(link), secret="another-secret-0001")
    ask(client, fields_for(link), now=1)
    ask(client, b"[]")
    assert not Nonce.objects.exists()


def test_check_13_broken_fields_are_named_all_at_once(client, link):
    fields = fields_for(link, page=0, page_size=101, severity="Hgih", sverity="High")
    error = refused(ask(client, fields), 400, "invalid_request")
    assert {entry["field"] for entry in error["errors"]} == {"page", "page_size", "severity", "sverity"}


def test_check_13_fields_that_do_not_exist_are_named_in_their_order(client, link):
    misspelt = ["sverity", "knid", "surce", "qurey", "paeg"]
    error = refused(ask(client, fields_for(link, **dict.fromkeys(misspelt, "x"))), 400, "invalid_request")
    assert [entry["field"] for entry in error["errors"]] == misspelt


@pytest.mark.parametrize(("page", "page_size"), [(101, 100), (501, 20), (10_001, 1), (10**30, 1)])
def test_check_13_a_page_past_the_limit_is_400(client, link, page, page_size):
    error = refused(ask(client, fields_for(link, page=page, page_size=page_size)), 400, "invalid_request")
    (broken,) = error["errors"]
    assert broken["field"] == "page"
    assert "at most 10,000: narrow the filters instead" in broken["message"]


@pytest.mark.parametrize("path", ["/v1/site/scans", "/v1/site/claims", "/v1/account/publicity"])
def test_check_13_a_page_past_the_limit_is_400_in_every_list(client, link, path):
    whose = fields_for(link) if path == "/v1/site/scans" else {"portal_account_ref": link.account.ref}
    response = ask(client, {**whose, "page": 2**63}, path=path)
    assert refused(response, 400, "invalid_request")["errors"] == [
        {"field": "page", "message": "times page_size must be at most 10,000"}
    ]


@pytest.mark.parametrize("query", ["", "anything"])
@pytest.mark.parametrize(("page", "page_size"), [(100, 100), (500, 20), (10_000, 1)])
def test_check_13_the_last_page_of_all_is_answered(client, link, page, page_size, query):
    fields = fields_for(link, page=page, page_size=page_size, query=query)
    assert ask(client, fields).json()["threats"] == []


def test_check_13_comes_after_the_signature(client, link):
    refused(ask(client, fields_for(link, page=0), secret="another-secret-0001"), 401, "invalid_signature")


def test_check_14_unknown_links_and_those_of_others_get_byte_identical_answers(client, link):
    theirs = make_link(
        make_account("acct_0002", secrets=["another-secret-0002"]), make_website("b.example.com")
    )
    asked = {
        "unknown id": fields_for(link, link_id="00000000-0000-4000-8000-000000000000"),
        "no uuid": fields_for(link, link_id="x"),
        "upper case": fields_for(link, link_id=link.link_id.upper()),
        "braces": fields_for(link, link_id="{" + link.link_id + "}"),
        "another account's id": fields_for(link, link_id=theirs.link_id),
        "another account's pair": fields_for(link, link_id=theirs.link_id, host=theirs.website.host),
    }
    bodies = set()
    for fields in asked.values():
        response = ask(client, fields)
        error = refused(response, 404, "unknown_link")
        bodies.add(response.content.replace(error["request_id"].encode(), b""))
    assert len(bodies) == 1


@pytest.mark.parametrize("host", ["www.shop.example.com", "other.example.com", "b.example.com"])
def test_check_14_an_own_link_with_another_host_names_the_right_one(client, link, host):
    make_link(make_account("acct_0002"), make_website("b.example.com"))
    error = refused(ask(client, fields_for(link, host=host)), 404, "unknown_link")
    assert error["host"] == "shop.example.com"
    assert error["message"] == "This link_id belongs to the website shop.example.com: send that host."


def test_check_14_the_link_of_the_samples_needs_a_test_secret(client, link):
    fields = fields_for(link, host=example_calls.LINK["host"], link_id=example_calls.LINK["link_id"])
    assert "test secret" in refused(ask(client, fields), 404, "unknown_link")["message"]


@pytest.mark.parametrize("host", ["SHOP.example.COM", "shop.example.com."])
def test_check_14_compares_the_normalised_host(client, link, host):
    response = ask(client, fields_for(link, host=host))
    assert response.json()["host"] == "shop.example.com"


def test_check_15_an_inactive_entitlement_is_403_with_its_plan(client, link):
    link.account.entitlement.status = "suspended"
    link.account.entitlement.save()
    error = refused(ask(client, fields_for(link)), 403, "inactive_entitlement")
    assert error["plan"] == "standard"
    assert error["status"] == "suspended"
    assert error["ends_on"] == link.account.entitlement.ends_on.isoformat()


def test_check_15_an_entitlement_that_begins_later_is_403_with_its_first_day(client, link):
    entitlement = link.account.entitlement
    entitlement.starts_on = timezone.now().date() + timedelta(days=1)
    entitlement.save()
    error = refused(ask(client, fields_for(link)), 403, "inactive_entitlement")
    assert error["status"] == "active"
    assert error["starts_on"] == entitlement.starts_on.isoformat()
    assert error["message"].endswith(f"begins on {error['starts_on']}.")
    entitlement.status = "suspended"
    entitlement.save()
    assert "starts_on" not in refused(ask(client, fields_for(link)), 403, "inactive_entitlement")


def test_check_15_an_account_without_an_entitlement_is_403(client):
    link = make_link(make_account(entitled=False))
    assert refused(ask(client, fields_for(link)), 403, "inactive_entitlement")["plan"] is None


def test_check_15_a_revoked_link_is_403_with_its_time(client, link):
    link.revoke(by="tests", reason="asked to", now=link.created_at)
    error = refused(ask(client, fields_for(link)), 403, "revoked_link")
    assert error["revoked_at"] == f"{link.created_at:%Y-%m-%dT%H:%M:%SZ}"


def test_check_15_a_former_owner_does_not_learn_that_another_has_proven_the_website(client, link):
    link.revoke(by="ada", reason="The proof is missing.", now=timezone.now())
    fields = fields_for(link)
    before = refused(ask(client, fields), 403, "revoked_link")
    link.website.retire(now=timezone.now())
    make_link(make_account("acct_0002", secrets=["another-secret-0002"]), make_website(fields["host"]))
    after = refused(ask(client, fields), 403, "revoked_link")
    assert after | {"request_id": ""} == before | {"request_id": ""}


def test_check_15_the_entitlement_answers_before_the_link(client, link):
    link.revoke(by="tests", reason="asked to", now=link.created_at)
    link.account.entitlement.status = "expired"
    link.account.entitlement.save()
    refused(ask(client, fields_for(link)), 403, "inactive_entitlement")


def test_check_16_answers_200_with_the_fixed_headers(client, link):
    response = ask(client, fields_for(link))
    assert response.status_code == 200
    assert_fixed_headers(response)


def test_json_that_is_not_compact_is_accepted_when_its_bytes_are_signed(client, link):
    assert ask(client, json.dumps(fields_for(link), indent=2).encode()).status_code == 200


def test_a_refusal_in_the_log_has_the_secrets_number_and_the_callers_address(
    client, link, caplog, monkeypatch, settings
):
    monkeypatch.setattr(caplog.handler, "formatter", JsonLines())
    monkeypatch.setattr(request, "_unsigned", Counter())
    settings.TRUST_PROXY = True
    with caplog.at_level(logging.INFO):
        for secret in (SECRET, "a-wrong-secret"):
            client.defaults["HTTP_X_FORWARDED_FOR"] = "198.51.100.7, 192.0.2.9"
            ask(client, fields_for(link, page=0), secret=secret)
    signed, unsigned = (json.loads(line) for line in caplog.text.splitlines())
    assert (signed["address"], unsigned["address"]) == ("192.0.2.9", "192.0.2.9")
    assert signed["secret_id"] == link.account.secrets.get().pk
    assert "secret_id" not in unsigned
    assert SECRET not in caplog.text


def test_anything_unforeseen_is_500_in_json_and_logged_without_the_secret(client, link, monkeypatch, caplog):
    monkeypatch.setattr(response_cache, "build_dashboard", lambda *_: 1 / 0)
    monkeypatch.setattr(caplog.handler, "formatter", TextLines())
    with caplog.at_level(logging.INFO):
        error = refused(ask(client, fields_for(link)), 500, "internal_error")
    assert error["request_id"] in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert SECRET not in caplog.text


def test_refusals_without_a_signature_have_a_line_in_a_hundred(client, caplog, monkeypatch):
    monkeypatch.setattr(request, "_unsigned", Counter())
    with caplog.at_level(logging.INFO):
        for _ in range(101):
            refused(client.get("/v1/nothing"), 404, "not_found")
    assert caplog.messages == [
        f"not_found: {count} without a signature since the start" for count in (1, 101)
    ]


def test_each_refusal_of_a_signed_call_has_a_line_with_its_account(client, link, caplog, monkeypatch):
    monkeypatch.setattr(caplog.handler, "formatter", JsonLines())
    link.revoke(by="tests", reason="asked to", now=timezone.now())
    with caplog.at_level(logging.INFO):
        errors = [refused(ask(client, fields_for(link)), 403, "revoked_link") for _ in range(2)]
    lines = [json.loads(line) for line in caplog.text.splitlines()]
    assert [line["request_id"] for line in lines] == [error["request_id"] for error in errors]
    assert {(line["account"], line["route"], line["status"]) for line in lines} == {
        (link.account.ref, "v1/site/dashboard", 403)
    }


def test_a_successful_call_records_the_use_of_its_secret(client, link):
    secret = link.account.secrets.get()
    assert secret.last_used_at is None
    ask(client, fields_for(link))
    assert secret.last_used_at is not None


@pytest.mark.parametrize("position", [0, 1])
def test_the_use_is_noted_for_the_secret_that_signed(client, position):
    secrets = ["an-older-secret-0001", "a-newer-secret-0002"]
    link = make_link(make_account(secrets=secrets))
    assert ask(client, fields_for(link), secret=secrets[position]).status_code == 200
    used = [row.reveal() for row in link.account.secrets.all() if row.last_used_at]
    assert used == [secrets[position]]
