"""Scans in words: progress, outcomes, and what can be scanned now."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from django.utils import timezone, translation

from portal.models import Account, Website
from portal.plan.view_models import FIELDS
from portal.scans import labels, view_models
from portal.scans.forms import ScheduleForm
from portal.scans.view_models import scans_page
from signed_api.findings import CoverageEntry
from signed_api.scans import (
    PROTECTIONS,
    Scan,
    ScanAllowance,
    ScanMonth,
    ScanOrigin,
    ScanRun,
    ScanSchedule,
    ScanScheduleResponse,
)
from tests.structs import build

NOW = timezone.now()
WEBSITE = Website(account=Account(ref="acct_0001"), host="shop.example.com")
RULES = build(
    ScanScheduleResponse,
    ok=True,
    host="shop.example.com",
    allowance=[
        build(ScanAllowance, profile="quick", remaining_today=19, allowed_at=NOW),
        build(ScanAllowance, profile="standard", remaining_today=4),
        build(ScanAllowance, profile="deep", included=False),
    ],
    origin=build(ScanOrigin, addresses=["192.0.2.7"], user_agent="ThreatDashboard/1"),
)


@pytest.fixture(autouse=True)
def frozen(monkeypatch):
    monkeypatch.setattr(view_models.timezone, "now", lambda: NOW)


def make_scan(**fields):
    defaults = {"job_id": "7", "profile": "quick", "trigger": "hand", "state": "finished", "created_at": NOW}
    return build(Scan, **(defaults | {"ended_at": NOW, "outcome": "complete"} | fields))


def running(**fields):
    return make_scan(**({"state": "running", "ended_at": None, "outcome": None, "started_at": NOW} | fields))


def page_of(*scans, rules=RULES, **fields):
    options = {"names_account": False, "may_scan": True, "may_consent": True, "number": 1, "next_page": None}
    return scans_page(WEBSITE, scans, rules, **(options | fields))


def row_of(**fields):
    return page_of(make_scan(**fields)).rows[0]


def test_a_running_scan_says_which_scanner_runs_since_when_and_what_it_usually_takes():
    began = NOW - timedelta(seconds=41)
    first = build(
        ScanRun,
        engine="essentials",
        state="ok",
        started_at=NOW - timedelta(seconds=9),
        ended_at=NOW,
        title="",
    )
    second = build(
        ScanRun, engine="sslyze", title="SSLyze", state="running", started_at=began, usual_seconds=12
    )
    third = build(ScanRun, engine="exposed-files", title="Exposed files", state="waiting", usual_seconds=11)
    other = build(ScanRun, engine="ours", title="Our own scanner", state="waiting", usual_seconds=None)
    strip = page_of(running(runs=[first, second, third, other])).strip
    assert (strip.title, strip.text) == ("Quick scan: running", "Scanner 2 of 4.")
    assert [row.text for row in strip.engines] == ["in 9 s", "for 41 s, usually 12 s", "usually 11 s", ""]
    assert [(row.name, row.work) for row in strip.engines] == [
        ("Essentials", "TLS, headers, cookies and the home page"),
        ("SSLyze", "TLS versions, ciphers and certificates"),
        ("Exposed files", "some 50 paths that leak"),
        ("Our own scanner", ""),
    ]


@pytest.mark.parametrize(
    ("reason", "words"),
    [("engine_missing", "not installed"), ("no_time_left", "no time left"), ("another", "not run")],
)
def test_a_scanner_that_did_not_run_says_why(reason, words):
    [row] = page_of(
        running(runs=[build(ScanRun, engine="late", state="skipped", reason=reason)])
    ).strip.engines
    assert row.state == words


def test_a_scan_that_ran_elsewhere_is_in_its_place_by_time_on_the_first_page_of_a_service_that_says_so():
    old = build(
        CoverageEntry,
        source="zap",
        source_name="ZAP",
        state="failed",
        ours=False,
        last_run_at=NOW - timedelta(hours=1),
    )
    ours, unknown = msgspec.structs.replace(old, ours=True), msgspec.structs.replace(old, ours=None)
    never = msgspec.structs.replace(old, last_run_at=None)
    scans = make_scan(), make_scan(created_at=NOW - timedelta(hours=2))
    rows = page_of(*scans, coverage=[old, ours, unknown, never]).rows
    assert [row.title for row in rows] == ["Quick scan, by hand", "ZAP, run elsewhere", "Quick scan, by hand"]
    assert (rows[1].outcome, rows[1].tone, rows[1].found) == ("Failed", "failed", "0 open findings")


def test_a_waiting_scan_says_its_place_and_a_cancelled_one_cannot_be_cancelled_again():
    waiting = page_of(running(state="queued", started_at=None, position=3)).strip
    assert (waiting.title, waiting.text) == ("Quick scan: waiting", "Number 3 in the queue.")
    assert waiting.cancel_url == "/sites/shop.example.com/scans/7/cancel/"
    assert page_of(running(cancelling=True)).strip.cancel_url == ""
    assert page_of(running(), may_scan=False).strip.cancel_url == ""
    assert page_of(running(cancellable=False)).strip.cancel_url == ""


def test_the_page_looks_again_soon_at_first_and_later_less_often():
    assert page_of(running()).strip.poll_seconds == 3
    assert page_of(running(started_at=NOW - timedelta(minutes=2))).strip.poll_seconds == 15


def test_an_ended_scan_says_what_it_found():
    row = row_of(new=8, reopened=1, fixed=2)
    assert (row.outcome, row.tone, row.found, row.reason) == ("Complete", "ok", "8 new, 1 back, 2 fixed", "")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"new": 8}, "The last scan found 8 new problems."),
        ({"new": 0}, "The last scan found nothing new."),
        ({"new": 0, "fixed": 3}, "The last scan: 0 new, 3 fixed."),
        ({"new": 0, "reopened": 1}, "The last scan: 0 new, 1 back, 0 fixed."),
        ({"new": 0, "outcome": "partial"}, "The last scan is only partly complete: 0 new, 0 fixed."),
        ({"outcome": "partial"}, "The last scan is only partly complete."),
        ({"new": 0, "outcome": "different"}, "The page looks different, so the last scan does not count."),
        ({"new": 0, "outcome": "blocked"}, "The website blocked the last scan, so it has no results."),
        ({"state": "failed", "outcome": None}, "The last scan failed and has no results."),
        ({"new": 0, "state": "cancelled", "outcome": None}, ""),
    ],
)
def test_the_headline_says_what_happened_to_the_last_scan(fields, text):
    assert getattr(page_of(make_scan(**fields)).last, "title", "") == text


def test_the_headline_gives_the_reason_and_leads_to_what_helps():
    blocked = page_of(make_scan(outcome="blocked", reason="blocked")).last
    assert "Allow our addresses" in blocked.reason
    assert (blocked.tone, blocked.url) == ("failed", "#origin-title")
    assert (
        page_of(
            make_scan(outcome="blocked"), rules=msgspec.structs.replace(RULES, origin=build(ScanOrigin))
        ).last.url
        == ""
    )
    failed = page_of(make_scan(state="failed", outcome=None, reason="timed_out")).last
    assert (failed.reason, failed.url) == (str(labels.REASONS["timed_out"]), "")
    assert page_of(make_scan(new=1)).last.url == "/sites/shop.example.com/"


@pytest.mark.parametrize("protection", [*PROTECTIONS, None, "new-in-a-later-version"])
def test_a_blocked_scan_says_who_seems_to_have_blocked_it_and_where_to_allow_it(protection):
    reason = row_of(outcome="blocked", reason="blocked", protection=protection).reason
    assert "nothing counts as fixed" in reason
    if protection in PROTECTIONS:
        assert reason.startswith(f"It looks as if {PROTECTIONS[protection]} blocked the scan")
        assert reason.endswith(str(labels.WHERE_TO_ALLOW[protection]))
    else:
        assert reason.endswith("We cannot tell which protection it was.")


def test_the_headline_is_about_the_newest_scan_and_not_about_a_test_of_a_finding():
    test = make_scan(state="failed", outcome=None, finding_id="9", trigger="retest")
    assert page_of(test, make_scan(new=1)).last.title == "The last scan found 1 new problem."
    assert page_of(test).last is None


def test_later_pages_have_no_headline_and_begin_no_scan():
    page = page_of(make_scan(new=1), number=2)
    assert (page.last, page.offers) == (None, ())


def test_while_a_scan_waits_or_runs_the_last_one_has_no_headline():
    assert page_of(running(), make_scan(new=8)).last is None


def test_a_scan_without_results_says_why_and_nothing_else():
    row = row_of(outcome="blocked", reason="blocked")
    assert (row.outcome, row.tone, row.found) == ("Blocked by the website", "failed", "")
    assert "nothing counts as fixed" in row.reason
    assert row_of(state="failed", outcome=None, reason="new_word").reason == str(labels.OTHER_REASON)
    assert row_of(state="cancelled", outcome=None, reason="cancelled").outcome == "Cancelled"


def test_after_a_redirect_to_a_port_or_a_private_address_there_is_a_way_without_another_website():
    reason = row_of(state="failed", outcome=None, reason="redirected_away").reason
    assert "another domain or port. Let it answer without a redirect, or add" in reason


@pytest.mark.parametrize(
    "reason",
    ["no_page", "page_unknown", "server_error", "not_read_to_the_end", "redirect_loop", "stopped_early"],
)
def test_what_could_not_be_checked_is_named(reason):
    assert row_of(outcome="partial", reason=reason).reason not in ("", str(labels.OTHER_REASON))


@pytest.mark.parametrize(
    ("reason", "words", "german"),
    [
        ("robots_txt", "Allow ThreatDashboard there", "Erlauben Sie dort ThreatDashboard"),
        ("engine_timeout", "when the website is less busy", "wenn die Website weniger ausgelastet ist"),
        ("too_many_requests", "exclude parts", "schließen Sie"),
        ("too_much_traffic", "exclude parts", "schließen Sie"),
    ],
)
def test_a_scanner_that_the_website_kept_from_its_work_is_not_called_a_failure_of_ours(reason, words, german):
    assert words in row_of(outcome="partial", reason=reason).reason
    with translation.override("de"):
        assert german in row_of(outcome="partial", reason=reason).reason


def test_for_a_scanner_that_is_not_installed_no_other_scan_is_advised():
    reason = row_of(trigger="retest", outcome="inconclusive", reason="engine_missing").reason
    assert reason == "A scanner that this needs is not installed on our side. Contact support."
    with translation.override("de"):
        assert "auf unserer Seite nicht installiert" in row_of(reason="engine_missing").reason


def test_in_german_a_scan_is_stopped_and_a_plan_is_given_notice():
    with translation.override("de"):
        assert row_of(state="cancelled", outcome=None, reason="cancelled").outcome == "Abgebrochen"
        assert str(FIELDS["cancels"]) == "Gekündigt"


def test_what_can_be_scanned_now_is_offered_to_people_who_may():
    quick, standard, deep = page_of().offers
    assert (quick.is_possible, quick.allowed_at, quick.left) == (False, NOW, "19 left today.")
    assert (standard.is_possible, standard.left) == (True, "4 left today.")
    assert (deep.is_possible, deep.left) == (False, str(labels.REFUSALS["scans_not_included"]))
    assert page_of(may_scan=False).offers == page_of(running()).offers == ()


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("unpaid", "A payment is missing: scans can begin again once it has arrived."),
        ("not_in_plan", "Your plan does not include these scans."),
        ("of_a_newer_service", "Your plan does not include these scans."),
        (None, "Your plan does not include these scans."),
    ],
)
def test_a_scan_that_is_not_included_says_why(reason, words):
    missing = msgspec.structs.replace(
        RULES, allowance=[build(ScanAllowance, profile="quick", included=False, reason=reason)]
    )
    assert [offer.left for offer in page_of(rules=missing).offers] == [words]


def rules_with(**fields):
    deep = [build(ScanAllowance, profile="quick"), build(ScanAllowance, profile="deep", remaining_today=1)]
    schedule = {"schedule": build(ScanSchedule, **fields.pop("schedule", {})), "allowance": deep}
    return msgspec.structs.replace(RULES, **(schedule | fields))


def test_a_deep_scan_asks_an_owner_for_consent_and_waits_for_one_elsewhere():
    *_, deep = page_of(rules=rules_with()).offers
    assert (deep.is_possible, deep.needs_consent) == (True, True)
    *_, deep = page_of(rules=rules_with(), may_consent=False).offers
    assert (deep.is_possible, "No owner of the organization has agreed" in deep.left) == (False, True)
    page = page_of(rules=rules_with(consent_until=NOW + timedelta(days=9)), may_consent=False)
    assert (page.offers[-1].is_possible, page.offers[-1].needs_consent) == (True, False)
    assert page.schedule.consent.startswith("An owner has agreed to deep scans until")


def test_a_schedule_is_one_sentence_with_the_next_times_and_what_the_plan_includes():
    weekly = {"frequency": "weekly", "start_hour": 22, "hours": 4, "time_zone": "Europe/Berlin"}
    rules = rules_with(schedule=weekly, next_at=[NOW], frequencies=["off", "weekly"])
    rules = msgspec.structs.replace(rules, month=build(ScanMonth, used=7, limit=30))
    shown = page_of(rules=rules).schedule
    assert shown.text.endswith("day: Quick scan, begins between 22:00 and 02:00 (Europe/Berlin).")
    assert (shown.next_at, shown.pause) == ((NOW,), "")
    assert shown.month.startswith("7 of the 30 scans")
    assert [value for value, _label in shown.form.fields["frequency"].choices] == ["off", "weekly"]
    assert [value for value, _label in shown.form.fields["profile"].choices] == ["quick", "deep"]
    assert page_of(rules=rules, may_scan=False).schedule.form is None
    assert page_of(rules=rules_with()).schedule.text == "The website is not scanned automatically."
    assert page_of(rules=None).schedule is None


@pytest.mark.parametrize(("hour", "weekday"), [(21, "Tuesday"), (23, "Tuesday")])
def test_a_weekly_schedule_names_its_day_and_says_if_nobody_chose_it(hour, weekday):
    weekly = {"frequency": "weekly", "start_hour": 22, "hours": 4, "time_zone": "Europe/Berlin"}
    next_at = [datetime(2026, 12, 1, hour, 30, tzinfo=UTC)]  # 22:30, or 0:30 on Wednesday in Berlin
    text = page_of(rules=rules_with(schedule=weekly | {"by_default": True}, next_at=next_at)).schedule.text
    assert text.startswith(f"Every {weekday}: Quick scan, begins between 22:00 and 02:00")
    assert text.endswith("This is the default for a new website. Nobody has changed it yet.")
    with translation.override("de"):
        german = page_of(rules=rules_with(schedule=weekly, next_at=next_at)).schedule.text
    assert german.startswith("Jeden Dienstag: ")


def test_a_paused_schedule_says_why_or_until_when():
    paused = page_of(rules=rules_with(schedule={"frequency": "daily", "pause_reason": "blocked"})).schedule
    assert "paused after three scans" in paused.pause
    assert "A firewall of the website blocked" in paused.pause
    day = NOW.date() + timedelta(days=3)
    until = page_of(rules=rules_with(schedule={"frequency": "daily", "paused_until": day})).schedule
    assert until.pause.startswith("Paused until ")
    over = page_of(rules=rules_with(schedule={"frequency": "daily", "paused_until": NOW.date()})).schedule
    assert over.pause == ""


def test_a_time_zone_may_be_written_in_any_case_and_must_exist():
    values = {"frequency": "weekly", "profile": "quick", "start_hour": "0", "hours": "1"}
    form = ScheduleForm(values | {"time_zone": "europe/berlin", "paused_until": ""})
    assert form.is_valid()
    assert (form.cleaned_data["time_zone"], form.cleaned_data["start_hour"]) == ("Europe/Berlin", 0)
    for zone in ("../etc/passwd", "Localtime", "factory"):
        assert not ScheduleForm(values | {"time_zone": zone}).is_valid()
    for wrong in ({"hours": "25"}, {"start_hour": "24"}, {"frequency": "x"}):
        assert not ScheduleForm(values | {"time_zone": "UTC"} | wrong).is_valid()


def test_addresses_to_allow_are_shown():
    page = page_of()
    assert (page.addresses, page.user_agent) == (("192.0.2.7",), "ThreatDashboard/1")


@pytest.mark.parametrize("code", ["opted_out", "crawler_stopped", "scan_cooldown", "scans_not_included"])
def test_every_refusal_has_words(code):
    assert labels.REFUSALS[code]


@pytest.mark.parametrize(("trigger", "count"), [("hand", 1), ("first", 0)])
def test_a_scan_leads_to_its_comparison_unless_it_was_the_first(trigger, count):
    run = build(ScanRun, engine="essentials", state="ok", run_id="7")
    row = row_of(trigger=trigger, outcome="complete", runs=[run], ended_at=NOW)
    assert len(row.comparisons) == count
