"""Signed calls that answer findings, list answers, write messages and set rules."""

import itertools
from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.decisions import cases
from dashboard_api.models import (
    Account,
    Answer,
    Case,
    Finding,
    Message,
    RememberedCall,
    ScanJob,
    ScanOptOut,
    Severity,
    SiteLink,
)
from signed_api import limits
from tests.commands import run_json
from tests.dashboard_api.calls import (
    ANSWER_PATH,
    ANSWER_RULES_PATH,
    ANSWERS_PATH,
    CHANGES_PATH,
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
from tests.factories import (
    make_account,
    make_coverage,
    make_finding,
    make_link,
    make_scannable,
    make_source,
)

pytestmark = pytest.mark.django_db
REASON = "The header is set by our proxy."
OTHER_SECRET = "es1_test_another_0123456789abcdef0123456789"
ANALYST = {"by": "ada", "person": ""}


@pytest.fixture
def link():
    return make_link()


@pytest.fixture
def finding(link):
    return make_finding(link.website)


@pytest.fixture
def other(link):
    """A link of another account to the same website."""
    return make_link(make_account("acct_0002", secrets=(OTHER_SECRET,)), link.website)


def call(client, link, path, **fields):
    secret = {} if link.account.ref == "acct_0001" else {"secret": OTHER_SECRET}
    response = ask(client, fields_for(link, **fields), path=path, **secret)
    assert response.status_code == 200, response.content
    return response.json()


def answer(client, link, act, *findings, **fields):
    if findings:
        fields["finding_ids"] = ",".join(str(finding.pk) for finding in findings)
    return call(client, link, ANSWER_PATH, act=act, **fields)


def refused(client, link, path, **fields):
    """Return status and error of a refused call, which stores nothing."""
    tables = (Answer, Case, Message, RememberedCall, AuditEvent)
    before = [list(model.objects.order_by("pk").values()) for model in tables]
    response = ask(client, fields_for(link, **fields), path=path)
    assert [list(model.objects.order_by("pk").values()) for model in tables] == before
    return response.status_code, error_of(response)


# One finding


def test_an_answer_is_returned_and_the_finding_shows_it(client, link, finding):
    due = (timezone.now() + timedelta(days=9)).date().isoformat()
    response = answer(client, link, "will_fix", finding, due=due, assignee="user-2", by="user-1")
    assert (response["total"], response["answered"], response["waiting"]) == (1, 0, 0)
    assert response["preview"] is False
    assert response["by_severity"]["Medium"] == 1
    stored = response["answer"]
    assert (stored["answer"], stored["due"], stored["assignee"], stored["by"]) == (
        "will_fix",
        due,
        "user-2",
        "user-1",
    )
    shown = call(client, link, FINDING_PATH, finding_id=str(finding.pk))
    assert shown["answer"] == stored
    assert (shown["may_dispute"], shown["past_answers"]) == (True, [])
    row = call(client, link, PATH)["threats"][0]
    assert row["answer"] == {"answer": "will_fix", "due": due, "until": None, "assignee": "user-2"}
    assert row["due"] == due


def test_a_preview_changes_nothing_and_tells_what_would_happen(client, link):
    Account.objects.update(second_person=True)
    findings = [make_finding(link.website, severity=severity) for severity in Severity]
    answer(client, link, "will_fix", findings[0], findings[4])
    preview = call(
        client, link, ANSWER_PATH, act="accepted", filters={"severity": "Critical,Info"}, preview=True
    )
    assert (preview["preview"], preview["total"], preview["answered"], preview["waiting"]) == (True, 2, 2, 1)
    assert preview["by_severity"] == {"Info": 1, "Low": 0, "Medium": 0, "High": 0, "Critical": 1}
    assert {each.answer for each in Answer.objects.all()} == {"will_fix"}
    assert AuditEvent.objects.filter(action__startswith="answer.").count() == 1


def test_a_preview_and_the_call_after_it_choose_the_same(client, link, finding):
    make_finding(link.website, severity=Severity.HIGH)
    fields = {"act": "fixed", "filters": {"severity": "Medium"}}
    preview = call(client, link, ANSWER_PATH, **fields, preview=True)
    done = call(client, link, ANSWER_PATH, **fields, selection=preview["selection"])
    assert done["total"] == preview["total"] == 1
    assert [each.finding for each in Answer.objects.all()] == [finding]


def test_a_selection_that_drifted_is_refused_with_what_changed(client, link, finding):
    second = make_finding(link.website)
    fields = {"act": "will_fix", "filters": {"severity": "Medium"}}
    selection = call(client, link, ANSWER_PATH, **fields, preview=True)["selection"]
    make_finding(link.website)
    status, error = refused(client, link, ANSWER_PATH, **fields, selection=selection)
    assert (status, error["code"]) == (409, "selection_changed")
    assert (error["total"], error["added"], error["removed"]) == (3, 1, 0)
    second.delete()
    _, error = refused(client, link, ANSWER_PATH, **fields, selection=selection)
    assert (error["total"], error["added"], error["removed"]) == (2, 1, 1)
    for garbage in ("x", "9" * 99, "1..", "1.2.3"):
        _, error = refused(client, link, ANSWER_PATH, **fields, selection=garbage)
        assert error["code"] == "selection_changed"


def test_one_finding_in_place_of_another_is_another_selection(client, link, finding):
    second = make_finding(link.website)
    fields = {"act": "will_fix", "filters": {"severity": "Medium"}}
    selection = call(client, link, ANSWER_PATH, **fields, preview=True)["selection"]
    Finding.objects.filter(pk=finding.pk).update(severity=Severity.LOW)
    make_finding(link.website)
    Finding.objects.filter(pk=second.pk).update(title="Another title")
    assert refused(client, link, ANSWER_PATH, **fields, selection=selection)[1]["code"] == "selection_changed"


def test_all_findings_of_a_problem_are_answered_at_once(client, link):
    of_problem = [make_finding(link.website, title="Missing header", rule="hsts") for _ in range(3)]
    make_finding(link.website, rule="other")
    problem = call(client, link, PATH, group_by="problem")["dashboard"]["problems"][0]
    done = call(
        client,
        link,
        ANSWER_PATH,
        act="accepted",
        filters={"problem": problem["id"]},
        reason="VPN",
        until=f"{timezone.now() + timedelta(days=30):%Y-%m-%d}",
    )
    assert (done["total"], done["answer"]) == (3, None)
    assert {each.finding for each in Answer.objects.open()} == set(of_problem)
    problems = call(client, link, PATH, group_by="problem")["dashboard"]["problems"]
    assert [each["answers"] for each in problems if each["id"] == problem["id"]] == [{"accepted": 3}]


def test_more_than_500_findings_are_answered_and_withdrawn_at_once(client, link):
    source, now = make_source(), timezone.now()
    Finding.objects.bulk_create(
        Finding(
            website=link.website,
            source=source,
            fingerprint=str(number),
            severity=Severity.LOW,
            kind="confirmed",
            title="Many",
            first_seen=now,
            last_seen=now,
        )
        for number in range(1_001)
    )
    assert answer(client, link, "disputed", filters={"severity": "Low"}, reason=REASON)["total"] == 1_001
    assert Answer.objects.open().count() == 1_001
    assert Case.objects.get().findings == 1_001
    answer(client, link, "withdraw", filters={"severity": "Low"})
    assert not Answer.objects.open().exists()
    assert Case.objects.get().outcome == "withdrawn"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "finding_ids"),
        ({"filters": {}}, "finding_ids"),
        ({"filters": {"severity": "Low"}}, "filters"),  # matches nothing
        ({"filters": {"severity": "Lower"}}, "filters"),
        ({"filters": {"page": 1}}, "filters"),
        ({"filters": {"status": "fixed"}}, "filters"),
        ({"filters": ["severity"]}, "filters"),
        ({"filters": {"source": "misspelt"}}, "source"),
        ({"filters": {"query": "a", "older_than": 7}}, "filters"),
        ({"finding_ids": "0"}, "finding_ids"),
        ({"finding_ids": "1,"}, "finding_ids"),
        ({"finding_ids": ",".join(map(str, range(1, 102)))}, "finding_ids"),
        ({"act": "closed", "finding_ids": "1"}, "act"),
        ({"finding_ids": "1", "preview": "yes"}, "preview"),
    ],
)
def test_a_wrong_choice_is_refused(client, link, finding, fields, field):
    status, error = refused(client, link, ANSWER_PATH, **({"act": "will_fix"} | fields))
    assert (status, error["code"]) == (400, "invalid_request")
    assert [each["field"] for each in error["errors"]] == [field]


