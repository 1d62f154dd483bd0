"""The memory of answers: exact whatever changes, and by whichever path."""

from datetime import UTC, datetime, timedelta
from operator import attrgetter

import msgspec
import pytest
from django.db import connection

from dashboard_api.answers import acts, records
from dashboard_api.api import response_cache
from dashboard_api.crawler import schedules
from dashboard_api.models import (
    AnalystNote,
    Coverage,
    Finding,
    ImportRun,
    Kind,
    ScanJob,
    ScanSchedule,
    Source,
    Website,
)
from dashboard_api.reading.dashboard import build_dashboard
from signed_api import findings as contract
from signed_api.answering import AnswerRequest
from signed_api.findings import DashboardRequest
from tests.dashboard_api.calls import account_site
from tests.factories import (
    make_account,
    make_coverage,
    make_engine_run,
    make_entitlement,
    make_finding,
    make_import_run,
    make_link,
    make_note,
    make_schedule,
    make_source,
    make_website,
)
from tests.racing import race

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _empty_cache():
    response_cache.clear()


@pytest.fixture
def link():
    link = make_link()
    make_coverage(link.website, source=make_finding(link.website).source)
    make_note(link.website)
    return link


@pytest.fixture
def built(monkeypatch):
    """The requests for which a response was built."""
    made = []

    def build(link, request, *others):
        made.append(request)
        return build_dashboard(link, request, *others)

    monkeypatch.setattr(response_cache, "build_dashboard", build)
    return made


def ask(link, now=NOON, **fields):
    """Return the response to a new call, which equals one built without the cache."""
    request = request_about(link, **fields)
    cached = response_cache.dashboard_response(account_site(link), request, now)
    rebuilt = build_dashboard(account_site(link), request, now)
    assert cached == msgspec.json.encode(rebuilt)
    return msgspec.json.decode(cached, type=contract.DashboardResponse)


def request_about(link, **fields):
    ref = link.account.ref
    return DashboardRequest(host=link.website.host, link_id=link.link_id, portal_account_ref=ref, **fields)


def test_the_same_question_is_read_once(link, built):
    ask(link)
    ask(link)
    assert len(built) == 1


def test_a_cached_response_has_its_own_time(link, built):
    ask(link)
    later = ask(link, NOON + timedelta(seconds=59))
    assert later.dashboard.generated_at == NOON + timedelta(seconds=59)
    assert len(built) == 1


def test_a_time_in_what_was_found_is_left_alone(link):
    text = '"generated_at":"2026-03-04T12:00:00Z"'
    make_finding(link.website, title=text)
    ask(link)
    later = ask(link, NOON + timedelta(seconds=59))
    assert text in {threat.title for threat in later.threats}


def test_a_day_begins_in_the_time_zone_of_the_account(link, built):
    type(link.account).objects.update(time_zone="Pacific/Auckland")  # 13 hours ahead of UTC in March
    ask(link, NOON - timedelta(hours=2))
    ask(link, NOON)
    assert len(built) == 2


def test_another_question_day_or_account_has_its_own_answer(link, built):
    ask(link)
    ask(link, page_size=50)
    ask(link, NOON + timedelta(days=1))
    ask(make_link(make_account("acct_0002"), link.website))
    assert len(built) == 4


@pytest.fixture
def scanned(link, settings):
    """A website that two of our scanners checked nine days ago: of quick and of standard scans."""
    settings.CRAWLER_ENABLED = True
    ran = NOON - timedelta(days=9)
    job = ScanJob.objects.create(website=link.website, profile="standard", ended_at=ran, state="finished")
    for slug in ("essentials", "testssl"):
        source = make_source(slug, interval_days=7)
        make_coverage(link.website, source=source, last_run_at=ran)
        make_engine_run(job, import_run=make_import_run(link.website, source=source, scanned_at=ran))
    return link


def next_checks(link, now=NOON):
    """Return the day of the next check by each scanner, and whether it is overdue."""
    cached = response_cache.dashboard_response(account_site(link), request_about(link), now)
    entries = msgspec.json.decode(cached, type=contract.DashboardResponse).coverage
    return {entry.source: (entry.next_due_on, entry.stale) for entry in entries if entry.source != "nuclei"}


