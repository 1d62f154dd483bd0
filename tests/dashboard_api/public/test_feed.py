"""The live feed: what appears, when, and what is withdrawn."""

import json
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api import models as api
from dashboard_api.public import feed, publishing
from tests import factories
from tests.dashboard_api.public.crowds import make_crowd, make_found_yesterday

pytestmark = pytest.mark.django_db
CANARY = "canary7391"


def publish(after=timedelta()):
    """Run the command at a time, and return the entries of the published feed."""
    now = timezone.now() + after
    with patch("django.utils.timezone.now", return_value=now):
        api.Coverage.objects.update(last_run_at=now, completed_at=now)
        call_command("publish_telemetry", verbosity=0)
    return entries()


def entries():
    return json.loads(bytes(api.Published.objects.get(kind="feed").body))["entries"]


@pytest.fixture
def websites():
    return make_crowd(20)


def test_a_finding_appears_one_to_three_days_later_as_a_category_of_a_masked_domain(websites):
    make_found_yesterday(websites[0], severity=api.Severity.CRITICAL, cwe=[89])
    assert publish() == publish(timedelta(hours=23)) == []
    (shown,) = publish(timedelta(hours=73))
    entry = api.FeedEntry.objects.get()
    assert shown == {
        "id": entry.public_id,
        "severity": "High",
        "domain": "•••••.de",
        "category": "sql-injection",
        "description": "SQL injection",
        "region": "DE",
        "day": entry.day.isoformat(),
    }
    assert publish(timedelta(days=3 + 14)) == []
    assert not api.FeedEntry.objects.exists()


def test_an_account_has_at_most_one_entry_a_day(websites):
    for website in websites:
        for _ in range(3):
            make_found_yesterday(website)
    for hour in range(6):
        publish(timedelta(hours=hour))
    shown = publish(timedelta(hours=96))
    days = [(entry.account_id, entry.day) for entry in api.FeedEntry.objects.all()]
    assert len(days) == len(set(days)) == len(shown) > 6


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "suspected"},
        {"kind": "informational"},
        {"severity": api.Severity.INFO},
        {"status": "false_positive"},
    ],
)
def test_only_open_confirmed_findings_appear(websites, fields):
    make_found_yesterday(websites[0], **fields)
    publish()
    assert not api.FeedEntry.objects.exists()


def test_old_findings_and_small_crowds_do_not_appear(websites):
    factories.make_finding(websites[0], first_seen=timezone.now() - timedelta(days=2))
    publish()
    make_found_yesterday(websites[1])
    api.SiteLink.objects.filter(website__in=websites[:6]).update(publicity="nothing")
    publish()
    assert not api.FeedEntry.objects.exists()


def withdraw_false(finding, website):
    api.Finding.objects.filter(pk=finding.pk).update(status="false_positive")


def withdraw_deleted(finding, website):
    finding.delete()


def withdraw_opted_out(finding, website):
    api.SiteLink.objects.filter(website=website).update(publicity="nothing")


def withdraw_revoked(finding, website):
    website.links.get().revoke(by="tests", reason="Sold", now=timezone.now())


def withdraw_expired(finding, website):
    api.Entitlement.objects.filter(account__links__website=website).update(status="expired")


def withdraw_by_staff(finding, website):
    api.FeedEntry.objects.get().withdraw(by="ada", reason="The customer asked", now=timezone.now())


@pytest.mark.parametrize(
    "withdraw",
    [
        withdraw_false,
        withdraw_deleted,
        withdraw_opted_out,
        withdraw_revoked,
        withdraw_expired,
        withdraw_by_staff,
    ],
)
def test_what_ended_is_gone_at_the_next_run_and_does_not_return(websites, withdraw):
    make_crowd(10, suffix="at")
    finding = make_found_yesterday(websites[0])
    publish()
    assert len(publish(timedelta(hours=73))) == 1
    withdraw(finding, websites[0])
    assert publish(timedelta(hours=74)) == publish(timedelta(hours=75)) == []
    assert AuditEvent.objects.filter(action="feed_entry.withdrawn").count() == 1


def test_an_entry_is_withdrawn_once_and_with_a_reason(websites):
    make_found_yesterday(websites[0])
    publish()
    entry = api.FeedEntry.objects.get()
    with pytest.raises(ValidationError, match="Say why"):
        entry.withdraw(by="ada", reason=" ", now=timezone.now())
    entry.withdraw(by="ada", reason="Asked", now=timezone.now())
    with pytest.raises(ValidationError, match="withdrawn already"):
        entry.withdraw(by="ada", reason="Asked", now=timezone.now())


def test_a_mask_becomes_coarser_when_its_crowd_leaves_and_never_finer(websites):
    make_crowd(20, suffix="at")
    make_found_yesterday(websites[0])
    publish()
    assert publish(timedelta(hours=73))[0]["domain"] == "•••••.de"
    api.SiteLink.objects.filter(website__in=websites[1:15]).update(publicity="nothing")
    assert publish(timedelta(hours=74))[0]["domain"] == "•••••"
    api.SiteLink.objects.update(publicity="")
    assert publish(timedelta(hours=75))[0]["domain"] == "•••••"


def test_nothing_of_a_report_and_no_name_is_published():
    websites = make_crowd(20, prefix=CANARY)
    api.Account.objects.update(publicity="named", name=CANARY)
    for website in websites:
        texts = dict.fromkeys(("title", "description", "rule", "evidence", "remediation"), CANARY)
        finding = make_found_yesterday(website, location=f"https://{website.host}/{CANARY}", **texts)
        factories.make_note(website, body=CANARY, finding=finding)
    publish()
    assert publish(timedelta(hours=73))[0]["domain"] == "c•••••.de"
    public = b"".join(bytes(row.body) for row in api.Published.objects.all()).decode()
    assert CANARY not in public
    assert not any(CANARY[place : place + 2] in entry["domain"] for entry in entries() for place in range(9))
    assert "acct_" not in public


def test_a_failed_run_changes_no_entry(websites, monkeypatch):
    make_found_yesterday(websites[0])
    publish()
    shown = publish(timedelta(hours=73))
    withdraw_opted_out(None, websites[0])
    monkeypatch.setattr(feed, "shown_entries", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        publish(timedelta(hours=74))
    assert entries() == shown
    assert api.FeedEntry.objects.kept().count() == 1


def test_the_demo_publishes_made_up_websites_and_says_so(settings):
    settings.PUBLIC_DEMO = True
    shown = publish()
    assert len(shown) > 20
    assert publish() == shown
    for kind in ("feed", "statistics"):
        assert json.loads(bytes(api.Published.objects.get(kind=kind).body))["sample"] is True
    assert publishing.population(timezone.now().date(), timezone.now())
    assert not api.FeedEntry.objects.exists()
