"""Changes since a cursor: the order of checks, the findings and notes, and that none is lost or repeated."""

import io
import json
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.api import response_cache
from dashboard_api.backends.statements import select
from dashboard_api.decisions.triage import decide, reopen
from dashboard_api.importing.ingest import ReportOptions
from dashboard_api.importing.service import ImportOptions, import_file
from dashboard_api.models import AnalystNote, Finding, Severity, Website
from signed_api import limits as contract_limits
from tests.dashboard_api.calls import (
    CHANGES_PATH,
    PATH,
    ask,
    compact,
    error_of,
    fields_for,
    post,
    signed_headers,
)
from tests.dashboard_api.scanners.samples import json_lines, make_result, make_row, make_tools
from tests.factories import (
    make_account,
    make_event,
    make_finding,
    make_import_run,
    make_link,
    make_note,
    make_source,
    make_website,
)

pytestmark = pytest.mark.django_db
THEN = datetime(2026, 3, 4, 12, tzinfo=UTC)
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT COUNT(*) FROM n"

# Of the caller: secrets and link, nonce. Of the changes: newest, notes, returned, new, their words.
STATEMENTS = 7


@pytest.fixture
def link():
    return make_link()


def read_changes(client, link, since=None, **fields):
    response = ask(client, fields_for(link, since=since, **fields), path=CHANGES_PATH)
    assert response.status_code == 200, response.content
    return response.json()


def cursor(client, link):
    return read_changes(client, link)["cursor"]


def ids(changes):
    return [change["id"] for change in changes["findings"]]


def notes(changes):
    return [note["id"] for note in changes["analyst_notes"]]


def midnight(days_ago):
    """The beginning of a day of UTC."""
    return timezone.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days_ago)


# The order of checks, which is that of the dashboard


def test_the_checks_come_in_the_order_of_the_contract(client, link):
    """Each row corrects the error of the row before, and still has all later errors."""
    body = compact(fields_for(link, since="yesterday", host="other.example.com"))
    fresh = signed_headers(body, path=CHANGES_PATH)
    stale = signed_headers(body, path=CHANGES_PATH, now=1)
    forged = signed_headers(body, path=CHANGES_PATH, secret="another-secret-0001")
    link.revoke(by="tests", reason="asked to", now=link.created_at)
    link.account.entitlement.status = "expired"
    link.account.entitlement.save()

    def code(headers=fresh, body=body, *, path=CHANGES_PATH, **environ):
        return error_of(post(client, body, headers, path=path, **environ))["code"]

    def refusal(**fields):
        return error_of(ask(client, fields_for(link, **fields), path=CHANGES_PATH))["code"]

    assert code(stale, path=CHANGES_PATH + "/") == "not_found"
    assert error_of(client.put(CHANGES_PATH + "?a=1"))["code"] == "method_not_allowed"
    assert code(stale, QUERY_STRING="a=1", CONTENT_TYPE="text/plain") == "unexpected_query"
    assert code(stale, CONTENT_TYPE="text/plain", CONTENT_LENGTH="9999") == "unsupported_media_type"
    assert code({}, CONTENT_LENGTH="9999") == "body_too_large"
    assert code({}, b"[]") == "invalid_signature"
    assert code(stale, b"[]") == "stale_timestamp"
    assert code(signed_headers(b"[]", path=CHANGES_PATH), b"[]") == "malformed_json"
    assert code(forged) == "invalid_signature"
    assert code() == "invalid_request"
    assert code() == "replayed_nonce"
    assert refusal(host="other.example.com") == "unknown_link"
    assert refusal() == "inactive_entitlement"
    link.account.entitlement.status = "active"
    link.account.entitlement.save()
    assert refusal() == "revoked_link"
    link.restore(by="tests", reason="asked to", now=link.created_at)
    assert read_changes(client, link)["ok"] is True


@pytest.mark.parametrize(("signed", "sent"), [(PATH, CHANGES_PATH), (CHANGES_PATH, PATH)])
def test_a_signature_holds_for_its_own_path_only(client, link, signed, sent):
    body = compact(fields_for(link))
    response = post(client, body, signed_headers(body, path=signed), path=sent)
    assert (response.status_code, error_of(response)["reason"]) == (401, "mismatch")


