"""Django's admin, behind the same sign-in and under the same policy."""

import re

import pytest
from django.contrib import admin
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from audit.recording import record
from dashboard_api.models import Account
from tests.browser.looks import barriers
from tests.browser.steps import newest_mail, sign_in
from tests.factories import make_import_run, make_user

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def operator():
    return make_user("ada", is_staff=True, is_superuser=True)


def test_an_operator_signs_in_and_issues_a_secret_that_is_shown_once(page, operator, link):
    page.goto("/admin/")
    expect(page).to_have_url(re.compile("/accounts/login/"))
    sign_in(page, operator.username)
    expect(page).to_have_url("/admin/")
    accounts = reverse("admin:dashboard_api_account_changelist")
    page.get_by_role("navigation", name="Main").locator(f"a[href='{accounts}']").click()
    page.get_by_role("link", name=link.account.ref).click()
    page.get_by_role("link", name="Issue a secret").click()
    page.get_by_role("button", name="Issue a secret").click()
    secret = page.locator("code").inner_text()
    assert secret.startswith("es1_live_")
    assert link.account.secrets.count() == 2

    page.get_by_role("link", name=f"Back to {link.account}").click()
    expect(page.get_by_role("heading", name="Secrets")).to_be_visible()
    assert secret not in page.content()
    page.get_by_role("link", name="Issue a secret").click()
    expect(page.get_by_role("button", name="Issue a secret")).to_be_visible()
    assert secret not in page.content()


def test_an_operator_sets_up_a_customer_with_one_form(open_page, operator, link, settings):
    settings.EMAIL_URL = "smtp://localhost"
    page = open_page(user=operator)
    page.goto(reverse("admin:dashboard_api_account_changelist"))
    page.get_by_role("link", name="New customer").click()
    for label, text in (
        ("Reference", "acct_0002"),
        ("Owner's e-mail address", "grace@example.com"),
        ("Website:", "b.example.com"),
    ):
        page.get_by_role("textbox", name=label).fill(text)
    page.get_by_role("button", name="Set up the customer").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("acct_0002 is set up")
    assert page.locator("code").first.inner_text().startswith("es1_live_")
    account = Account.objects.get(ref="acct_0002")
    assert account.links.get().website.host == "b.example.com"
    assert newest_mail(page).to == ["grace@example.com"]


def test_pages_of_the_admin_follow_the_content_security_policy(open_page, operator, link):
    page = open_page(user=operator)
    for model in admin.site._registry:
        if model._meta.app_label in ("dashboard_api", "portal"):
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            page.goto(reverse(f"{name}_changelist"), wait_until="domcontentloaded")
            if record := model.objects.first():
                page.goto(reverse(f"{name}_change", args=[record.pk]), wait_until="domcontentloaded")
            expect(page.get_by_role("heading", level=1)).to_have_count(1)


def test_the_scripts_of_the_admin_run(open_page, operator, link):
    entitlement = link.account.entitlement
    page, today = open_page(user=operator), timezone.now().date()
    page.goto(reverse("admin:dashboard_api_entitlement_change", args=[entitlement.pk]))
    page.locator(".field-ends_on").get_by_role("link", name="Today").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    entitlement.refresh_from_db()
    assert today <= entitlement.ends_on <= timezone.now().date()  # whatever the hour


LONG = "A title that needs more than the line that it has next to the buttons of the page. " * 3


@pytest.mark.parametrize(
    "model", ["finding", "coverage", "analystnote", "sitelink", "entitlement", "importrun", "auditevent"]
)
def test_a_list_fits_on_a_laptop(open_page, operator, link, model):
    link.website.findings.update(title=LONG)
    make_import_run(link.website, by="GitHub Actions (token 12)")
    record("website.archived", link.website, by="ada")
    page = open_page(user=operator, viewport={"width": 1280, "height": 800}, locale="de-DE")  # longer words
    app = "audit" if model == "auditevent" else "dashboard_api"
    page.goto(reverse(f"admin:{app}_{model}_changelist"))
    width, room = page.locator("#changelist-form .results").evaluate("it => [it.scrollWidth, it.clientWidth]")
    assert width == room


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_buttons_do_not_cover_the_title(open_page, operator, link, width):
    link.website.findings.update(title=LONG)
    page = open_page(user=operator, viewport={"width": width, "height": 800})
    page.goto(reverse("admin:dashboard_api_finding_change", args=[link.website.findings.first().pk]))
    title = page.locator("#content .subtitle").bounding_box()
    for button in page.locator(".object-tools li").all():
        box = button.bounding_box()
        assert box["y"] >= title["y"] + title["height"]
        assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_the_filters_of_a_list_are_one_sheet_on_a_phone(open_page, operator, link, scripts):
    phone = {"width": 320, "height": 640}
    page = open_page(user=operator, viewport=phone, java_script_enabled=scripts)
    page.goto(reverse("admin:dashboard_api_finding_changelist"))
    filters, high = (
        page.get_by_role("button", name="Filter"),
        page.get_by_role("link", name="High", exact=True),
    )
    expect(high).to_be_hidden()
    filters.click()
    if scripts:
        assert barriers(page) == []
    high.click()
    expect(filters).to_have_text("Filter (1)")
    expect(high).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(high).to_be_visible()
    expect(filters).to_be_hidden()
