"""Every page for staff, light and dark: nothing overflows, everything is accessible."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import RequestFactory
from django.urls import reverse

from tests.browser.looks import STAFF_WAYS
from tests.factories import make_import_run, make_membership, make_upload, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Pages that Django answers with 403 for everybody, because such rows are never made or deleted by hand.
REFUSED = "403 (Forbidden)"
# Pages of one template, so one look is enough: the narrowest.
narrow_only = pytest.mark.parametrize("staff_tour", STAFF_WAYS[-1:], ids=str, indirect=True)


@pytest.fixture
def operator(website, owner):
    make_membership(make_user("viewer"), website.account, role="viewer")
    Group.objects.get_or_create(name="A group")
    return make_user("ada", is_staff=True, is_superuser=True)


def addresses(page_names, models=None):
    for model in sorted(admin.site._registry if models is None else models, key=str):
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        first = model.objects.first()
        for page in page_names:
            if page in ("changelist", "add"):
                yield reverse(f"{name}_{page}")
            elif first is not None:
                yield reverse(f"{name}_{page}", args=[first.pk])


def addresses_once_refused(page, operator):
    """Return the addresses of a page of all models; of the refused ones, which look alike, the first."""
    request = RequestFactory().get("/admin/")
    request.user = operator
    models = admin.site._registry.items()
    refused = [model for model, own in models if not getattr(own, f"has_{page}_permission")(request)]
    allowed = [model for model, _ in models if model not in refused]
    return [*addresses([page], allowed), next(addresses([page], refused))]


@pytest.mark.slow
def test_lists(staff_tour, operator, link):
    make_import_run(link.website)
    pages = ("/admin/", "/admin/dashboard_api/", "/admin/new-customer/")
    staff_tour.visit(staff_tour.open(user=operator), *pages, *addresses(["changelist"]))


@narrow_only
def test_forms_of_new_rows(staff_tour, operator, watch):
    watch.expect(REFUSED)
    staff_tour.visit(staff_tour.open(user=operator), *addresses_once_refused("add", operator))


@pytest.mark.slow
def test_forms(staff_tour, operator, link):
    make_import_run(link.website)
    staff_tour.visit(staff_tour.open(user=operator), *addresses(["change"]))


@narrow_only
def test_histories_and_deletions(staff_tour, operator, link, watch):
    watch.expect(REFUSED)
    pages = (*addresses(["history"]), *addresses_once_refused("delete", operator))
    staff_tour.visit(staff_tour.open(user=operator), *pages)


def test_confirmations_and_uploads(staff_tour, operator, link):
    page = staff_tour.open(user=operator)
    upload = make_upload(link.website, b"{}", by=operator.username, options={"scanned_at": None})
    staff_tour.visit(
        page,
        reverse("admin:dashboard_api_account_issue_secret", args=[link.account.pk]),
        reverse("admin:dashboard_api_website_import", args=[link.website.pk]),
        reverse("admin:dashboard_api_website_upload", args=[upload.pk]),
        reverse("admin:auth_user_password_change", args=[operator.pk]),
    )
    page.goto(reverse("admin:dashboard_api_finding_change", args=[link.website.findings.first().pk]))
    page.locator("button[value=accept_risk]").click()
    staff_tour.look(page, "a decision that awaits its confirmation")


def test_a_popup_has_no_navigation(staff_tour, operator, link):
    page = staff_tour.open(user=operator)
    staff_tour.visit(page, f"{reverse('admin:auth_group_add')}?_popup=1")
    assert page.locator("#nav-sidebar").count() == 0