@pytest.mark.parametrize(
    "since",
    [
        *("yesterday", "1.2.3", "-1.2.3.", "1.2.3.4-", "1.2.3.\u0661", "1.2.3.\n", "0.0.999999999999."),
        *(f"{2**63}.0.0.", f"0.{2**63}.0.", f"0.0.0.{2**63}", "1.1.1." + "-".join(["1"] * 2000)),
        *(1, True, ["1.2.3."]),
    ],
)
def test_what_was_never_a_cursor_is_refused(client, link, since):
    response = ask(client, fields_for(link, since=since), path=CHANGES_PATH)
    assert response.status_code == 400
    assert [entry["field"] for entry in error_of(response)["errors"]] == ["since"]


@pytest.mark.parametrize("since", ["0.0.0.", "0.0.99999999999.", f"{2**63 - 1}.{2**63 - 1}.1.{2**63 - 1}"])
def test_a_cursor_at_its_bounds_is_answered(client, link, since):
    make_finding(link.website)
    assert read_changes(client, link, since)["ok"] is True


# What is returned


def test_without_a_cursor_only_a_cursor_is_returned(client, link):
    make_event(make_finding(link.website))
    make_note(link.website)
    changes = read_changes(client, link)
    assert list(changes) == [
        "ok", "host", "cursor", "findings", "total", "total_relation", "by_severity", "analyst_notes",
        "more", "first_seen_count", "messages",
    ]  # fmt: skip
    assert (changes["findings"], changes["total"], changes["analyst_notes"]) == ([], 0, [])
    again = read_changes(client, link, changes["cursor"])
    assert (again["findings"], again["total"], again["analyst_notes"]) == ([], 0, [])


def test_the_first_cursor_of_a_new_link_is_before_the_first_import_of_the_website(client, link):
    make_finding(link.website)
    make_import_run(link.website)
    first = read_changes(client, link)
    assert (first["findings"], first["more"]) == ([], True)
    assert len(ids(read_changes(client, link, first["cursor"]))) == 1


@pytest.mark.parametrize(
    ("imported", "linked"),
    [
        (timedelta(hours=2), timedelta(hours=1)),
        (timedelta(hours=2), limits.NEW_LINK_PERIOD + timedelta(hours=1)),
    ],
    ids=["checked before the link", "linked long ago"],
)
def test_any_other_first_cursor_is_after_all_imports(client, link, imported, linked):
    now = timezone.now()
    link.created_at = now - linked
    link.save()
    make_finding(link.website)
    make_import_run(link.website, imported_at=now - imported)
    assert ids(read_changes(client, link, cursor(client, link))) == []


def test_new_findings_are_returned_once_and_worst_first(client, link):
    make_finding(link.website, severity=Severity.CRITICAL)
    begin = cursor(client, link)
    severities = (Severity.LOW, Severity.HIGH, Severity.CRITICAL, Severity.HIGH)
    made = [make_finding(link.website, severity=severity) for severity in severities]
    changes = read_changes(client, link, begin)
    assert ids(changes) == [str(made[number].pk) for number in (2, 3, 1, 0)]
    assert changes["findings"][0] == {
        "event": "new",
        "at": f"{made[2].first_seen:%Y-%m-%dT%H:%M:%S.%f}Z",
        "id": str(made[2].pk),
        "severity": "Critical",
        "title": made[2].title,
        "location": made[2].location,
        "problem": made[2].problem,
        "fix": "",
    }
    assert (changes["total"], changes["total_relation"]) == (4, "exact")
    assert changes["by_severity"] == {"Critical": 1, "High": 2, "Medium": 0, "Low": 1, "Info": 0}
    assert ids(read_changes(client, link, changes["cursor"])) == []


def test_a_finding_that_is_no_longer_open_is_not_returned(client, link):
    begin = cursor(client, link)
    for status in ("false_positive", "accepted_risk"):
        make_finding(link.website, status=status)
    make_event(make_finding(link.website, status="fixed", fixed_at=THEN))
    assert ids(read_changes(client, link, begin)) == []


