from datetime import UTC, datetime

import pytest
from django.utils import translation

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models.finding import finding_view, reference, timeline, weaknesses
from signed_api.findings import Event, Location
from tests.portal.dashboards import make_finding, make_finding_response, make_note
from tests.structs import build

PATH = "/sites/shop.example.com/"
THEN = datetime(2026, 11, 1, tzinfo=UTC)


def text_of(finding=None, notes=(), **filters):
    response = make_finding_response(finding=finding or make_finding(), analyst_notes=list(notes))
    address = Address(path=PATH, filters=Filters(**filters))
    return finding_view(response, address, link="https://portal.example.com/x/")


@pytest.mark.parametrize("url", ["https://example.com/a", "http://example.com/?q=1"])
def test_references_lead_to_the_web(url):
    assert reference(url).url == url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://example.com/",
        "//example.com/",
        "/accounts/logout/",
        "https://",
        "https://[broken",
        "https://user@evil.example/",
        "",
        " javascript:alert(1)",
    ],
)
def test_references_lead_nowhere_else(url):
    assert reference(url) is None


def test_a_reference_is_read_without_its_scheme():
    assert reference("https://example.com/guide/").text == "example.com/guide"


def test_catalogued_weaknesses_are_linked():
    links = weaknesses(make_finding(cve=["CVE-2021-44228"], cwe=[79]))
    assert [(link.text, link.url) for link in links] == [
        ("CVE-2021-44228", "https://nvd.nist.gov/vuln/detail/CVE-2021-44228"),
        ("CWE-79", "https://cwe.mitre.org/data/definitions/79.html"),
    ]


@pytest.mark.parametrize(
    ("language", "problem", "fix"),
    [
        ("de", "log4shell", "Aktualisieren Sie Log4j auf 2.17.1 oder neuer."),
        ("de", "0" * 16, ""),
        ("en", "log4shell", ""),
    ],
)
def test_the_fix_of_a_topic_comes_with_the_scanners_where_that_is_in_another_language(language, problem, fix):
    with translation.override(language):
        assert text_of(make_finding(problem=problem)).fix == fix


@pytest.mark.parametrize("cve", ["CVE-1", "CVE-2021-44228&x=1", "cve-2021-44228/", "CVE-٢٠٢١-44228"])
def test_an_invalid_cve_is_text(cve):
    assert weaknesses(make_finding(cve=[cve]))[0].url == ""


def test_the_way_back_is_the_list_that_it_was_opened_from():
    view = text_of(make_finding(7), severity="High", page=2)
    assert (view.list_url, view.row_key) == (PATH + "?severity=High&page=2", "finding-7")


def test_a_single_location_is_only_at_the_top():
    only = build(Location, location="/a", evidence="GET /a")
    assert text_of(make_finding(location="/a", evidence="GET /a", locations=[only])).locations == ()
    assert text_of(make_finding(location="/b", evidence="GET /a", locations=[only])).locations


def test_the_rating_by_cvss_is_found_in_the_texts_of_the_scanner():
    found = text_of(make_finding(description="Words.\n\nCVSS score: 9.8", evidence="GET /")).cvss
    assert (found.score, found.vector) == ("9.8", "")
    assert text_of(make_finding()).cvss is None


def test_a_location_shows_evidence_that_differs():
    places = [
        build(
            Location, location="/a", evidence="GET /", evidence_truncated=True
        ),  # the beginning of the same
        build(Location, location="/b", evidence="GET /b", evidence_truncated=True),
    ]
    first, second = text_of(make_finding(evidence="GET /a", locations=places)).locations
    assert (first.evidence, first.is_evidence_cut) == ("", False)
    assert (second.evidence, second.is_evidence_cut) == ("GET /b", True)
    (only,) = text_of(make_finding(evidence="", locations=places[1:])).locations
    assert only.evidence == "GET /b"


