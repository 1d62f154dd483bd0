"""The operations home: every number leads to exactly its rows."""

from datetime import timedelta

import msgspec
import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from dashboard_api.billing.snapshots import Snapshot
from dashboard_api.models import CallbackEvent, Coverage, Severity, Source, Subscription
from tests.dashboard_api.disputes import answer, ask, dispute
from tests.factories import (
    make_account,
    make_coverage,
    make_entitlement,
    make_finding,
    make_import_run,
    make_link,
    make_source,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    return client


def figures(client):
    panels = client.get("/admin/").context["panels"]
    return {(panel.title, str(figure.label)): figure for panel in panels for figure in panel.figures}


def listed(client, figure):
    """Return how many rows the page of a figure lists."""
    response = client.get(figure.url)
    assert response.status_code == 200
    if "rows" in response.context:
        return len(response.context["rows"])
    if "queue" in response.context:
        return len(response.context["queue"].rows)
    return response.context["cl"].result_count


@pytest.fixture
def busy():
    """Store rows that count, and for each kind others that do not."""
    link = make_link()
    for severity in (Severity.CRITICAL, Severity.CRITICAL, Severity.LOW):
        make_finding(link.website, severity=severity)
    make_finding(link.website, severity=Severity.CRITICAL, reviewed_at=timezone.now())
    for number in range(2):
        ask(link, make_finding(link.website, reviewed_at=timezone.now()), by=f"user-{number}")
    long_ago = timezone.now() - timedelta(days=30)
    dispute(link, make_finding(link.website, reviewed_at=timezone.now()), now=long_ago)
    answer(link, make_finding(link.website, reviewed_at=timezone.now()), act="fixed")
    make_import_run(link.website)
    make_import_run(link.website, state=Coverage.State.FAILED, rejects=[], rejected=0, rows=0)
    make_import_run(link.website, imported_at=timezone.now() - timedelta(days=2), state="failed")
    for days, source in ((9, "nuclei"), (8, "zap"), (7, "wapiti"), (0, "nikto")):
        ran = timezone.now() - timedelta(days=days)
        make_coverage(link.website, source=make_source(source), last_run_at=ran)
    monthly = make_source("monthly", interval_days=30)
    make_coverage(link.website, source=monthly, last_run_at=timezone.now() - timedelta(days=20))
    for number, state in enumerate(("dead", "dead", "failed", "applied")):
        CallbackEvent.objects.create(provider="standard", event_id=f"msg_{number}", state=state)
    for minutes in (61, 62, 59):
        received = timezone.now() - timedelta(minutes=minutes)
        event = f"waits_{minutes}"
        CallbackEvent.objects.create(
            provider="standard", event_id=event, state="waiting", received_at=received
        )
    held = Snapshot(object_id="sub", order=(1, 1), status="active", ends_on=timezone.now().date())
    for number, until in enumerate((None, timezone.now())):
        Subscription.objects.create(
            account=link.account,
            object_id=f"sub_{number}",
            held=[msgspec.to_builtins(held)],
            unclear_until=until,
        )
    today = timezone.now().date()
    for number, terms in enumerate(
        [
            {"ends_on": today},
            {"ends_on": today + timedelta(days=30)},
            {"ends_on": today + timedelta(days=31)},
            {"ends_on": today, "renews": True},
            {"ends_on": today, "status": "suspended"},
            {"ends_on": today - timedelta(days=1)},
        ]
    ):
        make_entitlement(make_account(f"acct_1{number}", entitled=False), **terms)


def test_every_number_is_that_of_the_list_it_leads_to(operator, busy):
    found = figures(operator)
    expected = {
        ("To review", "Critical"): 2,
        ("To review", "High"): 0,
        ("To review", "Low"): 1,
        ("Questions and disputes", "To answer"): 3,
        ("Questions and disputes", "Overdue"): 1,
        ("Questions and disputes", "Said to be fixed"): 1,
        ("Imports today", "Imports"): 2,
        ("Imports today", "Failed"): 1,
        ("Imports today", "With rejected rows"): 1,
        ("Coverage", "Overdue"): 2,
        ("Plans", "Ending in the next 30 days"): 2,
        ("Payments", "Given up"): 2,
        ("Payments", "Failed, will be retried"): 1,
        ("Payments", "Without an account"): 3,
        ("Payments", "Without an account for an hour"): 2,
        ("Payments", "Subscriptions with contradictory events"): 1,
    }
    assert {key: int(found[key].number) for key in expected} == expected
    for key, figure in found.items():
        assert listed(operator, figure) == int(figure.number), key


def test_many_scanners_of_reports_do_not_stop_the_home_and_its_lists(operator):
    Source.objects.bulk_create(Source(slug=f"tool-{number}", name="Tool") for number in range(1100))
    Source.objects.filter(slug="tool-3").update(interval_days=30)
    website = make_website()
    for slug, days in (("tool-1", 9), ("tool-2", 6), ("tool-3", 9)):
        ran = timezone.now() - timedelta(days=days)
        make_coverage(website, source=Source.objects.get(slug=slug), last_run_at=ran)
    overdue = figures(operator)["Coverage", "Overdue"]
    assert listed(operator, overdue) == int(overdue.number) == 1


def test_only_a_number_above_zero_has_a_colour(operator, busy):
    found = figures(operator)
    assert found["To review", "Critical"].tone == "critical"
    assert found["To review", "High"].tone == ""


def test_counting_stops_at_a_bound(operator, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr("dashboard_api.admin.home.MAX_COUNTED", 3)
    website = make_website()
    for _ in range(5):
        make_finding(website, severity=Severity.HIGH)
    with django_assert_max_num_queries(33):
        assert figures(operator)["To review", "High"].number == "3+"


def test_staff_see_the_numbers_of_what_they_may_view(client):
    user = make_user("grace", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_coverage"]))
    client.force_login(user)
    assert {panel for panel, _ in figures(client)} == {"Coverage"}


def test_the_navigation_names_subjects_and_only_what_the_user_may_see(client, operator):
    page = operator.get("/admin/").content.decode()
    assert page.index("subject-1") < page.index("subject-4")
    user = make_user("grace", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_coverage"]))
    client.force_login(user)
    page = client.get("/admin/").content.decode()
    assert "/admin/dashboard_api/coverage/" in page
    assert "/admin/dashboard_api/secret/" not in page
    assert "/admin/dashboard_api/finding/workbench/" not in page
