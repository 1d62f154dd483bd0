"""The page of a plan."""

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from dashboard_api.admin.labels import FEATURE_LABELS
from dashboard_api.crawler import policy
from dashboard_api.models import Plan
from portal.labels import FEATURES
from tests import factories
from tests.dashboard_api.admin.test_admin import shown_values

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    return client


def test_every_feature_that_staff_can_choose_or_customers_read_is_one_that_scans_ask_for():
    asked = {policy.DAILY_FEATURE, *(profile.feature for profile in policy.PROFILES.values())} - {""}
    assert set(FEATURE_LABELS) == set(FEATURES) == asked


def test_an_edit_keeps_the_features_that_scans_need_and_those_without_a_name(staff):
    features = ["support_by_phone", policy.DAILY_FEATURE, policy.PROFILES["deep"].feature, "beta"]
    plan = Plan.objects.create(
        slug="team", revision=1, name={"en": "Team"}, limits={"websites": 5}, features=features
    )
    page = reverse("admin:dashboard_api_plan_change", args=[plan.pk])
    shown = staff.get(page)
    assert set(features) <= {value for value, _ in shown.context["adminform"].form.fields["features"].choices}
    staff.post(page, shown_values(shown) | {"features": features, "rank": 7})
    plan.refresh_from_db()
    assert (plan.rank, plan.features) == (7, features)


def test_who_may_only_look_reads_a_plan(client):
    plan = Plan.objects.create(slug="team", revision=1, name={"en": "Team"}, limits={"websites": 5})
    analyst = factories.make_user("grace", is_staff=True)
    analyst.groups.set(Group.objects.filter(name="Analysts"))
    client.force_login(analyst)
    page = client.get(reverse("admin:dashboard_api_plan_change", args=[plan.pk]))
    assert page.status_code == 200
    assert "Team" in page.content.decode()