def test_too_many_findings_at_once_are_refused(client, link, finding, monkeypatch):
    make_finding(link.website)
    monkeypatch.setattr(limits, "MAX_ANSWERED_AT_ONCE", 1)
    _, error = refused(client, link, ANSWER_PATH, act="will_fix", filters={"severity": "Medium"})
    assert "more than 1 open findings" in error["errors"][0]["message"]


def test_findings_of_another_website_are_unknown(client, link, finding):
    elsewhere = make_finding(make_scannable("other.example.com"))
    ids = f"{finding.pk},{elsewhere.pk}"
    assert refused(client, link, ANSWER_PATH, act="will_fix", finding_ids=ids)[0] == 404
    assert refused(client, link, MESSAGE_PATH, finding_id=str(elsewhere.pk), text="Hello")[0] == 404


def test_each_refusal_has_its_code(client, link, finding, monkeypatch):
    fixed = make_finding(link.website, status="fixed", fixed_at=timezone.now())
    own = {"finding_ids": str(finding.pk)}

    def code(act, **fields):
        status, error = refused(client, link, ANSWER_PATH, act=act, **(own | fields))
        return status, error["code"]

    assert code("will_fix", finding_ids=str(fixed.pk)) == (409, "wrong_state")
    assert code("withdraw") == (409, "wrong_state")
    assert code("confirm", by="user-2") == (409, "wrong_state")
    assert code("will_fix", due="2020-01-01") == (400, "invalid_request")
    assert code("accepted", reason="VPN", until="2999-01-01") == (400, "invalid_request")
    answer(client, link, "fixed", finding)
    assert code("will_fix", only_unanswered=True) == (409, "already_answered")
    monkeypatch.setattr(limits, "MAX_OPEN_DISPUTES", 0)
    response = ask(client, fields_for(link, act="disputed", reason=REASON, **own), path=ANSWER_PATH)
    assert (response.status_code, error_of(response)["code"]) == (429, "too_many_open")
    assert int(response["Retry-After"]) > 0


