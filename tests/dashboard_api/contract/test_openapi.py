"""The OpenAPI document, held against real answers, and its human page."""

import html
import json
import re

import jsonschema
import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client
from openapi_spec_validator import OpenAPIV31SpecValidator

from dashboard_api.contract import openapi
from dashboard_api.crawler import queue
from dashboard_api.models import Secret
from signed_api import limits as contract_limits
from signed_api.all_routes import ROUTES
from signed_api.errors import ErrorDetail
from signed_api.example_calls import LINK, example_of
from signed_api.reading import rules_of
from tests.dashboard_api.calls import (
    CALLS_PATH,
    CHANGES_PATH,
    CLAIM_CHECK_PATH,
    CLAIM_PATH,
    CLAIM_WITHDRAW_PATH,
    CLAIMS_PATH,
    FINDING_PATH,
    PATH,
    SCAN_CANCEL_PATH,
    SCAN_PATH,
    SCAN_SCHEDULE_PATH,
    SCAN_STATUS_PATH,
    SCANS_PATH,
    ask,
    fields_for,
)
from tests.factories import (
    make_account,
    make_coverage,
    make_event,
    make_finding,
    make_link,
    make_note,
    make_occurrence,
)
from tests.foundation.outbound.internet import Internet

pytestmark = pytest.mark.django_db


@pytest.fixture
def internet(monkeypatch):
    """No website can be reached."""
    return Internet(monkeypatch)


@pytest.fixture
def document(client):
    return client.get("/v1/openapi.json").json()


def check(instance, document, schema):
    """Validate ``instance`` against a schema that refers into ``document``."""
    resolved = {"$schema": "https://json-schema.org/draft/2020-12/schema", **document, **schema}
    jsonschema.Draft202012Validator(resolved).validate(instance)


def is_valid_request(fields, document, path=PATH):
    """Return whether the schema of the path accepts the fields that are given."""
    body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    given = {name: value for name, value in fields.items() if value not in (None, "")}
    try:
        check(given, document, body["schema"])
    except jsonschema.ValidationError:
        return False
    return True


def answer_schema(document, status, path=PATH):
    answers = document["paths"][path]["post"]["responses"]
    return answers[str(status)]["content"]["application/json"]["schema"]


@pytest.mark.once
def test_document_is_valid_openapi_3_1(document):
    assert document["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(document).validate()


@pytest.mark.parametrize("filters", [{}, {"severity": "High", "page_size": 20}, {"query": "nothing"}])
def test_real_answers_have_the_documented_shape(client, document, filters):
    link = make_link()
    finding = make_finding(link.website, references=["https://example.com"], cwe=[79], cve=["CVE-2024-1"])
    make_note(link.website, finding=finding)
    make_coverage(link.website)
    response = ask(client, fields_for(link, **filters))
    assert response.status_code == 200
    check(response.json(), document, answer_schema(document, 200))


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"page": 0}, 400), ({"link_id": "unknown"}, 404), ({"portal_account_ref": "x"}, 401)],
)
def test_real_refusals_have_the_documented_shape(client, document, fields, status):
    response = ask(client, fields_for(make_link(), **fields))
    assert response.status_code == status
    check(response.json(), document, answer_schema(document, status))


@pytest.mark.parametrize("places", [0, 2])
def test_a_real_finding_has_the_documented_shape(client, document, places):
    link = make_link()
    finding = make_finding(link.website, references=["https://example.com"], cwe=[79], cve=["CVE-2024-1"])
    make_note(link.website, finding=finding)
    for _ in range(places):
        make_occurrence(finding)
    response = ask(client, fields_for(link, finding_id=str(finding.pk)), path=FINDING_PATH)
    assert response.status_code == 200
    check(response.json(), document, answer_schema(document, 200, FINDING_PATH))


FINDING_QUESTIONS = [{}, {"finding_id": ""}, {"finding_id": None}, {"finding_id": 1}, {"page": 1}]


@pytest.mark.parametrize("fields", FINDING_QUESTIONS, ids=json.dumps)
def test_the_question_schema_of_a_finding_accepts_what_the_endpoint_accepts(client, document, fields):
    link = make_link()
    fields = fields_for(link, finding_id=str(make_finding(link.website).pk)) | fields
    assert is_valid_request(fields, document, FINDING_PATH) == (
        ask(client, fields, path=FINDING_PATH).status_code == 200
    )