def test_a_change_names_its_problem_and_its_fix(client, link):
    begin = cursor(client, link)
    finding = make_finding(link.website, rule="sqli", remediation="Use parameters. Then test again.")
    (change,) = read_changes(client, link, begin)["findings"]
    assert (change["problem"], change["fix"]) == (finding.problem, "Use parameters.")


def test_a_regression_is_returned_with_its_time(client, link):
    finding = make_finding(link.website, severity=Severity.LOW)
    begin = cursor(client, link)
    make_event(finding, "fixed", at=THEN)
    make_event(finding, "regressed", at=THEN + timedelta(days=1))
    make_event(finding, "rated", at=THEN + timedelta(days=2))
    changes = read_changes(client, link, begin)
    (change,) = changes["findings"]
    assert (change["event"], change["id"], change["at"]) == (
        "regressed", str(finding.pk), "2026-03-05T12:00:00Z",
    )  # fmt: skip
    assert changes["by_severity"]["Low"] == changes["total"] == 1
    assert ids(read_changes(client, link, changes["cursor"])) == []


def test_a_finding_is_returned_once_however_often_it_came_back(client, link):
    old = make_finding(link.website)
    begin = cursor(client, link)
    new = make_finding(link.website)
    for day in (1, 2):
        make_event(old, at=THEN + timedelta(days=day))
        make_event(new, at=THEN + timedelta(days=day))
    changes = read_changes(client, link, begin)
    assert [(change["id"], change["event"]) for change in changes["findings"]] == [
        (str(new.pk), "new"),
        (str(old.pk), "regressed"),
    ]
    assert changes["findings"][1]["at"] == "2026-03-06T12:00:00Z"
    assert changes["total"] == 2


def test_what_analysts_decide_and_take_back_is_neither_new_nor_a_regression(client, link):
    said = {"by": "ada", "reason": "We looked.", "now": timezone.now()}
    finding = make_finding(link.website)
    decide(finding, "false_positive", **said)
    begin = cursor(client, link)
    reopen(finding, **said)
    assert ids(read_changes(client, link, begin)) == []


@pytest.mark.parametrize(("floor", "count"), [(None, 5), ("Info", 5), ("high", 2), ("Critical", 1)])
def test_a_floor_leaves_out_what_is_milder(client, link, floor, count):
    returned = [make_finding(link.website, severity=severity) for severity in Severity]
    begin = cursor(client, link)
    for finding in returned:
        make_event(finding)
        make_finding(link.website, severity=finding.severity)
    changes = read_changes(client, link, begin, min_severity=floor)
    assert changes["total"] == len(changes["findings"]) == 2 * count


def test_a_lower_min_severity_later_returns_nothing_old(client, link):
    begin = cursor(client, link)
    make_finding(link.website, severity=Severity.LOW)
    make_event(make_finding(link.website, severity=Severity.LOW))
    after = read_changes(client, link, begin, min_severity="High")["cursor"]
    assert ids(read_changes(client, link, after)) == []


def bring(website, *rules, day):
    """Import a complete report with these rules, in one file for all its tools."""
    seen = f"2026-03-{day:02}T10:00:00Z"
    rows = [make_row(template_id=rule, timestamp=seen) for rule in rules]
    file = io.BytesIO(json_lines(*rows))
    complete = ReportOptions(complete=True)
    import_file(file, website, ImportOptions(file_name=f"{day}.jsonl", by="tests", report=complete))


def test_what_each_import_changed_can_be_asked_for_one_by_one(client, link):
    link.created_at = midnight(2)
    link.save()
    bring(link.website, "old", "older", day=1)
    since = cursor(client, link)
    bring(link.website, "old", "new", day=2)
    bring(link.website, "new", day=3)
    bring(link.website, "new", "newest", "older", day=4)
    steps = []
    more = True
    while more:
        changes = read_changes(client, link, since, until="next_import")
        since, more = changes["cursor"], changes["more"]
        rules = Finding.objects.in_bulk(ids(changes))
        steps.append([(rules[int(each["id"])].rule, each["event"]) for each in changes["findings"]])
    assert steps == [[("new", "new")], [("newest", "new"), ("older", "regressed")]]
    assert read_changes(client, link, since, until="next_import")["findings"] == []