# A repeated call


@pytest.mark.parametrize("path", [ANSWER_PATH, MESSAGE_PATH])
def test_a_repeated_call_with_the_same_key_changes_nothing_and_returns_the_same(client, link, finding, path):
    fields = {
        ANSWER_PATH: {"act": "will_fix", "finding_ids": str(finding.pk), "by": "user-1"},
        MESSAGE_PATH: {"finding_id": str(finding.pk), "text": "Hello"},
    }[path]
    first = call(client, link, path, **fields, request_key="a-1")
    again = call(client, link, path, **fields, request_key="a-1")
    assert again == first
    assert Answer.objects.count() + Message.objects.count() == 1
    status, error = refused(client, link, path, **fields | {"by": "user-2"}, request_key="a-1")
    assert (status, error["code"]) == (409, "idempotency_key_reused")
    call(client, link, path, **fields, request_key="a-2")
    assert Answer.objects.count() + Message.objects.count() == 2


def test_a_key_is_of_one_account_and_of_all_its_websites(client, link, finding, other):
    answer(client, link, "will_fix", finding, request_key="a-1")
    answer(client, other, "will_fix", finding, request_key="a-1")
    second = make_link(link.account, make_scannable("second.example.com"))
    own = make_finding(second.website)
    status, error = refused(
        client, second, ANSWER_PATH, act="will_fix", finding_ids=str(own.pk), request_key="a-1"
    )
    assert (status, error["code"]) == (409, "idempotency_key_reused")


def test_a_refused_call_does_not_use_its_key(client, link, finding):
    own = {"finding_ids": str(finding.pk), "request_key": "a-1"}
    assert refused(client, link, ANSWER_PATH, act="withdraw", **own)[0] == 409
    assert call(client, link, ANSWER_PATH, act="will_fix", **own)["answer"]["answer"] == "will_fix"


def test_a_key_is_remembered_for_7_days(client, link, finding):
    answer(client, link, "will_fix", finding, request_key="a-1")
    RememberedCall.objects.update(at=timezone.now() - timedelta(days=6, hours=23))
    assert run_json("prune")["remembered_calls"] == 0
    assert refused(client, link, ANSWER_PATH, act="fixed", finding_ids=str(finding.pk), request_key="a-1")
    RememberedCall.objects.update(at=timezone.now() - timedelta(days=7, minutes=1))
    answer(client, link, "fixed", finding, request_key="a-1")
    RememberedCall.objects.update(at=timezone.now() - timedelta(days=7, minutes=1))
    assert run_json("prune")["remembered_calls"] == 1


