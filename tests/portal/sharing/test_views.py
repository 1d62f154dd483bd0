"""The pages of share links, as members and strangers get them."""

import html
import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from config.operations.logs import TextLines
from portal.answers import service
from portal.gateway.errors import Misconfigured
from portal.models import IssueTracker, Membership, ShareLink, ShareOpening, Website, WebsiteSummary
from portal.sharing import actions
from portal.sharing.urls import urlpatterns
from signed_api.errors import (
    BadResponse,
    InactiveEntitlement,
    RateLimited,
    Refused,
    RevokedLink,
    SignatureRefused,
    TimedOut,
    UnknownFinding,
    UnknownLink,
    Unreachable,
)
from signed_api.findings import DashboardRequest, Event, Location
from tests.factories import make_membership, make_portal_website
from tests.portal.dashboards import (
    NOW,
    make_clean_dashboard,
    make_dashboard,
    make_facets,
    make_finding,
    make_finding_response,
    make_note,
    make_page,
    make_threat,
)
from tests.portal.sharing.conftest import CONTRIBUTOR, MANAGER, OWNER, VIEWER
from tests.structs import build, refused

pytestmark = [pytest.mark.django_db, pytest.mark.once]

HOST = "shop.example.com"
FINDING = f"/sites/{HOST}/findings/1/"
SHARE = f"{FINDING}share/"
FORM = {"days": "7"}
LINK = re.compile(r"http://testserver(/s/[\w-]{43}/)")


def share(members, website, **fields):
    subject = actions.Subject(**{"title": "Finding 1", "finding_id": "1"} | fields)
    return actions.create(website, subject, by=members[OWNER].user, days=7)


@pytest.fixture
def shared(members, website, stub):
    """Return the path of a shared finding."""
    _, token = share(members, website)
    return reverse("portal:shared", args=[token])


def text_of(response):
    text = re.sub(r"<[^>]*>", " ", response.content.decode())
    return " ".join(html.unescape(text).split())


def test_a_form_that_a_reload_sends_again_makes_no_second_link(browser, stub, website):
    form, owner = FORM | {"csrfmiddlewaretoken": "a" * 64}, browser(OWNER)
    assert LINK.search(owner.post(SHARE, form).text)
    again = owner.post(SHARE, form, follow=True)
    assert "This link exists already." in text_of(again)
    assert ShareLink.objects.count() == 1
    owner.post(SHARE, FORM | {"csrfmiddlewaretoken": "b" * 64})
    assert ShareLink.objects.count() == 2


# Permissions: every URL of these pages, so that none can be forgotten


def urls(members, website):
    share_link, token = share(members, website, allows_fixed=True)
    badge = actions.switch_badge_on(website, by=members[OWNER].user)
    return {
        "shares": "/shares/",
        "revoke_share": reverse("portal:revoke_share", args=[share_link.pk]),
        "set_tracker": reverse("portal:set_tracker", args=[website.account_id]),
        "share_finding": SHARE,
        "share_list": f"/sites/{HOST}/share/",
        "shared": reverse("portal:shared", args=[token]),
        "say_fixed": reverse("portal:say_fixed", args=[token]),
        "badge": f"/sites/{HOST}/badge/",
        "badge_image": reverse("portal:badge_image", args=[badge.token]),
    }


# A redirect to the sign-in is "in", one to another page of the portal is "ok".
RIGHTS = {
    "shares": {"GET": "in 200 200 200 200 200", "POST": "405 405 405 405 405 405"},
    "revoke_share": {"GET": "405 405 405 405 405 405", "POST": "in 404 404 ok ok 404"},
    "set_tracker": {"GET": "in ok ok ok ok ok", "POST": "in 404 404 ok ok 404"},
    "share_finding": {"GET": "in ok ok 200 200 404", "POST": "in 404 404 200 200 404"},
    "share_list": {"GET": "in ok ok ok ok 404", "POST": "in 404 404 200 200 404"},
    "shared": {"GET": "200 200 200 200 200 200", "POST": "405 405 405 405 405 405"},
    "say_fixed": {"GET": "200 200 200 200 200 200", "POST": "ok ok ok ok ok ok"},
    "badge": {"GET": "in 404 404 200 200 404", "POST": "in 404 404 400 400 404"},
    "badge_image": {"GET": "200 200 200 200 200 200", "POST": "405 405 405 405 405 405"},
}
PEOPLE = ("visitor", VIEWER, CONTRIBUTOR, MANAGER, OWNER, "stranger")


