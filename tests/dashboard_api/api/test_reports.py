"""POST /v1/reports: the order of its checks, its responses, and what hostile requests leave behind."""

import gzip
import io
import json
import logging
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.api import report_views
from dashboard_api.billing.entitlements import change
from dashboard_api.decisions import standing
from dashboard_api.importing import report_files
from dashboard_api.models import Finding, ImportRun, ReportJob, ReportToken, Severity, Source
from tests.dashboard_api.api.reports import REPORTS, fetch, make_token, never_run, run_here, send
from tests.dashboard_api.scanners.samples import json_lines, make_result, make_row, make_tools
from tests.factories import SECRET, make_account, make_link, make_standing_decision, make_website

pytestmark = pytest.mark.django_db
REPORT = json_lines(make_row())
LOCATION = "https://shop.example.com/"


@pytest.fixture(autouse=True)
def folder(tmp_path, settings, monkeypatch):
    settings.REPORTS_FOLDER = tmp_path / "reports"
    run_here(monkeypatch)
    return settings.REPORTS_FOLDER


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def token(link):
    return make_token(link)[1]


class Unread(io.BytesIO):
    """A body that must not be touched."""

    def read(self, *_):
        raise AssertionError


UNREAD = {"wsgi.input": Unread()}


def refused(response, status, code, folder=None):
    assert response.status_code == status, response.content
    error = response.json()["error"]
    assert error["code"] == code
    assert error["request_id"] == response["X-Request-Id"]
    assert not Finding.objects.exists()
    if folder:
        assert not folder.exists() or not list(folder.iterdir())
        assert not ReportJob.objects.exists()
    return error


def wrong_fields(response):
    return {error["field"]: error["message"] for error in refused(response, 400, "invalid_request")["errors"]}


def test_a_report_is_imported_and_the_response_is_that_of_the_command(client, link, token, folder):
    response = send(client, token, json_lines(make_row(), make_row(matched_at="https://example.com/")))
    assert response.status_code == 200
    body = response.json()
    assert list(body) == ["ok", "id", "state", "passed", "reports"]
    (report,) = body["reports"]
    counts = {name: report[name] for name in ("host", "source", "rows", "findings", "rejected", "new")}
    assert counts == {"host": "shop.example.com", "source": "nuclei", "rows": 2, "findings": 1,
                      "rejected": 1, "new": 1}  # fmt: skip
    assert report["rejects"][0]["reason"].startswith("is of example.com")
    assert report["new_severities"] == {"High": 1}
    assert Finding.objects.get().website == link.website
    assert ImportRun.objects.get().by == f"CI (token {ReportToken.objects.get().pk})"
    assert list(folder.iterdir()) == []


def test_the_outcome_can_be_fetched_again_with_the_same_token(client, token):
    sent = send(client, token, REPORT).json()
    assert fetch(client, token, sent["id"]).json() == sent


def test_every_option_of_the_command_is_a_parameter(client, token):
    response = send(
        client, token, json_lines(make_row(timestamp=None)), format="nuclei", complete="true",
        scanned_at="2026-03-01T10:00:00Z", base_url="https://shop.example.com/", category="nightly",
        target=["www.shop.example.com", "shop.example.com:8443"],
    )  # fmt: skip
    (report,) = response.json()["reports"]
    assert (report["state"], report["category"]) == ("ok", "nightly")
    assert report["scanned_at"] == "2026-03-01T10:00:00Z"
    assert {"www.shop.example.com", "shop.example.com:8443"} <= set(report["targets"])


def test_a_dry_run_stores_nothing_and_shows_the_outcome(client, token):
    response = send(client, token, REPORT, dry_run="true")
    assert (response.json()["reports"][0]["new"], response.json()["reports"][0]["dry_run"]) == (1, True)
    assert not Finding.objects.exists()
    assert not ImportRun.objects.exists()


def test_gzip_is_unpacked_with_and_without_its_header(client, token):
    packed = gzip.compress(REPORT)
    assert send(client, token, packed).status_code == 200
    response = send(client, token, packed, headers={"Content-Encoding": "gzip"})
    assert response.json()["reports"][0]["updated"] == 1


@pytest.mark.parametrize(
    ("fail_on", "passed"), [("Critical", True), ("High", False), ("Low", False), ("", True)]
)
def test_the_response_says_whether_a_new_finding_is_as_bad_as_asked(client, token, fail_on, passed):
    assert send(client, token, REPORT, fail_on=fail_on).json()["passed"] is passed
    assert send(client, token, REPORT, fail_on=fail_on).json()["passed"] is True  # it is not new again