# The list of answers


def test_the_list_has_open_ended_or_all_answers_newest_first(client, link):
    findings = [make_finding(link.website) for _ in range(3)]
    answer(client, link, "will_fix", findings[0])
    answer(client, link, "fixed", findings[1])
    answer(client, link, "will_fix", findings[2])
    answer(client, link, "fixed", findings[0])
    pks = list(Answer.objects.order_by("-pk").values_list("pk", flat=True))

    def ids(**fields):
        response = call(client, link, ANSWERS_PATH, **fields)
        assert response["open"] == {"will_fix": 1, "accepted": 0, "waiting": 0, "disputed": 0, "fixed": 2}
        return [int(each["answer"]["id"]) for each in response["answers"]], response["total"]

    assert ids() == (pks[:3], 3)
    assert ids(state="ended") == (pks[3:], 1)
    assert ids(state="all") == (pks, 4)
    assert ids(answer="fixed") == ([pks[0], pks[2]], 2)
    assert ids(answer="fixed,will_fix", page=2, page_size=2) == ([pks[2]], 3)
    assert ids(answer="disputed") == ([], 0)


def test_the_list_shows_the_finding_of_each_answer(client, link):
    finding = make_finding(link.website, severity=Severity.HIGH, title="Open panel", rule="panel")
    answer(client, link, "disputed", finding, reason=REASON, evidence="curl shows it")
    row = call(client, link, ANSWERS_PATH)["answers"][0]
    assert (row["finding_id"], row["title"], row["severity"], row["status"], row["location"]) == (
        str(finding.pk),
        "Open panel",
        "High",
        "open",
        finding.location,
    )
    assert (row["answer"]["reason"], row["answer"]["evidence"]) == (REASON, "curl shows it")
    assert row["answer"]["promised_on"] == Case.objects.get().promised_on.isoformat()


# What an account reads is its own


def seen_by(client, link):
    """Every byte that an account reads about the website, without times and positions of this moment."""
    finding = link.website.findings.order_by("pk").first()
    paths = {
        PATH: [{}, {"group_by": "problem"}, {"answer": "none"}, {"due": "none"}, {"assignee": "user-1"}],
        FINDING_PATH: [{"finding_id": str(finding.pk)}],
        ANSWERS_PATH: [{"state": "all"}],
        CHANGES_PATH: [{"days": 7}],
    }
    seen = []
    for path, requests in paths.items():
        for fields in requests:
            response = call(client, link, path, **fields)
            response.pop("cursor", None)
            response.get("dashboard", {}).pop("generated_at", None)
            seen.append(response)
    return seen


def test_an_answer_of_one_account_changes_no_byte_of_what_another_reads(client, link, other, finding):
    second = make_finding(link.website, severity=Severity.HIGH)
    before = seen_by(client, other)
    own_before = seen_by(client, link)
    answer(client, link, "will_fix", finding, assignee="user-1", due=f"{timezone.now():%Y-%m-%d}")
    until = f"{timezone.now() + timedelta(days=30):%Y-%m-%d}"
    answer(client, link, "accepted", second, reason="VPN", until=until)
    answer(client, link, "disputed", finding, reason=REASON)
    call(client, link, MESSAGE_PATH, finding_id=str(finding.pk), text="Please look again.")
    cases.ask(Case.objects.get(), text="Which proxy?", now=timezone.now(), **ANALYST)
    cases.disagree(Case.objects.get(), text="It is open.", now=timezone.now(), **ANALYST)
    answer(client, link, "withdraw", second)
    set_rules = {"portal_account_ref": link.account.ref, "medium_days": 1, "time_zone": "Pacific/Auckland"}
    assert ask(client, set_rules, path=ANSWER_RULES_PATH).status_code == 200
    assert seen_by(client, other) == before
    assert seen_by(client, link) != own_before
    assert SiteLink.objects.get(pk=other.pk).answers_version == 0


def test_the_next_account_of_a_website_gets_no_answers_or_messages(client, link, finding):
    answer(client, link, "disputed", finding, reason=REASON)
    cases.disagree(Case.objects.get(), text="It is open.", now=timezone.now(), **ANALYST)
    link.revoke(by="tests", reason="sold", now=timezone.now())
    heir = make_link(make_account("acct_0002", secrets=(OTHER_SECRET,)), link.website)
    shown = call(client, heir, FINDING_PATH, finding_id=str(finding.pk))
    assert (shown["answer"], shown["past_answers"], shown["messages"]) == (None, [], [])
    assert shown["may_dispute"] is True
    assert call(client, heir, ANSWERS_PATH, state="all")["total"] == 0