def test_the_table_of_permissions_has_every_url():
    assert {pattern.name for pattern in urlpatterns} == set(RIGHTS)


@pytest.mark.parametrize("number", range(6), ids=PEOPLE)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("name", RIGHTS)
def test_each_role_has_exactly_the_permissions_of_the_table(
    members, website, stub, browser, name, method, number
):
    expected = RIGHTS[name][method].split()[number]
    path = urls(members, website)[name]
    client = browser(PEOPLE[number])
    response = client.post(path, FORM) if method == "POST" else client.get(path)
    if response.status_code == 302:
        outcome = "in" if response["Location"].startswith("/accounts/login/") else "ok"
    else:
        outcome = str(response.status_code)
    assert outcome == expected
    created = ShareLink.objects.count() > 1
    makes_links = method == "POST" and name in ("share_finding", "share_list")
    assert created == (makes_links and outcome == "200")


def test_a_role_counts_in_its_own_account_only(members, website, stub, browser):
    """The owner of another account who only views this one shares nothing of it."""
    make_membership(members["stranger"].user, website.account, VIEWER)
    stranger = browser("stranger")
    assert stranger.post(SHARE, FORM).status_code == 404
    assert stranger.post(f"/sites/{HOST}/share/", FORM).status_code == 404
    assert SHARE not in stranger.get(FINDING).content.decode()
    assert "/share/" not in stranger.get(f"/sites/{HOST}/").content.decode()


# Creation


def test_an_owner_creates_a_link_that_is_shown_once(browser, stub, website, members):
    owner = browser(OWNER)
    page = owner.post(SHARE, {"days": "30", "evidence": "on"})
    link = LINK.search(page.content.decode())[1]
    share_link = ShareLink.objects.get()
    assert share_link.includes_evidence
    assert (share_link.title, share_link.finding_id, share_link.created_by) == ("Finding 1", "1", "owner")
    assert share_link.expires_at - share_link.created_at == timedelta(days=30)
    assert "no-store" in page["Cache-Control"]
    assert browser().get(link).status_code == 200
    assert link.split("/")[2] not in owner.get("/shares/").content.decode()
    assert link.split("/")[2] not in owner.get(FINDING).content.decode()


@pytest.mark.parametrize("path", [SHARE, f"/sites/{HOST}/share/"])
def test_who_loses_the_role_while_the_service_answers_shares_nothing(
    browser, stub, website, members, monkeypatch, path
):
    def demoted(*args, **fields):
        Membership.objects.filter(pk=members[MANAGER].pk).update(role=VIEWER)
        return (stub.get_finding if path == SHARE else stub.get_dashboard)(*args, **fields)

    monkeypatch.setattr(service, "get_finding" if path == SHARE else "get_dashboard", demoted)
    assert browser(MANAGER).post(path, FORM).status_code == 404
    assert not ShareLink.objects.exists()


@pytest.mark.parametrize("path", [SHARE, f"/sites/{HOST}/share/"])
def test_nothing_is_shared_of_a_website_that_is_given_up_while_the_service_answers(
    browser, stub, website, monkeypatch, path
):
    answer = stub.get_finding if path == SHARE else stub.get_dashboard

    def give_up(*args, **options):
        Website.objects.all().delete()
        return answer(*args, **options)

    monkeypatch.setattr(service, answer.__name__, give_up)
    assert browser(OWNER).post(path, FORM).status_code == 404


def test_the_link_begins_with_the_portals_address_and_not_with_the_host_header(
    browser, stub, website, settings
):
    settings.PORTAL_BASE_URL = "https://portal.example.com"
    page = browser(OWNER).post(SHARE, FORM, headers={"host": "localhost"})
    assert re.search(r"https://portal\.example\.com/s/[\w-]{43}/", page.content.decode())
    assert "localhost" not in page.content.decode()


