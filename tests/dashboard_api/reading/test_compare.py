"""Two runs compared: equal to a replay with full snapshots, honest about what is unknown, and by index."""

import json
from contextlib import suppress
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dashboard_api.decisions import standing, triage
from dashboard_api.importing import ended_decisions
from dashboard_api.importing.undo import undo
from dashboard_api.models import Finding, ImportRun, ScanJob, Severity, Source, StandingDecision
from signed_api.compare import GROUPS, LISTED
from tests.dashboard_api.calls import COMPARE_PATH, ask, error_of, fields_for
from tests.dashboard_api.importing.reports import import_bytes
from tests.factories import (
    make_account,
    make_engine_run,
    make_import_run,
    make_link,
    make_website,
)

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
FAILED = {"checked": "/", "error": "no answer"}


@pytest.fixture
def link():
    return make_link()


def report(*lines, source="watch", age=0, complete=True, version="1"):
    """Return a report of now, or of some days ago."""
    at = (timezone.now() - age * DAY).isoformat()
    scan = {"scan": "findings/1", "source": source, "version": version, "scanned_at": at}
    return "\n".join(json.dumps(line) for line in (scan, *lines, {"complete": complete})).encode()


def finding(rule, severity="high"):
    location = f"https://shop.example.com/{rule}"
    return {"finding": rule, "matcher": rule, "title": rule, "severity": severity, "location": location}


def bring(website, *lines, **options):
    """Import a report with these lines; return the run."""
    import_bytes(report(*lines, **options), website, base_url="https://shop.example.com")
    return ImportRun.objects.order_by("pk").last()


def find(rule):
    return Finding.objects.get(rule=rule)


def decide(status, rule="a"):
    triage.decide(find(rule), status, by="ann", reason="Checked", now=timezone.now())


def reopen(rule="a"):
    triage.reopen(find(rule), by="ann", reason="Checked", now=timezone.now())


def rate(severity, rule="a"):
    triage.override_severity(find(rule), severity, by="ann", reason="Checked", now=timezone.now())


def take_back(run):
    undo(run, by="ann", reason="The wrong file", now=timezone.now())


def compared(client, link, **fields):
    """Return the whole answer about two runs: models become their ids."""
    sent = {name: str(value.pk) if isinstance(value, ImportRun) else value for name, value in fields.items()}
    response = ask(client, fields_for(link, **sent), path=COMPARE_PATH)
    assert response.status_code == 200, response.content
    return response.json()


def between(client, link, earlier, later, **fields):
    return compared(client, link, **{"from": earlier, "to": later}, **fields)


def refused(client, link, **fields):
    response = ask(client, fields_for(link, **fields), path=COMPARE_PATH)
    return response.status_code, error_of(response)["code"]


def counts(answer):
    return {group["name"]: group["count"] for group in answer["groups"]}


def rules(answer, name):
    (group,) = [group for group in answer["groups"] if group["name"] == name]
    return [row["rule"] for row in group["findings"]]


def some(**numbers):
    return dict.fromkeys(GROUPS, 0) | numbers


# The groups


def test_each_finding_is_in_the_group_of_what_happened_to_it(client, link):
    site = link.website
    bring(site, *map(finding, ["back", "gone", "answered", "rated", "stays", "refuted"]))
    earlier = bring(site, *map(finding, ["gone", "answered", "rated", "stays", "refuted"]))
    decide("accepted_risk", "answered")
    decide("false_positive", "refuted")
    rate(Severity.LOW, "rated")
    later = bring(site, *map(finding, ["back", "answered", "rated", "stays", "refuted", "fresh"]))
    answer = between(client, link, earlier, later)
    assert counts(answer) == some(new=1, came_back=1, fixed=1, answered=2, re_rated=1, still_open=2)
    assert {name: rules(answer, name) for name in LISTED} == {
        "new": ["fresh"],
        "came_back": ["back"],
        "fixed": ["gone"],
        "answered": ["refuted", "answered"],
        "re_rated": ["rated"],
        "not_reported": [],
    }
    assert (answer["earlier"]["open"], answer["later"]["open"]) == (5, 4)


