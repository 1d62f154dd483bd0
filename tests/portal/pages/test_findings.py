import pytest

from portal.pages.findings import findings, general_notes, reference, weaknesses
from tests.portal.dashboards import make_note, make_threat


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
    links = weaknesses(make_threat(cve=["CVE-2021-44228"], cwe=[79]))
    assert [(link.text, link.url) for link in links] == [
        ("CVE-2021-44228", "https://www.cve.org/CVERecord?id=CVE-2021-44228"),
        ("CWE-79", "https://cwe.mitre.org/data/definitions/79.html"),
    ]


@pytest.mark.parametrize("cve", ["CVE-1", "CVE-2021-44228&x=1", "cve-2021-44228/", "CVE-٢٠٢١-44228"])
def test_what_is_no_cve_is_text(cve):
    assert weaknesses(make_threat(cve=[cve]))[0].url == ""


@pytest.mark.parametrize(("count", "more"), [(0, 0), (1, 0), (4, 3)])
def test_further_places_are_counted(count, more):
    (finding,) = findings([make_threat(locations_count=count)], [])
    assert finding.more_places == more


def test_a_value_the_portal_does_not_know_keeps_the_services_word():
    (finding,) = findings([make_threat(severity="Extreme", kind="rumoured", status="in_review")], [])
    assert (finding.severity, finding.tone) == ("Extreme", "info")
    assert (finding.kind, finding.kind_meaning, finding.state) == ("Rumoured", "", "In review")


def test_notes_stand_with_their_finding_and_the_others_with_the_website():
    threats = [make_threat(1), make_threat(2)]
    notes = [
        make_note(id="a", body="On one.", finding_id="1"),
        make_note(id="b", body="On all."),
        make_note(id="c", body="On an unlisted one.", finding_id="99"),
    ]
    first, second = findings(threats, notes)
    assert [note.body for note in first.notes] == ["<p>On one.</p>\n"]
    assert second.notes == ()
    assert [(note.body, note.is_about_finding) for note in general_notes(notes, threats)] == [
        ("<p>On all.</p>\n", False),
        ("<p>On an unlisted one.</p>\n", True),
    ]
