"""Statements about changes: each equals its ORM twin."""

import pytest
from django.db.models import Max

from dashboard_api.models import AnalystNote, Finding, FindingEvent, Severity
from dashboard_api.queries import change_feed
from tests.factories import make_account, make_event, make_finding, make_note, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def site():
    """A website with findings of every standing, among those of another."""
    site, other = make_website(), make_website("other.example.com")
    for severity in Severity:
        for status in ("open", "false_positive", "open"):
            for website in (site, other):
                finding = make_finding(website, severity=severity, status=status)
                make_event(finding)
                make_event(finding, "rated")
    make_finding(other)
    return site


def test_the_newest_are_the_websites(site):
    findings = Finding.objects.filter(website=site).aggregate(Max("pk"))["pk__max"]
    events = FindingEvent.objects.filter(finding__website=site, event="regressed").aggregate(Max("pk"))
    assert change_feed.newest(site.pk) == (findings, events["pk__max"])
    assert change_feed.newest(make_website("empty.example.com").pk) == (0, 0)


def test_new_findings_are_the_open_ones_between_two_ids(site):
    after, until = site.findings.order_by("pk")[4].pk, site.findings.order_by("-pk")[3].pk
    for least in Severity:
        twins = site.findings.filter(status="open", pk__gt=after, pk__lte=until, severity__gte=least)
        assert sorted(change_feed.new_findings(site.pk, after, until, least, None)) == sorted(
            twins.values_list("pk", "severity")
        )


def test_returned_findings_are_the_open_ones_with_a_later_regression(site):
    events = FindingEvent.objects.filter(finding__website=site, event="regressed").order_by("pk")
    after, until = events[4].pk, events.order_by("-pk")[1].pk
    for least in Severity:
        twins = events.filter(
            finding__status="open", finding__severity__gte=least, pk__gt=after, pk__lte=until
        )
        expected = list(twins.values_list("finding_id", "finding__severity", "at"))
        assert change_feed.regressions(site.pk, after, until, least) == expected


def test_words_are_the_findings_own(site):
    found = {finding.pk: finding for finding in site.findings.all()}
    assert change_feed.summaries(list(found)) == {
        pk: (finding.title, finding.location, finding.problem, finding.remediation[:1000], finding.first_seen)
        for pk, finding in found.items()
    }
    assert change_feed.summaries([]) == {}


def test_published_notes_are_those_of_the_account(site):
    account, other = make_account(), make_account("acct_0002", secrets=[])
    for fields in ({}, {"account": account}, {"account": other}, {"is_internal": True}):
        make_note(site, **fields)
        make_note(site, finding=site.findings.first(), **fields)
    since = AnalystNote.objects.order_by("pk").first().published_at
    twins = AnalystNote.objects.visible_to(account.pk).filter(published_at__gt=since)
    expected = twins.order_by("-published_at", "-pk")
    columns = ("pk", "finding_id", "finding__title", "author", "published_at")
    assert change_feed.published_notes(site.pk, account.pk, since) == list(expected.values_list(*columns))