@pytest.mark.parametrize("since", [None, "0.0.0."])
def test_real_changes_have_the_documented_shape(client, document, since):
    link = make_link()
    make_event(make_finding(link.website))
    make_finding(link.website)
    make_note(link.website)
    make_note(link.website, finding=make_finding(link.website))
    response = ask(client, fields_for(link, since=since), path=CHANGES_PATH)
    assert response.status_code == 200
    check(response.json(), document, answer_schema(document, 200, CHANGES_PATH))


CHANGES_QUESTIONS = [
    {},
    {"since": ""},
    {"since": None},
    {"since": "1.2.3."},
    {"since": "1.2.3.4-5"},
    {"since": "1.2.3"},
    {"since": "1.2.3.4-"},
    {"since": "yesterday"},
    {"since": 1},
    {"min_severity": "High"},
    {"min_severity": "Hgih"},
    {"until": "next_import"},
    {"until": "tomorrow"},
    {"page": 1},
]


@pytest.mark.parametrize("fields", CHANGES_QUESTIONS, ids=json.dumps)
def test_the_question_schema_of_changes_accepts_what_the_endpoint_accepts(client, document, fields):
    fields = fields_for(make_link()) | fields
    assert is_valid_request(fields, document, CHANGES_PATH) == (
        ask(client, fields, path=CHANGES_PATH).status_code == 200
    )


def test_real_calls_have_the_documented_shape(client, document):
    link = make_link()
    for fields in ({}, {"page": 0}, {"link_id": "another"}):
        ask(client, fields_for(link, **fields))
    response = ask(client, {"portal_account_ref": link.account.ref, "page_size": 2}, path=CALLS_PATH)
    assert response.status_code == 200
    assert len(response.json()["calls"]) == 2
    check(response.json(), document, answer_schema(document, 200, CALLS_PATH))


CALLS_QUESTIONS = [
    {},
    {"day": "", "outcome": None, "before": "", "page_size": None},
    {"day": "2026-11-23"},
    {"day": "23.11.2026"},
    {"outcome": "refused"},
    {"outcome": "fine"},
    {"before": "1763370000123456.9f2b6c0d1e4a5788"},
    {"before": "now"},
    {"page_size": 1000},
    {"page_size": 1001},
    {"host": "shop.example.com"},
]


@pytest.mark.parametrize("fields", CALLS_QUESTIONS, ids=json.dumps)
def test_the_question_schema_of_calls_accepts_what_the_endpoint_accepts(client, document, fields):
    fields = {"portal_account_ref": make_account().ref} | fields
    assert is_valid_request(fields, document, CALLS_PATH) == (
        ask(client, fields, path=CALLS_PATH).status_code == 200
    )


CLAIM_QUESTIONS = [
    (CLAIM_PATH, {}),
    (CLAIM_PATH, {"host": "shop.example.com"}),
    (CLAIM_PATH, {"host": ""}),
    (CLAIM_PATH, {"host": "shop.example.com", "link_id": "1"}),
    (CLAIM_CHECK_PATH, {"claim_id": "{claim}"}),
    (CLAIM_CHECK_PATH, {"claim_id": 1}),
    (CLAIM_CHECK_PATH, {"claim_id": "01"}),
    (CLAIM_CHECK_PATH, {"claim_id": "{claim}", "method": "mail"}),
    (CLAIM_WITHDRAW_PATH, {"claim_id": "{claim}"}),
    (CLAIM_WITHDRAW_PATH, {"claim_id": "{claim}", "reason": "sold"}),
    (CLAIMS_PATH, {}),
    (CLAIMS_PATH, {"host": "a.example.com", "claim_id": "{claim}"}),
    (CLAIMS_PATH, {"host": "", "claim_id": None}),
    (CLAIMS_PATH, {"claim_id": "0"}),
    (CLAIMS_PATH, {"page": 2, "page_size": None}),
    (CLAIMS_PATH, {"page": 0}),
]


@pytest.mark.parametrize(("path", "fields"), CLAIM_QUESTIONS, ids=str)
def test_the_question_schema_of_claims_accepts_what_the_endpoint_accepts(
    client, document, path, fields, internet
):
    ref = make_account().ref
    claim = ask(client, {"portal_account_ref": ref, "host": "a.example.com"}, path=CLAIM_PATH).json()["claim"]
    fields = {"portal_account_ref": ref} | {
        name: value.format(claim=claim["claim_id"]) if isinstance(value, str) else value
        for name, value in fields.items()
    }
    response = ask(client, fields, path=path)
    assert response.status_code == (200 if is_valid_request(fields, document, path) else 400)
    check(response.json(), document, answer_schema(document, response.status_code, path))


