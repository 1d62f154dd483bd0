"""Readers of a shared finding say "I fixed it", and read when and how it is checked."""

from datetime import date, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from portal.models import ShareLink
from portal.sharing import actions
from signed_api.answers import Answer
from signed_api.errors import AlreadyAnswered, InactiveEntitlement, TimedOut, WrongState
from signed_api.scans import Scan
from tests.portal.dashboards import make_coverage, make_dashboard, make_finding, make_finding_response
from tests.portal.sharing.conftest import OWNER
from tests.portal.sharing.test_views import FORM, LINK, SHARE, text_of
from tests.structs import build, refused

pytestmark = pytest.mark.django_db

BUTTON = "I fixed it"
HOUR = timedelta(hours=1)


def make_answer(answer="fixed", **fields):
    return build(Answer, answer=answer, at=timezone.now() - HOUR, **fields)


def make_retest(state="finished", **fields):
    return build(Scan, finding_id="1", state=state, **fields)


@pytest.fixture
def share(members, website):
    """Return a function that shares the finding, and returns the path of its page."""

    def share(*, allows_fixed=True, finding_id="1"):
        subject = actions.Subject(title="Finding 1", finding_id=finding_id, allows_fixed=allows_fixed)
        _, token = actions.create(website, subject, by=members[OWNER].user, days=7)
        return reverse("portal:shared", args=[token])

    return share


def say(page, client=None, **form):
    """Confirm "I fixed it", and return the page that follows."""
    return (client or Client()).post(f"{page}fixed/", form, follow=True)


# Who may say it


def test_the_switch_is_off_by_default(browser, stub, website):
    owner = browser(OWNER)
    for form, allowed in ((FORM, False), (FORM | {"fixed": "on"}, True)):
        page = owner.post(SHARE, form)
        assert ("They may say “I fixed it”" in text_of(page)) == allowed
        shared = text_of(Client().get(LINK.search(page.text)[1]))
        assert (BUTTON in shared) == allowed
        assert ("read-only" in shared) != allowed
    rows = text_of(owner.get("/shares/"))
    assert rows.count("with “I fixed it”") == 1


def test_a_reader_says_it_after_a_confirming_page_with_a_name_as_typed(share, stub, website):
    page, reader = share(), Client(enforce_csrf_checks=True)
    assert f'href="{page}fixed/"' in reader.get(page).text
    confirm = reader.get(f"{page}fixed/")
    assert "Is it fixed?" in text_of(confirm)
    assert stub.answers == []
    form = {"name": "Ann <b>", "csrfmiddlewaretoken": confirm.context["csrf_token"]}
    done = reader.post(f"{page}fixed/", form, headers={"Origin": "http://testserver"})
    assert done["Location"] == page
    (request,) = stub.answers
    assert (request.act, request.finding_ids, request.name, request.by) == ("fixed", "1", "Ann <b>", "")
    assert request.only_unanswered
    event = AuditEvent.objects.get(action="share_link.said_fixed")
    assert (event.account, event.host) == (website.account.ref, "shop.example.com")
    assert "Ann" not in str(event.after)


def test_the_name_is_optional_and_a_long_one_is_kept_for_a_shorter_one(share, stub):
    page = share()
    refused_page = say(page, name="x" * 101)
    assert "x" * 101 in refused_page.text
    assert stub.answers == []
    say(page)
    assert [request.name for request in stub.answers] == [""]


def test_another_website_cannot_say_it(share, stub):
    reader = Client(enforce_csrf_checks=True)
    assert say(share(), reader).status_code == 403
    assert stub.answers == []


def test_it_is_said_once_an_hour_by_all_links_to_the_finding(share, stub):
    first, second, other = share(), share(), share(finding_id="2")
    say(first)
    done = say(second)
    assert "can be said again from" in text_of(done)
    assert len(stub.answers) == 1
    say(other)
    assert [request.finding_ids for request in stub.answers] == ["1", "2"]
    ShareLink.objects.update(said_fixed_at=timezone.now() - HOUR)
    say(second)
    assert len(stub.answers) == 3


def test_an_open_answer_is_not_replaced_and_the_page_says_so(share, stub):
    page = share()
    stub.refusal, stub.response = AlreadyAnswered(), make_finding_response(answer=make_answer("will_fix"))
    done = text_of(say(page))
    assert "The team has already answered this finding." in done
    assert BUTTON not in done
    assert ShareLink.objects.get().said_fixed_at is None  # the hour is not spent
    assert not AuditEvent.objects.filter(action="share_link.said_fixed").exists()


def test_nothing_is_said_of_a_finding_that_is_closed_meanwhile(share, stub):
    page = share()
    stub.refusal = WrongState()
    stub.response = make_finding_response(finding=make_finding(1, status="fixed"))
    done = say(page)
    assert done.status_code == 200
    assert BUTTON not in text_of(done)