# The conversation, and changes


def test_a_finding_shows_its_conversation_in_order(client, link, finding):
    first = make_finding(link.website, severity=Severity.HIGH)
    answer(client, link, "disputed", finding, first, reason=REASON, by="user-1")
    cases.ask(Case.objects.get(), text="Which proxy?", now=timezone.now(), **ANALYST)
    response = call(client, link, MESSAGE_PATH, finding_id=str(finding.pk), text="nginx", by="user-2")
    assert response["promised_on"] == Case.objects.get().promised_on.isoformat()
    cases.disagree(Case.objects.get(), text="It is open.", now=timezone.now(), **ANALYST)
    for each in (finding, first):
        shown = call(client, link, FINDING_PATH, finding_id=str(each.pk))
        assert [(one["side"], one["event"], one["by"], one["text"]) for one in shown["messages"]] == [
            ("member", "disputed", "user-1", REASON),
            ("analyst", "asked", "ada", "Which proxy?"),
            ("member", "message", "user-2", "nginx"),
            ("analyst", "disagreed", "ada", "It is open."),
        ]
        (past,) = shown["past_answers"]
        assert (past["outcome"], past["decision"], past["promised_on"]) == ("disagreed", "It is open.", None)
        assert shown["may_dispute"] is True


def test_a_finding_that_was_disputed_twice_says_so(client, link, finding):
    for evidence in ("first", "second"):
        answer(client, link, "disputed", finding, reason=REASON, evidence=evidence)
        cases.disagree(Case.objects.open().get(), text="It is open.", now=timezone.now(), **ANALYST)
    assert call(client, link, FINDING_PATH, finding_id=str(finding.pk))["may_dispute"] is False


def test_too_many_messages_are_refused_for_a_while(client, link, finding, monkeypatch):
    monkeypatch.setattr("dashboard_api.answers.messages.MAX_OF_PERSON", 1)
    call(client, link, MESSAGE_PATH, finding_id=str(finding.pk), text="One")
    response = ask(client, fields_for(link, finding_id=str(finding.pk), text="Two"), path=MESSAGE_PATH)
    assert (response.status_code, error_of(response)["code"]) == (429, "rate_limited")
    assert 3_500 < int(response["Retry-After"]) <= 3_601


def test_a_message_can_be_changed_by_its_author(client, link, finding):
    own = {"finding_id": str(finding.pk), "by": "user-1"}
    message = call(client, link, MESSAGE_PATH, **own, text="One")["message"]
    edited = call(client, link, MESSAGE_PATH, **own, text="Two", message_id=message["id"])["message"]
    assert (edited["id"], edited["text"]) == (message["id"], "Two")
    assert edited["edited_at"]
    status, error = refused(
        client, link, MESSAGE_PATH, **own | {"by": "user-2"}, text="Three", message_id=message["id"]
    )
    assert (status, error["code"]) == (409, "wrong_state")


def messages(client, link, since):
    response = call(client, link, CHANGES_PATH, since=since)
    return [each["text"] or each["event"] for each in response["messages"]], response["cursor"]


def test_changes_have_each_message_of_analysts_once(client, link, finding, other):
    cursor = call(client, link, CHANGES_PATH)["cursor"]
    answer(client, link, "disputed", finding, reason=REASON)
    answer(client, other, "disputed", finding, reason=REASON)
    found, cursor = messages(client, link, cursor)
    assert found == []
    own = Case.objects.get(account=link.account)
    cases.ask(own, text="Which proxy?", now=timezone.now(), **ANALYST)
    cases.ask(Case.objects.get(account=other.account), text="Not yours", now=timezone.now(), **ANALYST)
    found, later = messages(client, link, cursor)
    assert found == ["Which proxy?"]
    assert messages(client, link, cursor)[0] == ["Which proxy?"]
    cases.disagree(own, text="It is open.", now=timezone.now(), **ANALYST)
    assert messages(client, link, later)[0] == ["It is open."]
    assert messages(client, link, messages(client, link, later)[1])[0] == []


