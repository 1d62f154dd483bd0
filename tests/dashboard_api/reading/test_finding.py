"""One finding: the order of checks, other accounts, and what is returned."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from dashboard_api import limits
from dashboard_api.api import response_cache
from dashboard_api.backends.statements import select
from dashboard_api.decisions import triage
from dashboard_api.models import Nonce, Severity
from dashboard_api.reading import sections
from signed_api import findings as contract
from signed_api import limits as contract_limits
from signed_api.findings import DashboardResponse, FindingResponse
from tests.dashboard_api.calls import (
    FINDING_PATH,
    PATH,
    ask,
    compact,
    error_of,
    fields_for,
    post,
    signed_headers,
)
from tests.factories import (
    make_account,
    make_finding,
    make_link,
    make_note,
    make_occurrence,
    make_source,
    make_website,
)

pytestmark = pytest.mark.django_db
THEN = datetime(2026, 3, 4, 12, tzinfo=UTC)
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT COUNT(*) FROM n"
PORTAL_READS = 2 * 1024 * 1024

# Of the caller: secrets and link, nonce. Of the answer: engines, finding, notes, places, steps.
STATEMENTS = 7


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def finding(link):
    return make_finding(link.website)


def about(link, finding_id, **fields):
    return fields_for(link, finding_id=str(finding_id), **fields)


def ask_about(client, link, finding_id, **signing):
    return ask(client, about(link, finding_id), path=FINDING_PATH, **signing)


def read_finding(client, link, finding):
    response = ask_about(client, link, finding.pk)
    assert response.status_code == 200, response.content
    return response.json()["finding"]


# The order of checks, which is that of the dashboard


def test_the_checks_come_in_the_order_of_the_contract(client, link, finding):
    """Each row corrects the error of the row before, and still has all later errors."""
    body = compact(about(link, 10**9, page=1, host="other.example.com"))
    fresh = signed_headers(body, path=FINDING_PATH)
    stale = signed_headers(body, path=FINDING_PATH, now=1)
    forged = signed_headers(body, path=FINDING_PATH, secret="another-secret-0001")
    link.revoke(by="tests", reason="asked to", now=link.created_at)
    link.account.entitlement.status = "expired"
    link.account.entitlement.save()

    def code(headers=fresh, body=body, *, path=FINDING_PATH, **environ):
        return error_of(post(client, body, headers, path=path, **environ))["code"]

    assert code(stale, path=FINDING_PATH + "/") == "not_found"
    assert error_of(client.put(FINDING_PATH + "?a=1"))["code"] == "method_not_allowed"
    assert code(stale, QUERY_STRING="a=1", CONTENT_TYPE="text/plain") == "unexpected_query"
    assert code(stale, CONTENT_TYPE="text/plain", CONTENT_LENGTH="9999") == "unsupported_media_type"
    assert code({}, CONTENT_LENGTH="9999") == "body_too_large"
    assert code({}, b"[]") == "invalid_signature"
    assert code(stale, b"[]") == "stale_timestamp"
    assert code(signed_headers(b"[]", path=FINDING_PATH), b"[]") == "malformed_json"
    assert code(forged) == "invalid_signature"
    assert code() == "invalid_request"
    assert code() == "replayed_nonce"
    assert error_of(ask(client, about(link, 10**9, host="other.example.com"), path=FINDING_PATH))["code"] == (
        "unknown_link"
    )
    assert error_of(ask_about(client, link, 10**9))["code"] == "inactive_entitlement"
    link.account.entitlement.status = "active"
    link.account.entitlement.save()
    assert error_of(ask_about(client, link, 10**9))["code"] == "revoked_link"
    link.restore(by="tests", reason="asked to", now=link.created_at)
    assert error_of(ask_about(client, link, 10**9))["code"] == "unknown_finding"
    assert ask_about(client, link, finding.pk).status_code == 200


def test_an_encoded_path_is_another_path(client, link, finding):
    body = compact(about(link, finding.pk))
    headers = signed_headers(body, path=FINDING_PATH)
    response = post(client, body, headers, path=FINDING_PATH, RAW_URI="/v1/site/%66inding")
    assert error_of(response)["code"] == "not_found"


@pytest.mark.parametrize(("signed", "sent"), [(PATH, FINDING_PATH), (FINDING_PATH, PATH)])
def test_a_signature_holds_for_its_own_path_only(client, link, finding, signed, sent):
    body = compact(about(link, finding.pk))
    response = post(client, body, signed_headers(body, path=signed), path=sent)
    assert (response.status_code, error_of(response)["reason"]) == (401, "mismatch")
    assert error_of(response)["path"] == sent


def test_a_nonce_is_spent_for_both_paths(client, link, finding):
    assert ask(client, fields_for(link), nonce="nonce-000").status_code == 200
    assert error_of(ask_about(client, link, finding.pk, nonce="nonce-000"))["code"] == "replayed_nonce"


def test_a_nonce_stays_spent_where_the_finding_is_unknown(client, link):
    ask_about(client, link, 10**9, nonce="nonce-000")
    assert Nonce.objects.count() == 1


def test_fields_of_the_other_route_are_refused(client, link, finding):
    error = error_of(ask(client, about(link, finding.pk, severity="High"), path=FINDING_PATH))
    assert [entry["field"] for entry in error["errors"]] == ["severity"]
    error = error_of(ask(client, about(link, finding.pk)))
    assert [entry["field"] for entry in error["errors"]] == ["finding_id"]


@pytest.mark.parametrize("finding_id", [None, "", 1, True, ["1"], "1\0"])
def test_an_id_is_a_string(client, link, finding_id):
    response = ask(client, fields_for(link, finding_id=finding_id), path=FINDING_PATH)
    assert response.status_code == 400
    assert [entry["field"] for entry in error_of(response)["errors"]] == ["finding_id"]


@pytest.mark.parametrize("kind", ["suspected", "confirmed"])
def test_a_finding_is_verified_while_an_analysts_confirmation_holds(client, link, kind):
    finding = make_finding(link.website, kind=kind)

    def read():
        (listed,) = [each for each in ask(client, fields_for(link)).json()["threats"] if each["id"] == own]
        detail = read_finding(client, link, finding)
        assert (detail["kind"], detail["verified"]) == (listed["kind"], listed["verified"])
        return listed["kind"], listed["verified"]

    own, reason = str(finding.pk), {"by": "ada", "reason": "We looked.", "now": finding.first_seen}
    assert read() == (kind, False)
    triage.confirm(finding, **reason)
    assert read() == ("confirmed", True)
    triage.unconfirm(finding, **reason)
    assert read() == (kind, False)


# Whose it is


def test_what_is_not_the_websites_is_unknown_in_the_same_bytes(client, link, finding):
    theirs = make_link(make_account("acct_0002", secrets=[]), make_website("b.example.com"))
    another = make_link(link.account, make_website("c.example.com"))
    ids = {
        "another account's": make_finding(theirs.website).pk,
        "of another website": make_finding(another.website).pk,
        "unknown": finding.pk + 10_000,
        "the largest": 2**63 - 1,
        "larger": 2**63,
        "long": "9" * 5000,
        "zero": 0,
        "negative": -finding.pk,
        "padded": f"0{finding.pk}",
        "spaced": f" {finding.pk}",
        "other digits": "\u0661",
        "no number": "1 OR 1=1",
    }
    bodies = set()
    for finding_id in ids.values():
        response = ask_about(client, link, finding_id)
        assert response.status_code == 404
        bodies.add(response.content.replace(error_of(response)["request_id"].encode(), b""))
    assert len(bodies) == 1
    assert b"unknown_finding" in bodies.pop()


@pytest.mark.parametrize("status", ["open", "fixed", "false_positive", "accepted_risk"])
def test_a_finding_is_returned_whatever_its_status(client, link, status):
    finding = make_finding(link.website, status=status, fixed_at=THEN if status == "fixed" else None)
    assert read_finding(client, link, finding)["status"] == status


# What is returned


def test_the_last_day_of_a_decision_is_returned(client, link, finding):
    assert read_finding(client, link, finding)["decided_until"] is None
    now = datetime.now(UTC)
    triage.decide(finding, "accepted_risk", by="ann", reason="Agreed", until=now.date(), now=now)
    assert read_finding(client, link, finding)["decided_until"] == now.date().isoformat()


def test_members_and_their_order_are_those_of_the_contract(client, link, finding):
    make_note(link.website, finding=finding)
    answer = ask_about(client, link, finding.pk).json()
    listed = ask(client, fields_for(link)).json()
    assert list(answer) == [
        "ok", "host", "finding", "analyst_notes", "can_retest", "also_found_by", "answer", "past_answers",
        "messages", "may_dispute",
    ]  # fmt: skip
    assert answer["can_retest"] is False  # no scanner runs here
    assert (answer["ok"], answer["host"]) == (True, "shop.example.com")
    shared = list(listed["threats"][0])
    assert list(answer["finding"]) == [*shared, "locations", "timeline", "decided_until"]
    assert list(answer["finding"]["locations"][0]) == (
        ["location", "evidence", "evidence_truncated", "first_seen", "last_seen", "gone_at"]
    )
    assert list(answer["finding"]["timeline"][0]) == ["at", "event", "reason"]
    assert answer["analyst_notes"] == listed["analyst_notes"]


def test_the_members_of_the_list_are_returned_here_too(client, link):
    finding = make_finding(link.website, cwe=[79], cve=["CVE-2024-1"], rule="a/b", evidence="GET /")
    (listed,) = ask(client, fields_for(link)).json()["threats"]
    whole = read_finding(client, link, finding)
    assert {name: whole[name] for name in listed} == listed


def test_a_member_that_only_the_list_has_is_no_error_here(client, link, finding, monkeypatch):
    class Wider(contract.Threat, frozen=True, kw_only=True):
        later: str

    listed = sections.threat
    monkeypatch.setattr(
        sections, "threat", lambda *row: Wider(**msgspec.structs.asdict(listed(*row)), later="added")
    )
    assert "later" not in read_finding(client, link, finding)


def test_texts_and_evidence_are_whole_here(client, link):
    texts = {name: name * 2_000 for name in ("description", "remediation", "evidence")}
    references = [f"https://example.com/{'x' * 500}/{number}" for number in range(30)]
    whole = read_finding(client, link, make_finding(link.website, references=references, **texts))
    assert {name: whole[name] for name in texts} == texts
    assert (whole["references"], whole["evidence_truncated"]) == (references, False)


def test_the_portal_reads_a_finding_with_more_names_than_are_listed(client, link):
    names = {
        "references": [f"http://a.b/{number}" for number in range(300)],
        "cwe": list(range(300)),
        "cve": [f"CVE-2024-{number:04}" for number in range(300)],
    }
    finding = make_finding(link.website, **names)
    body = ask_about(client, link, finding.pk).content
    whole = msgspec.json.decode(body, type=FindingResponse).finding
    assert all(getattr(whole, name) == given[:100] for name, given in names.items())
    assert msgspec.json.decode(ask(client, fields_for(link)).content, type=DashboardResponse).threats


def test_evidence_beyond_64_kb_is_cut_between_characters_and_marked(client, link):
    whole = read_finding(client, link, make_finding(link.website, evidence="é" * 40_000))
    assert whole["evidence"] == "é" * 32_768
    assert whole["evidence_truncated"] is True


def test_every_place_has_its_own_evidence_and_times(client, link, finding):
    long = make_occurrence(finding, "https://shop.example.com/a", evidence="é" * 2_000, first_seen=THEN)
    make_occurrence(finding, "https://shop.example.com/b", evidence="GET /b")
    make_occurrence(make_finding(link.website), "https://shop.example.com/c")
    first, second = read_finding(client, link, finding)["locations"]
    assert (first["location"], first["evidence"]) == (long.location, "é" * 1_024)
    assert (first["evidence_truncated"], first["first_seen"]) == (True, "2026-03-04T12:00:00Z")
    assert (second["location"], second["evidence"]) == ("https://shop.example.com/b", "GET /b")
    assert second["evidence_truncated"] is False


def test_locations_are_limited_and_all_of_them_counted(client, link, monkeypatch):
    monkeypatch.setattr(contract_limits, "MAX_LOCATIONS", 3)
    finding = make_finding(link.website, locations_count=5)
    for number in range(5):
        make_occurrence(finding, f"https://shop.example.com/{number}")
    whole = read_finding(client, link, finding)
    assert [place["location"][-1] for place in whole["locations"]] == ["0", "1", "2"]
    assert whole["locations_count"] == 5


def test_a_finding_without_occurrences_is_where_it_says(client, link, finding):
    (place,) = read_finding(client, link, finding)["locations"]
    assert place["location"] == finding.location
    assert read_finding(client, link, make_finding(link.website, location=""))["locations"] == []


def test_the_timeline_lists_events_oldest_first(client, link):
    seen = {"first_seen": THEN, "last_seen": THEN + timedelta(days=2)}
    opened = make_finding(link.website, **seen)
    fixed = make_finding(link.website, status="fixed", fixed_at=THEN + timedelta(days=1), **seen)
    assert read_finding(client, link, opened)["timeline"] == [
        {"at": "2026-03-04T12:00:00Z", "event": "first_seen", "reason": ""},
        {"at": "2026-03-06T12:00:00Z", "event": "last_seen", "reason": ""},
    ]
    assert [event["event"] for event in read_finding(client, link, fixed)["timeline"]] == (
        ["first_seen", "fixed", "last_seen"]
    )


def test_notes_are_those_about_the_finding_that_may_leave(client, link, finding):
    make_note(link.website, body="On the website.")
    make_note(link.website, body="On another.", finding=make_finding(link.website))
    make_note(link.website, body="For us.", finding=finding, is_internal=True)
    make_note(link.website, body="For others.", finding=finding, account=make_account("acct_2", secrets=[]))
    make_note(link.website, body="For them.", finding=finding, account=link.account)
    (note,) = ask_about(client, link, finding.pk).json()["analyst_notes"]
    assert (note["body"], note["finding_id"]) == ("For them.", str(finding.pk))


def test_other_scanners_with_open_findings_of_the_topic_are_named(client, link, finding):
    site = link.website

    def also_found_by(shown):
        return ask_about(client, link, shown.pk).json()["also_found_by"]

    zap, observatory, nikto = map(make_source, ("zap", "mdn-observatory", "nikto"))
    own = make_finding(site, source=zap, rule="10038-1")
    assert also_found_by(own) == []
    make_finding(site, source=zap, rule="10038-2")
    make_finding(site, source=observatory, rule="content-security-policy", severity=Severity.INFO)
    header = {"source": nikto, "rule": "missing-header/content-security-policy"}
    other = make_finding(site, **header, status="fixed", fixed_at=THEN)
    make_finding(make_website("other.example.com"), **header)
    assert also_found_by(own) == ["Mdn-Observatory"]
    assert also_found_by(other) == ["Mdn-Observatory", "Zap"]
    assert also_found_by(finding) == []  # no topic


def test_the_largest_finding_stays_below_what_the_portal_reads(client, link):
    text = '"' * limits.MAX_STORED_EVIDENCE_BYTES
    finding = make_finding(
        link.website, description=text, remediation=text, evidence=text, references=['"' * 1024] * 64
    )
    for number in range(contract_limits.MAX_LOCATIONS + 1):
        make_occurrence(finding, f"{number}".ljust(2_000, "\U0001f600"), evidence=text)
    for _ in range(limits.MAX_NOTES + 1):
        make_note(link.website, finding=finding, body=text)
    assert len(ask_about(client, link, finding.pk).content) < PORTAL_READS


def test_statements_do_not_grow_with_what_was_found(client, link, finding):
    def statements():
        with ExitStack() as stack:
            made = [stack.enter_context(CaptureQueriesContext(connections[name])) for name in connections]
            ask_about(client, link, finding.pk)
        return sum(map(len, made))

    ask_about(client, link, finding.pk)
    few = statements()
    for number in range(20):
        make_occurrence(finding)
        make_note(link.website, finding=finding)
        make_finding(link.website, source=make_source(f"engine-{number}"))
    assert statements() == few == STATEMENTS


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_takes_too_long_is_given_up(client, link, finding, monkeypatch):
    monkeypatch.setattr(limits, "STATEMENT_SECONDS", 0.05)
    monkeypatch.setattr(
        response_cache, "build_finding", lambda *_args, **_fields: select(type(finding), ENDLESS, [])
    )
    error = error_of(ask_about(client, link, finding.pk))
    assert (error["code"], error["reason"]) == ("unavailable", "slow_question")


def test_an_answer_is_never_remembered(client, link, finding):
    assert read_finding(client, link, finding)["title"] == finding.title
    type(finding).objects.filter(pk=finding.pk).update(title="Another")
    assert read_finding(client, link, finding)["title"] == "Another"


def test_an_answer_is_as_compact_as_it_can_be(client, link, finding):
    content = ask_about(client, link, finding.pk).content
    assert content == msgspec.json.encode(msgspec.json.decode(content))