def test_without_a_schedule_no_scan_of_ours_is_due_or_overdue(scanned):
    assert next_checks(scanned) == {"essentials": (None, False), "testssl": (None, False)}
    make_schedule(scanned, frequency="off", next_at=None)
    assert next_checks(scanned) == {"essentials": (None, False), "testssl": (None, False)}


def test_a_scan_of_ours_is_due_by_the_schedule_of_its_profile(scanned):
    before = next_checks(scanned)
    monthly = make_schedule(scanned, frequency="monthly", next_at=NOON + timedelta(days=20))
    day = monthly.next_at.date()
    assert next_checks(scanned) == before | {"essentials": (day, False)}
    other = make_link(make_account("acct_0002"), scanned.website)
    standard = make_schedule(other, profile="standard", next_at=NOON + timedelta(days=3))
    day = standard.next_at.date()
    assert next_checks(scanned) == {"essentials": (day, False), "testssl": (day, False)}
    other.revoke(by="tests", reason="asked to", now=NOON)
    assert next_checks(scanned) == before | {"essentials": (monthly.next_at.date(), False)}


def test_a_scan_of_ours_is_overdue_more_than_a_day_after_its_time(scanned):
    day = make_schedule(scanned, next_at=NOON).next_at.date()
    for days, is_overdue in ((0, False), (1, False), (2, True)):
        assert next_checks(scanned, NOON + timedelta(days=days))["essentials"] == (day, is_overdue)


def test_an_address_that_is_no_longer_scanned_makes_no_scan_of_ours_overdue(scanned):
    """Such as http, once the website has https."""
    daily = make_schedule(scanned, frequency="daily", next_at=NOON + timedelta(days=1), profile="standard")
    Coverage.objects.update(last_run_at=NOON - timedelta(days=99))
    ScanSchedule.objects.update(changed_at=NOON - timedelta(days=99))
    ImportRun.objects.update(scanned_at=NOON)
    day = daily.next_at.date()
    assert next_checks(scanned) == {"essentials": (day, False), "testssl": (day, False)}


def test_a_scan_of_ours_is_overdue_while_its_schedule_is_refused(scanned):
    scanned.account.entitlement.delete()
    ran = NOON - timedelta(days=9)
    daily = make_schedule(scanned, frequency="daily", next_at=ran + timedelta(days=1), changed_at=ran)
    make_entitlement(scanned.account, features=[])
    days = []
    for number in range(2, 5):
        now = ran + timedelta(days=number)
        assert schedules.queue_due(now) == 0
        daily.refresh_from_db()
        days.append(daily.next_at.date())
        due_on, is_overdue = next_checks(scanned, now)["essentials"]
        kept = number < 3
        assert (due_on, is_overdue) == (days[-1] if kept else (ran + timedelta(days=1)).date(), not kept)
    assert len(set(days)) == 3


def test_a_report_from_elsewhere_is_due_after_the_interval_also_of_a_scanner_that_runs_here(scanned):
    make_import_run(scanned.website, source=Source.objects.get(slug="testssl"))
    scanned.website.coverage.get(source__slug="testssl").save()
    due = (NOON - timedelta(days=2)).date()
    assert next_checks(scanned) == {"essentials": (None, False), "testssl": (due, True)}


def test_a_first_check_by_a_scanner_of_ours_is_due_by_schedule_only(link, settings):
    def first_check():
        cached = response_cache.dashboard_response(account_site(link), request_about(link), NOON)
        return msgspec.json.decode(cached, type=contract.DashboardResponse).summary.first_check_by

    Coverage.objects.all().delete()
    Source.objects.update(enabled=False)
    make_source("essentials")
    assert first_check() == link.created_at.date() + timedelta(days=7)
    settings.CRAWLER_ENABLED = True
    assert first_check() is None
    scheduled = make_schedule(link, next_at=NOON + timedelta(days=20))
    assert first_check() == scheduled.next_at.date()
    ScanSchedule.objects.update(changed_at=NOON - timedelta(days=9))  # the scans since then were refused
    assert first_check() == (NOON - timedelta(days=2)).date()


