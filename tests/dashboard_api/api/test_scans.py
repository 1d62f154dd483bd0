"""Scans by signed calls: queued once, shown with progress, cancelled and scheduled, within the rules."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.crawler import policy, queue, stopping
from dashboard_api.models import (
    EngineRun,
    Entitlement,
    OwnershipClaim,
    ScanConsent,
    ScanJob,
    ScanOptOut,
    ScanSchedule,
)
from signed_api.example_calls import LINK, example_of
from signed_api.scans import SCAN
from tests.dashboard_api.calls import (
    FINDING_PATH,
    SCAN_CANCEL_PATH,
    SCAN_PATH,
    SCAN_SCHEDULE_PATH,
    SCAN_STATUS_PATH,
    SCANS_PATH,
    ask,
    error_of,
    fields_for,
)
from tests.factories import (
    make_account,
    make_finding,
    make_import_run,
    make_link,
    make_scannable,
    make_source,
    make_website,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _crawler(settings):
    settings.CRAWLER_ENABLED = True


@pytest.fixture
def link():
    return make_link()


def call(client, link, path, **fields):
    return ask(client, fields_for(link, **fields), path=path)


def queued(client, link, **fields):
    response = call(client, link, SCAN_PATH, **fields)
    assert response.status_code == 200, response.content
    return response.json()["job"]


def refused(client, link, path=SCAN_PATH, **fields):
    response = call(client, link, path, **fields)
    return response.status_code, error_of(response)["code"]


def end(job, **fields):
    ScanJob.objects.filter(pk=job["job_id"]).update(
        state="finished", started_at=timezone.now(), ended_at=timezone.now(), **fields
    )


def test_a_scan_is_queued_once_and_a_repetition_returns_the_same(client, link):
    first = call(client, link, SCAN_PATH).json()
    again = call(client, link, SCAN_PATH, profile="standard").json()
    assert (first["already"], again["already"]) == (False, True)
    assert again["job"] == first["job"]
    job = first["job"]
    assert (job["state"], job["position"], job["profile"], job["trigger"]) == ("queued", 1, "quick", "hand")
    assert (job["runs"], job["new"]) == ([], None)
    assert ScanJob.objects.get().account == link.account
    assert AuditEvent.objects.get(action="scan.queued").account == link.account.ref


def test_a_waiting_scan_has_its_place_in_the_queue(client, link):
    queue.add(make_scannable("first.example.com"), by="ada", trigger=ScanJob.Trigger.FIRST)
    queue.add(make_scannable("later.example.com"), by="ada", trigger=ScanJob.Trigger.SCHEDULE)
    assert queued(client, link)["position"] == 2


def test_a_running_scan_says_which_scanner_runs_since_when_and_what_it_usually_takes(client, link):
    old = queued(client, link)
    now = timezone.now()
    for seconds in (2, 4, 9):
        EngineRun.objects.create(
            job_id=old["job_id"],
            engine="essentials",
            address="192.0.2.1",
            state="ok",
            started_at=now,
            ended_at=now + timedelta(seconds=seconds),
        )
    job = queue.claim("w")
    queue.note_progress(
        job,
        [
            {"engine": "essentials", "state": "running", "started_at": "2026-11-21T12:00:00+00:00"},
            {"engine": "sslyze", "state": "waiting"},
        ],
    )
    shown = call(client, link, SCAN_STATUS_PATH, job_id=old["job_id"]).json()["job"]
    assert (shown["state"], shown["position"]) == ("running", None)
    first, second = shown["runs"]
    assert (first["state"], first["started_at"], first["usual_seconds"]) == (
        "running",
        "2026-11-21T12:00:00Z",
        4,
    )
    assert (second["state"], second["started_at"], second["usual_seconds"]) == ("waiting", None, None)


def test_an_ended_scan_has_its_outcome_and_the_counts_of_its_imports(client, link):
    job = queued(client, link)
    run = make_import_run(link.website, new=3, fixed=2, reopened=1)
    now = timezone.now()
    EngineRun.objects.create(
        job_id=job["job_id"],
        engine="essentials",
        address="192.0.2.1",
        state="ok",
        import_run=run,
        started_at=now,
        ended_at=now,
    )
    end(job, outcome="complete")
    (shown,) = call(client, link, SCANS_PATH).json()["jobs"]
    assert (shown["outcome"], shown["new"], shown["reopened"], shown["fixed"]) == ("complete", 3, 1, 2)
    assert [each["state"] for each in shown["runs"]] == ["ok"]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("no_address", "The name has no address: check its A and AAAA records."),
        ("redirected_away", "another domain or port: answer here without a redirect, or add the website"),
    ],
)
def test_a_reason_comes_with_words_for_the_owner(client, link, reason, words):
    job = queued(client, link)
    end(job, reason=reason)
    shown = call(client, link, SCAN_STATUS_PATH, job_id=job["job_id"]).json()["job"]
    assert words in shown["explanation"]


def test_a_scan_is_cancelled_and_a_repetition_changes_nothing(client, link):
    job = queued(client, link)
    for _ in range(2):
        shown = call(client, link, SCAN_CANCEL_PATH, job_id=job["job_id"], reason="too early").json()["job"]
        assert (shown["state"], shown["reason"]) == ("cancelled", "cancelled")
    assert AuditEvent.objects.filter(action="scan.cancelled").count() == 1
    running = queued(client, link)
    queue.claim("w")
    shown = call(client, link, SCAN_CANCEL_PATH, job_id=running["job_id"]).json()["job"]
    assert (shown["state"], shown["cancelling"]) == ("running", True)


def test_of_two_accounts_with_one_website_each_cancels_only_its_own_scans(client, link):
    other = make_link(make_account("acct_0002"), link.website)
    job = queued(client, link)
    assert job["cancellable"]
    seen = call(client, other, SCAN_PATH).json()
    assert (seen["already"], seen["job"]) == (True, job | {"cancellable": False})
    assert call(client, other, SCAN_STATUS_PATH, job_id=job["job_id"]).json()["job"] == seen["job"]
    assert call(client, other, SCANS_PATH).json()["jobs"] == [seen["job"]]
    for state in ("queued", "cancelled"):
        assert refused(client, other, SCAN_CANCEL_PATH, job_id=job["job_id"]) == (404, "unknown_job")
        assert call(client, link, SCAN_STATUS_PATH, job_id=job["job_id"]).json()["job"]["state"] == state
        cancelled = call(client, link, SCAN_CANCEL_PATH, job_id=job["job_id"]).json()["job"]
        assert (cancelled["state"], cancelled["cancellable"]) == ("cancelled", False)


def test_a_scan_by_staff_can_be_cancelled_by_each_account_of_the_website(client, link):
    job, _ = queue.add(link.website, by="Robin")
    shown = call(client, link, SCAN_STATUS_PATH, job_id=str(job.pk)).json()["job"]
    assert shown["cancellable"]
    shown = call(client, link, SCAN_CANCEL_PATH, job_id=str(job.pk)).json()["job"]
    assert (shown["state"], shown["cancellable"]) == ("cancelled", False)


def test_a_scan_of_another_website_is_unknown(client, link):
    other = make_link(make_account("acct_0002", secrets=[]), make_website("other.example.com"))
    theirs, _ = queue.add(other.website, by="staff")
    for path in (SCAN_STATUS_PATH, SCAN_CANCEL_PATH):
        for job_id in (str(theirs.pk), "999999999"):
            assert refused(client, link, path, job_id=job_id) == (404, "unknown_job")
    assert call(client, link, SCANS_PATH).json() == {
        "ok": True,
        "host": link.website.host,
        "jobs": [],
        "total": 0,
    }
    theirs.refresh_from_db()
    assert theirs.state == "queued"


def test_a_second_scan_waits_for_the_cooldown_of_its_profile(client, link):
    end(queued(client, link))
    response = call(client, link, SCAN_PATH)
    error = error_of(response)
    assert (response.status_code, error["code"], error["remaining_today"]) == (429, "scan_cooldown", 19)
    assert 290 <= int(response["Retry-After"]) <= 301
    allowed_at = datetime.strptime(error["allowed_at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert timedelta(0) < allowed_at - timezone.now() <= timedelta(minutes=5)
    assert queued(client, link, profile="standard")["profile"] == "standard"


def test_a_cancelled_scan_that_had_not_begun_does_not_count(client, link):
    job = queued(client, link)
    call(client, link, SCAN_CANCEL_PATH, job_id=job["job_id"])
    assert queued(client, link)["job_id"] != job["job_id"]


def test_the_plan_limits_the_scans_of_a_month(client, link):
    Entitlement.objects.update(scans_per_month=1)
    end(queued(client, link))
    response = call(client, link, SCAN_PATH, profile="standard")
    error = error_of(response)
    assert (error["code"], error["remaining_today"]) == ("scan_cooldown", 0)
    assert error["allowed_at"].endswith("-01T00:00:00Z")
    Entitlement.objects.update(scans_per_month=0)
    assert refused(client, link) == (403, "scans_not_included")
    shown = call(client, link, SCAN_SCHEDULE_PATH).json()
    assert shown["month"] == {"used": 1, "limit": 0}
    assert not any(each["included"] for each in shown["allowance"])
    assert {each["reason"] for each in shown["allowance"]} == {"not_in_plan"}


def test_no_scan_begins_while_a_payment_is_missing(client, link):
    Entitlement.objects.update(status="past_due", past_due_since=timezone.now().date())
    error = error_of(call(client, link, SCAN_PATH))
    assert (error["code"], error["reason"]) == ("scans_not_included", "unpaid")
    assert "payment" in error["message"]
    shown = call(client, link, SCAN_SCHEDULE_PATH).json()
    assert {(each["included"], each["reason"]) for each in shown["allowance"]} == {(False, "unpaid")}
    with pytest.raises(policy.NotIncluded):
        queue.add(link.website, by="schedule", account=link.account, trigger=ScanJob.Trigger.SCHEDULE)


@pytest.mark.parametrize(("kind", "value"), [("host", "shop.example.com"), ("domain", "example.com")])
def test_an_opt_out_beats_everything(client, link, kind, value):
    queued(client, link)
    ScanOptOut.objects.create(kind=kind, value=value, reason="asked", by="ada")
    assert refused(client, link) == (403, "opted_out")
    assert refused(client, link, SCAN_SCHEDULE_PATH, frequency="weekly") == (403, "opted_out")


def test_nothing_is_queued_while_all_scans_are_stopped(client, link, settings):
    stopping.stop_all(by="ada")
    response = call(client, link, SCAN_PATH)
    assert (response.status_code, error_of(response)["code"]) == (503, "crawler_stopped")
    assert response["Retry-After"] == "600"
    stopping.resume(by="ada")
    settings.CRAWLER_ENABLED = False
    assert refused(client, link) == (503, "crawler_stopped")


def test_a_deep_scan_needs_the_plan_a_proof_by_dns_and_consent(client, link):
    assert refused(client, link, profile="deep") == (403, "scans_not_included")
    Entitlement.objects.update(features=["deep_scans"])
    response = call(client, link, SCAN_PATH, profile="deep")
    assert (response.status_code, error_of(response)["reason"]) == (409, "dns_proof_missing")
    OwnershipClaim.objects.update(method="dns", strength="dns")
    assert refused(client, link, profile="deep") == (403, "consent_missing")
    assert queued(client, link, profile="deep", consent=True)["profile"] == "deep"
    call(client, link, SCAN_PATH, profile="deep", consent=True)
    assert ScanConsent.objects.get().by == link.account.ref
    assert AuditEvent.objects.filter(action="scan.consented").count() == 1
    assert call(client, link, SCAN_SCHEDULE_PATH).json()["consent_until"] is not None
    ScanConsent.objects.update(at=timezone.now() - timedelta(days=366))
    assert call(client, link, SCAN_SCHEDULE_PATH).json()["consent_until"] is None


def test_a_deep_scan_without_a_proof_by_dns_of_the_account_is_not_offered(client, link):
    def offered():
        deep = call(client, link, SCAN_SCHEDULE_PATH).json()["allowance"][2]
        return deep["included"], deep["reason"]

    assert offered() == (False, "not_in_plan")
    Entitlement.objects.update(features=["deep_scans"])
    other = make_link(make_account("acct_0002", secrets=[]), link.website)
    OwnershipClaim.objects.filter(account=other.account).update(method="dns", strength="dns")
    assert offered() == (False, "dns_proof_missing")
    OwnershipClaim.objects.update(method="dns", strength="dns")
    assert offered() == (True, None)


def test_the_proof_by_dns_and_the_consent_of_another_account_allow_no_deep_scan(client, link):
    Entitlement.objects.update(features=["deep_scans"])
    other = make_link(make_account("acct_0002", secrets=[]), link.website)
    OwnershipClaim.objects.filter(account=other.account).update(method="dns", strength="dns")
    ScanConsent.objects.create(link=other, by="bob")
    response = call(client, link, SCAN_PATH, profile="deep", consent=True)
    assert (response.status_code, error_of(response)["reason"]) == (409, "dns_proof_missing")
    assert ScanConsent.objects.get().link == other


def test_a_schedule_is_off_until_it_is_set(client, link):
    shown = call(client, link, SCAN_SCHEDULE_PATH).json()
    assert (shown["schedule"]["frequency"], shown["next_at"]) == ("off", [])
    assert [each["profile"] for each in shown["allowance"]] == ["quick", "standard", "deep"]
    assert shown["allowance"][0]["reason"] is None
    assert shown["frequencies"] == ["off", "weekly", "monthly"]
    assert not ScanSchedule.objects.exists()


def test_a_name_of_no_time_zone_is_refused(client, link):
    wanted = {"frequency": "weekly", "profile": "standard", "start_hour": 3, "time_zone": "localtime"}
    assert call(client, link, SCAN_SCHEDULE_PATH, **wanted).status_code == 400


def test_a_schedule_is_set_as_a_whole_and_a_repetition_changes_nothing(client, link, settings):
    settings.CRAWLER_ADDRESSES = ["192.0.2.200"]
    wanted = {"frequency": "weekly", "profile": "standard", "start_hour": 3, "time_zone": "Europe/Berlin"}
    shown = [call(client, link, SCAN_SCHEDULE_PATH, **wanted).json() for _ in range(2)][1]
    assert wanted.items() <= shown["schedule"].items()
    assert shown["schedule"]["hours"] == 4
    assert len(shown["next_at"]) == 3
    assert shown["origin"] == {"addresses": ["192.0.2.200"], "user_agent": "ThreatDashboard/1"}
    assert AuditEvent.objects.filter(action="scan.scheduled").count() == 1
    off = call(client, link, SCAN_SCHEDULE_PATH, frequency="off").json()
    assert (off["schedule"]["profile"], off["next_at"]) == ("quick", [])


def test_a_daily_schedule_needs_a_plan_with_it(client, link):
    assert refused(client, link, SCAN_SCHEDULE_PATH, frequency="daily") == (403, "scans_not_included")
    Entitlement.objects.update(features=["scans_daily"])
    shown = call(client, link, SCAN_SCHEDULE_PATH, frequency="daily").json()
    assert shown["frequencies"] == ["off", "daily", "weekly", "monthly"]
    Entitlement.objects.update(scans_per_month=0)
    assert call(client, link, SCAN_SCHEDULE_PATH).json()["frequencies"] == ["off"]


def test_deep_scans_by_schedule_need_a_consent_that_comes_with_it(client, link):
    Entitlement.objects.update(features=["deep_scans"])
    deep = {"frequency": "monthly", "profile": "deep"}
    response = call(client, link, SCAN_SCHEDULE_PATH, **deep, consent=True)
    assert error_of(response)["reason"] == "dns_proof_missing"
    assert not ScanConsent.objects.exists()
    OwnershipClaim.objects.update(method="dns", strength="dns")
    assert refused(client, link, SCAN_SCHEDULE_PATH, **deep) == (403, "consent_missing")
    shown = call(client, link, SCAN_SCHEDULE_PATH, **deep, consent=True).json()
    assert (shown["schedule"]["profile"], len(shown["next_at"])) == ("deep", 3)
    assert shown["consent_until"] is not None


@pytest.mark.parametrize("frequency", ["daily", "weekly"])
def test_deep_scans_by_schedule_are_monthly(client, link, frequency):
    Entitlement.objects.update(features=["deep_scans", "scans_daily"])
    OwnershipClaim.objects.update(method="dns", strength="dns")
    wanted = {"frequency": frequency, "profile": "deep", "consent": True}
    response = call(client, link, SCAN_SCHEDULE_PATH, **wanted)
    error = error_of(response)
    assert (response.status_code, error["code"], error["reason"]) == (
        403,
        "scans_not_included",
        "monthly_only",
    )
    assert error["message"] == "Deep scans by schedule run once a month: send the frequency monthly."
    assert not ScanSchedule.objects.exists()
    off = call(client, link, SCAN_SCHEDULE_PATH, frequency="off", profile="deep")
    assert off.status_code == 200


def test_the_list_can_have_only_the_retests_of_one_finding(client, link):
    finding, other = (make_finding(link.website, source=make_source("essentials")) for _ in range(2))
    end(queued(client, link, finding_id=str(other.pk)))
    job = queued(client, link, finding_id=str(finding.pk))
    shown = call(client, link, SCANS_PATH, finding_id=str(finding.pk)).json()
    assert ([each["job_id"] for each in shown["jobs"]], shown["total"]) == ([job["job_id"]], 1)


def test_a_test_secret_gets_the_examples_and_queues_nothing(client, link):
    secret = link.account.secrets.model.objects.issue(link.account, by="ada", is_test=True)[1]
    fields = LINK | {"portal_account_ref": link.account.ref}
    response = ask(client, fields, path=SCAN_PATH, secret=secret)
    assert response.json() == example_of(SCAN)["response"]
    unknown = ask(client, fields | {"job_id": "1"}, path=SCAN_STATUS_PATH, secret=secret)
    assert error_of(unknown)["code"] == "unknown_job"
    assert not ScanJob.objects.exists()


@pytest.mark.parametrize(
    ("path", "fields", "field"),
    [
        (SCAN_PATH, {"profile": "fast"}, "profile"),
        (SCAN_PATH, {"consent": "yes"}, "consent"),
        (SCAN_STATUS_PATH, {}, "job_id"),
        (SCAN_STATUS_PATH, {"job_id": 7}, "job_id"),
        (SCAN_CANCEL_PATH, {"job_id": "7", "reason": "x" * 501}, "reason"),
        (SCANS_PATH, {"page": 0}, "page"),
        (SCANS_PATH, {"page": 101, "page_size": 100}, "page"),
        (SCANS_PATH, {"finding_id": "x"}, "finding_id"),
        (SCAN_SCHEDULE_PATH, {"consent": True}, "consent"),
        (SCAN_SCHEDULE_PATH, {"start_hour": 3}, "start_hour"),
        (SCAN_SCHEDULE_PATH, {"frequency": "daily", "start_hour": 24}, "start_hour"),
        (SCAN_SCHEDULE_PATH, {"frequency": "daily", "time_zone": "../etc/passwd"}, "time_zone"),
        (SCAN_SCHEDULE_PATH, {"frequency": "daily", "paused_until": "soon"}, "paused_until"),
    ],
)
def test_a_wrong_field_is_named(client, link, path, fields, field):
    response = call(client, link, path, **fields)
    assert error_of(response)["code"] == "invalid_request"
    assert [each["field"] for each in error_of(response)["errors"]] == [field]


def test_a_retest_names_a_finding_of_the_website_whose_scanner_runs_here(client, link):
    finding = make_finding(link.website, source=make_source("essentials"))
    other = make_finding(make_website("other.example.com"))
    for finding_id in (str(other.pk), "999999999", "x"):
        assert refused(client, link, finding_id=finding_id) == (404, "unknown_finding")
    response = call(client, link, SCAN_PATH, finding_id=str(make_finding(link.website).pk))
    assert (response.status_code, error_of(response)["reason"]) == (409, "no_engine")
    error = error_of(call(client, link, SCAN_PATH, finding_id=str(finding.pk), profile="quick"))
    assert [each["field"] for each in error["errors"]] == ["finding_id"]
    job = queued(client, link, finding_id=str(finding.pk))
    assert (job["trigger"], job["finding_id"]) == ("retest", str(finding.pk))
    assert call(client, link, SCAN_SCHEDULE_PATH).json()["month"]["used"] == 0


@pytest.mark.parametrize("source", ["wapiti-attacks", "wapiti-passive", "wapiti"])
def test_a_retest_attacks_nothing_whatever_a_report_names_as_its_scanner(client, link, source):
    finding = make_finding(link.website, source=make_source(source))
    response = call(client, link, SCAN_PATH, finding_id=str(finding.pk))
    assert (response.status_code, error_of(response)["reason"]) == (409, "no_engine")
    assert not ScanJob.objects.exists()
    answer = call(client, link, FINDING_PATH, finding_id=str(finding.pk)).json()
    assert answer["can_retest"] is False


@pytest.mark.parametrize(("program", "is_offered"), [("true", True), ("no-such-program", False)])
def test_a_retest_is_offered_by_an_optional_scanner_only_where_it_is_installed(
    client, link, settings, tmp_path, program, is_offered
):
    settings.CRAWLER_ENGINES = tmp_path / "engines.toml"
    command = f'command = ["{program}", "$tunnel", "$report"]'
    settings.CRAWLER_ENGINES.write_text(f'[[engine]]\nname = "testssl"\noptional = true\n{command}')
    finding = make_finding(link.website, source=make_source("testssl"))
    answer = call(client, link, FINDING_PATH, finding_id=str(finding.pk)).json()
    assert answer["can_retest"] is is_offered
    response = call(client, link, SCAN_PATH, finding_id=str(finding.pk))
    assert response.status_code == (200 if is_offered else 409)
    assert ScanJob.objects.count() == is_offered


def test_a_retest_that_is_asked_for_again_right_after_its_end_is_returned(client, link):
    finding, other = (make_finding(link.website, source=make_source("essentials")) for _ in range(2))
    job = queued(client, link, finding_id=str(finding.pk))
    end(job)
    again = call(client, link, SCAN_PATH, finding_id=str(finding.pk)).json()
    assert (again["job"]["job_id"], again["job"]["state"], again["already"]) == (
        job["job_id"],
        "finished",
        True,
    )
    assert queued(client, link, finding_id=str(other.pk))["job_id"] != job["job_id"]
    ScanJob.objects.unended().get().cancel(by="ada")
    assert queued(client, link, finding_id=str(other.pk))["finding_id"] == str(other.pk)
    ScanJob.objects.unended().get().cancel(by="ada")
    ScanJob.objects.filter(pk=job["job_id"]).update(ended_at=timezone.now() - timedelta(minutes=1))
    assert queued(client, link, finding_id=str(finding.pk))["job_id"] != job["job_id"]


def test_an_account_has_twenty_retests_of_a_website_in_a_day(client, link):
    finding = make_finding(link.website, source=make_source("essentials"))
    for _ in range(20):
        end(queued(client, link, finding_id=str(finding.pk)))
        ScanJob.objects.update(ended_at=timezone.now() - timedelta(minutes=1))
    assert refused(client, link, finding_id=str(finding.pk)) == (429, "scan_cooldown")


def different(website, **fields):
    now = timezone.now()
    page = {"title": "Account suspended", "links": 0, "script_hosts": [], "cookies": [], "size": 9}
    ended = {"state": "finished", "outcome": "different", "reason": "page_changed", "page": page}
    return ScanJob.objects.create(website=website, by="ada", started_at=now, ended_at=now, **ended | fields)


def test_a_scan_that_met_another_page_shows_both_and_the_owner_confirms_it(client, link):
    known = {
        "title": "Shop",
        "links": 12,
        "script_hosts": ["cdn.example.net"],
        "cookies": ["session"],
        "size": 14,
    }
    different(link.website, outcome="complete", reason="", page=known)
    job = different(link.website)
    ScanJob.objects.update(created_at=timezone.now() - timedelta(hours=1))
    shown = call(client, link, SCAN_STATUS_PATH, job_id=str(job.pk)).json()["job"]
    assert (shown["outcome"], shown["reason"]) == ("different", "page_changed")
    assert "confirm the page" in shown["explanation"]
    assert shown["page_change"]["known"] == {
        "title": "Shop",
        "links": 12,
        "script_hosts": ["cdn.example.net"],
        "cookies": ["session"],
        "bytes_below": 2**14,
    }
    assert shown["page_change"]["seen"]["title"] == "Account suspended"
    assert shown["page_change"]["confirmed_at"] is None
    for _ in range(2):
        assert queued(client, link, confirmed_page=str(job.pk))["state"] == "queued"
    job.refresh_from_db()
    assert job.page_confirmed_at is not None
    event = AuditEvent.objects.get(action="scan.page_confirmed")
    assert (event.host, event.after["title"]) == (link.website.host, "Account suspended")


def test_a_page_is_confirmed_also_where_no_scan_can_begin_now(client, link):
    job = different(link.website, account=link.account)
    assert refused(client, link, confirmed_page=str(job.pk)) == (429, "scan_cooldown")
    job.refresh_from_db()
    assert job.page_confirmed_at is not None


def test_a_page_of_another_website_or_one_that_looked_the_same_is_not_confirmed(client, link):
    theirs = different(make_scannable("other.example.com"))
    same = different(link.website, outcome="complete", reason="")
    for job in (theirs, same):
        assert refused(client, link, confirmed_page=str(job.pk)) == (404, "unknown_job")
    assert refused(client, link, confirmed_page="x") == (400, "invalid_request")
    assert not ScanJob.objects.exclude(page_confirmed_at=None).exists()
    assert not AuditEvent.objects.filter(action="scan.page_confirmed").exists()
    assert call(client, link, SCAN_STATUS_PATH, job_id=str(same.pk)).json()["job"]["page_change"] is None
