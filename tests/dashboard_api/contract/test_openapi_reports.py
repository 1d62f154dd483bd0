"""The routes that take reports, in the OpenAPI document and on its page, held against real responses."""

import dataclasses
import json

import msgspec
import pytest

from dashboard_api.api import report_request
from dashboard_api.contract import openapi, openapi_reports
from dashboard_api.importing.ingest import ImportResult
from signed_api.reports import ImportedReport
from tests.dashboard_api.api.reports import fetch, make_token, never_run, run_here, send
from tests.dashboard_api.contract.test_openapi import check, every_member
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_link

pytestmark = pytest.mark.django_db
REPORT = json_lines(make_row(), make_row(matched_at="https://example.com/"))
FETCH = f"{openapi_reports.PATH}/{{id}}"


@pytest.fixture
def document(client):
    return client.get("/v1/openapi.json").json()


@pytest.fixture
def token(tmp_path, settings, monkeypatch):
    settings.REPORTS_FOLDER = tmp_path
    run_here(monkeypatch)
    return make_token(make_link())[1]


def schema_of(document, path, method, status):
    content = document["paths"][path][method]["responses"][str(status)]["content"]
    return content["application/json"]["schema"]


def test_real_outcomes_have_the_documented_shape(client, document, token, monkeypatch):
    sent = send(client, token, REPORT)
    check(sent.json(), document, schema_of(document, openapi_reports.PATH, "post", 200))
    check(fetch(client, token, sent.json()["id"]).json(), document, schema_of(document, FETCH, "get", 200))
    never_run(monkeypatch)
    waiting = send(client, token, REPORT)
    check(waiting.json(), document, schema_of(document, openapi_reports.PATH, "post", 202))


@pytest.mark.parametrize(
    ("body", "parameters", "status"),
    [(b"hello", {}, 422), (REPORT, {"host": "other.example.com"}, 403), (REPORT, {"complete": "1"}, 400)],
)
def test_real_refusals_have_the_documented_shape(client, document, token, body, parameters, status):
    response = send(client, token, body, **parameters)
    assert response.status_code == status
    check(response.json(), document, schema_of(document, openapi_reports.PATH, "post", status))


def test_the_examples_have_the_documented_shape(document):
    for path, method in ((openapi_reports.PATH, "post"), (FETCH, "get")):
        for answer in document["paths"][path][method]["responses"].values():
            shown = answer["content"]["application/json"]
            examples = [each["value"] for each in shown.get("examples", {}).values()] or [shown["example"]]
            for example in examples:
                check(example, document, shown["schema"])


def test_every_parameter_that_is_read_is_documented(document, client):
    documented = {
        parameter["name"]
        for parameter in document["paths"][openapi_reports.PATH]["post"]["parameters"]
        if parameter["in"] == "query"
    }
    assert documented == set(report_request._PARAMETERS)
    page = client.get("/v1/docs").text
    assert all(f"<code>{name}</code>" in page for name in documented)


def test_the_response_has_what_the_command_prints():
    fields = {field.name for field in dataclasses.fields(ImportResult)}
    assert {field.name for field in msgspec.structs.fields(ImportedReport)} == fields | {"dry_run"}


def test_every_member_has_a_meaning_on_the_human_page():
    members = openapi.reports_for_people()["members"]
    assert {row["name"] for row in every_member(members) if not row["meaning"]} == set()


def test_the_refusals_of_reports_are_not_those_of_signed_calls(document):
    signed = json.dumps(document["paths"]["/v1/site/dashboard"])
    assert [error.code for error in openapi_reports.OWN_REFUSALS if f'"{error.code}"' in signed] == []