def test_a_row_has_severity_and_status_after_both_runs(client, link):
    earlier = bring(link.website, finding("a", "high"))
    later = bring(link.website, finding("a", "critical"), finding("b", "low"))
    rate(Severity.INFO)
    answer = between(client, link, earlier, later)
    row = answer["groups"][GROUPS.index("re_rated")]["findings"][0]
    assert (row["severity_before"], row["severity"]) == ("High", "Critical")
    assert (row["status_before"], row["status"]) == ("open", "open")
    row = answer["groups"][GROUPS.index("new")]["findings"][0]
    assert (row["severity_before"], row["status_before"], row["severity"]) == (None, None, "Low")


def test_the_scanners_own_rating_is_no_event_for_customers(client, link):
    bring(link.website, finding("a", "high"))
    bring(link.website, finding("a", "critical"))
    assert find("a").events.get().event == "scanner_rated"
    fields = fields_for(link, finding_id=str(find("a").pk))
    timeline = ask(client, fields, path="/v1/site/finding").json()["finding"]["timeline"]
    assert [event["event"] for event in timeline] == ["first_seen", "last_seen"]


def test_what_happens_after_the_later_run_does_not_count(client, link):
    earlier = bring(link.website, finding("a"))
    later = bring(link.website, finding("a"), finding("b"))
    before = between(client, link, earlier, later)
    decide("accepted_risk", "a")
    bring(link.website, finding("c", "low"))
    assert between(client, link, earlier, later) == before


def test_a_finding_that_came_and_went_in_between_is_in_no_group(client, link):
    earlier = bring(link.website, finding("a"))
    bring(link.website, finding("a"), finding("b"))
    later = bring(link.website, finding("a"))
    assert counts(between(client, link, earlier, later)) == some(still_open=1)


def test_a_rule_that_no_earlier_run_had_is_a_new_check(client, link):
    bring(link.website, finding("once"))
    earlier = bring(link.website, finding("a"))
    moved = finding("once") | {"matcher": "other"}
    later = bring(link.website, finding("a"), finding("unseen"), moved)
    (group,) = [each for each in between(client, link, earlier, later)["groups"] if each["name"] == "new"]
    assert {row["rule"]: row["new_check"] for row in group["findings"]} == {"once": False, "unseen": True}
    assert group["new_checks"] == 1


def test_findings_of_other_scanners_do_not_count(client, link):
    earlier = bring(link.website, finding("a"))
    bring(link.website, finding("x"), finding("y"), source="other")
    later = bring(link.website, finding("a"), finding("b"))
    answer = between(client, link, earlier, later)
    assert (counts(answer), answer["source"]) == (some(new=1, still_open=1), "watch")


def test_findings_of_a_run_that_was_taken_back_do_not_count(client, link):
    earlier = bring(link.website, finding("a"), finding("b"))
    wrong = bring(link.website, finding("b", "low"), finding("c"))
    take_back(wrong)
    later = bring(link.website, finding("a"), finding("b"))
    assert counts(between(client, link, earlier, later)) == some(still_open=2)
    assert refused(client, link, **{"from": str(earlier.pk), "to": str(wrong.pk)}) == (404, "unknown_run")


def test_a_rating_since_a_run_that_was_taken_back_begins_where_the_run_did(client, link):
    earlier = bring(link.website, finding("a", "low"))
    wrong = bring(link.website, finding("a", "critical"))
    rate(Severity.MEDIUM)
    take_back(wrong)
    later = bring(link.website, finding("a", "low"))
    (row,) = between(client, link, earlier, later)["groups"][GROUPS.index("re_rated")]["findings"]
    assert (row["severity_before"], row["severity"]) == ("Low", "Medium")


# Partial and failed runs