@pytest.mark.parametrize("form", [{}, {"days": "365"}, {"days": "0"}, {"days": "x"}])
def test_other_times_than_the_offered_ones_are_refused(browser, stub, website, form):
    assert browser(OWNER).post(SHARE, form).status_code == 400
    assert not ShareLink.objects.exists()


@pytest.mark.parametrize(
    ("error", "status"),
    [(UnknownFinding(), 404), (TimedOut(), 504), (refused(RevokedLink, revoked_at=None), 403)],
)
def test_nothing_is_shared_that_the_service_does_not_return(browser, stub, website, error, status):
    stub.response = error
    assert browser(OWNER).post(SHARE, FORM).status_code == status
    assert not ShareLink.objects.exists()


@pytest.mark.parametrize(
    "path", ["/sites/other.example.com/findings/1/share/", f"/sites/{HOST}/findings/..x/share/"]
)
def test_only_findings_of_own_websites_are_shared(browser, stub, website, path):
    assert browser(OWNER).post(path, FORM).status_code == 404
    assert not ShareLink.objects.exists()


def test_beyond_the_limit_a_message_says_what_to_do(browser, stub, website, monkeypatch):
    monkeypatch.setattr(actions, "MAX_LIVE_SHARE_LINKS", 0)
    page = browser(OWNER).post(SHARE, FORM, follow=True)
    assert page.redirect_chain == [("/shares/", 302)]
    assert "An organization can have 0 working share links. Revoke some" in text_of(page)


def test_the_page_of_a_finding_offers_sharing_to_owners_and_managers_only(browser, stub, website):
    pages = {role: browser(role).get(FINDING).content.decode() for role in (OWNER, MANAGER, VIEWER)}
    assert [SHARE in pages[role] for role in (OWNER, MANAGER, VIEWER)] == [True, True, False]
    assert ["/shares/" in pages[role] for role in (OWNER, MANAGER, VIEWER)] == [True, True, False]
    assert "Copy as Markdown" in pages[VIEWER]


def test_the_new_link_can_be_sent_and_filed_in_one_step(browser, stub, website):
    IssueTracker.objects.create(account=website.account, kind="github", url="https://github.com/a/b")
    page = browser(OWNER).post(SHARE, FORM).content.decode()
    token = LINK.search(page)[1].split("/")[2]
    [mail] = re.findall(r'href="(mailto:[^"]*)"', page)
    [issue] = re.findall(r'href="(https://github.com/a/b/issues/new[^"]*)"', page)
    assert token in mail
    assert token in issue


# The list


def test_owners_see_what_is_shared_by_whom_until_when_and_whether_it_was_opened(
    browser, members, website, shared
):
    share(members, website, title="Weak cipher", includes_evidence=True)
    browser().get(shared)
    text = text_of(browser(MANAGER).get("/shares/"))
    assert "Example Shops Holding" in text
    assert "Weak cipher shop.example.com · with evidence Created by owner" in text
    assert "Not opened yet" in text
    assert "Last opened" in text


def test_revoked_links_are_listed_as_ended_and_can_no_longer_be_revoked(browser, members, website, shared):
    [share_link] = ShareLink.objects.all()
    path = reverse("portal:revoke_share", args=[share_link.pk])
    manager = browser(MANAGER)
    assert "The link no longer works." in text_of(manager.post(path, follow=True))
    page = manager.get("/shares/")
    assert path not in page.content.decode()
    assert "Links that ended in the last 30 days" in text_of(page)
    assert "The link had already ended." in text_of(manager.post(path, follow=True))


def test_viewers_read_whom_to_ask(browser, members, shared):
    page = browser(VIEWER).get("/shares/")
    assert "Only owners and managers share findings" in text_of(page)
    assert "Finding 1" not in text_of(page)