def test_a_finding_that_came_back_fails_as_well(client, token):
    send(client, token, REPORT)
    others = json_lines(make_row(template_id="other", timestamp="2026-03-02T00:00:00Z"))
    send(client, token, others, complete="true")
    back = send(client, token, json_lines(make_row(timestamp="2026-03-03T00:00:00Z")), fail_on="High").json()
    assert (back["passed"], back["reports"][0]["new_severities"]) == (False, {"High": 1})


def decided(severity, *, rule="exposed-panel"):
    """Let a standing decision about the source begin: about a rule, or without one the minimum."""
    source = Source.objects.get_or_add("nuclei", "Nuclei")
    decision = make_standing_decision(source=source, rule=rule, severity=severity)
    standing.begin(decision, timezone.now())


def of_severity(severity, **members):
    return json_lines(make_row(info={"name": "Exposed panel", "severity": severity}, **members))


@pytest.mark.parametrize(("severity", "chosen", "passed"), [("low", 4, False), ("critical", 1, True)])
def test_the_response_counts_the_severity_that_was_decided_for_the_rule(
    client, token, severity, chosen, passed
):
    decided(chosen)
    body = send(client, token, of_severity(severity), fail_on="High").json()
    label = Severity(chosen).label
    assert (body["passed"], body["reports"][0]["new_severities"]) == (passed, {label: 1})
    assert Finding.objects.get().severity == chosen


def test_a_new_finding_that_a_decision_accepts_fails_no_job(client, token):
    decided(3, rule="")
    rows = make_row(), make_row(template_id="b", info={"name": "B", "severity": "low"})
    report = send(client, token, json_lines(*rows), fail_on="Low", dry_run="true").json()
    assert (report["passed"], report["reports"][0]["new_severities"]) == (False, {"High": 1})
    body = send(client, token, of_severity("low"), fail_on="Low").json()
    assert (body["passed"], body["reports"][0]["new"], body["reports"][0]["new_severities"]) == (True, 1, {})


def test_a_finding_that_came_back_counts_as_it_was_decided(client, token):
    send(client, token, of_severity("low"))
    others = json_lines(make_row(template_id="other", timestamp="2026-03-02T00:00:00Z"))
    send(client, token, others, complete="true")
    decided(4)
    back = send(client, token, of_severity("low", timestamp="2026-03-03T00:00:00Z"), fail_on="High").json()
    assert (back["passed"], back["reports"][0]["new_severities"]) == (False, {"Critical": 1})


@pytest.mark.parametrize(("fail_on", "passed"), [("Critical", False), ("High", False), ("", True)])
def test_a_finding_that_is_not_stored_for_its_unclear_location_fails_a_job(client, token, fail_on, passed):
    unclear = make_row(info={"name": "B", "severity": "critical"}, template_id="b", matched_at="login.do")
    low = make_row(info={"name": "A", "severity": "low"})
    body = send(client, token, json_lines(low, unclear, unclear), fail_on=fail_on).json()
    (report,) = body["reports"]
    assert (body["passed"], report["rejected"], report["new_severities"]) == (passed, 2, {"Low": 1})
    assert report["unclear_severities"] == {"Critical": 2}


@pytest.mark.parametrize(("fail_on", "passed"), [("Critical", False), ("", True)])
def test_a_row_that_cannot_be_read_fails_a_job_with_fail_on(client, token, fail_on, passed):
    critical = make_row(info={"name": "B", "severity": "critical"}, template_id="b")
    broken = json_lines(critical).replace(b'"B"', b'"B')
    low = make_row(info={"name": "A", "severity": "low"})
    body = send(client, token, json_lines(low) + broken, fail_on=fail_on).json()
    (report,) = body["reports"]
    assert (body["passed"], report["rejected"], report["unknown_severities"]) == (passed, 1, 1)


@pytest.mark.parametrize(
    "members",
    [
        {"matched_at": "https://example.com/"},
        {"matched_at": "login.do", "info": {"name": "B", "severity": "medium"}},
        {"matched_at": "login.do", "matcher_status": False},
    ],
)
def test_what_is_elsewhere_or_less_severe_or_no_finding_fails_no_job(client, token, members):
    low = make_row(info={"name": "A", "severity": "low"})
    body = send(client, token, json_lines(low, make_row(template_id="b", **members)), fail_on="High").json()
    assert (body["passed"], body["reports"][0]["rejected"]) == (True, 1)


