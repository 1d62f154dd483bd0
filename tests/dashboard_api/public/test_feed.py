"""The live feed: what appears, when, how it is masked, and what leaves it."""

import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.utils import timezone

from dashboard_api import models as api
from dashboard_api.public import feed, publishing
from dashboard_api.public.counting import CountedWebsite, is_crowd
from dashboard_api.public.feed import HIDDEN, masks_of
from dashboard_api.public.sample import sample_websites
from tests import factories
from tests.dashboard_api.public.crowds import make_crowd, make_found

pytestmark = pytest.mark.django_db
CANARY = "canary7391"


def publish(after=timedelta()):
    """Run the command at a time, and return the entries of the published feed."""
    now = timezone.now() + after
    with patch("django.utils.timezone.now", return_value=now):
        api.Coverage.objects.update(last_run_at=now, completed_at=now)
        call_command("publish_telemetry", verbosity=0)
    return json.loads(api.Published.objects.get(kind="feed").body)["entries"]


@pytest.fixture
def websites():
    return make_crowd(20, shown=True)


def test_a_finding_appears_one_to_three_days_later_as_a_category_of_a_masked_domain(websites):
    found = datetime(2026, 11, 20, 23, 59, tzinfo=UTC)
    make_found(websites[0], severity=api.Severity.CRITICAL, cwe=[89])
    api.Finding.objects.update(first_seen=found)
    appears = {}
    for website in websites:
        api.Finding.objects.update(website=website)
        for hours in (0, 23, 24, 25, 48, 49, 72):
            at = found + timedelta(hours=hours)
            with patch("django.utils.timezone.now", return_value=at):
                api.Coverage.objects.update(last_run_at=at)
                if entries := feed.feed_entries(publishing.websites_of(at), at):
                    appears[website] = hours, entries
                    break
    assert len(appears) == 20
    assert {hours for hours, _ in appears.values()} == {25, 49}  # of a finding a minute before midnight
    hours, [(host, entry)] = appears[websites[0]]
    assert host == websites[0].host
    assert entry == {
        "severity": "High",
        "domain": "•••••.de",
        "category": "sql-injection",
        "description": "SQL injection",
        "region": "DE",
        "day": (found + timedelta(hours=hours)).date().isoformat(),
    }


def test_an_entry_is_shown_for_14_days(websites):
    make_found(websites[0])
    assert len(publish(timedelta(days=15))) == 1
    assert publish(timedelta(days=17)) == []


def test_an_account_has_at_most_one_entry_a_day_and_the_feed_at_most_50(websites):
    for website in websites:
        for days_ago in range(20):
            make_found(website, days_ago=days_ago)
    now = timezone.now()
    entries = feed.feed_entries(publishing.websites_of(now), now)
    accounts = dict(api.SiteLink.objects.values_list("website__host", "account"))
    places = [(accounts[host], entry["day"]) for host, entry in entries]
    assert len(places) == len(set(places)) == 50
    days = [entry["day"] for _, entry in entries]
    assert days == sorted(days, reverse=True)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "suspected"},
        {"kind": "informational"},
        {"severity": api.Severity.INFO},
        {"status": "false_positive"},
        {"status": "accepted_risk"},
    ],
)
def test_only_confirmed_findings_appear(websites, fields):
    make_found(websites[0], days_ago=4, **fields)
    assert publish() == []


def test_only_websites_whose_owners_agreed_appear_and_hide_each_other(websites):
    api.Account.objects.update(publicity="counted")
    make_found(websites[0], days_ago=4)
    assert publish() == []
    api.SiteLink.objects.filter(website=websites[0]).update(publicity="shown")  # looser than the account
    assert publish() == []
    api.Account.objects.update(publicity="shown")
    assert len(publish()) == 1
    api.SiteLink.objects.filter(website__in=websites[9:]).update(publicity="counted")
    assert publish() == []


def withdraw_false(website):
    api.Finding.objects.update(status="false_positive", fixed_at=None)


def withdraw_deleted(website):
    api.Finding.objects.all().delete()


def withdraw_opted_out(website):
    api.SiteLink.objects.filter(website=website).update(publicity="counted")