def test_another_accounts_links_are_not_listed(browser, members, shared):
    assert "Finding 1" not in text_of(browser("stranger").get("/shares/"))


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        ("inactive_entitlement", "Plan not active"),
        ("revoked_link", "Removed by our team"),
        ("new", "No results"),
    ],
)
def test_links_and_badges_of_a_website_without_results_are_not_listed_as_working(
    browser, members, website, shared, refusal, text
):
    actions.switch_badge_on(website, by=members[OWNER].user)
    assert "it showed nothing" not in text_of(browser(MANAGER).get("/shares/"))
    WebsiteSummary.objects.store(website, refusal=refusal)
    words = f"{text} When we last looked, it showed nothing."
    assert text_of(browser(MANAGER).get("/shares/")).count(words) == 2


def test_links_of_another_link_are_not_listed_as_working(browser, members, website, shared):
    actions.switch_badge_on(website, by=members[OWNER].user)
    website.link_id = "another"
    website.save()
    text = text_of(browser(MANAGER).get("/shares/"))
    assert text.count("Removed by our team When we last looked, it showed nothing.") == 1
    assert "Badges" not in text


# The issue tracker


def set_tracker(browser, website, **form):
    path = reverse("portal:set_tracker", args=[website.account_id])
    return browser(MANAGER).post(path, {"url": "", "kind": ""} | form, follow=True)


def test_a_tracker_is_recognised_saved_offered_and_removed(browser, website, stub):
    page = set_tracker(browser, website, url="https://github.com/example/shop/issues")
    assert "The issue tracker of Example Shops Holding is saved." in text_of(page)
    assert 'value="https://github.com/example/shop"' in page.content.decode()
    shown = browser(VIEWER).get(FINDING).content.decode()
    [link] = re.findall(r'<a [^>]*href="https://github.com/example/shop/issues/new[^>]*>', shown)
    assert 'rel="noopener noreferrer"' in link
    assert 'target="_blank"' in link
    set_tracker(browser, website)
    assert "github.com" not in browser(VIEWER).get(FINDING).content.decode()


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"url": "https://code.example.com/a/b"}, "Choose the tracker"),
        ({"url": "http://github.com/a/b"}, "Enter an address such as https://github.com/example/shop"),
        ({"url": "javascript:alert(1)", "kind": "gitlab"}, "Enter an address such as https://gitlab.com/"),
        (
            {"url": "https://jira.example.com/"},
            "Enter an address such as https://example.atlassian.net/secure/",
        ),
        ({"url": "https://github.com/a/b", "kind": "x"}, "Select a valid choice"),
    ],
)
def test_another_address_is_refused_next_to_its_field(browser, website, form, error):
    page = set_tracker(browser, website, **form)
    assert error in text_of(page)
    assert form["url"] in page.content.decode()
    assert not IssueTracker.objects.exists()


def test_a_cut_issue_is_announced_on_the_page(browser, website, stub):
    IssueTracker.objects.create(account=website.account, kind="github", url="https://github.com/a/b")
    assert "is shortened" not in text_of(browser(VIEWER).get(FINDING))
    stub.response = make_finding_response(finding=make_finding(description="x" * 9_999))
    assert "The text of the issue is shortened." in text_of(browser(VIEWER).get(FINDING))


# The page that a link opens

FULL = make_finding(
    title="SQL injection in orders",
    description="The parameter is not escaped.",
    remediation="Use bound parameters.",
    evidence="secret-evidence",
    evidence_truncated=True,
    references=["https://example.com/advice"],
    cwe=[89],
    cve=["CVE-2024-12345"],
    locations_count=2,
    locations=[
        build(Location, location="https://shop.example.com/page/1", evidence="secret-evidence"),
        build(Location, location="https://shop.example.com/page/2", evidence="other-evidence"),
    ],
    timeline=[build(Event, at=NOW, event="reconsidered", reason="internal reason")],
)


SHOWN = (
    "SQL injection in orders", "High", "Confirmed", "The parameter is not escaped.", "Use bound parameters.",
    "https://shop.example.com/page/1", "https://shop.example.com/page/2", "CWE-89", "CVE-2024-12345",
    "Nuclei Also found by ZAP", "example.com/advice", "http/missing-header", "This page works until",
)  # fmt: skip
HIDDEN = (
    "secret-evidence", "other-evidence", "beginning of the evidence", "Only for members", "internal reason",
    "Example Shops Holding", "acct_0001", "owner", "<form", "<script", "/sites/", "/accounts/", 'href="/"',
)  # fmt: skip