def test_only_scanners_that_apply_are_listed(link, settings, tmp_path):
    def listed():
        cached = response_cache.dashboard_response(account_site(link), request_about(link), NOON)
        answer = msgspec.json.decode(cached, type=contract.DashboardResponse)
        states = {entry.source: (entry.state, entry.next_due_on) for entry in answer.coverage}
        assert {facet.value for facet in answer.dashboard.facets.source} == states.keys()
        assert states.pop("nuclei") == ("never", None)  # it has a finding, but no run on record
        return states

    engine = '[[engine]]\nname = "{}"\ncommand = ["{}", "$address", "$tunnel", "$report"]\n{}\n'
    settings.CRAWLER_ENABLED, settings.CRAWLER_ENGINES = True, tmp_path / "engines.toml"
    settings.CRAWLER_ENGINES.write_text(
        engine.format("essentials", "$essentials", "")
        + engine.format("exposed-files", "$exposed", 'profile = "standard"')
        + engine.format("absent", "no-such-program", "optional = true")
        + engine.format("deep", "true", 'profile = "deep"')
    )
    Coverage.objects.all().delete()
    Source.objects.update(enabled=False)
    for slug in ("essentials", "exposed-files", "absent", "deep", "zap"):
        make_source(slug, enabled=False)
    assert listed() == {}  # nothing scans the website
    weekly = make_schedule(link, next_at=NOON + timedelta(days=3))
    day = weekly.next_at.date()
    assert listed() == {"essentials": ("never", day)}
    make_coverage(link.website, source=make_source("zap"), last_run_at=NOON)
    ScanSchedule.objects.update(profile="standard")
    assert listed() == {
        "essentials": ("never", day),
        "exposed-files": ("never", day),
        "zap": ("ok", NOON.date() + timedelta(days=7)),
    }
    ScanSchedule.objects.all().delete()
    job = ScanJob.objects.create(website=link.website, ended_at=NOON, state="finished")
    make_coverage(link.website, source=make_source("essentials"))
    run = make_import_run(link.website, source=make_source("essentials"), scanned_at=NOON)
    make_engine_run(job, import_run=run)
    assert listed()["exposed-files"] == ("never", None)  # applies, and was not looked at
    settings.CRAWLER_ENABLED = False
    assert listed().keys() == {"essentials", "zap"}


CHANGES = {
    "a new finding": lambda site: make_finding(site),
    "a finding's title": lambda site: site.findings.update(title="Changed"),
    "a finding's evidence, saved": lambda site: rewrite(site.findings.get()),
    "findings in bulk": lambda site: Finding.objects.bulk_create(
        [Finding(website=site, source=make_source(), fingerprint="new", severity=1, kind=Kind.SUSPECTED)]
    ),
    "bulk_update": lambda site: Finding.objects.bulk_update(changed(site.findings.all()), ["title"]),
    "no finding any more": lambda site: site.findings.all().delete(),
    "a run": lambda site: make_coverage(site, source=make_source(slug="another")),
    "a run's end": lambda site: Coverage.objects.filter(website=site).update(state="failed"),
    "no run any more": lambda site: Coverage.objects.filter(website=site).delete(),
    "a note": lambda site: make_note(site, body="More"),
    "a note's words": lambda site: AnalystNote.objects.filter(website=site).update(body="Changed"),
    "no note any more": lambda site: AnalystNote.objects.filter(website=site).delete(),
    "a new engine": lambda site: make_source(slug="another"),  # noqa: ARG005
    "an engine's name": lambda site: Source.objects.update(name="Changed"),  # noqa: ARG005
    "an engine switched off": lambda site: Source.objects.update(enabled=False),  # noqa: ARG005
    "an answer": lambda site: accept(site.findings.get()),
    "days to fix": lambda site: set_days(site.links.get()),
    "another website linked": lambda site: make_link(site.links.get().account, make_website("b.example.com")),
    "the entitlement": lambda site: entitle(site.links.get().account, plan="another", features=["reports"]),
}