def test_a_time_up_to_five_minutes_ahead_of_our_clock_is_now(client, token):
    ahead = timezone.now() + timedelta(minutes=4)
    response = send(client, token, REPORT, scanned_at=ahead.isoformat(), dry_run="true")
    assert response.status_code == 200
    assert response.json()["reports"][0]["scanned_at"] < ahead.isoformat()
    later = (timezone.now() + timedelta(minutes=6)).isoformat()
    assert wrong_fields(send(client, token, REPORT, scanned_at=later)) == {"scanned_at": "is in the future"}


# The order of checks, and that a stranger's request leaves nothing behind.


def test_a_request_without_https_is_refused_first(client, settings, token, folder):
    settings.HTTPS, settings.ALLOWED_HOSTS = True, ["portal.example.com"]
    environ = UNREAD | {"HTTP_HOST": "portal.example.com"}
    refused(send(client, "x", REPORT, environ=environ), 403, "https_required", folder)


def test_another_method_is_refused(client, token):
    response = client.get(REPORTS)
    assert refused(response, 405, "method_not_allowed")["message"] == "This path takes POST only."
    assert response["Allow"] == "POST"
    sent = send(client, token, REPORT).json()["id"]
    assert client.post(f"{REPORTS}/{sent}")["Allow"] == "GET"


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer rpt_wrong", "Basic rpt_wrong", "Bearer a b", "bearer \x7f"]
)
def test_a_stranger_gets_401_before_the_body_is_read_and_writes_nothing(client, link, folder, header):
    headers = {"Authorization": header} if header is not None else {"Authorization": ""}
    response = send(client, "", REPORT, headers=headers, environ=UNREAD)
    refused(response, 401, "invalid_token", folder)
    assert response["WWW-Authenticate"] == 'Bearer error="invalid_token"'


def test_the_secret_of_the_customer_is_no_token(client, link, folder):
    refused(send(client, SECRET, REPORT, environ=UNREAD), 401, "invalid_token", folder)


@pytest.mark.parametrize("field", ["revoked_at", "expires_at"])
def test_a_token_that_was_revoked_or_has_ended_is_refused(client, link, token, folder, field):
    ReportToken.objects.update(**{field: timezone.now() - timedelta(seconds=1)})
    refused(send(client, token, REPORT, environ=UNREAD), 401, "invalid_token", folder)
    assert ReportToken.objects.get().last_used_at is None


def test_too_many_parameters_are_an_invalid_request(client, token):
    many = {f"a{number}": "1" for number in range(1_100)}
    response = send(client, token, REPORT, environ=UNREAD, **many)
    assert wrong_fields(response) == {"query": "has too many parameters"}


def test_all_wrong_parameters_are_named_before_the_body_is_read(client, token):
    response = send(
        client, token, REPORT, host="", format="zip", complete="yes", scanned_at="soon", base_url="shop",
        fail_on="high", categry="x", category="\0", headers={"Idempotency-Key": "a b"}, environ=UNREAD,
    )  # fmt: skip
    messages = wrong_fields(response)
    assert set(messages) == {"host", "format", "complete", "scanned_at", "base_url", "fail_on", "categry",
                             "category", "Idempotency-Key"}  # fmt: skip
    assert messages["categry"] == "is unknown: did you mean category?"
    assert messages["complete"] == "must be one of true, false"


def test_a_parameter_given_twice_and_a_place_elsewhere_are_wrong(client, token):
    assert wrong_fields(send(client, token, REPORT, complete=["true", "false"])) == {
        "complete": "is given more than once"
    }
    messages = wrong_fields(
        send(client, token, REPORT, base_url="https://example.com/", target=["example.com"])
    )
    assert set(messages) == {"base_url", "target"}


def test_a_website_of_the_token_that_is_written_otherwise_is_named(client, token, folder):
    error = refused(
        send(client, token, REPORT, host="www.shop.example.com"), 403, "website_not_allowed", folder
    )
    assert error["message"] == "This token may send reports about shop.example.com: send that host."


@pytest.mark.parametrize("host", ["mail.example.com", "nowhere.example.com", "other.example.net"])
def test_another_website_is_refused_alike_whether_it_exists_or_not(client, link, token, folder, host):
    make_link(link.account, make_website("mail.example.com"))
    make_link(make_account("acct_0002"), make_website("other.example.net"))
    error = refused(
        send(client, token, REPORT, host=host, environ=UNREAD), 403, "website_not_allowed", folder
    )
    assert set(error) == {"code", "message", "request_id", "doc_url"}