def withdraw_revoked(website):
    website.links.get().revoke(by="tests", reason="Sold", now=timezone.now())


def withdraw_expired(website):
    api.Entitlement.objects.filter(account__links__website=website).update(status="expired")


@pytest.mark.parametrize(
    "withdraw", [withdraw_false, withdraw_deleted, withdraw_opted_out, withdraw_revoked, withdraw_expired]
)
def test_what_ended_is_gone_at_the_next_run(websites, withdraw):
    make_found(websites[0], days_ago=4)
    assert len(publish()) == 1
    api.Finding.objects.update(status="fixed", fixed_at=timezone.now())
    assert len(publish()) == 1
    withdraw(websites[0])
    assert publish() == []


def test_nothing_of_a_report_and_no_name_is_published():
    websites = make_crowd(20, prefix=CANARY, shown=True)
    api.Account.objects.update(name=CANARY)
    for website in websites:
        texts = dict.fromkeys(("title", "description", "rule", "evidence", "remediation"), CANARY)
        finding = make_found(website, days_ago=4, location=f"https://{website.host}/{CANARY}", **texts)
        factories.make_note(website, body=CANARY, finding=finding)
    assert publish()[0]["domain"] == "•••••.de"
    public = "".join(api.Published.objects.values_list("body", flat=True))
    assert CANARY not in public
    assert "acct_" not in public


def test_the_demo_publishes_made_up_websites_and_says_so(settings):
    settings.PUBLIC_DEMO = True
    shown = publish()
    assert len(shown) > 20
    assert publish() == shown
    for document in api.Published.objects.all():
        assert json.loads(document.body)["sample"] is True


def shown(number, suffix, *, region="001", first=1, accounts=5, is_shown=True):
    return [
        CountedWebsite(
            number=n,
            host=f"shop{n}.{suffix}",
            accounts=frozenset({n % accounts}),
            region=region,
            is_shown=is_shown,
        )
        for n in range(first, first + number)
    ]


def masks_among(*groups):
    """Return the set of masks of each group of websites."""
    masks = masks_of([website for group in groups for website in group])
    return [{masks.get(website.number) for website in group} for group in groups]


def test_a_small_group_loses_its_region_and_then_its_suffix():
    large = shown(10, "de", region="DE")
    austrian, other = shown(9, "de", region="AT", first=100), shown(1, "de", first=200)
    assert masks_among(large, austrian) == [{("•••••.de", "DE")}, {None}]
    assert masks_among(large, austrian, other) == [
        {("•••••.de", "DE")},
        {("•••••.de", "001")},
        {("•••••.de", "001")},
    ]
    rare = shown(5, "kz", region="KZ", first=300), shown(5, "bmw", first=400)
    assert masks_among(large, *rare) == [{("•••••.de", "DE")}, {(HIDDEN, "001")}, {(HIDDEN, "001")}]


def test_websites_of_one_account_or_one_domain_or_without_consent_are_no_crowd():
    own = shown(9, "de")
    assert masks_among(own, shown(1, "de", first=100)) == [{("•••••.de", "001")}] * 2
    assert masks_among(own, shown(1, "de", first=100, is_shown=False)) == [{None}] * 2
    assert masks_among(shown(50, "de", accounts=4)) == [{None}]
    assert masks_among(shown(50, "example.de")) == [{None}]


@pytest.mark.parametrize(
    ("suffix", "domain"),
    [
        ("co.uk", "•••••.co.uk"),
        ("github.io", "•••••.io"),
        ("xn--p1ai", "•••••.рф"),
    ],
)
def test_a_mask_shows_the_suffix_of_the_registry(suffix, domain):
    assert {mask.domain for mask in masks_of(shown(10, suffix)).values()} == {domain}


@pytest.mark.parametrize("seed", range(10))
def test_websites_of_every_published_mask_are_a_crowd(seed):
    websites = sample_websites(websites=60 * (1 + seed), accounts=30, seed=seed)
    same = defaultdict(list)
    masks = masks_of(websites)
    for website in websites:
        if website.number in masks:
            same[masks[website.number]].append(website)
    assert masks
    assert all(map(is_crowd, same.values()))