@pytest.mark.parametrize(
    ("lines", "options", "state"),
    [([finding("a")], {"complete": False}, "partial"), ([FAILED], {}, "failed")],
    ids=["partial", "failed"],
)
def test_a_run_that_is_not_complete_fixes_nothing(client, link, lines, options, state):
    earlier = bring(link.website, finding("a"), finding("b"))
    later = bring(link.website, *lines, **options)
    answer = between(client, link, earlier, later)
    missing = ["b"] if state == "partial" else ["b", "a"]
    assert counts(answer) == some(not_reported=len(missing), still_open=2)
    assert rules(answer, "not_reported") == missing
    assert (answer["later"]["state"], answer["differences"]) == (state, ["partial"])


def test_what_an_older_partial_run_did_not_list_is_known_while_its_journal_is_kept(client, link):
    earlier = bring(link.website, finding("a"), finding("b"))
    later = bring(link.website, finding("a"), complete=False)
    bring(link.website, finding("a"), finding("b"))
    assert rules(between(client, link, earlier, later), "not_reported") == ["b"]
    later.changes.all().delete()
    answer = between(client, link, earlier, later)
    group = answer["groups"][GROUPS.index("not_reported")]
    assert (group["count"], group["reason"], group["findings"]) == (None, "expired", [])
    assert counts(answer)["still_open"] == 2


# Which runs


def test_the_default_is_the_last_complete_run_and_the_one_before(client, link):
    first = bring(link.website, finding("a"))
    bring(link.website, finding("a"), complete=False)
    last = bring(link.website, finding("a"))
    bring(link.website, FAILED)
    bring(link.website, finding("x"), source="other")
    answer = compared(client, link)
    assert (answer["earlier"]["id"], answer["later"]["id"]) == (str(first.pk), str(last.pk))
    assert compared(client, link, to=last) == answer
    assert compared(client, link, **{"from": first}) == answer
    assert compared(client, link, source="watch") == answer
    assert refused(client, link, source="other") == (404, "unknown_run")


def test_a_run_of_another_website_or_scanner_is_unknown(client, link):
    own = bring(link.website, finding("a"))
    last = bring(link.website, finding("a"))
    other = bring(link.website, finding("a"), source="other")
    foreign = make_import_run(make_website("other.example.com"), source=own.source)
    for run in (other, foreign):
        assert refused(client, link, **{"from": str(own.pk), "to": str(run.pk)}) == (404, "unknown_run")
    assert refused(client, link, **{"from": str(own.pk), "to": "999999999"}) == (404, "unknown_run")
    assert refused(client, link, **{"from": str(last.pk), "to": str(own.pk)}) == (400, "invalid_request")
    assert refused(client, link, source="other", to=str(last.pk)) == (404, "unknown_run")


def test_another_accounts_run_is_a_404_like_one_that_does_not_exist(client, link):
    stranger = make_link(
        make_account("acct_0002", secrets=["secret-of-the-other"]), make_website("other.example.com")
    )
    own, last = (bring(link.website, finding("a")) for _ in range(2))
    fields = {"from": str(own.pk), "to": str(last.pk)}
    answers = [
        ask(client, fields_for(stranger, **each), path=COMPARE_PATH, secret="secret-of-the-other")
        for each in (fields, {"from": "999999998", "to": "999999999"})
    ]
    bodies = {each.content.replace(each["X-Request-Id"].encode(), b"") for each in answers}
    assert ({each.status_code for each in answers}, len(bodies)) == ({404}, 1)


# How the runs differ


def test_other_versions_scopes_and_profiles_are_said(client, link):
    first = bring(link.website, finding("a"), version="1")
    away = finding("b") | {"location": "https://www.shop.example.com/"}
    second = bring(link.website, finding("a"), away, version="2")
    answer = between(client, link, first, second)
    assert answer["differences"] == ["version", "scope"]
    assert answer["unknown_differences"] == ["profile"]
    for run, profile in ((first, "quick"), (second, "deep")):
        ended = {"state": "failed", "started_at": timezone.now(), "ended_at": timezone.now()}
        job = ScanJob.objects.create(website=link.website, profile=profile, trigger="hand", **ended)
        make_engine_run(job, import_run=run)
    answer = between(client, link, first, second)
    assert [answer[name]["profile"] for name in ("earlier", "later")] == ["quick", "deep"]
    assert answer["differences"] == ["version", "scope", "profile"]
    assert answer["unknown_differences"] == []