def test_without_until_all_imports_are_returned_together(client, link):
    since = cursor(client, link)
    bring(link.website, "one", day=1)
    bring(link.website, "one", "two", day=2)
    changes = read_changes(client, link, since)
    assert (changes["total"], changes["more"]) == (2, False)


def test_what_no_import_is_known_to_have_changed_comes_last(client, link):
    since = cursor(client, link)
    bring(link.website, "one", day=1)
    make_finding(link.website)
    first = read_changes(client, link, since, until="next_import")
    assert (first["total"], first["more"]) == (1, True)
    second = read_changes(client, link, first["cursor"], until="next_import")
    assert (second["total"], second["more"]) == (1, False)


def test_tools_of_one_file_are_one_import(client, link):
    since = cursor(client, link)
    tools = make_tools(("One", [make_result()]), ("Two", [make_result()]))
    file = io.BytesIO(json.dumps(tools).encode())
    import_file(file, link.website, ImportOptions(file_name="all.sarif", by="tests"))
    changes = read_changes(client, link, since, until="next_import")
    assert (changes["total"], changes["more"]) == (2, False)


def test_a_note_is_returned_with_the_first_import_and_not_again(client, link):
    since = cursor(client, link)
    make_note(link.website)
    bring(link.website, "one", day=1)
    bring(link.website, "one", "two", day=2)
    first = read_changes(client, link, since, until="next_import")
    second = read_changes(client, link, first["cursor"], until="next_import")
    assert (len(notes(first)), len(notes(second))) == (1, 0)


def test_other_websites_changes_are_theirs(client, link):
    begin = cursor(client, link)
    other = make_website("other.example.com")
    make_event(make_finding(other))
    make_note(other)
    changes = read_changes(client, link, begin)
    assert (changes["findings"], changes["analyst_notes"]) == ([], [])


def test_many_changes_are_bounded_and_their_number_says_so(client, link, monkeypatch):
    monkeypatch.setattr(contract_limits, "MAX_CHANGES", 3)
    monkeypatch.setattr(contract_limits, "MAX_COUNTED_CHANGES", 5)
    begin = cursor(client, link)
    for _ in range(5):
        make_finding(link.website)
        make_finding(link.website, severity=Severity.HIGH)
    changes = read_changes(client, link, begin)
    assert (len(changes["findings"]), changes["total"], changes["total_relation"]) == (3, 10, "exact")
    assert {change["severity"] for change in changes["findings"]} == {"High"}
    make_finding(link.website)
    changes = read_changes(client, link, begin)
    assert (changes["total"], changes["total_relation"]) == (10, "at_least")
    assert changes["by_severity"] == {"Critical": 0, "High": 5, "Medium": 5, "Low": 0, "Info": 0}


def test_regressions_are_counted_in_addition_to_the_counted_new_findings(client, link, monkeypatch):
    monkeypatch.setattr(contract_limits, "MAX_COUNTED_CHANGES", 2)
    old = [make_finding(link.website) for _ in range(2)]
    begin = cursor(client, link)
    new = [make_finding(link.website) for _ in range(2)]
    for finding in old + new:
        make_event(finding)
    changes = read_changes(client, link, begin)
    assert (changes["total"], changes["total_relation"]) == (4, "exact")
    make_event(make_finding(link.website))
    changes = read_changes(client, link, begin)
    assert (changes["total"], changes["total_relation"]) == (4, "at_least")
    assert [change["event"] for change in changes["findings"]] == ["new", "new", "regressed", "regressed"]


def test_many_regressions_are_bounded_too(client, link, monkeypatch):
    monkeypatch.setattr(contract_limits, "MAX_REGRESSIONS", 3)
    findings = [make_finding(link.website) for _ in range(4)]
    begin = cursor(client, link)
    for finding in findings[:3]:
        make_event(finding)
    assert read_changes(client, link, begin)["total_relation"] == "exact"
    make_event(findings[3])
    changes = read_changes(client, link, begin)
    assert (changes["total"], changes["total_relation"]) == (3, "at_least")
    assert ids(read_changes(client, link, changes["cursor"])) == []


# Notes


