"""What the portal keeps of the service's answers, and when it forgets it."""

import pytest

from portal import service
from portal.gateway import DashboardRequest, InactiveEntitlement, RevokedLink, TimedOut, UnknownLink
from portal.models import WebsiteSummary
from tests.factories import make_portal_account, make_portal_website
from tests.portal.dashboards import NOW, make_dashboard, make_note

pytestmark = pytest.mark.django_db


@pytest.fixture
def website():
    return make_portal_website()


@pytest.fixture
def stub(monkeypatch):
    """Answers with what ``says`` holds, or raises it; ``meanwhile`` happens while it thinks."""

    class StubService:
        response = make_dashboard(analyst_notes=[make_note()])

        def meanwhile(self):
            pass

    def fetch(*_):
        stub.meanwhile()
        if isinstance(stub.response, Exception):
            raise stub.response
        return stub.response

    stub = StubService()
    monkeypatch.setattr(service, "fetch_dashboard", fetch)
    return stub


def stored(website):
    return WebsiteSummary.objects.filter(website_id=website.pk).first()


def test_an_answer_is_kept_without_what_it_says_of_single_findings(website, stub):
    service.get_dashboard(website, DashboardRequest(severity="High"))
    summary = stored(website)
    assert summary.dashboard.summary == stub.response.summary
    assert summary.dashboard.entitlement == stub.response.entitlement
    assert summary.dashboard.dashboard.generated_at == NOW
    assert "Finding 1" not in summary.payload
    assert "Please" not in summary.payload
    assert summary.refusal == ""


def test_the_last_answer_takes_the_place_of_the_one_before(website, stub):
    service.get_dashboard(website, DashboardRequest())
    first = stored(website).updated_at
    stub.response = make_dashboard(dashboard=make_dashboard().dashboard, threats=[])
    service.get_dashboard(website, DashboardRequest())
    assert WebsiteSummary.objects.count() == 1
    assert stored(website).updated_at > first


@pytest.mark.parametrize(
    "refusal",
    [
        InactiveEntitlement(plan="standard", entitlement_status="expired", ends_on=None),
        RevokedLink(revoked_at=None),
        UnknownLink(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refusal_leaves_nothing_of_the_answer_before(website, stub, refusal):
    service.get_dashboard(website, DashboardRequest())
    stub.response = refusal
    with pytest.raises(type(refusal)):
        service.get_dashboard(website, DashboardRequest())
    assert stored(website).refusal == refusal.code
    assert stored(website).dashboard is None


def test_a_service_that_does_not_answer_leaves_what_was_known(website, stub):
    service.get_dashboard(website, DashboardRequest())
    stub.response = TimedOut()
    with pytest.raises(TimedOut):
        service.get_dashboard(website, DashboardRequest())
    assert stored(website).dashboard is not None


def test_what_another_version_kept_otherwise_is_as_if_nothing_were_known():
    assert WebsiteSummary(payload='{"ok": true}').dashboard is None


@pytest.mark.parametrize("what", ["website", "account"])
def test_a_website_that_is_deleted_takes_its_answer_along(
    website, stub, what, django_capture_on_commit_callbacks
):
    service.get_dashboard(website, DashboardRequest())
    with django_capture_on_commit_callbacks(execute=True):
        (website if what == "website" else website.account).delete()
    assert not WebsiteSummary.objects.exists()


def test_a_website_that_is_changed_loses_what_was_told_of_the_one_before(
    website, stub, django_capture_on_commit_callbacks
):
    service.get_dashboard(website, DashboardRequest())
    website.host = "other.example.com"
    with django_capture_on_commit_callbacks(execute=True):
        website.save()
    assert stored(website) is None


def test_an_answer_that_arrives_after_the_website_went_is_not_kept(website, stub):
    stub.meanwhile = lambda: type(website).objects.all().delete()
    service.get_dashboard(website, DashboardRequest())
    assert not WebsiteSummary.objects.exists()


def test_an_answer_to_the_account_that_had_the_website_before_is_not_kept(website, stub):
    other = make_portal_account("acct_0002")
    stub.meanwhile = lambda: type(website).objects.update(account=other)
    service.get_dashboard(website, DashboardRequest())
    assert stored(website) is None


def test_an_answer_of_one_website_is_not_anothers(website, stub):
    other = make_portal_website(make_portal_account("acct_0002"), website.host)
    service.get_dashboard(website, DashboardRequest())
    assert stored(other) is None