OF_CLAIMS = ("unknown_claim", "wrong_state", "claim_refused", "check_too_soon", "unknown_link")


def test_each_refusal_of_claims_is_documented_at_its_routes_alone(document):
    codes = {
        path: {code for code in OF_CLAIMS if f'"{code}"' in json.dumps(document["paths"][path])}
        for path in (CLAIM_PATH, CLAIM_CHECK_PATH, CLAIM_WITHDRAW_PATH, CLAIMS_PATH, PATH)
    }
    assert codes == {
        CLAIM_PATH: {"claim_refused"},
        CLAIM_CHECK_PATH: {"unknown_claim", "wrong_state", "check_too_soon"},
        CLAIM_WITHDRAW_PATH: {"unknown_claim", "wrong_state"},
        CLAIMS_PATH: set(),
        PATH: {"unknown_link"},
    }


SCAN_QUESTIONS = [
    (SCAN_PATH, {}),
    (SCAN_PATH, {"profile": "standard", "consent": None}),
    (SCAN_PATH, {"profile": "fast"}),
    (SCAN_STATUS_PATH, {"job_id": "{job}"}),
    (SCAN_STATUS_PATH, {"job_id": "01"}),
    (SCAN_CANCEL_PATH, {"job_id": "{job}", "reason": ""}),
    (SCANS_PATH, {"page_size": 101}),
    (SCANS_PATH, {}),
    (SCAN_SCHEDULE_PATH, {}),
    (SCAN_SCHEDULE_PATH, {"frequency": "monthly", "start_hour": 0, "paused_until": "2026-12-24"}),
    (SCAN_SCHEDULE_PATH, {"frequency": "hourly"}),
]


@pytest.mark.parametrize(("path", "fields"), SCAN_QUESTIONS, ids=str)
def test_the_question_schema_of_scans_accepts_what_the_endpoint_accepts(
    client, document, path, fields, settings
):
    settings.CRAWLER_ENABLED = True
    link = make_link()
    job, _ = queue.add(link.website, by="ada")
    fields = fields_for(link) | {
        name: value.format(job=job.pk) if isinstance(value, str) else value for name, value in fields.items()
    }
    response = ask(client, fields, path=path)
    assert response.status_code == (200 if is_valid_request(fields, document, path) else 400)
    check(response.json(), document, answer_schema(document, response.status_code, path))


def test_the_calls_of_an_account_need_no_link_and_no_plan(document):
    words = json.dumps(document["paths"][CALLS_PATH])
    assert "rate_limited" in words
    assert not [code for code in ("unknown_link", "inactive_entitlement", "revoked_link") if code in words]


def test_an_unknown_finding_is_a_refusal_of_its_route_alone(client, document):
    response = ask(client, fields_for(make_link(), finding_id="1"), path=FINDING_PATH)
    check(response.json(), document, answer_schema(document, 404, FINDING_PATH))
    words = {path: json.dumps(route) for path, route in document["paths"].items()}
    assert "unknown_finding" in words[FINDING_PATH]
    assert "unknown_finding" not in words[PATH]


QUESTIONS = [
    {},
    {"severity": "High", "source": "nuclei", "kind": "confirmed", "query": "js", "page": 1, "page_size": 20},
    {"severity": "", "kind": None, "query": "", "page": None},
    {"page": 0},
    {"page_size": 101},
    {"page": "1"},
    {"query": "x" * 201},
    {"severity": "Hgih"},
    {"unknown": 1},
    {"host": None},
    {"status": "all"},
    {"status": "closed"},
]


@pytest.mark.parametrize("fields", QUESTIONS, ids=json.dumps)
def test_the_question_schema_accepts_what_the_endpoint_accepts(client, document, fields):
    fields = fields_for(make_link(), **fields)
    assert is_valid_request(fields, document) == (ask(client, fields).status_code == 200)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_examples_have_the_documented_shape(document, route):
    operation = document["paths"][route.path]["post"]
    asked = operation["requestBody"]["content"]["application/json"]
    check(asked["example"], document, asked["schema"])
    for answer in operation["responses"].values():
        shown = answer["content"]["application/json"]
        examples = [each["value"] for each in shown.get("examples", {}).values()] or [shown["example"]]
        for example in examples:
            check(example, document, shown["schema"])


def test_an_example_of_an_answer_has_every_member(document):
    def members(schema):
        return set(document["components"]["schemas"][schema]["properties"])

    example = document["paths"][PATH]["post"]["responses"]["200"]["content"]["application/json"]["example"]
    assert set(example["dashboard"]) == members("Page")
    assert set(example["summary"]) == members("Summary")
    assert set(example["threats"][0]) == members("Threat")
    assert set(example["coverage"][0]) == members("CoverageEntry")
    assert set(example["entitlement"]) == members("Entitlement")