@pytest.mark.parametrize(
    ("count", "given", "gone", "more"),
    [
        (0, 0, 0, 0),
        (1, 0, 0, 0),
        (4, 0, 0, 3),
        (2, 2, 0, 0),
        (150, 100, 0, 50),
        (80, 80, 20, 0),
        (120, 60, 40, 60),
        (2, 0, 3, 0),
    ],
)
def test_locations_beyond_the_list_are_counted_without_those_that_are_gone(count, given, gone, more):
    places = [build(Location, location=f"/{number}") for number in range(given)]
    places += [
        build(Location, location=f"/gone/{number}", gone_at=datetime(2026, 3, 1, tzinfo=UTC))
        for number in range(gone)
    ]
    assert text_of(make_finding(locations_count=count, locations=places)).more_locations == more


def test_the_timeline_leaves_out_events_without_a_label():
    events = [
        build(Event, at=THEN, event="first_seen"),
        build(Event, at=THEN, event="abducted"),
        build(Event, at=THEN, event="fixed"),
    ]
    assert [step.event for step in timeline(make_finding(timeline=events))] == ["First seen", "Fixed"]


def test_without_a_timeline_there_are_first_and_last_seen():
    view = make_finding(first_seen=THEN, last_seen=None)
    assert [(step.event, step.at) for step in timeline(view)] == [("First seen", THEN)]


def test_a_finding_that_is_not_open_says_so():
    assert text_of(make_finding(status="accepted_risk")).status == "Accepted risk"
    assert text_of().status == ""


def test_a_finding_that_an_analyst_confirmed_says_so_and_what_it_means():
    verified, by_scanner = text_of(make_finding(verified=True)), text_of()
    assert verified.kind == "Verified by an analyst"
    assert verified.kind_meaning == "One of our analysts checked it: the problem is there."
    assert (by_scanner.kind, by_scanner.kind_meaning) == (
        "Confirmed",
        "The check proved that the problem is there.",
    )


def test_the_timeline_says_when_an_analyst_confirmed_the_finding_and_took_it_back():
    events = [build(Event, at=THEN, event="confirmed"), build(Event, at=THEN, event="unconfirmed")]
    assert [step.event for step in timeline(make_finding(timeline=events))] == [
        "Verified by an analyst",
        "No longer verified by an analyst",
    ]


def test_notes_need_no_way_to_the_finding_that_they_stand_with():
    (note,) = text_of(notes=[make_note(finding_id="1", body="On **this**.")]).notes
    assert (note.body, note.finding_url) == ("<p>On <strong>this</strong>.</p>\n", "")


@pytest.mark.parametrize(
    ("reason", "german"),
    [
        (
            "Checked by hand: the problem is gone. Seen with Ada.",
            "Von Hand geprüft: Das Problem ist behoben. Seen with Ada.",
        ),
        ("High to Low: It is internal.", "Hoch zu Niedrig: It is internal."),
        (
            "Also found at /a and 2 more, which the decision was not about.",
            "Auch an /a und 2 weiteren Fundstellen gefunden, für die die Entscheidung nicht galt.",
        ),
        (
            "Also found at https://shop.example.com/a, which the decision was not about.",
            "Auch an https://shop.example.com/a gefunden, wofür die Entscheidung nicht galt.",
        ),
    ],
)
def test_reasons_are_in_the_language_of_the_reader_and_own_words_stay(reason, german):
    events = [build(Event, at=THEN, event="fixed", reason=reason)]
    with translation.override("de"):
        assert timeline(make_finding(timeline=events))[0].reason == german
    assert timeline(make_finding(timeline=events))[0].reason == reason


def test_the_status_has_the_last_day_of_the_decision():
    assert text_of(make_finding(status="accepted_risk")).status == "Accepted risk"
    until = make_finding(status="accepted_risk", decided_until=THEN.date())
    assert text_of(until).status == "Accepted risk until 1 Nov 2026"
