from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import translation

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models.findings import finding_rows, note_views
from tests.portal.dashboards import NOW, make_note, make_threat

PATH = "/sites/shop.example.com/"
HERE = Address(path=PATH, filters=Filters(severity="High", page=2))


def test_a_row_shows_the_day_that_its_list_is_ordered_or_filtered_by():
    threat = make_threat(first_seen=datetime(2026, 9, 1, tzinfo=UTC))
    for filters in ({"sort": "newest"}, {"sort": "oldest"}, {"since": "31-90"}):
        (row,) = finding_rows([threat], [], replace(HERE, filters=Filters(**filters)))
        assert row.first_seen == threat.first_seen
    assert finding_rows([threat], [], HERE)[0].first_seen is None


@pytest.mark.parametrize(("count", "more"), [(0, 0), (1, 0), (4, 3)])
def test_further_locations_are_counted(count, more):
    (row,) = finding_rows([make_threat(locations_count=count)], [], HERE)
    assert row.more_locations == more


def test_a_value_the_portal_does_not_know_keeps_the_services_word():
    (row,) = finding_rows([make_threat(severity="Extreme", kind="rumoured", status="in_review")], [], HERE)
    assert (row.severity, row.tone) == ("Extreme", "info")
    assert (row.kind, row.status) == ("Rumoured", "In review")


@pytest.mark.parametrize(
    ("verified", "german", "kind"),
    [
        (True, False, "Verified by an analyst"),
        (False, False, "Confirmed"),
        (True, True, "Von unseren Fachleuten bestätigt"),
    ],
)
def test_a_row_says_who_confirmed_its_finding(verified, german, kind):
    with translation.override("de" if german else "en"):
        (row,) = finding_rows([make_threat(kind="confirmed", verified=verified)], [], HERE)
    assert row.kind == kind


def test_a_row_leads_to_its_finding_and_keeps_the_list_in_mind():
    (row,) = finding_rows([make_threat(7)], [], HERE)
    assert row.url == PATH + "findings/7/?severity=High&page=2"
    (row,) = finding_rows([make_threat(7)], [], Address(path=PATH, account="acct_0003"))
    assert row.url == PATH + "findings/7/?account=acct_0003"


@pytest.mark.parametrize("finding_id", ["", "..", "a/b", "a b", "?x", "é", "7\n", '"><img>', "x" * 129])
def test_an_invalid_id_has_no_link(finding_id):
    (row,) = finding_rows([make_threat(finding_id)], [], HERE)
    assert row.url == ""


def test_a_row_shows_the_number_of_its_notes():
    notes = [make_note(finding_id="1"), make_note(finding_id="1"), make_note(finding_id="2"), make_note()]
    first, third = finding_rows([make_threat(1), make_threat(3)], notes, HERE)
    assert (first.notes, third.notes) == (2, 0)


def test_a_note_leads_to_the_finding_that_it_is_about():
    general, about = note_views([make_note(finding_id="9", body="On one."), make_note()], HERE)
    assert (about.body, about.finding_url) == ("<p>On one.</p>\n", PATH + "findings/9/?severity=High&page=2")
    assert general.finding_url == ""


def test_a_pinned_note_comes_first_also_about_a_finding():
    pinned, general = note_views([make_note(), make_note(finding_id="9", pinned=True)], HERE)
    assert pinned.is_pinned
    assert pinned.finding_url
    assert not general.is_pinned


@pytest.mark.parametrize(
    ("status", "days", "label"), [("open", 6, "New"), ("open", 7, ""), ("fixed", 0, "Fixed")]
)
def test_an_open_finding_of_the_last_seven_days_is_new(status, days, label):
    today = NOW.date()
    threat = make_threat(status=status, first_seen=NOW - timedelta(days=days))
    (row,) = finding_rows([threat], [], HERE, today=today)
    (anywhere,) = finding_rows([threat], [], HERE)
    assert row.status == label
    assert anywhere.status in ("", "Fixed")