def every_schema(schema, *, within=""):
    """Yield each schema in ``schema``, also a list's or a member's, and where it is."""
    if isinstance(schema, list):
        for each in schema:
            yield from every_schema(each, within=within)
    elif isinstance(schema, dict):
        yield within, schema
        for name, value in schema.items():
            if name not in ("example", "examples"):
                yield from every_schema(value, within=f"{within}/{name}")


def with_schemas(document, part):
    """Return ``part`` of the document and every schema that it refers to, also indirectly."""
    names, found = re.findall(r"#/components/schemas/(\w+)", json.dumps(part)), {}
    while names:
        if (name := names.pop()) not in found:
            found[name] = document["components"]["schemas"][name]
            names += re.findall(r"#/components/schemas/(\w+)", json.dumps(found[name]))
    return [part, found]


def operations(document):
    return [each for path in document["paths"].values() for each in path.values()]


def test_no_schema_has_a_constant_or_a_default(document):
    """Generated clients compare a constant with a text, and send defaults, which changes the meaning."""
    assert [place for place, schema in every_schema(document) if schema.keys() & {"const", "default"}] == []


def test_a_response_takes_words_that_are_added_later(document):
    responses = [operation["responses"] for operation in operations(document)]
    closed = [place for place, each in every_schema(with_schemas(document, responses)) if "enum" in each]
    assert closed == []


def test_the_description_of_a_member_has_its_words(document):
    schemas = document["components"]["schemas"]
    assert schemas["DashboardResponse"]["properties"]["ok"]["description"].startswith("Always true")
    assert "unknown_link" in schemas["ErrorDetail"]["properties"]["code"]["description"]


def test_patterns_are_those_of_any_language(document):
    patterns = [each["pattern"] for _, each in every_schema(document) if isinstance(each.get("pattern"), str)]
    assert len(patterns) > 10
    assert [pattern for pattern in patterns if not re.fullmatch(r"\^[^\\]*\$|\^.*\\\..*\$", pattern)] == []


def test_the_words_of_a_request_are_all_texts(document):
    enums = [each["enum"] for _, each in every_schema(document) if isinstance(each.get("enum"), list)]
    assert len(enums) > 10
    assert all(isinstance(word, str) for enum in enums for word in enum if word is not None)


@pytest.mark.parametrize(
    ("schema", "field", "words"),
    [
        ("DashboardRequest", "page", "The default is 1."),
        ("DashboardRequest", "page_size", "The default is 20."),
        ("DashboardRequest", "status", "The default is open."),
        ("DashboardRequest", "sort", "The default is worst"),
        ("ScanScheduleRequest", "time_zone", "The default is UTC."),
        ("ScanRequest", "profile", "The default is quick."),
    ],
)
def test_a_description_says_the_default(document, schema, field, words):
    assert words in document["components"]["schemas"][schema]["properties"][field]["description"]


def test_no_request_asks_for_null(document):
    """Generated clients would send it; it means the same as a field that is left out."""
    requests = [
        operation.get("requestBody") for operation in operations(document) if "parameters" not in operation
    ]
    for place, each in every_schema(with_schemas(document, requests)):
        assert "null" not in str(each.get("type")), place


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
@pytest.mark.parametrize("nothing", [None, ""], ids=["null", "empty"])
def test_null_and_an_empty_text_mean_that_an_optional_field_was_not_given(client, route, nothing):
    _, secret = Secret.objects.issue(make_account(), by="tests", is_test=True)
    rules, example = rules_of(route.request), example_of(route)["request"]
    asked = {name: example[name] if rule.is_required else nothing for name, rule in rules.items()}
    assert ask(client, asked, path=route.path, secret=secret).status_code == 200


def test_the_document_names_its_own_server(document):
    assert document["servers"] == [{"url": "http://testserver"}]


@pytest.mark.parametrize(
    ("fields", "code", "details"),
    [
        ({"page": 0}, "invalid_request", {"errors"}),
        (
            {"portal_account_ref": "x"},
            "invalid_signature",
            {"reason", "body_sha256", "method", "path", "canonical_sha256", "canonical_length"},
        ),
    ],
)
def test_the_details_of_a_refusal_are_documented(client, document, fields, code, details):
    error = ask(client, fields_for(make_link(), **fields)).json()["error"]
    assert error["code"] == code
    assert set(error) == {"code", "message", "request_id", "doc_url"} | details
    assert set(error) <= set(document["components"]["schemas"]["ErrorDetail"]["properties"])