def test_a_cursor_of_an_older_version_is_accepted_and_gets_all_messages(client, link, finding):
    old = call(client, link, CHANGES_PATH)["cursor"].rpartition(".")[0]
    assert old.count(".") == 3
    answer(client, link, "disputed", finding, reason=REASON)
    cases.disagree(Case.objects.get(), text="It is open.", now=timezone.now(), **ANALYST)
    assert messages(client, link, old)[0] == ["It is open."]


def test_many_messages_come_in_parts_and_each_once(client, link, finding, monkeypatch):
    monkeypatch.setattr(limits, "MAX_CHANGES", 3)
    cursor = call(client, link, CHANGES_PATH)["cursor"]
    answer(client, link, "disputed", finding, reason=REASON)
    for number in range(7):
        cases.ask(Case.objects.get(), text=f"Question {number}", now=timezone.now(), **ANALYST)
    seen = []
    for _ in range(5):
        response = call(client, link, CHANGES_PATH, since=cursor)
        cursor = response["cursor"]
        seen += [each["text"] for each in response["messages"]]
        if not response["more"]:
            break
    assert seen == [f"Question {number}" for number in range(7)]


def test_changes_of_days_have_messages_of_these_days(client, link, finding):
    answer(client, link, "disputed", finding, reason=REASON)
    cases.ask(Case.objects.get(), text="Long ago", now=timezone.now() - timedelta(days=9), **ANALYST)
    cases.ask(Case.objects.get(), text="x" * 600, now=timezone.now(), **ANALYST)
    (message,) = call(client, link, CHANGES_PATH, days=7)["messages"]
    assert message["text"] == "x" * 500
    assert (message["finding_id"], message["finding_title"], message["findings"]) == (
        str(finding.pk),
        finding.title,
        1,
    )


def test_the_version_of_a_website_changes_for_the_account_that_answers(client, link, finding, other):
    def versions():
        bodies = ({"portal_account_ref": "acct_0001"}, {"portal_account_ref": "acct_0002"})
        secrets = ({}, {"secret": OTHER_SECRET})
        responses = [
            ask(client, body, path="/v1/account/changes", **secret)
            for body, secret in zip(bodies, secrets, strict=True)
        ]
        return [response.json()["websites"][0]["version"] for response in responses]

    own, others = versions()
    answer(client, link, "disputed", finding, reason=REASON)
    cases.ask(Case.objects.get(), text="Which proxy?", now=timezone.now(), **ANALYST)
    assert versions()[0] != own
    assert versions()[1] == others


# What looks again


def test_without_scans_of_ours_the_next_report_or_an_analyst_decides(client, link, finding):
    look = answer(client, link, "fixed", finding)["next_look"]
    assert (look["by"], look["reason"], look["job_id"]) == ("analyst", "not_scanned_here", None)
    make_coverage(link.website, source=finding.source, last_run_at=timezone.now() - timedelta(days=1))
    look = answer(client, link, "fixed", finding)["next_look"]
    assert (look["by"], look["source_name"]) == ("scanner", finding.source.name)
    assert answer(client, link, "will_fix", finding)["next_look"] is None


@pytest.fixture
def scanned(client, settings):
    """A link to a website that this deployment scans, with a finding of a quick scan."""
    settings.CRAWLER_ENABLED = True
    link = make_link()
    make_finding(link.website, source=make_source("essentials"))
    return link


def test_a_finding_of_our_scans_is_retested_at_once(client, scanned):
    finding = Finding.objects.get()
    look = answer(client, scanned, "fixed", finding)["next_look"]
    job = ScanJob.objects.get()
    assert (look["by"], look["job_id"], look["reason"]) == ("retest", str(job.pk), "")
    assert (job.trigger, job.finding_id, job.account) == ("retest", finding.pk, scanned.account)


def test_many_findings_of_our_scans_are_scanned_once(client, scanned):
    source = make_source("essentials")
    findings = [Finding.objects.get(), make_finding(scanned.website, source=source)]
    look = answer(client, scanned, "fixed", *findings)["next_look"]
    assert look["by"] == "scan"
    assert ScanJob.objects.get().trigger == "hand"


def test_no_scan_begins_for_a_scanner_that_is_not_installed(client, scanned, settings, tmp_path):
    settings.CRAWLER_ENGINES = tmp_path / "engines.toml"
    command = 'command = ["no-such-program", "$address", "$report"]'
    settings.CRAWLER_ENGINES.write_text(f'[[engine]]\nname = "testssl"\noptional = true\n{command}')
    finding = make_finding(scanned.website, source=make_source("testssl"))
    look = answer(client, scanned, "fixed", finding)["next_look"]
    assert (look["by"], look["reason"]) == ("analyst", "not_scanned_here")
    assert not ScanJob.objects.exists()


