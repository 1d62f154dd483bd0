"""The pages of saved views, and the dashboard that opens them, as members and strangers get them."""

import html
import re

import pytest

from audit.models import AuditEvent
from portal.answers import service
from portal.models import SavedView
from portal.saved_views import actions
from signed_api.errors import InvalidRequest
from tests.factories import make_membership, make_portal_account, make_portal_website
from tests.portal.dashboards import make_clean_dashboard
from tests.portal.sharing.conftest import MANAGER, OWNER, VIEWER
from tests.structs import refused

SITE, VIEWS = "/sites/shop.example.com/", "/views/"
SAVE, FILTERED = f"{SITE}views/?severity=High&page=2", f"{SITE}?severity=High"
LINK = re.compile(
    r'<li><a id="view-\d+" href="([^"]*)" hx-include="unset"\s*(aria-current="true")?>([^<]*)</a>'
)
HTMX = {"HX-Request": "true", "HX-Target": "results"}

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stub")]


@pytest.fixture
def make_view(website, members):
    def make_view(name, query="severity=High", *, of=None):
        own = members[of] if of else None
        return SavedView.objects.create(account=website.account, membership=own, name=name, query=query)

    return make_view


def links(response):
    """Return name, URL and whether it is marked of each view next to the list."""
    return [(name, html.unescape(url), bool(mark)) for url, mark, name in LINK.findall(response.text)]


def text_of(response):
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", response.text)).split())


def test_the_form_is_above_a_filtered_list_only(browser):
    viewer = browser(VIEWER)
    assert "Save this view" not in viewer.get(SITE).text
    assert "Save this view" not in viewer.get(f"{SITE}?sort=newest").text
    assert "Save this view" in viewer.get(FILTERED).text


@pytest.mark.parametrize(("role", "may"), [(OWNER, True), (MANAGER, True), (VIEWER, False)])
def test_owners_and_managers_may_save_for_everyone(browser, role, may):
    assert ("For everyone in the organization" in browser(role).get(FILTERED).text) is may


def test_a_saved_view_keeps_the_filters_without_the_page_and_is_marked_when_it_is_open(browser):
    viewer = browser(VIEWER)
    response = viewer.post(SAVE + "&sort=newest", {"name": "  Serious   ones "}, follow=True)
    assert response.redirect_chain == [(f"{FILTERED}&sort=newest&page=2", 302)]
    assert "The view “Serious ones” is saved." in response.text
    assert SavedView.objects.get().query == "severity=High&sort=newest"
    url = f"{FILTERED}&sort=newest"
    assert links(response) == [("Serious ones", url, True)]
    assert links(viewer.get(url, headers=HTMX)) == [("Serious ones", url, True)]
    assert links(viewer.get(SITE)) == [("Serious ones", url, False)]


def test_a_colleague_opens_a_view_for_everyone_on_each_website_of_the_account(browser, website):
    make_portal_website(website.account, "blog.example.com")
    browser(OWNER).post(SAVE, {"name": "Serious ones", "everyone": "on"})
    assert links(browser(VIEWER).get("/sites/blog.example.com/")) == [
        ("Serious ones", "/sites/blog.example.com/?severity=High", False)
    ]


def test_a_view_opens_in_its_account_if_two_have_the_website(browser, members, make_view):
    other = make_portal_account("acct_0003", name="Third")
    make_portal_website(other)
    make_membership(members[OWNER].user, other)
    make_view("Ours")
    owner = browser(OWNER)
    url = f"{SITE}?account=acct_0001&severity=High"
    assert links(owner.get(url)) == [("Ours", url, True)]
    assert links(owner.get(f"{SITE}?account=acct_0003")) == []


def test_a_viewer_who_asks_for_a_view_for_everyone_gets_an_own_one(browser):
    browser(VIEWER).post(SAVE, {"name": "Mine", "everyone": "on"})
    assert not SavedView.objects.get().is_for_everyone


def test_a_refused_view_says_why_and_keeps_what_was_typed(browser, make_view, monkeypatch):
    make_view("Ours")
    viewer, owner = browser(VIEWER), browser(OWNER)
    assert "This field is required." in viewer.post(SAVE, {"name": " "}).text
    assert "at most 60 characters" in viewer.post(SAVE, {"name": "x" * 61}).text
    response = viewer.post(SAVE, {"name": "ours"})
    assert "You already have a view with the name “ours”." in response.text
    assert 'value="ours"' in response.text
    assert "Severity: High" in response.text
    assert "perhaps of another member" in owner.post(SAVE, {"name": "ours", "everyone": "on"}).text
    assert "Choose filters first" in viewer.post(f"{SITE}views/", {"name": "All"}).text
    monkeypatch.setattr(actions, "MAX_VIEWS", 1)
    make_view("Mine", of=VIEWER)
    assert "You already have 1 views." in viewer.post(SAVE, {"name": "New"}).text
    text = owner.post(SAVE, {"name": "New", "everyone": "on"}).text
    assert "There are already 1 views for everyone." in text
    assert SavedView.objects.count() == 2