def test_notes_are_those_that_the_account_can_read_newest_first(client, link):
    finding = make_finding(link.website, title="Old jQuery")
    begin = cursor(client, link)
    for_all = make_note(link.website, author="Robin", finding=finding)
    for_them = make_note(link.website, account=link.account)
    make_note(link.website, is_internal=True)
    make_note(link.website, account=make_account("acct_0002", secrets=[]))
    changes = read_changes(client, link, begin)
    assert notes(changes) == [str(for_them.pk), str(for_all.pk)]
    assert changes["analyst_notes"][1] == {
        "id": str(for_all.pk),
        "finding_id": str(finding.pk),
        "finding_title": "Old jQuery",
        "author": "Robin",
        "published_at": f"{for_all.published_at:%Y-%m-%dT%H:%M:%S.%f}Z",
    }
    assert notes(read_changes(client, link, changes["cursor"])) == []


def test_a_note_is_returned_when_it_is_published_and_not_when_it_was_written(client, link):
    note = make_note(link.website, is_internal=True)
    begin = cursor(client, link)
    note.is_internal = False
    note.save()
    changes = read_changes(client, link, begin)
    assert notes(changes) == [str(note.pk)]
    note.body = "Better words."
    note.save()
    assert notes(read_changes(client, link, changes["cursor"])) == []


def test_a_note_is_returned_to_the_account_that_it_is_addressed_to_later(client, link):
    note = make_note(link.website, account=make_account("acct_0002", secrets=[]))
    begin = cursor(client, link)
    note.account = None
    note.save()
    assert notes(read_changes(client, link, begin)) == [str(note.pk)]


def test_an_old_note_is_not_returned_when_its_text_changes(client, link):
    note = make_note(link.website)
    type(note).objects.filter(pk=note.pk).update(published_at=THEN)
    begin = cursor(client, link)
    note.refresh_from_db()
    note.body = "Better words."
    note.save()
    assert note.published_at == THEN
    assert notes(read_changes(client, link, begin)) == []


def test_a_note_whose_saving_took_longer_than_the_next_question_is_not_lost(client, link):
    """It got its time first, and could be seen only after the changes that was given meanwhile."""
    begun = timezone.now() - timedelta(minutes=1)
    make_note(link.website)
    begin = cursor(client, link)
    late = make_note(link.website)
    type(late).objects.filter(pk=late.pk).update(published_at=begun)
    changes = read_changes(client, link, begin)
    assert notes(changes) == [str(late.pk)]
    assert notes(read_changes(client, link, changes["cursor"])) == []


def test_a_cursor_names_only_notes_that_will_be_looked_at_again(client, link):
    recent, old = make_note(link.website), make_note(link.website)
    type(old).objects.filter(pk=old.pk).update(published_at=timezone.now() - 2 * limits.NOTE_OVERLAP)
    changes = read_changes(client, link, "0.0.1.")
    assert notes(changes) == [str(recent.pk), str(old.pk)]
    assert changes["cursor"].endswith(f".{recent.pk}.0")


# Nothing is lost, and no changes depends on how much there is


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", [make_finding, lambda site: make_event(site.findings.first())])
def test_what_an_import_commits_after_another_websites_is_not_lost(client, link, change):
    """Ids are given out when rows are written; on PostgreSQL they can be seen in another order."""
    other = make_website("other.example.com")
    make_finding(link.website), make_finding(other)
    begin = cursor(client, link)
    wrote, may_end = Event(), Event()

    def slow_import():
        with transaction.atomic():
            Website.objects.select_for_update().get(pk=link.website_id)
            change(link.website)
            wrote.set()
            may_end.wait(timeout=30)
        connections.close_all()

    thread = Thread(target=slow_import)
    thread.start()
    assert wrote.wait(timeout=30)
    if connection.vendor == "postgresql":  # on SQLite it would wait for its turn
        change(other)
    between = read_changes(client, link, begin)
    may_end.set()
    thread.join()
    assert (ids(between), len(ids(read_changes(client, link, between["cursor"])))) == ([], 1)