def test_a_link_shows_everything_about_the_finding_and_nothing_internal(browser, members, website, stub):
    stub.response = make_finding_response(
        finding=FULL, analyst_notes=[make_note(body="Only for members")], also_found_by=["ZAP"]
    )
    _, token = share(members, website)
    page = browser().get(f"/s/{token}/")
    source, text = page.content.decode(), text_of(page)
    assert [words for words in SHOWN if words not in text] == []
    assert [words for words in (*HIDDEN, website.link_id) if words in source] == []


def test_evidence_is_shown_if_it_was_chosen(browser, members, website, stub):
    stub.response = make_finding_response(finding=FULL)
    _, token = share(members, website, includes_evidence=True)
    text = text_of(browser().get(f"/s/{token}/"))
    assert "secret-evidence" in text
    assert "other-evidence" in text
    assert "Only the beginning of the evidence is shown." in text


@pytest.mark.parametrize("status", [200, 404, 405, 503])
def test_the_page_is_not_indexed_not_stored_and_names_itself_to_nobody(browser, shared, stub, status):
    if status == 404:
        ShareLink.objects.all().delete()
    if status == 503:
        stub.response = TimedOut()
    visitor = browser()
    page = visitor.post(shared) if status == 405 else visitor.get(shared)
    assert page.status_code == status
    assert page["X-Robots-Tag"] == "noindex, nofollow, noarchive"
    assert set(page["Cache-Control"].split(", ")) == {"no-store", "private"}
    assert page["Referrer-Policy"] == "no-referrer"
    assert "script-src 'self'" in page["Content-Security-Policy"]
    assert page.cookies == {}


def test_a_member_who_opens_a_link_sees_what_strangers_see(browser, shared):
    assert browser(OWNER).get(shared).content == browser().get(shared).content


def test_a_guest_does_not_learn_when_a_decision_ends(browser, shared, stub):
    finding = make_finding(status="accepted_risk", decided_until=NOW.date())
    stub.response = make_finding_response(finding=finding)
    text = text_of(browser().get(shared))
    assert "Accepted risk" in text
    assert "Accepted risk until" not in text


def test_the_page_is_in_the_visitors_language(browser, shared):
    page = browser().get(shared, headers={"accept-language": "de-AT,de;q=0.9"})
    assert 'lang="de"' in page.content.decode()
    assert "Nur zum Lesen" in text_of(page)


def bodies_and_headers(page):
    """Return all of a response but the id that each one has."""
    headers = [(name, value) for name, value in sorted(page.headers.items()) if name != "X-Request-Id"]
    return page.status_code, page.content, headers


def test_unknown_expired_revoked_and_lost_links_are_all_the_same_404(browser, members, website, stub):
    visitor = browser()
    unknown = bodies_and_headers(visitor.get(f"/s/{'a' * 43}/"))
    assert unknown[0] == 404
    seen = [bodies_and_headers(visitor.get("/s/x/"))]
    expired, token = share(members, website)
    ShareLink.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    seen.append(bodies_and_headers(visitor.get(f"/s/{token}/")))
    revoked, token = share(members, website)
    actions.revoke(revoked)
    seen.append(bodies_and_headers(visitor.get(f"/s/{token}/")))
    _, token = share(members, website)
    for error in (
        refused(InactiveEntitlement, plan="standard", status="expired", ends_on=None),
        refused(RevokedLink, revoked_at=NOW),
        UnknownLink(),
        UnknownFinding(),
    ):
        stub.response = error
        seen.append(bodies_and_headers(visitor.get(f"/s/{token}/")))
    stub.response = make_finding_response()
    assert visitor.get(f"/s/{token}/").status_code == 200
    website.link_id = "00000000-8f7e-4f57-9a3b-0d4a5b6c7d8e"
    website.save()
    seen.append(bodies_and_headers(visitor.get(f"/s/{token}/")))
    assert seen == [unknown] * 8