def test_an_opted_out_website_is_not_scanned(client, scanned):
    ScanOptOut.objects.create(kind="host", value=scanned.website.host, by="ada", reason="asked to")
    look = answer(client, scanned, "fixed", Finding.objects.get())["next_look"]
    assert (look["by"], look["reason"]) == ("analyst", "opted_out")
    assert Answer.objects.open().get().answer == "fixed"


# Rules of the account


def rules(client, ref="acct_0001", **fields):
    response = ask(client, {"portal_account_ref": ref, **fields}, path=ANSWER_RULES_PATH)
    assert response.status_code == 200, response.content
    return response.json()


def test_an_account_reads_and_sets_its_rules(client, link, other):
    none = {
        "ok": True,
        "critical_days": 0,
        "high_days": 0,
        "medium_days": 0,
        "low_days": 0,
        "second_person": False,
        "time_zone": "UTC",
    }
    assert rules(client) == none
    assert not AuditEvent.objects.filter(action="answer_rules.changed").exists()
    changed = {"critical_days": 7, "second_person": True, "time_zone": "Europe/Berlin"}
    assert rules(client, **changed, by="user-1") == none | changed
    assert rules(client, critical_days=7) == none | changed
    event = AuditEvent.objects.get(action="answer_rules.changed")
    assert (event.before["critical_days"], event.after["critical_days"]) == (0, 7)
    assert rules(client, critical_days=0, second_person=False) == none | {"time_zone": "Europe/Berlin"}
    assert not Account.objects.get(ref="acct_0002").second_person


@pytest.mark.parametrize(
    "fields",
    [
        {"high_days": -1},
        {"high_days": limits.MAX_FIX_DAYS + 1},
        {"time_zone": "Europe/Nowhere"},
        {"second_person": 1},
    ],
)
def test_impossible_rules_are_refused(client, link, fields):
    response = ask(client, {"portal_account_ref": "acct_0001", **fields}, path=ANSWER_RULES_PATH)
    assert [each["field"] for each in error_of(response)["errors"]] == list(fields)


def test_a_rule_shows_at_once_in_lists_that_were_read_before(client, link):
    make_finding(link.website, severity=Severity.HIGH, first_seen=timezone.now() - timedelta(days=5))
    assert call(client, link, PATH)["summary"]["overdue"] == 0
    rules(client, high_days=3)
    shown = call(client, link, PATH)
    assert shown["summary"]["overdue"] == 1
    assert shown["threats"][0]["due"] == f"{timezone.now() - timedelta(days=2):%Y-%m-%d}"


# As with every call


@pytest.mark.parametrize("path", [ANSWER_PATH, ANSWERS_PATH, MESSAGE_PATH])
def test_a_revoked_link_or_an_ended_plan_is_refused(client, link, finding, path):
    fields = {
        ANSWER_PATH: {"act": "fixed", "finding_ids": str(finding.pk)},
        ANSWERS_PATH: {},
        MESSAGE_PATH: {"finding_id": str(finding.pk), "text": "Hello"},
    }[path]
    link.revoke(by="tests", reason="asked to", now=timezone.now())
    assert refused(client, link, path, **fields)[1]["code"] == "revoked_link"
    link.account.entitlement.status = "expired"
    link.account.entitlement.save()
    assert refused(client, link, path, **fields)[1]["code"] == "inactive_entitlement"


def test_a_repeated_signature_answers_nothing_twice(client, link, finding):
    body = compact(fields_for(link, act="will_fix", finding_ids=str(finding.pk)))
    headers = signed_headers(body, path=ANSWER_PATH)
    assert post(client, body, headers, path=ANSWER_PATH).status_code == 200
    assert error_of(post(client, body, headers, path=ANSWER_PATH))["code"] == "replayed_nonce"
    assert Answer.objects.count() == 1


def test_each_page_of_answers_has_others(client, link):
    for _ in range(5):
        answer(client, link, "fixed", make_finding(link.website))
    pages = [call(client, link, ANSWERS_PATH, page=page, page_size=2)["answers"] for page in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert len({each["finding_id"] for each in itertools.chain(*pages)}) == 5