def test_the_human_page_explains_every_refusal(client):
    page = html.unescape(client.get("/v1/docs").content.decode())
    for refusal in openapi.refusals():
        assert refusal.message in page
        assert f"<td>{refusal.status}</td>" in page


def test_every_member_of_a_refusal_is_part_of_the_contract():
    assert {name for refusal in openapi.refusals() for name in refusal.members} <= set(
        ErrorDetail.__struct_fields__
    )


def test_every_error_code_is_documented(document):
    described = json.dumps(document["paths"])
    assert all(refusal.code in described for refusal in openapi.refusals())
    assert len(list(openapi.refusals())) == 55


def test_the_bounds_of_what_is_counted_are_documented(client, document):
    description = " ".join(document["components"]["schemas"]["Page"]["description"].split())
    page = " ".join(client.get("/v1/docs").content.decode().split())
    for words in (
        "All counts are exact.",
        f"as long as page times page_size is at most {contract_limits.MAX_PAGE_DEPTH:,}.",
    ):
        assert words in description
        assert words in page
    assert f"Of each severity at least {contract_limits.MAX_COUNTED_CHANGES} are counted" in page


def test_the_human_page_shows_every_field_member_and_code(client):
    page = client.get("/v1/docs").content.decode()
    for text in (
        "portal_account_ref", "analyst_notes", "replayed_nonce", "openssl dgst", "/v1/openapi.json",
        CHANGES_PATH, "min_severity", FINDING_PATH, "finding_id", "timeline", "unknown_finding",
    ):  # fmt: skip
        assert text in page


def every_member(members):
    for member in members:
        yield member
        yield from every_member(member["fields"])


def test_every_field_and_member_has_a_meaning_on_the_human_page(client):
    routes = openapi.routes_for_people()
    without = {
        row["name"]
        for route in routes
        for row in [*route["fields"], *every_member(route["members"])]
        if not row["meaning"]
    }
    assert without == set()


def test_the_meaning_of_a_field_names_all_of_its_words(document):
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("Request"):
            for field, each in schema["properties"].items():
                words = [word for word in each.get("enum", ()) if word]
                described = openapi._type_for_people(each)
                assert [word for word in words if word not in described] == [], (name, field)


def test_the_human_page_has_contents_that_lead_somewhere_and_no_raw_backticks(client):
    page = client.get("/v1/docs").content.decode()
    anchors = re.findall(r'href="#([\w-]+)"', page)
    assert len(anchors) > 30
    assert [anchor for anchor in anchors if f'id="{anchor}"' not in page] == []
    assert "`" not in page
    assert "<code>never</code>" in page


def test_code_in_a_text_is_set_apart():
    parts = [(True, "a"), (False, " or "), (True, "b"), (False, ", no more")]
    assert openapi.text_parts("``a`` or `b`, no more") == parts
    assert openapi.text_parts("") == []


@pytest.mark.parametrize(("name", "language"), [("curl", "sh"), ("python", "python")])
def test_the_snippets_of_the_page_are_those_of_the_documents(name, language):
    document = (settings.BASE_DIR / "docs" / "integrating.md").read_text()
    link_id = LINK["link_id"]
    sample = {"host": "shop.example.com", "link_id": link_id, "account_ref": "acct_0001", "path": PATH}
    sample["base_url"] = "http://127.0.0.1:8000"
    snippet = html.unescape(render_to_string(f"signing/{name}.txt", sample))
    assert f"```{language}\n{snippet.rstrip()}\n```" in document


def test_the_human_page_calls_only_lists_lists(client):
    page = client.get("/v1/docs").content.decode()
    lists = set(re.findall(r"<code>(\w+)</code><br>list", page))
    assert {"threats", "charts", "coverage", "analyst_notes", "findings", "locations"} <= lists
    assert not {"ok", "dashboard", "summary", "entitlement", "finding"} & lists


@pytest.mark.parametrize("path", ["/v1/openapi.json", "/v1/docs"])
def test_another_method_is_405_and_not_a_form_without_its_token(path):
    response = Client(enforce_csrf_checks=True).post(path)
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")


def test_the_human_page_obeys_the_content_security_policy(client):
    page = client.get("/v1/docs")
    assert "default-src 'none'" in page["Content-Security-Policy"]
    assert b"<script" not in page.content
    assert b"style=" not in page.content