def test_the_address_of_a_form_leads_to_its_page(browser, make_view):
    view = make_view("Mine", of=VIEWER)
    viewer = browser(VIEWER)
    assert viewer.get(SAVE).url == f"{FILTERED}&page=2"
    assert viewer.get(f"{VIEWS}{view.pk}/rename/").url == VIEWS
    assert viewer.get(f"{VIEWS}{view.pk}/delete/").status_code == 405


def test_a_scanner_that_the_website_does_not_have_is_shown_as_dropped(browser, make_view, stub):
    make_view("Old scanner", "severity=High&source=nuclei,gone")
    url = f"{SITE}?severity=High&source=nuclei%2Cgone"
    response = browser(VIEWER).get(url, headers=HTMX)
    assert "This view also filtered by Scanner: gone, which no longer exists." in text_of(response)
    assert links(response) == [("Old scanner", url, True)]
    assert [request.source for _website, request in stub.requests] == ["nuclei,gone", "nuclei"]
    assert response.headers["HX-Push-Url"] == url  # so that a reload says it again


def test_a_scanner_that_the_service_does_not_know_is_shown_as_dropped(browser, make_view, stub, monkeypatch):
    def get_dashboard(website, request, **options):
        if "gone" in request.source:
            raise refused(InvalidRequest)
        return stub.get_dashboard(website, request, **options)

    monkeypatch.setattr(service, "get_dashboard", get_dashboard)
    make_view("Old scanner", "severity=High&source=nuclei,gone")
    viewer = browser(VIEWER)
    response = viewer.get(f"{FILTERED}&source=nuclei%2Cgone")
    assert "This view also filtered by Scanner: gone, which no longer exists." in text_of(response)
    assert [request.source for _website, request in stub.requests] == ["", "nuclei"]
    assert viewer.get(f"{FILTERED}&source=gone").status_code >= 400  # of no view


def test_a_filter_that_the_portal_no_longer_knows_is_shown_as_dropped(browser, make_view):
    make_view("Renamed", "severity=High%2CUrgent&team=web&kind=sure")
    viewer = browser(VIEWER)
    [(_name, url, _mark)] = links(viewer.get(SITE))
    response = viewer.get(url)
    words = "Severity: Urgent, Team: web, Confidence: sure"
    dropped = f"This view also filtered by {words}, which no longer exist."
    assert dropped in text_of(response)
    assert links(response) == [("Renamed", url, True)]
    assert dropped in text_of(viewer.get(VIEWS))
    response = viewer.get(FILTERED)  # by hand: this is not the view
    assert "also filtered" not in response.text
    assert [mark for _name, _url, mark in links(response)] == [False]


def test_an_invalid_period_of_a_view_is_shown_as_dropped(browser, make_view):
    make_view("Old", "severity=High&since=ever")
    text = text_of(browser(VIEWER).get(f"{FILTERED}&since=ever"))
    assert "This view also filtered by First seen: ever, which no longer exists." in text


def test_an_assignee_who_left_is_shown_as_dropped(browser, make_view, stub, members):
    make_view("Theirs", "severity=High&assignee=user-99999%2Cme")
    viewer = browser(VIEWER)
    url = f"{FILTERED}&assignee=user-99999%2Cme"
    response = viewer.get(url)
    dropped = "This view also filtered by Assigned to: A former member, which no longer exists."
    assert dropped in text_of(response)
    assert links(response) == [("Theirs", url, True)]
    me = f"user-{members[VIEWER].user_id}"
    assert [request.assignee for _website, request in stub.requests] == [f"user-99999,{me}", me]
    page = text_of(viewer.get(VIEWS))
    assert dropped in page
    assert "Severity: High · Assigned to: Me" in page


def test_a_view_names_answers_and_members(browser, make_view, members):
    owner = members[OWNER].user
    make_view("Ours", f"answer=accepted%2Cdisputed&due=overdue&assignee=user-{owner.pk}")
    make_view("Hidden", "answer=none%2Cwill_fix%2Cwaiting%2Cdisputed%2Cfixed")
    text = text_of(browser(VIEWER).get(VIEWS))
    words = "Answer: Risk accepted · Answer: Disputed · Due: Overdue · Assigned to: "
    assert f"{words}{owner.get_username()}" in text
    assert "Hidden Answer: all but accepted risks" in text


def test_a_list_without_a_view_is_asked_for_once(browser, stub):
    browser(VIEWER).get(f"{SITE}?source=gone")
    assert [request.source for _website, request in stub.requests] == ["gone"]