def test_a_former_owner_does_not_learn_that_another_has_proven_the_website(client, link, token, folder):
    link.website.retire(now=timezone.now())
    make_website("shop.example.com")
    refused(send(client, token, REPORT, environ=UNREAD), 403, "revoked_link", folder)


def test_a_revoked_link_and_an_ended_plan_are_refused(client, link, token, folder):
    link.revoke(by="tests", reason="test", now=timezone.now())
    refused(send(client, token, REPORT, environ=UNREAD), 403, "revoked_link", folder)
    tomorrow = timezone.now().date() + timedelta(days=1)
    change(link.account, {"starts_on": tomorrow}, by="tests")
    early = refused(send(client, token, REPORT, environ=UNREAD), 403, "inactive_entitlement", folder)
    assert early["starts_on"] == tomorrow.isoformat()
    change(link.account, {"status": "suspended"}, by="tests")
    refused(send(client, token, REPORT, environ=UNREAD), 403, "inactive_entitlement", folder)


def test_a_scanner_that_the_token_does_not_have_is_refused(client, link):
    _, clear = make_token(link, sources=["zap", "one"])
    error = refused(send(client, clear, REPORT), 403, "scanner_not_allowed")
    assert "only reports from one, zap are accepted" in error["message"]
    two = json_lines(make_tools(("One", [make_result()]), ("Two", [make_result(ruleId="other")])))
    refused(send(client, clear, two), 403, "scanner_not_allowed")
    assert send(client, clear, json_lines(make_tools(("One", [make_result()])))).status_code == 200


def test_a_token_reports_as_a_built_in_scanner_only_if_it_names_it(client, link, token):
    own = {
        "scan": "findings/1",
        "source": "essentials",
        "name": "Essentials",
        "scanned_at": "2026-03-01T08:00:00Z",
    }
    report = json_lines(
        own, {"finding": "no-hsts", "title": "No HSTS", "severity": "low", "location": LOCATION}
    )
    error = refused(send(client, token, report), 403, "scanner_not_allowed")
    assert "give your scanner a name of its own" in error["message"]
    assert send(client, make_token(link, sources=["essentials"])[1], report).status_code == 200


@pytest.mark.parametrize(
    ("environ", "advice"),
    [
        ({"content_type": "multipart/form-data; boundary=x"}, "not a form"),
        ({"HTTP_CONTENT_ENCODING": "br"}, "Content-Encoding: gzip"),
        ({"HTTP_CONTENT_ENCODING": "gzip"}, "the body is not gzip"),
    ],
)
def test_a_form_or_another_encoding_is_415(client, token, folder, environ, advice):
    error = refused(send(client, token, REPORT, environ=environ), 415, "unsupported_media_type", folder)
    assert advice in error["message"]


@pytest.mark.parametrize("environ", [{"CONTENT_LENGTH": ""}, {"HTTP_TRANSFER_ENCODING": "chunked"}])
def test_a_body_without_a_length_is_411(client, token, folder, environ):
    refused(send(client, token, REPORT, environ=environ | UNREAD), 411, "length_required", folder)


def test_a_body_over_the_largest_length_is_413_unread(client, token, folder):
    length = str(limits.MAX_SENT_REPORT_BYTES + 1)
    environ = UNREAD | {"CONTENT_LENGTH": length}
    error = refused(send(client, token, REPORT, environ=environ), 413, "report_too_large", folder)
    assert error["max_bytes"] == limits.MAX_SENT_REPORT_BYTES


@pytest.mark.parametrize("parameters", [{}, {"format": "zap"}])
def test_a_document_over_its_length_is_413_after_its_beginning(client, token, folder, parameters):
    environ = {"CONTENT_LENGTH": str(limits.MAX_DOCUMENT_BYTES + 1)}
    body = b'{"runs": [' + b" " * 1024**2
    response = send(client, token, body, environ=environ, **parameters)
    error = refused(response, 413, "report_too_large", folder)
    assert error["max_bytes"] == limits.MAX_DOCUMENT_BYTES


def test_a_body_that_breaks_off_is_refused_and_leaves_no_file(client, token, folder):
    environ = {"CONTENT_LENGTH": str(3 * 1024**2)}
    body = REPORT + b"\n" * 2 * 1024**2
    refused(send(client, token, body, environ=environ), 400, "incomplete_body", folder)


