"""The page of a plan."""

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from dashboard_api.admin.labels import FEATURE_LABELS
from dashboard_api.billing import entitlements
from dashboard_api.crawler import policy
from dashboard_api.models import Plan, PlanPrice
from portal.texts.labels import FEATURES
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


def address(page, *arguments):
    return reverse(f"admin:dashboard_api_{page}", args=arguments)


def errors_of(response):
    return response.context["adminform"].form.errors


@pytest.mark.parametrize("name", ["", "x" * 51])
def test_a_plan_without_an_english_name_is_an_error_of_this_field(staff, name):
    values = shown_values(staff.get(address("plan_add"))) | {"slug": "team", "websites": "5"}
    refused = staff.post(address("plan_add"), values | {"name_en": name})
    assert list(errors_of(refused)) == ["name_en"]


def test_a_new_plan_cannot_have_the_name_of_another_one(staff):
    plan = factories.make_plan()
    values = shown_values(staff.get(address("plan_add"))) | {"slug": "team", "name_en": "Other"}
    refused = staff.post(address("plan_add"), values | {"websites": "1"})
    assert errors_of(refused) == {"slug": ["There is a plan with this name: edit it instead."]}
    assert Plan.objects.get().limits == plan.limits


def test_only_the_newest_revision_of_a_plan_is_edited(staff):
    old = factories.make_plan()
    entitlements.change(factories.make_account(), {"plan": "team"}, by="ada")
    page = staff.get(address("plan_change", old.pk))
    staff.post(address("plan_change", old.pk), shown_values(page) | {"websites": "9"})
    page = staff.get(address("plan_change", old.pk))
    assert "It cannot be changed: revision 2 is newer." in page.text
    values = shown_values(page)
    del values["is_offered"]
    refused = staff.post(address("plan_change", old.pk), values)
    assert "edit the newer revision 2 instead." in str(errors_of(refused))
    assert [(each.limits["websites"], each.is_offered) for each in Plan.objects.order_by("revision")] == [
        (20, True),
        (9, True),
    ]


@pytest.mark.parametrize(("provider", "stored"), [("Stripe", ["stripe"]), ("paddle", [])])
def test_a_price_is_of_a_provider_whose_callbacks_are_read(staff, provider, stored):
    values = {"provider": provider, "price": "price_1", "plan": factories.make_plan().pk}
    staff.post(address("planprice_add"), values)
    assert list(PlanPrice.objects.values_list("provider", flat=True)) == stored


def test_a_payment_is_not_late_since_a_day_to_come(staff):
    row = factories.make_account().entitlement
    values = shown_values(staff.get(address("entitlement_change", row.pk)))
    late = values | {"status": "past_due", "past_due_since": "9999-12-31"}
    refused = staff.post(address("entitlement_change", row.pk), late)
    assert errors_of(refused) == {"past_due_since": ["This day is in the future."]}
