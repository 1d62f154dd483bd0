"""The admin's pages for a new customer and for tokens."""

import pytest
from playwright.sync_api import expect

from dashboard_api.models import Account, ReportToken
from tests.factories import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def operator():
    return make_user("robin", is_staff=True, is_superuser=True)


def test_an_operator_sets_up_a_customer_with_one_form_and_issues_a_token(open_page, operator):
    page = open_page(user=operator)
    page.goto("/admin/dashboard_api/account/")
    page.get_by_role("link", name="New customer").click()
    page.get_by_label("Reference").fill("acct_0042")
    page.get_by_label("Owner's e-mail address").fill("ada@example.com")
    page.get_by_label("Website:", exact=True).fill("new.example.com")
    page.get_by_role("button", name="Set up the customer").click()
    expect(page.get_by_text("es1_live_")).to_be_visible()
    assert Account.objects.get(ref="acct_0042").links.get().website.host == "new.example.com"

    page.get_by_role("link", name="The page of acct_0042").click()
    page.get_by_role("link", name="Issue a token for reports").click()
    page.get_by_label("Name").fill("CI")
    page.get_by_label("new.example.com").check()
    page.get_by_role("button", name="Issue a token").click()
    clear = page.get_by_text("rpt_").inner_text()
    assert ReportToken.objects.with_value(clear).get().name == "CI"