def test_a_gzip_bomb_is_refused_within_its_bounds(client, token, monkeypatch, folder):
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 1024**2)
    bomb = gzip.compress(REPORT + b"\n" * 64 * 1024**2)
    error = refused(send(client, token, bomb, headers={"Content-Encoding": "gzip"}), 422, "refused_report")
    assert "unpacks to more than" in error["message"]
    assert list(folder.iterdir()) == []


def test_more_than_the_limit_after_unpacking_is_refused(client, token, monkeypatch):
    monkeypatch.setattr(limits, "MAX_SENT_REPORT_BYTES", 100_000)
    rows = json_lines(*(make_row(template_id=f"rule-{number}") for number in range(1_000)))
    error = refused(send(client, token, gzip.compress(rows)), 422, "refused_report")
    assert "larger than" in error["message"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"hello", "not a report of a known format"),
        (b"", "Send complete=true and format."),
        (b"[]", "Send complete=true and format."),
        (json_lines(make_row(matched_at="https://example.com/")), "Every row was rejected"),
        (gzip.compress(REPORT)[:-4], "cut off"),
    ],
)
def test_a_report_that_cannot_be_imported_is_422_with_reasons(client, token, folder, body, words):
    error = refused(send(client, token, body), 422, "refused_report")
    assert words in error["message"]
    if "rejected" in words:
        assert any("is of example.com" in reason for reason in error["reasons"])
    assert list(folder.iterdir()) == []


def test_a_clean_scan_of_a_ci_job_is_an_empty_file_whose_scanner_the_call_names(client, token):
    send(client, token, REPORT)
    for wrong in ({"complete": "true"}, {"format": "nuclei"}, {"format": "zap", "complete": "true"}):
        assert send(client, token, b"", **wrong).status_code == 422
    assert Finding.objects.get().status == "open"
    report = send(client, token, b"", format="nuclei", complete="true").json()["reports"][0]
    assert (report["state"], report["rows"], report["fixed"]) == ("ok", 0, 1)


def test_a_refused_report_is_refused_again_when_fetched(client, token):
    send(client, token, b"hello")
    error = refused(fetch(client, token, ReportJob.objects.get().pk), 422, "refused_report")
    assert "not a report of a known format" in error["message"]


def test_no_message_or_log_has_the_token(client, token, caplog):
    with caplog.at_level(logging.DEBUG):
        response = send(client, token, REPORT)
    assert token not in response.text + caplog.text
    assert token not in json.dumps(list(ReportToken.objects.values("hint", "digest", "name")))


# Repetitions, limits and other accounts.


def test_a_repeated_key_gives_the_first_response_and_imports_once(client, token, folder):
    first = send(client, token, REPORT, headers={"Idempotency-Key": "run-1"})
    again = send(client, token, REPORT, headers={"Idempotency-Key": "run-1"})
    assert again.json() == first.json()
    assert ImportRun.objects.count() == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("changes", [{"body": REPORT + b"\n"}, {"complete": "true"}])
def test_a_repeated_key_with_another_body_or_option_is_409(client, token, folder, changes):
    send(client, token, REPORT, headers={"Idempotency-Key": "run-1"})
    response = send(client, token, **({"body": REPORT} | changes), headers={"Idempotency-Key": "run-1"})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "idempotency_key_reused")
    assert ImportRun.objects.count() == 1
    assert list(folder.iterdir()) == []


def test_a_key_belongs_to_its_token(client, link, token):
    other = make_token(link)[1]
    ids = {
        send(client, each, REPORT, headers={"Idempotency-Key": "1"}).json()["id"] for each in (token, other)
    }
    assert len(ids) == 2


def test_a_report_that_takes_long_is_202_with_an_address(client, token, folder, monkeypatch):
    never_run(monkeypatch)
    response = send(client, token, REPORT)
    body = response.json()
    assert (response.status_code, body["state"], body["passed"], body["reports"]) == (
        202,
        "waiting",
        None,
        [],
    )
    assert response["Location"] == f"{REPORTS}/{body['id']}"
    assert int(response["Retry-After"]) == limits.REPORT_RETRY_AFTER_SECONDS
    assert fetch(client, token, body["id"]).status_code == 202
    run_here(monkeypatch)
    assert client.get(response["Location"], headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert Finding.objects.count() == 1
    assert list(folder.iterdir()) == []


def test_another_token_sees_no_report_and_no_byte_of_it(client, link, token):
    sent = send(client, token, REPORT).json()["id"]
    for other in (make_token(link)[1], make_token(make_link(make_account("acct_0002"), link.website))[1]):
        response = fetch(client, other, sent)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "unknown_report")
        unknown = fetch(client, other, "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e")
        assert response.json()["error"]["message"] == unknown.json()["error"]["message"]
    refused_without = client.get(f"{REPORTS}/{sent}")
    assert refused_without.status_code == 401