def test_many_views_are_folded_but_for_the_open_one(browser, make_view):
    for number in range(10):
        make_view(f"View {number}", f"query=word{number}")
    text = browser(VIEWER).get(f"{SITE}?query=word9").text
    shown, _, folded = text.partition("<details><summary>More")
    assert 'aria-current="true">View 9' in shown
    assert (len(LINK.findall(shown)), len(LINK.findall(folded))) == (6, 4)


def test_a_clean_website_shows_its_filters_and_views(browser, make_view, stub):
    stub.dashboard = make_clean_dashboard()
    make_view("Ours")
    assert [name for name, _url, _mark in links(browser(VIEWER).get(SITE))] == ["Ours"]


def test_members_manage_their_own_views_and_owners_and_managers_those_for_everyone(browser, make_view):
    own, ours = make_view("Mine", of=VIEWER), make_view("Ours")
    manage = re.compile(rf"{VIEWS}(\d+)/(\w+)/")
    both = [(str(own.pk), "rename"), (str(own.pk), "delete")]
    assert manage.findall(browser(VIEWER).get(VIEWS).text) == both
    assert manage.findall(browser(MANAGER).get(VIEWS).text) == [
        (str(ours.pk), "rename"),
        (str(ours.pk), "delete"),
    ]
    assert "No saved views yet." in browser("stranger").get(VIEWS).text


def test_a_view_is_renamed_and_deleted_on_the_page_of_views(browser, make_view):
    view = make_view("Ours")
    manager = browser(MANAGER)
    response = manager.post(f"{VIEWS}{view.pk}/rename/", {"name": "Serious"}, follow=True)
    assert "The view is now called “Serious”." in response.text
    response = manager.post(f"{VIEWS}{view.pk}/delete/", follow=True)
    assert "The view “Serious” is deleted." in response.text
    assert not SavedView.objects.exists()
    owner = browser(OWNER)
    text = owner.get("/activity/").text
    assert "Renamed a view for everyone" in text
    assert "Deleted a view for everyone" in text


def test_a_refused_name_is_shown_in_the_row_of_its_view(browser, make_view):
    make_view("Ours")
    view = make_view("Mine", of=VIEWER)
    response = browser(VIEWER).post(f"{VIEWS}{view.pk}/rename/", {"name": "OURS"})
    assert "You already have a view with the name “OURS”." in response.text
    assert '<details class="confirm" open>' in response.text
    assert SavedView.objects.get(pk=view.pk).name == "Mine"


@pytest.mark.parametrize("name", [VIEWER, "stranger"])
@pytest.mark.parametrize("change", ["rename", "delete"])
def test_a_view_of_others_is_not_found(browser, make_view, name, change):
    for view in (make_view("Secret", of=OWNER), *([make_view("Ours")] if name == "stranger" else [])):
        response = browser(name).post(f"{VIEWS}{view.pk}/{change}/", {"name": "New"})
        assert response.status_code == 404
        assert "Secret" not in response.text
        assert SavedView.objects.filter(pk=view.pk, name=view.name).exists()


def test_a_viewer_cannot_change_a_view_for_everyone(browser, make_view):
    view = make_view("Ours")
    assert browser(VIEWER).post(f"{VIEWS}{view.pk}/rename/", {"name": "New"}).status_code == 404
    assert not AuditEvent.objects.filter(action__startswith="saved_view").exists()


def test_the_page_of_views_opens_one_if_the_account_has_one_website(browser, make_view, website):
    make_view("Ours")
    assert f'href="{SITE}?account=acct_0001&amp;severity=High"' in browser(VIEWER).get(VIEWS).text
    make_portal_website(website.account, "blog.example.com")
    assert SITE not in browser(VIEWER).get(VIEWS).text


def test_a_hostile_name_is_shown_as_text(browser, make_view):
    make_view("<script>alert(1)</script>", "severity=High&team=<b>")
    viewer = browser(VIEWER)
    for page in (SITE, f"{SITE}?severity=High&team=<b>", VIEWS):
        text = viewer.get(page).text
        assert "<script>alert" not in text
        assert "Team: <b>" not in text


def test_the_palette_finds_views_for_the_website_of_the_page(browser, make_view):
    make_view("Serious ones")
    viewer, page = browser(VIEWER), {"referer": f"http://testserver{SITE}findings/1/"}
    found = viewer.get("/palette/hits/", {"query": "SERIOUS"}, headers=page).text
    assert f'<a href="{FILTERED}"><b>Serious ones</b>' in found
    assert "Serious" not in viewer.get("/palette/hits/", {"query": "serious"}).text
    assert "Serious" not in browser("stranger").get("/palette/hits/", {"query": ""}, headers=page).text