@pytest.mark.parametrize(
    "error",
    [
        TimedOut("secret detail"),
        Unreachable("secret detail"),
        BadResponse("secret detail"),
        Misconfigured("secret detail"),
        RateLimited(retry_after=3, request_id="secret detail"),
        refused(SignatureRefused, code="bad_signature", request_id="secret detail"),
        refused(Refused, http_status=400, code="invalid", request_id="secret detail"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failing_service_is_a_503_without_details_and_without_the_token_in_the_log(
    browser, shared, stub, error, caplog
):
    stub.response = error
    page = browser().get(shared)
    assert (page.status_code, page["Retry-After"]) == (503, "60")
    assert "Please try again in a moment" in text_of(page)
    for hidden in ("secret", HOST, "Finding 1", "Reference"):
        assert hidden not in page.content.decode()
    assert shared.split("/")[2] not in "".join(map(TextLines().format, caplog.records))


def test_too_many_openings_from_one_address_wait(browser, shared, stub, settings):
    settings.ACCOUNT_RATE_LIMITS = {"shared": "3/m/ip"}
    visitor = browser()
    assert [visitor.get(shared).status_code for _ in range(4)] == [200, 200, 200, 429]
    requests = len(stub.requests)
    assert visitor.get(f"{shared}fixed/").status_code == 429
    assert len(stub.requests) == requests
    refused = visitor.get(shared)
    assert refused["Referrer-Policy"] == "no-referrer"
    assert "noindex" in refused["X-Robots-Tag"]


def test_an_opening_is_recorded_and_a_link_preview_by_head_is_not(browser, shared):
    visitor = browser()
    visitor.head(shared)
    assert not ShareOpening.objects.exists()
    visitor.get(shared)
    assert ShareOpening.objects.count() == 1


def test_a_link_opens_its_own_website_where_two_accounts_have_the_same_host(browser, members, website, stub):
    theirs = make_portal_website(members["stranger"].account, HOST, "11111111-8f7e-4f57-9a3b-0d4a5b6c7d8e")
    _, token = share(members, website)
    browser("stranger").get(f"/s/{token}/")
    assert {asked for asked, _request in stub.requests} == {website}
    assert theirs != website


# The preview of the evidence


def test_an_owner_reads_what_the_evidence_shows_before_including_it(browser, website, stub):
    locations = [build(Location, "https://shop.example.com/b", evidence="other-evidence")]
    finding = make_finding(1, evidence="secret-evidence", locations=locations)
    stub.response = make_finding_response(finding=finding)
    owner = browser(OWNER)
    assert f'href="{SHARE}"' in owner.get(FINDING).text
    page = owner.get(SHARE)
    text = text_of(page)
    assert "What readers see if you include the evidence" in text
    assert ("secret-evidence" in text, "other-evidence" in text) == (True, True)
    assert f'action="{SHARE}"' in page.text
    assert ShareLink.objects.count() == 0


def test_an_owner_reads_the_evidence_of_a_problem_before_including_it(browser, website, stub):
    stub.dashboard = make_dashboard(threats=[make_threat(1, evidence="secret-evidence")])
    page = browser(OWNER).get(f"/sites/{HOST}/share/?problem=0123abcd")
    assert "secret-evidence" in text_of(page)
    assert 'action="/sites/shop.example.com/share/?problem=0123abcd"' in page.text
    assert 'name="fixed"' not in page.text


def test_a_list_has_no_evidence_to_preview(browser, website, stub):
    assert browser(OWNER).get(f"/sites/{HOST}/share/?severity=High")["Location"].endswith("?severity=High")


def test_a_preview_that_the_service_does_not_answer_says_so(browser, website, stub):
    stub.response = TimedOut()
    assert browser(OWNER).get(SHARE).status_code == 504


# Lists


def share_list(browser, query=""):
    """Share a list, and return the path of its page."""
    page = browser(OWNER).post(f"/sites/{HOST}/share/{query}", FORM)
    return LINK.search(page.content.decode())[1]


def test_a_shared_list_has_the_findings_under_the_filters_and_what_to_do(browser, website, stub):
    facets = make_facets(source={"nuclei": 2})
    finding = make_threat(
        1, severity="Critical", title="Weak cipher", remediation="Update.", locations_count=3, verified=True
    )
    page = make_page(total=250, facets=facets)
    stub.dashboard = make_dashboard(dashboard=page, threats=[finding], analyst_notes=[make_note()])
    path = share_list(browser, "?severity=Critical&source=nuclei&query=weak&page=3&page_size=50")
    shown = browser().get(path)
    text = text_of(shown)
    assert (
        "shop.example.com Findings: Critical · Nuclei · “weak” 250 findings, the worst 1 are listed" in text
    )
    assert "Verified by an analyst" in text
    assert "Weak cipher https://shop.example.com/page/1 And 2 more locations. How to fix it Update." in text
    assert "Please" not in text  # the note
    assert [words for words in HIDDEN if words in shown.content.decode()] == []
    expected = DashboardRequest(
        severity="Critical", source="nuclei", query="weak", sort="priority", page_size=100
    )
    assert stub.requests[-1] == (website, expected)


@pytest.mark.parametrize(
    ("query", "title", "stored"),
    [
        ("", "All open findings", ""),
        ("?view=problems&sort=newest", "All open findings", ""),
        ("?severity=High,Critical", "Findings: Critical · High", "severity=Critical%2CHigh"),
        ("?problem=0123abcd", "Findings: such as “Finding 1”", "problem=0123abcd"),
        ("?since=7&status=fixed", "Findings: Fixed · Last 7 days", "status=fixed&since=7"),
    ],
)
def test_a_list_is_named_after_its_filters(browser, website, stub, query, title, stored):
    path = share_list(browser, query)
    share_link = ShareLink.objects.get()
    assert (share_link.title, share_link.filters) == (title, stored)
    assert f"shop.example.com {title} " in text_of(browser().get(path))


def test_a_list_without_findings_says_so(browser, website, stub):
    path = share_list(browser)
    stub.dashboard = make_clean_dashboard()
    assert "All open findings 0 findings" in text_of(browser().get(path))
    assert "No findings at the moment." in text_of(browser().get(path))


def test_a_list_ends_when_one_of_its_filters_is_no_longer_known(browser, website, stub):
    """Without the filter it would show more than was shared."""
    path = share_list(browser, "?severity=Critical")
    ShareLink.objects.update(filters="severity=Extreme")
    assert browser().get(path).status_code == 404
    ShareLink.objects.update(filters="severity=Critical&unknown=1")
    assert browser().get(path).status_code == 404


@pytest.mark.parametrize(("error", "status"), [(UnknownLink(), 404), (TimedOut(), 503)])
def test_a_list_fails_as_a_finding_does(browser, website, stub, error, status):
    path = share_list(browser)
    stub.dashboard = error
    assert browser().get(path).status_code == status


def test_no_list_is_shared_that_the_service_does_not_return(browser, website, stub):
    stub.dashboard = TimedOut()
    assert browser(OWNER).post(f"/sites/{HOST}/share/", FORM).status_code == 504
    assert not ShareLink.objects.exists()


def test_the_dashboard_offers_sharing_its_list_to_owners_and_managers_only(browser, website, stub):
    address = f"/sites/{HOST}/?severity=High&page_size=50"
    form = f'action="/sites/{HOST}/share/?severity=High"'
    offers = [form in browser(role).get(address).content.decode() for role in (OWNER, MANAGER, VIEWER)]
    assert offers == [True, True, False]
    stub.dashboard = make_clean_dashboard()
    assert "share/" not in browser(OWNER).get(f"/sites/{HOST}/").content.decode()


def test_a_shared_list_leads_members_to_the_same_list(browser, website, stub):
    share_list(browser, "?severity=Critical")
    page = browser(OWNER).get("/shares/").content.decode()
    assert f'href="/sites/{HOST}/?account=acct_0001&amp;severity=Critical"' in page