def test_an_account_sends_the_next_report_when_those_of_a_day_are_no_longer_too_long(
    client, link, token, monkeypatch
):
    monkeypatch.setattr(limits, "MAX_SENT_BYTES_A_DAY", 2 * len(REPORT) + 2 * limits.EXTRA_BYTES_A_REPORT)
    for _ in range(2):
        assert send(client, token, REPORT).status_code == 200
    hour_ago = timezone.now() - timedelta(hours=1)
    ReportJob.objects.filter(pk=ReportJob.objects.first().pk).update(created_at=hour_ago)
    response = send(client, make_token(link)[1], REPORT, environ=UNREAD)
    assert (response.status_code, response.json()["error"]["code"]) == (429, "too_many_reports")
    assert 22 * 3600 < int(response["Retry-After"]) <= 23 * 3600
    ReportJob.objects.filter(created_at=hour_ago).update(created_at=hour_ago - timedelta(hours=23))
    assert send(client, token, gzip.compress(REPORT)).status_code == 200
    assert send(client, token, REPORT).status_code == 429


def test_small_and_refused_reports_count_too_because_each_leaves_rows(client, token, monkeypatch):
    monkeypatch.setattr(limits, "MAX_SENT_BYTES_A_DAY", 2 * limits.EXTRA_BYTES_A_REPORT)
    assert [send(client, token, b"no report").status_code for _ in range(3)] == [422, 422, 429]


def test_a_refused_report_counts_with_what_was_read_of_it(client, link, monkeypatch):
    monkeypatch.setattr(limits, "MAX_SENT_BYTES_A_DAY", 2 * len(REPORT) + 2 * limits.EXTRA_BYTES_A_REPORT)
    _, token = make_token(link, sources=["zap"])
    assert [send(client, token, REPORT).status_code for _ in range(3)] == [403, 403, 429]


def test_more_reports_than_may_wait_are_429_before_they_are_read(client, link, token, monkeypatch):
    never_run(monkeypatch)
    for number in range(limits.MAX_UNFINISHED_REPORTS):
        assert send(client, token, REPORT, headers={"Idempotency-Key": f"{number}"}).status_code == 202
    other = make_token(link)[1]  # the limit is that of the account
    response = send(client, other, REPORT, environ=UNREAD)
    refused(response, 429, "too_many_reports")
    assert int(response["Retry-After"]) > 0
    assert send(client, token, REPORT, headers={"Idempotency-Key": "0"}).status_code == 202
    run_here(monkeypatch)
    fetch(client, token, ReportJob.objects.first().pk)
    assert send(client, other, REPORT).status_code == 200


def test_a_process_that_receives_enough_reports_answers_503(client, token, folder):
    with ExitStack() as others:
        for number in range(limits.MAX_REPORTS_AT_ONCE):
            others.enter_context(report_views.a_place(-1 - number))
        response = send(client, token, REPORT, environ=UNREAD)
    refused(response, 503, "unavailable", folder)
    assert int(response["Retry-After"]) > 0
    assert send(client, token, REPORT).status_code == 200


def test_the_reports_of_an_account_leave_a_place_for_others(client, link, token, folder):
    with report_views.a_place(link.account_id):
        response = send(client, token, REPORT, environ=UNREAD)
        assert "of this account" in refused(response, 429, "too_many_reports", folder)["message"]
        assert int(response["Retry-After"]) > 0
        other = make_link(account=make_account("acct_other"), website=link.website)
        assert send(client, make_token(other)[1], REPORT).status_code == 200


def test_a_full_disk_is_503_and_leaves_nothing(client, token, folder, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_files.os, "fsync", full)
    response = send(client, token, REPORT)
    body = refused(response, 503, "unavailable", folder)
    assert body["message"].startswith("The report cannot be stored now.")
    assert int(response["Retry-After"]) > 0


def test_a_use_is_noted_once_a_minute(client, token, django_assert_num_queries):
    send(client, token, REPORT)
    used = ReportToken.objects.get().last_used_at
    assert used
    send(client, token, REPORT)
    assert ReportToken.objects.get().last_used_at == used