@pytest.mark.parametrize("end", ["revoked", "expired", "not allowed", "another link", "plan"])
def test_nothing_happens_if_the_link_or_the_plan_has_ended(share, stub, website, end):
    page, links = share(), ShareLink.objects
    if end == "revoked":
        actions.revoke(links.get())
    elif end == "expired":
        links.update(expires_at=timezone.now())
    elif end == "not allowed":
        links.update(allows_fixed=False)
    elif end == "another link":
        website.link_id = "11111111-8f7e-4f57-9a3b-0d4a5b6c7d8e"
        website.save()
    else:
        stub.refusal = stub.response = refused(InactiveEntitlement, plan="standard")
    for response in (Client().get(f"{page}fixed/"), say(page)):
        assert response.status_code == 404
        assert "This link does not work" in response.text
    assert stub.answers == []


def test_a_link_that_ends_while_it_is_said_says_nothing(share, stub):
    share()
    share_link = ShareLink.objects.get()
    actions.revoke(share_link)
    with pytest.raises(actions.NoLongerShared):
        actions.say_fixed(share_link, name="")
    assert stub.answers == []


def test_a_failing_service_is_a_503_and_it_can_be_said_again(share, stub):
    page, stub.refusal = share(), TimedOut()
    failed = say(page)
    assert (failed.status_code, failed["Retry-After"]) == (503, "60")
    stub.refusal = None
    say(page)
    assert len(stub.answers) == 1


def test_the_confirming_page_is_not_indexed_and_not_stored(share, stub):
    response = Client().get(f"{share()}fixed/")
    assert response["X-Robots-Tag"] == "noindex, nofollow, noarchive"
    assert "no-store" in response["Cache-Control"]
    assert response["Referrer-Policy"] == "same-origin"
    assert set(response.cookies) == {"csrftoken"}
    assert '<meta name="robots" content="noindex' in response.text


def test_the_shared_page_sets_no_cookie(share, stub):
    page = share()
    say(page)
    assert Client().get(page).cookies == {}


# When and how it is checked


@pytest.mark.parametrize(
    ("allows_fixed", "words"),
    [(True, "A scan checks it at once after “I fixed it”."), (False, "A scan can check it at once: tell")],
)
def test_a_finding_of_our_scanner_is_checked_at_once(share, stub, allows_fixed, words):
    stub.response = make_finding_response(can_retest=True)
    assert words in text_of(Client().get(share(allows_fixed=allows_fixed)))


@pytest.mark.parametrize(
    ("coverage", "words"),
    [
        (make_coverage(next_due_on=date(2026, 12, 4)), "by Nuclei (due on 4 Dec 2026) shows whether"),
        (make_coverage(next_due_on=date(2026, 12, 4), stale=True), "scan by Nuclei shows whether"),
        (make_coverage("never"), "Our analysts check whether the fix worked."),
        (make_coverage(source="zap"), "Our analysts check whether the fix worked."),
    ],
)
def test_another_finding_is_checked_by_the_next_scan_or_by_analysts(share, stub, coverage, words):
    stub.dashboard = make_dashboard(coverage=[coverage])
    assert words in text_of(Client().get(share()))


def test_without_the_days_of_scans_the_page_works(share, stub):
    stub.dashboard = TimedOut()
    assert "scan by Nuclei shows whether the fix worked." in text_of(Client().get(share()))


# What came of it


@pytest.mark.parametrize(
    ("scans", "words"),
    [
        ([make_retest("queued")], "A scan that checks it is waiting."),
        ([make_retest("running")], "A scan checks it now."),
        ([make_retest(ended_at=timezone.now())], "A scan could not check it."),
        ([make_retest(ended_at=timezone.now() - 2 * HOUR)], "It was said to be fixed."),
        ([], "It was said to be fixed."),
    ],
)
def test_a_reader_reads_how_far_the_retest_is(share, stub, scans, words):
    stub.scans, stub.response = scans, make_finding_response(can_retest=True, answer=make_answer())
    text = text_of(Client().get(share()))
    assert words in text
    assert BUTTON not in text
    is_running = any(scan.ended_at is None for scan in scans)
    assert ("Reload to see the result" in text) == is_running
    assert ("the next complete scan" in text.lower()) != is_running


def test_a_finding_that_is_still_there_can_be_said_to_be_fixed_again(share, stub):
    past = make_answer(outcome="still_there", ended_at=timezone.now())
    stub.response = make_finding_response(past_answers=[make_answer("will_fix", outcome="replaced"), past])
    text = text_of(Client().get(share()))
    assert "A scan still found it." in text
    assert BUTTON in text


def test_a_finding_that_is_gone_is_fixed(share, stub):
    past = make_answer(outcome="gone", ended_at=timezone.now())
    stub.response = make_finding_response(finding=make_finding(1, status="fixed"), past_answers=[past])
    page = share()
    assert "A scan no longer finds it." in text_of(Client().get(page))
    assert Client().get(f"{page}fixed/")["Location"] == page


def test_a_link_without_the_switch_says_nothing_about_answers(share, stub):
    past = make_answer(outcome="still_there", ended_at=timezone.now())
    stub.response = make_finding_response(answer=make_answer("accepted", reason="ours"), past_answers=[past])
    text = text_of(Client().get(share(allows_fixed=False)))
    assert ("already answered" in text, "still found" in text, "ours" in text) == (False, False, False)