def accept(finding):
    account = finding.website.links.get().account
    chosen = acts.Chosen.of(account.pk, finding.website_id, [finding.pk])
    request = AnswerRequest(act="accepted", reason="Later.", until=NOON.date() + timedelta(days=9))
    acts.act(account, finding.website, chosen, request, NOON)


def set_days(link):
    type(link.account).objects.update(high_days=7, medium_days=7)
    records.changed(link.account_id, link.website_id)


def rewrite(finding):
    finding.evidence = "Changed"
    finding.save()


def changed(findings):
    found = list(findings)
    for finding in found:
        finding.title = "Changed"
    return found


def entitle(account, **fields):
    type(account.entitlement).objects.filter(account=account).update(**fields)


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_changes_is_in_the_next_answer(link, built, name):
    before = ask(link)
    CHANGES[name](link.website)
    after = ask(link)
    assert before != after
    is_of_the_account = name in {"another website linked", "the entitlement"}
    assert (before.dashboard.revision == after.dashboard.revision) is is_of_the_account
    assert len(built) == 2


def test_a_scanner_that_another_account_brings_changes_no_answer_of_this_one(link, built):
    before = ask(link)
    make_coverage(make_website("b.example.com"), source=make_source("another", enabled=False))
    assert ask(link).dashboard.revision == before.dashboard.revision
    assert len(built) == 1


def test_a_finding_that_moves_changes_both_websites(link, built):
    other = make_link(link.account, make_website("b.example.com"))
    ask(link)
    ask(other)
    Finding.objects.filter(website=link.website).update(website=other.website)
    assert (ask(link).summary.open, ask(other).summary.open) == (0, 1)
    assert len(built) == 4


def test_what_changes_elsewhere_leaves_an_answer_be(link, built):
    other = make_website("b.example.com")
    ask(link)
    make_finding(other, source=Source.objects.get())
    make_note(other)
    ask(link)
    assert len(built) == 1


@pytest.mark.django_db(transaction=True)
def test_what_changes_while_it_is_read_is_in_the_next_answer(link, monkeypatch):
    read = []

    def build(link, request, *others):
        response = build_dashboard(link, request, *others)
        if not read:
            race(lambda _: make_finding(Website.objects.get(pk=link.website_id)), times=1)
        read.append(request)
        return response

    monkeypatch.setattr(response_cache, "build_dashboard", build)
    assert opened(link) == 1
    assert opened(link) == 2


def opened(link):
    cached = response_cache.dashboard_response(account_site(link), request_about(link), NOON)
    return msgspec.json.decode(cached, type=contract.DashboardResponse).summary.open


def test_the_cache_forgets_what_was_not_asked_for_longest(link, built, monkeypatch):
    size = len(response_cache.dashboard_response(account_site(link), request_about(link), NOON))
    monkeypatch.setattr(
        response_cache, "_cache", response_cache.LRUCache(int(size * 2.5), getsizeof=attrgetter("size"))
    )
    for page_size in (20, 21, 20, 22, 20, 21):
        ask(link, page_size=page_size)
    assert [request.page_size for request in built[1:]] == [20, 21, 22, 21]


def test_an_answer_that_is_remembered_takes_one_statement(link, django_assert_num_queries):
    ask(link)
    with django_assert_num_queries(1):
        response_cache.dashboard_response(account_site(link), request_about(link), NOON)


def test_a_tag_never_comes_back(link):
    tags = {account_site(link).tags}
    for _ in range(5):
        link.website.findings.update(title="The same")
        tags.add(account_site(link).tags)
    assert len(tags) == 6


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has no TRUNCATE")
@pytest.mark.django_db(transaction=True)
def test_a_table_emptied_at_once_is_in_the_next_answer(link):
    assert ask(link).analyst_notes
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE dashboard_api_analystnote")
    assert not ask(link).analyst_notes