def test_runs_of_an_earlier_release_are_not_guessed_at(client, link):
    earlier = bring(link.website, finding("a"))
    later = bring(link.website, finding("b"))
    ImportRun.objects.filter(pk=earlier.pk).update(last_event_id=None, last_finding_id=None, version=None)
    answer = between(client, link, earlier, later)
    assert counts(answer) == dict.fromkeys(GROUPS)
    assert {group["reason"] for group in answer["groups"]} == {"not_recorded"}
    assert (answer["earlier"]["version"], answer["earlier"]["open"]) == (None, None)
    assert "version" in answer["unknown_differences"]


# Rows by page


def test_one_group_can_be_read_page_by_page(client, link):
    earlier = bring(link.website)
    later = bring(link.website, *(finding(f"r{number:02}") for number in range(45)))
    assert len(rules(between(client, link, earlier, later), "new")) == 20
    pages = [
        rules(between(client, link, earlier, later, group="new", page=page, page_size=30), "new")
        for page in (1, 2, 3)
    ]
    assert list(map(len, pages)) == [30, 15, 0]
    assert len({rule for page in pages for rule in page}) == 45
    other = between(client, link, earlier, later, group="fixed")
    assert (rules(other, "new"), counts(other)["new"]) == ([], 45)
    assert refused(client, link, page=2) == (400, "invalid_request")


def test_the_number_of_statements_does_not_depend_on_the_number_of_findings(client, link):
    def statements(number):
        bring(link.website, *(finding(f"r{each}") for each in range(number)))
        bring(link.website, *(finding(f"r{each}") for each in range(number, 2 * number)), complete=False)
        with CaptureQueriesContext(connection) as queries:
            later = ImportRun.objects.order_by("pk").last()
            compared(client, link, to=later)
        return len(queries)

    statements(1)  # the first call of a process also looks up what is kept in memory
    assert statements(2) == statements(60) < 25


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the plan of SQLite")
def test_findings_and_events_are_read_by_index(client, link):
    earlier, later = bring(link.website, finding("a")), bring(link.website, finding("b"))
    with CaptureQueriesContext(connection) as queries:
        between(client, link, earlier, later)
    read = [
        each["sql"] for each in queries if "finding" in each["sql"] and each["sql"].startswith("\nSELECT")
    ]
    assert len(read) >= 4
    for sql in read:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            plan = [row[3] for row in cursor.fetchall()]
        assert not [step for step in plan if step.startswith("SCAN") and "USING" not in step], plan


# A replay with full snapshots

RULES = "abc"
ACTIONS = {
    "accept": lambda rule: decide("accepted_risk", rule),
    "refute": lambda rule: decide("false_positive", rule),
    "fix": lambda rule: decide("fixed", rule),
    "reopen": reopen,
    "rate": lambda rule: rate(Severity.MEDIUM, rule),
    "lift": lambda rule: rate(None, rule),
    "floor": lambda _: begin(severity=Severity.HIGH),
    "by rule": lambda rule: begin(severity=Severity.INFO, rule=rule),
    "end": lambda _: end_decisions(),
    "expire": lambda rule: expire(rule),
}
REPORTS = st.tuples(
    st.dictionaries(st.sampled_from(RULES), st.sampled_from(["low", "high", "critical"])),
    st.sampled_from(["complete", "complete", "partial", "failed"]),
    st.sampled_from([0, 0, 0, 1]),  # its age in days
)
DECISIONS = st.tuples(st.sampled_from(sorted(ACTIONS)), st.sampled_from(RULES))
HISTORIES = st.lists(st.one_of(REPORTS, REPORTS, DECISIONS, st.none()), min_size=3, max_size=14)


def begin(**fields):
    source = Source.objects.filter(slug="watch").first()
    if source is not None:
        website = ImportRun.objects.order_by("pk").last().website
        decision = StandingDecision(source=source, website=website, by="ann", reason="Agreed", **fields)
        standing.begin(decision, timezone.now())


