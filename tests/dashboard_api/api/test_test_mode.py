"""Calls signed with a test secret: checked like all others, answered with the example website."""

import json

import pytest
from django.core.exceptions import ValidationError
from django.db import connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard_api.models import Answer, Case, Message, Nonce, RememberedCall, Secret
from signed_api.all_routes import BY_PATH
from signed_api.example_calls import LINK, example_of
from tests.dashboard_api.calls import (
    ANSWER_PATH,
    ANSWER_RULES_PATH,
    ANSWERS_PATH,
    CALLS_PATH,
    CHANGES_PATH,
    COMPARE_PATH,
    FINDING_PATH,
    MESSAGE_PATH,
    PATH,
    ask,
    compact,
    error_of,
    fields_for,
    post,
    signed_headers,
)
from tests.factories import make_account, make_link

pytestmark = pytest.mark.django_db

OWN = LINK | {"portal_account_ref": "acct_0001"}
CALLS = {
    ANSWER_PATH: {"act": "fixed", "finding_ids": "1042"},
    ANSWERS_PATH: {},
    MESSAGE_PATH: {"finding_id": "1042", "text": "Please look again."},
    PATH: {"severity": "Low"},
    FINDING_PATH: {"finding_id": "1042"},
    CHANGES_PATH: {"days": 7},
    COMPARE_PATH: {"source": "nuclei"},
}


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def secret(link):
    _, clear = Secret.objects.issue(link.account, by="tests", is_test=True)
    assert clear.startswith("es1_test_")
    return clear


@pytest.mark.parametrize("path", CALLS)
def test_every_call_gets_the_example_of_the_documentation_and_says_so(client, secret, path):
    response = ask(client, OWN | CALLS[path], path=path, secret=secret)
    assert response.status_code == 200
    assert response["X-Service-Test"] == "true"
    example = example_of(BY_PATH[path])["response"]
    assert response.json() == example
    assert list(response.json()) == list(example)


def test_a_test_secret_gets_example_calls_and_not_those_of_its_account(client, link, secret):
    ask(client, fields_for(link))
    response = ask(client, {"portal_account_ref": "acct_0001"}, path=CALLS_PATH, secret=secret)
    assert response["X-Service-Test"] == "true"
    assert response.json() == example_of(BY_PATH[CALLS_PATH])["response"]


def test_a_test_secret_stores_no_answer_message_or_rule(client, link, secret):
    known = OWN | {"request_key": "once"}
    ask(client, known | CALLS[ANSWER_PATH], path=ANSWER_PATH, secret=secret)
    ask(client, known | CALLS[MESSAGE_PATH], path=MESSAGE_PATH, secret=secret)
    rules = {"portal_account_ref": "acct_0001", "high_days": 3, "second_person": True}
    assert ask(client, rules, path=ANSWER_RULES_PATH, secret=secret).status_code == 200
    for model in (Answer, Case, Message, RememberedCall):
        assert not model.objects.exists()
    link.account.refresh_from_db()
    assert (link.account.high_days, link.account.second_person) == (0, False)


def test_a_test_secret_never_shows_a_website_of_a_customer(client, link, secret):
    error = error_of(ask(client, fields_for(link), secret=secret))
    assert error["code"] == "unknown_link"
    assert LINK["link_id"] in error["message"]
    response = ask(client, OWN | {"finding_id": "1"}, path=FINDING_PATH, secret=secret)
    assert (response.status_code, error_of(response)["code"]) == (404, "unknown_finding")


def test_a_live_secret_does_not_get_the_example_website(client, link, secret):
    response = ask(client, OWN)
    assert error_of(response)["code"] == "unknown_link"
    assert "X-Service-Test" not in ask(client, fields_for(link))


def test_signature_time_nonce_and_fields_are_checked_like_those_of_every_call(client, secret):
    body = compact(OWN)
    headers = signed_headers(body, secret=secret)
    assert post(client, body, headers).status_code == 200
    assert error_of(post(client, body, headers))["code"] == "replayed_nonce"
    assert error_of(ask(client, OWN, secret=secret, now=1))["code"] == "stale_timestamp"
    assert error_of(ask(client, OWN, secret=secret + "x"))["code"] == "invalid_signature"
    assert error_of(ask(client, OWN | {"sverity": "High"}, secret=secret))["code"] == "invalid_request"


def test_a_test_call_works_without_a_plan_and_reads_no_findings(client):
    account = make_account(entitled=False)
    _, secret = Secret.objects.issue(account, by="tests", is_test=True)
    with CaptureQueriesContext(connections["default"]) as queries:
        assert ask(client, OWN, secret=secret).status_code == 200
    assert not [query for query in queries if "finding" in query["sql"].lower()]
    assert Nonce.objects.count() == 1


def test_an_account_has_one_test_secret_next_to_two_others(link, secret):
    Secret.objects.issue(link.account, by="tests")
    with pytest.raises(ValidationError, match="already has a test secret"):
        Secret.objects.issue(link.account, by="tests", is_test=True)
    Secret.objects.get(is_test=True).revoke(now=timezone.now())
    Secret.objects.issue(link.account, by="tests", is_test=True)


def test_the_vectors_and_the_samples_are_shown_by_address(client):
    vectors = json.loads(client.get("/v1/vectors.json").content)
    assert vectors["scheme"] == "ES1"
    sample = client.get("/v1/samples/python")
    assert sample["Content-Type"] == "text/plain; charset=utf-8"
    compile(sample.text, "sample", "exec")
    assert LINK["link_id"] in sample.text
    assert "&" not in client.get("/v1/samples/php").text.partition("\n")[0]
    assert error_of(client.get("/v1/samples/cobol"))["code"] == "not_found"
    page = client.get("/v1/docs").text
    for address in ("/v1/vectors.json", "/v1/samples/ruby", 'id="error-unavailable"', "X-Service-Test"):
        assert address in page