def test_statements_do_not_grow_with_what_changed(client, link):
    def statements():
        with ExitStack() as stack:
            made = [stack.enter_context(CaptureQueriesContext(connections[name])) for name in connections]
            changes = read_changes(client, link, "0.0.0.")
        return sum(map(len, made)), changes["total"]

    for number in range(2):
        make_event(make_finding(link.website, source=make_source(f"engine-{number}")))
    read_changes(client, link, "0.0.0.")
    assert statements() == (STATEMENTS, 2)
    for number in range(20):
        make_event(make_finding(link.website, source=make_source(f"engine-{number}")))
        make_note(link.website)
    assert statements() == (STATEMENTS, 22)


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_takes_too_long_is_given_up(client, link, monkeypatch):
    monkeypatch.setattr(limits, "STATEMENT_SECONDS", 0.05)
    monkeypatch.setattr(response_cache, "build_changes", lambda *_: select(Finding, ENDLESS, []))
    error = error_of(ask(client, fields_for(link), path=CHANGES_PATH))
    assert (error["code"], error["reason"]) == ("unavailable", "slow_question")


def test_the_cursor_is_of_the_moment_of_the_question(client, link):
    before = int(time.time())
    assert before <= int(cursor(client, link).split(".")[2]) <= int(time.time())


# The last days


@pytest.mark.parametrize("days", [0, 32, "7", 1.5, True])
def test_days_that_cannot_be_asked_for_are_refused(client, link, days):
    assert error_of(ask(client, fields_for(link, days=days), path=CHANGES_PATH))["code"] == "invalid_request"


def test_days_are_asked_for_in_place_of_a_cursor(client, link):
    since = cursor(client, link)
    response = ask(client, fields_for(link, days=7, since=since), path=CHANGES_PATH)
    assert error_of(response)["errors"] == [
        {"field": "days", "message": "must not be given with since or until"}
    ]


def test_the_last_days_hold_what_was_first_seen_in_them_and_is_open(client, link):
    site = link.website
    new = [make_finding(site, first_seen=midnight(days_ago)) for days_ago in (0, 6)]
    make_finding(site, first_seen=midnight(6) - timedelta(seconds=1))
    make_finding(site, first_seen=midnight(1), status="fixed", fixed_at=timezone.now())
    changes = read_changes(client, link, days=7)
    assert sorted(ids(changes)) == sorted(str(finding.pk) for finding in new)
    assert changes["total"] == 2
    assert changes["first_seen_count"] == 3
    assert changes["first_seen_count"] == ask(client, fields_for(link)).json()["summary"]["new_7d"]


def test_the_last_days_hold_what_came_back_and_the_notes_of_these_days(client, link):
    old = make_finding(link.website, first_seen=midnight(40))
    make_event(old, at=midnight(6) - timedelta(seconds=1))
    recent, earlier = make_note(link.website), make_note(link.website)
    for note, at in ((recent, midnight(5)), (earlier, midnight(7))):
        AnalystNote.objects.filter(pk=note.pk).update(published_at=at)
    changes = read_changes(client, link, days=7)
    assert (ids(changes), changes["first_seen_count"]) == ([], 0)
    assert notes(changes) == [str(recent.pk)]
    make_event(old, at=midnight(6))
    assert [change["event"] for change in read_changes(client, link, days=7)["findings"]] == ["regressed"]


def test_what_an_earlier_import_brought_is_not_read_again(client, link):
    old = make_finding(link.website, first_seen=midnight(20))
    make_import_run(link.website, imported_at=midnight(9), newest_finding_id=old.pk, newest_event_id=0)
    found = make_finding(link.website, first_seen=midnight(2))
    make_import_run(link.website, imported_at=midnight(2), newest_finding_id=found.pk, newest_event_id=0)
    with CaptureQueriesContext(connection) as queries:
        assert ids(read_changes(client, link, days=7)) == [str(found.pk)]
    assert any(f"id > {old.pk}" in query["sql"] for query in queries)


def test_without_days_nothing_is_counted_by_them(client, link):
    assert read_changes(client, link)["first_seen_count"] is None


def test_the_cursor_of_the_last_days_leads_on_from_now(client, link):
    make_finding(link.website)
    since = read_changes(client, link, days=7)["cursor"]
    later = make_finding(link.website)
    assert ids(read_changes(client, link, since)) == [str(later.pk)]
