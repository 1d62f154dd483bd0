"""Stored summaries of websites, and when they are discarded."""

from datetime import date, timedelta

import msgspec
import pytest
from django.utils import timezone

from portal.answers import service
from portal.models import WebsiteSummary
from portal.texts import labels
from signed_api.errors import InactiveEntitlement, RevokedLink, UnknownLink
from signed_api.findings import DASHBOARD, DashboardRequest
from tests.factories import make_portal_account, make_portal_website
from tests.portal.dashboards import NOW, make_dashboard, make_note, make_problem
from tests.portal.service_answers import answer_with
from tests.structs import refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def website():
    return make_portal_website()


@pytest.fixture
def stub(monkeypatch):
    """Returns or raises ``response``, after it called ``meanwhile``."""

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
    answer_with(monkeypatch, DASHBOARD, fetch)
    return stub


def revised(revision):
    return make_dashboard(dashboard=msgspec.structs.replace(make_dashboard().dashboard, revision=revision))


def stored(website):
    return WebsiteSummary.objects.filter(website_id=website.pk).first()


def test_a_summary_has_no_single_findings(website, stub):
    service.get_dashboard(website, DashboardRequest(severity="High"))
    summary = stored(website)
    assert summary.dashboard.summary == stub.response.summary
    assert summary.dashboard.entitlement == stub.response.entitlement
    assert summary.dashboard.dashboard.generated_at == NOW
    assert "Finding 1" not in summary.payload
    assert "Please" not in summary.payload
    assert summary.refusal == ""


def with_worst(*problems, revision="1.0"):
    page = msgspec.structs.replace(make_dashboard().dashboard, do_first=list(problems), revision=revision)
    return make_dashboard(dashboard=page)


def test_a_filtered_dashboard_leaves_the_worst_problems_of_the_same_data(website, stub):
    stub.response = with_worst(make_problem(1))
    service.get_dashboard(website, DashboardRequest())
    WebsiteSummary.objects.update(updated_at=timezone.now() - timedelta(minutes=2))
    stub.response = with_worst()
    service.get_dashboard(website, DashboardRequest(severity="High"))
    assert [problem.title for problem in stored(website).first_problems] == ["Problem 1"]
    stub.response = with_worst(revision="2.0")
    service.get_dashboard(website, DashboardRequest(severity="High"))
    assert stored(website).first_problems == []


def test_the_worst_problems_are_stored_at_once(website, stub):
    stub.response = with_worst()
    service.get_dashboard(website, DashboardRequest(severity="High"))
    stub.response = with_worst(make_problem(1))
    service.get_dashboard(website, DashboardRequest())
    assert [problem.title for problem in stored(website).first_problems] == ["Problem 1"]


def test_the_same_data_is_stored_once_a_minute(website, stub):
    stub.response = revised("1.0")
    service.get_dashboard(website, DashboardRequest())
    first = stored(website).updated_at
    service.get_dashboard(website, DashboardRequest(severity="High"))
    assert stored(website).updated_at == first
    stub.response = revised("2.0")
    service.get_dashboard(website, DashboardRequest())
    second = stored(website).updated_at
    assert second > first
    WebsiteSummary.objects.update(updated_at=second - timedelta(minutes=1))
    service.get_dashboard(website, DashboardRequest())
    assert stored(website).updated_at > second


@pytest.mark.parametrize(
    "refusal",
    [
        refused(InactiveEntitlement, plan="standard", status="expired", ends_on=None),
        refused(RevokedLink, revoked_at=None),
        UnknownLink(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refusal_replaces_the_earlier_dashboard(website, stub, refusal):
    service.get_dashboard(website, DashboardRequest())
    stub.response = refusal
    with pytest.raises(type(refusal)):
        service.get_dashboard(website, DashboardRequest())
    assert stored(website).refusal == refusal.code
    assert stored(website).dashboard is None


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"status": "suspended"}, "plan_suspended"),
        ({"status": "active", "starts_on": date(2199, 1, 1)}, "plan_not_started"),
        ({"status": "active", "reason": "websites_limit"}, "websites_limit"),
    ],
)
def test_the_list_knows_why_a_plan_shows_no_results(website, stub, details, reason):
    stub.response = refused(InactiveEntitlement, plan="standard", ends_on=None, **details)
    with pytest.raises(InactiveEntitlement):
        service.get_dashboard(website, DashboardRequest())
    assert stored(website).refusal == reason
    assert reason in labels.REFUSALS


def test_a_summary_in_another_format_is_ignored():
    assert WebsiteSummary(payload='{"ok": true}').dashboard is None


@pytest.mark.parametrize("what", ["website", "account"])
def test_a_deleted_website_loses_its_summary(website, stub, what, django_capture_on_commit_callbacks):
    service.get_dashboard(website, DashboardRequest())
    with django_capture_on_commit_callbacks(execute=True):
        (website if what == "website" else website.account).delete()
    assert not WebsiteSummary.objects.exists()


def test_a_changed_website_loses_its_summary(website, stub, django_capture_on_commit_callbacks):
    service.get_dashboard(website, DashboardRequest())
    website.host = "other.example.com"
    with django_capture_on_commit_callbacks(execute=True):
        website.save()
    assert stored(website) is None


def test_a_response_after_the_deletion_is_not_stored(website, stub):
    stub.meanwhile = lambda: type(website).objects.all().delete()
    service.get_dashboard(website, DashboardRequest())
    assert not WebsiteSummary.objects.exists()


def test_a_response_for_the_former_account_is_not_stored(website, stub):
    other = make_portal_account("acct_0002")
    stub.meanwhile = lambda: type(website).objects.update(account=other)
    service.get_dashboard(website, DashboardRequest())
    assert stored(website) is None
