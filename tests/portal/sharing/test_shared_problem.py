"""Sharing a whole problem: the form, the links before there is one, and the page of strangers."""

import re
from datetime import date
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.urls import reverse

from portal.models import IssueTracker, ShareLink
from portal.sharing import views
from signed_api.errors import TimedOut, UnknownFinding
from signed_api.findings import DashboardRequest, Location
from tests.portal.dashboards import (
    make_clean_dashboard,
    make_coverage,
    make_dashboard,
    make_finding,
    make_finding_response,
    make_note,
    make_page,
    make_threat,
)
from tests.portal.sharing.conftest import OWNER, VIEWER
from tests.portal.sharing.test_views import FINDING, FORM, HIDDEN, HOST, LINK, text_of
from tests.structs import build

pytestmark = pytest.mark.django_db

PROBLEM = f"/sites/{HOST}/?problem=tls-1-0-offered"
SHARE = f"/sites/{HOST}/share/?problem=tls-1-0-offered"
TEXTS = {
    "title": "TLS 1.0",
    "description": "It has known weaknesses.",
    "remediation": "Offer TLS 1.2 only.",
    "references": ["https://example.com/tls"],
    "cwe": [326],
    "cve": ["CVE-2011-3389"],
}


@pytest.fixture
def problem(website, stub):
    """A problem with two findings; the second is at three locations."""
    stub.dashboard = make_dashboard(
        threats=[
            make_threat(1, **TEXTS, evidence="secret-evidence", evidence_truncated=True),
            make_threat(2, **TEXTS, severity="Low", evidence="secret-evidence two", locations_count=4),
        ],
        analyst_notes=[make_note(body="Only for members")],
    )
    stub.response = make_finding_response(
        finding=make_finding(
            2,
            **TEXTS,
            evidence="secret-evidence two",
            locations_count=4,
            locations=[
                build(Location, location=f"https://shop.example.com/page/{page}", evidence=evidence)
                for page, evidence in ((2, "secret-evidence two"), (8, "other-evidence"), (9, ""))
            ],
        ),
        analyst_notes=[make_note(body="Only for members")],
    )


def share(browser, **form):
    """Share the problem, and return the path of its page."""
    page = browser(OWNER).post(SHARE, FORM | form)
    return LINK.search(page.content.decode())[1]


def mail_of(page):
    """Return the text of the page's only e-mail."""
    [url] = re.findall(r'href="(mailto:[^"]*)"', page.content.decode())
    return parse_qs(urlsplit(url.replace("&amp;", "&")).query)["body"][0]


SHOWN = (
    "High · shop.example.com", "TLS 1.0 is offered", "2 findings", "It has known weaknesses.",
    "Turn TLS 1.0 off, and offer TLS 1.2 and 1.3 only. Offer TLS 1.2 only.", "ssl_protocols TLSv1.2 TLSv1.3;",
    "https://shop.example.com/page/1", "https://shop.example.com/page/2", "https://shop.example.com/page/8",
    "https://shop.example.com/page/9", "And 1 more location.", "CVE-2011-3389", "CWE-326", "example.com/tls",
    "Nuclei", "http/missing-header", "This page works until",
)  # fmt: skip


def test_a_link_shows_everything_about_the_problem_and_nothing_internal(browser, website, problem):
    page = browser().get(share(browser))
    source, text = page.content.decode(), text_of(page)
    assert [words for words in SHOWN if words not in text] == []
    assert [words for words in (*HIDDEN, website.link_id) if words in source] == []
    assert text.count("It has known weaknesses.") == 1


def test_evidence_is_shown_if_it_was_chosen(browser, problem):
    assert "Include evidence" in text_of(browser(OWNER).get(PROBLEM))
    path = share(browser, evidence="on")
    assert ShareLink.objects.get().includes_evidence
    text = text_of(browser().get(path))
    assert "secret-evidence" in text
    assert "secret-evidence two" in text
    assert "other-evidence" in text
    assert "Only the beginning of the evidence is shown." in text