def end_decisions():
    for decision in StandingDecision.objects.active():
        ended_decisions.end(decision, by="ann", reason="Over", now=timezone.now())


def expire(rule):
    found = find(rule)
    if found.status in ("accepted_risk", "false_positive"):
        Finding.objects.filter(pk=found.pk).update(triage_until=(timezone.now() - 2 * DAY).date())
        ended_decisions.expire_triage(timezone.now())


def snapshot():
    """Return status, severity and rule of each finding, as they are now."""
    rows = Finding.objects.filter(source__slug="watch").values_list("pk", "status", "severity", "rule")
    return {pk: values for pk, *values in rows}


def expected(before, after, listed, state, rules_before):
    """Return the ids of each group, by comparison of two snapshots."""
    groups = {name: set() for name in (*GROUPS, "new_check")}
    for pk, (status, severity, rule) in after.items():
        was, was_severity = before[pk][:2] if pk in before else (None, None)
        if status == "open" and was is None:
            groups["new"].add(pk)
            if rule not in rules_before:
                groups["new_check"].add(pk)
        elif status == "open" and was == "open":
            groups["still_open"].add(pk)
            if severity != was_severity:
                groups["re_rated"].add(pk)
            if state != "ok" and pk not in listed:
                groups["not_reported"].add(pk)
        elif status == "open":
            groups["came_back"].add(pk)
        elif status == "fixed" and was not in (None, "fixed"):
            groups["fixed"].add(pk)
        elif status in ("accepted_risk", "false_positive") and was != status:
            groups["answered"].add(pk)
    return groups


def replay(history):
    """Play ``history``; return the runs that are left, each with its snapshot and the ids it listed."""
    website = make_link().website
    runs = []
    for step in history:
        with suppress(ValidationError, Finding.DoesNotExist), transaction.atomic():
            if step is None:
                if runs:
                    take_back(runs[-1][0])
                    runs.pop()
            elif isinstance(step[0], str):
                action, rule = step
                ACTIONS[action](rule)
            else:
                severities, state, age = step
                lines = [finding(rule, severity) for rule, severity in sorted(severities.items())]
                lines.append({"checked": "/fine"})
                if state == "failed":
                    lines = [FAILED]
                run = bring(website, *lines, age=age, complete=state == "complete")
                listed = {pk for pk, (*_, rule) in snapshot().items() if rule in severities}
                runs.append((run, snapshot(), set() if state == "failed" else listed))
                bring(website, finding("noise"), source="other")
    return runs


def check_replay(history, client):
    with transaction.atomic():
        runs = replay(history)
        link = runs[0][0].website.links.get() if runs else None
        rules_before = set()
        for number, (earlier, before, _) in enumerate(runs):
            rules_before |= {rule for *_, rule in before.values()}
            for later, after, listed in runs[number + 1 :]:
                answer = between(client, link, earlier, later)
                groups = {each["name"]: each for each in answer["groups"]}
                wanted = expected(before, after, listed, later.state, rules_before)
                assert counts(answer) == {name: len(wanted[name]) for name in GROUPS}
                for name in LISTED:
                    assert {int(row["id"]) for row in groups[name]["findings"]} == wanted[name], name
                    for row in groups[name]["findings"]:
                        pk = int(row["id"])
                        now, then = after[pk], before.get(pk, (None, None))
                        assert (row["status_before"], row["status"]) == (then[0], now[0])
                        assert row["severity"] == Severity(now[1]).label
                new = groups["new"]
                marked = {int(row["id"]) for row in new["findings"] if row["new_check"]}
                assert marked == wanted["new_check"]
                opened = [sum(each[0] == "open" for each in state.values()) for state in (before, after)]
                assert [answer[name]["open"] for name in ("earlier", "later")] == opened
        transaction.set_rollback(True)


@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(history=HISTORIES)
def test_a_comparison_is_what_two_snapshots_would_say(history):
    check_replay(history, Client())
