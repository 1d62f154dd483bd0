"""Tokens for reports in the admin: issued from the account's page, shown once, revoked by an action."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from dashboard_api.models import ReportToken
from tests.dashboard_api.api.reports import make_token
from tests.factories import make_account, make_link, make_user, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    return client


def address(link):
    return reverse("admin:dashboard_api_reporttoken_issue", args=[link.account.pk])


def fields(link, **changes):
    return {"name": "CI", "websites": [link.website.pk], "sources": "zap, nuclei", "days": "30"} | changes


def test_a_token_is_shown_once_and_stored_as_a_digest(operator):
    link = make_link()
    page = operator.get(reverse("admin:dashboard_api_account_change", args=[link.account.pk]))
    assert f'href="{address(link)}"' in page.text
    issued = operator.post(address(link), fields(link))
    (clear,) = re.findall(r"rpt_[\w-]{43}", issued.text)
    assert "no-store" in issued["Cache-Control"]
    token = ReportToken.objects.with_value(clear).get()
    assert (token.sources, token.created_by, [*token.websites.all()]) == (
        ["nuclei", "zap"],
        "ada",
        [link.website],
    )
    for name, arguments in (("change", [token.pk]), ("changelist", [])):
        shown = operator.get(reverse(f"admin:dashboard_api_reporttoken_{name}", args=arguments)).text
        assert clear not in shown
        assert token.digest not in shown
        assert token.hint in shown


def test_only_websites_of_the_account_can_be_chosen(operator):
    link, other = make_link(), make_link(make_account("acct_0002"), make_website("other.example.com"))
    assert "other.example.com" not in operator.get(address(link)).text
    page = operator.post(address(link), fields(link, websites=[other.website.pk]))
    assert "not one of the available choices" in page.text
    assert not ReportToken.objects.exists()


def test_an_account_without_a_website_is_sent_back(operator):
    account = make_account()
    page = operator.get(reverse("admin:dashboard_api_reporttoken_issue", args=[account.pk]), follow=True)
    assert "Link a website to the account first." in page.text


def test_it_is_revoked_by_its_action(operator):
    token, _ = make_token(make_link())
    data = {"action": "revoke", "_selected_action": [token.pk], "confirmed": "on"}
    operator.post(reverse("admin:dashboard_api_reporttoken_changelist"), data)
    token.refresh_from_db()
    assert token.revoked_at


def test_issuing_needs_its_permission(client):
    link, user = make_link(), make_user("eve", is_staff=True)
    user.user_permissions.add(
        Permission.objects.get(codename="view_account", content_type__app_label="dashboard_api")
    )
    client.force_login(user)
    assert client.post(address(link), fields(link)).status_code == 403
    assert not ReportToken.objects.exists()


def test_numbers_in_lists_are_as_commands_take_them(operator):
    token, _clear = make_token(make_link())
    token.pk = 1_795_700_733_699_217
    token.digest, token.hint = "0" * len(token.digest), "rpt_long"
    token.save(force_insert=True)
    page = operator.get(reverse("admin:dashboard_api_reporttoken_changelist"))
    assert ">1795700733699217</a>" in page.text