def test_the_page_says_how_to_check_the_fix(browser, problem):
    text = text_of(browser().get(share(browser)))
    assert "How to check the fix The next complete scan by Nuclei shows whether the fix worked." in text
    assert "The evidence is left out here. Ask for it if you want to test the fix yourself." in text
    text = text_of(browser().get(share(browser, evidence="on")))
    assert "Test it yourself first: what the evidence shows must be gone. The next complete scan" in text


def test_the_page_names_the_day_of_each_next_scan(browser, stub, problem):
    threats = [make_threat(1, **TEXTS), make_threat(2, **TEXTS, source="zap", source_name="ZAP")]
    coverage = [make_coverage(next_due_on=date(2026, 12, 4)), make_coverage(source="zap")]
    stub.dashboard = make_dashboard(threats=threats, coverage=coverage)
    text = text_of(browser().get(share(browser)))
    assert "The next complete scans by Nuclei (due on 4 Dec 2026), ZAP show whether the fix worked." in text


def test_a_fixed_problem_has_no_fix_to_check(browser, stub, problem):
    stub.dashboard = make_dashboard(threats=[make_threat(1, **TEXTS, status="fixed")])
    assert "How to check the fix" not in text_of(browser().get(share(browser)))


def test_a_list_without_a_problem_has_no_evidence_to_choose(browser, website, stub):
    page = browser(OWNER).post(f"/sites/{HOST}/share/", FORM | {"evidence": "on"})
    assert "They see the evidence" not in text_of(page)
    assert not ShareLink.objects.get().includes_evidence
    assert "Include evidence" not in text_of(browser(OWNER).get(f"/sites/{HOST}/"))


def test_a_fix_that_all_scanners_write_as_we_do_is_read_once(browser, website, stub, problem):
    fix = "Turn TLS 1.0 off, and offer TLS 1.2 and 1.3 only."
    stub.dashboard = make_dashboard(threats=[make_threat(1, **TEXTS | {"remediation": fix})])
    assert text_of(browser().get(share(browser))).count(fix) == 1


def test_texts_that_differ_are_with_their_findings(browser, website, stub, problem):
    stub.dashboard = make_dashboard(
        threats=[make_threat(1, **TEXTS), make_threat(2, **TEXTS | {"description": "It is another."})]
    )
    text = text_of(browser().get(share(browser)))
    assert text.index("It has known weaknesses.") > text.index("https://shop.example.com/page/1")
    assert text.index("It is another.") > text.index("https://shop.example.com/page/2")
    assert text.count("Offer TLS 1.2 only.") == 1


def test_texts_that_differ_by_words_of_their_titles_are_read_once(browser, website, stub, problem):
    stub.dashboard = make_dashboard(
        threats=[
            make_threat(
                number, title=f"Reached through “{name}”", description=f"The value of “{name}” is “run”."
            )
            for number, name in enumerate(["city", "list"])
        ]
    )
    text = text_of(browser().get(share(browser)))
    assert text.count("The value of “…” is “run”.") == 1
    assert text.count("The value of") == 1
    assert "through “city”" in text
    assert "through “list”" in text


def test_other_filters_and_findings_that_are_not_listed_are_named(browser, website, stub, problem):
    stub.dashboard = make_dashboard(threats=[make_threat()], dashboard=make_page(total=120))
    page = browser(OWNER).post(f"{SHARE}&severity=High", FORM)
    text = text_of(browser().get(LINK.search(page.content.decode())[1]))
    assert "Findings: High · TLS 1.0 is offered · 120 findings, the worst 1 are listed" in text


def test_only_some_findings_are_read_with_all_their_locations(browser, website, stub, problem, monkeypatch):
    monkeypatch.setattr(views, "MAX_WITH_LOCATIONS", 2)
    threats = [make_threat(number, locations_count=number) for number in range(1, 6)]
    stub.dashboard = make_dashboard(threats=threats)
    path = share(browser)
    stub.requests.clear()
    text = text_of(browser().get(path))
    assert [request for _, request in stub.requests if not isinstance(request, DashboardRequest)] == [
        "2",
        "3",
    ]
    assert "https://shop.example.com/page/5 High · Confirmed And 4 more locations." in text


def test_a_finding_that_is_gone_by_now_does_not_end_the_page(browser, stub, problem):
    path = share(browser)
    stub.response = UnknownFinding()
    assert "And 3 more locations." in text_of(browser().get(path))
    stub.response = TimedOut()
    assert browser().get(path).status_code == 503


def test_a_problem_without_findings_says_so(browser, stub, problem):
    path = share(browser)
    stub.dashboard = make_clean_dashboard()
    assert "No findings at the moment." in text_of(browser().get(path))


# Before there is a link


@pytest.mark.parametrize("path", [PROBLEM, FINDING], ids=["problem", "finding"])
def test_an_email_of_an_owner_begins_with_a_share_link(browser, website, problem, path):
    owner = browser(OWNER)
    page = owner.get(path).content.decode()
    assert "mailto:" not in page
    assert re.search(r'<button [^>]*form="share-form" name="way" value="email">', page)
    [action] = re.findall(r'<form id="share-form" method="post" action="([^"]*)"', page)
    created = owner.post(action, FORM | {"way": "email"})
    assert "which needs no sign-in" in text_of(created)
    link = LINK.search(created.content.decode())[0]
    assert f"All details: {link}" in mail_of(created)


@pytest.mark.parametrize("path", [PROBLEM, FINDING], ids=["problem", "finding"])
def test_an_email_of_a_viewer_says_that_its_link_needs_a_sign_in(browser, website, problem, path):
    page = browser(VIEWER).get(path)
    assert f"All details (sign-in needed): http://testserver{path}" in mail_of(page)
    assert "What you send contains a link that needs a sign-in. Owners and managers" in text_of(page)


def test_an_issue_that_has_no_share_link_says_that_its_link_needs_a_sign_in(browser, website, problem):
    IssueTracker.objects.create(account=website.account, kind="github", url="https://github.com/a/b")
    page = browser(OWNER).get(PROBLEM).content.decode()
    [issue] = re.findall(r'href="(https://github.com/a/b/issues/new[^"]*)"', page)
    assert "All details (sign-in needed)" in unquote(issue)


def test_the_new_link_is_sent_with_as_much_as_that_of_a_finding(browser, website, problem):
    mail = mail_of(browser(OWNER).post(SHARE, FORM))
    assert mail.startswith("TLS 1.0 is offered\r\n\r\nSeverity: High")
    assert "https://shop.example.com/page/2: TLS 1.0 (3 more locations)" in mail


def test_a_shared_problem_leads_members_to_its_findings(browser, problem):
    share(browser, evidence="on")
    page = browser(OWNER).get(reverse("portal:shares"))
    assert f'href="/sites/{HOST}/?account=acct_0001&amp;problem=tls-1-0-offered"' in page.content.decode()
    assert "with evidence" in text_of(page)


def test_a_german_page_marks_the_texts_of_scanners_as_english_and_says_so_once(browser, problem):
    path = share(browser)
    page = browser().get(path, headers={"accept-language": "de"})
    source = page.content.decode()
    assert '<h1 id="title">TLS 1.0 wird angeboten</h1>' in source
    assert '<p lang="en">It has known weaknesses.</p>' in source
    assert '<h3 lang="en">TLS 1.0</h3>' in source
    assert text_of(page).count("Die Texte der Scanner sind auf Englisch.") == 1
    english = browser().get(path)
    assert 'lang="en"' not in english.content.decode().partition("<main>")[2]
    assert "in English" not in text_of(english)
