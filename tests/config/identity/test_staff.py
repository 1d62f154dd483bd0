"""Conditions for the admin: a second factor, and for some changes a fresh proof of identity."""

from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import Group
from django.urls import get_resolver, reverse
from django.utils.http import urlencode

from audit.models import AuditEvent
from config.identity import staff
from dashboard_api.models import Secret
from portal.sharing import actions
from tests.authenticator import code_of
from tests.config.identity.test_sign_in import PASSWORD
from tests.factories import (
    make_account,
    make_finding,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)

pytestmark = [pytest.mark.django_db, pytest.mark.once]
KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture(autouse=True)
def _switched_on(settings):
    settings.STAFF_SECOND_FACTOR = True


@pytest.fixture
def operator():
    return make_user("operator", is_staff=True, is_superuser=True)


@pytest.fixture
def with_factor(operator):
    TOTP.activate(operator, KEY)
    return operator


def confirm(client, form):
    """Answer the question who is there, which the answer to ``form`` leads to."""
    assert form.status_code == 302
    return client.post(form["Location"], {"password": PASSWORD, "code": code_of(KEY)})


def test_a_form_after_the_end_of_the_session_says_that_nothing_was_changed_and_leads_back(client):
    finding = make_finding(make_website())
    queue = "/admin/dashboard_api/finding/workbench/?severity=3"
    note = reverse("admin:dashboard_api_finding_workbench_note", args=[finding.pk])
    sent = client.post(note, {"body": "A long note"}, headers={"Referer": f"http://testserver{queue}"})
    assert parse_qs(urlsplit(sent["Location"]).query) == {"next": [queue]}
    assert "You were signed out, so nothing was changed." in client.get(sent["Location"]).text
    by_script = client.post(
        note,
        {"body": "A long note"},
        headers={"Referer": f"http://testserver{queue}", "HX-Request": "true"},
    )
    assert (by_script.status_code, by_script["HX-Redirect"]) == (200, sent["Location"])
    unknown = client.post(note, {"body": "A long note"}, follow=True)
    assert parse_qs(unknown.request["QUERY_STRING"]) == {"next": [reverse("admin:index")]}
    out = client.post(reverse("admin:logout"), follow=True)
    assert "nothing was changed" not in client.get(reverse("account_login")).text + out.text


@pytest.mark.parametrize(
    "page",
    [
        "/admin/dashboard_api/finding/workbench/?severity=3",
        "/admin/see-as/shop.example.com/?account=acct_0001&severity=High",
    ],
)
def test_a_click_after_the_end_of_the_session_leads_to_the_sign_in_and_then_to_what_was_clicked(client, page):
    response = client.get(page, headers={"HX-Request": "true", "HX-Target": "results"})
    assert (response.status_code, response.text) == (200, "")
    sign_in = urlsplit(response["HX-Redirect"])
    assert (sign_in.path, parse_qs(sign_in.query)) == ("/accounts/login/", {"next": [page]})


@pytest.mark.parametrize("page", ["admin:index", "admin:auth_user_changelist"])
def test_staff_without_a_second_factor_are_led_to_the_page_that_sets_one_up(client, operator, page):
    client.force_login(operator)
    response = client.get(reverse(page), follow=True)
    assert response.redirect_chain == [(reverse("account"), 302)]
    assert "staff need a second step" in response.text


def test_staff_with_a_second_factor_reach_every_page(client, with_factor):
    client.force_login(with_factor)
    assert client.get(reverse("admin:auth_user_changelist")).status_code == 200


def test_a_second_factor_is_no_way_into_the_admin_for_members(client):
    member = make_user("member")
    TOTP.activate(member, KEY)
    client.force_login(member)
    assert client.get(reverse("admin:index")).status_code in (302, 403)


def test_without_the_setting_a_password_is_enough(client, operator, settings):
    settings.STAFF_SECOND_FACTOR = False
    client.force_login(operator)
    assert client.get(reverse("admin:index")).status_code == 200


def test_a_change_of_access_waits_for_a_fresh_proof_and_is_then_made(client, with_factor):
    client.force_login(with_factor)
    form = client.post(reverse("admin:auth_group_add"), {"name": "Auditors"})
    assert "reauthenticate" in form["Location"]
    assert not with_factor.groups.model.objects.filter(name="Auditors").exists()
    confirm(client, form)
    assert with_factor.groups.model.objects.filter(name="Auditors").exists()
    assert AuditEvent.objects.get(action="admin.added").actor_kind == "staff", "owners read names of others"
    client.post(reverse("admin:auth_group_add"), {"name": "Trainees"})  # within five minutes
    assert with_factor.groups.model.objects.filter(name="Trainees").exists()


def test_a_form_whose_address_has_a_query_is_made_after_the_proof_and_keeps_the_query(client, with_factor):
    client.force_login(with_factor)
    group, groups = Group.objects.create(name="Auditors"), reverse("admin:auth_group_changelist")
    page = reverse("admin:auth_group_change", args=[group.pk])
    form = client.post(f"{page}?_changelist_filters=q%3DAud%26o%3D1", {"name": "Trainees"})
    assert confirm(client, form)["Location"] == f"{groups}?q=Aud&o=1"
    assert Group.objects.filter(name="Trainees").exists()


def test_an_action_on_a_filtered_list_is_made_after_the_proof_and_leads_back_to_the_list(client, with_factor):
    client.force_login(with_factor)
    account = make_portal_account()
    share_link, _ = actions.create(
        make_portal_website(account), actions.Subject(title="Finding", finding_id="1"), by=with_factor, days=7
    )
    page = f"{reverse('admin:portal_sharelink_changelist')}?q=Finding&o=1"
    form = client.post(page, {"action": "revoke", "_selected_action": [share_link.pk]})
    assert confirm(client, form)["Location"] == page
    share_link.refresh_from_db()
    assert share_link.revoked_at


def test_of_two_forms_that_wait_for_a_proof_each_lost_one_says_so_and_is_not_on_record(client, with_factor):
    client.force_login(with_factor)
    groups = [Group.objects.create(name=name) for name in ("Auditors", "Trainees")]
    pages = [reverse("admin:auth_group_change", args=[group.pk]) for group in groups]
    asked = [client.post(page, {"name": "Changed"}) for page in pages]
    for page, form in zip(pages, asked, strict=True):
        assert confirm(client, form)["Location"] == page
        assert "Nothing more was changed." in client.get(page).text
        assert "Nothing more was changed." not in client.get(page).text
    assert not Group.objects.filter(name="Changed").exists()
    assert not AuditEvent.objects.filter(action="form.sent").exists()


def test_of_two_forms_of_one_page_that_wait_for_a_proof_one_is_made_and_the_page_says_so(client, with_factor):
    client.force_login(with_factor)
    page = reverse("admin:auth_group_add")
    asked = [client.post(page, {"name": name}) for name in ("Auditors", "Trainees")]
    confirm(client, asked[0])
    assert [group.name for group in Group.objects.order_by("-pk")[:2]] == ["Trainees", "Support"]
    assert "Nothing more was changed." in client.get(page).text


def test_other_changes_and_pages_about_access_need_no_fresh_proof(client, with_factor):
    client.force_login(with_factor)
    make_account()
    assert client.get(reverse("admin:dashboard_api_secret_changelist")).status_code == 200
    finding = make_finding(make_website())
    action = {"action": "mark_reviewed", "_selected_action": str(finding.pk)}
    response = client.post(reverse("admin:dashboard_api_finding_changelist"), action)
    assert "reauthenticate" not in response.get("Location", "")


@pytest.mark.parametrize(
    "page",
    [
        "/admin/new-customer/",
        "/admin/account/emailaddress/add/",
        "/admin/auth/user/{user}/password/",
        "/admin/dashboard_api/account/{account}/issue-secret/",
        "/admin/dashboard_api/reporttoken/issue/{account}/",
        "/admin/dashboard_api/website/add/",
        "/admin/portal/website/add/",
        "/admin/portal/sharelink/",
    ],
)
def test_every_form_that_is_not_about_findings_waits_for_a_fresh_proof(client, with_factor, page):
    client.force_login(with_factor)
    response = client.post(
        page.format(user=with_factor.pk, account=make_account(secrets=()).pk), {}, follow=True
    )
    assert "reauthenticate" in response.redirect_chain[-1][0]
    assert not Secret.objects.exists()


@pytest.mark.parametrize("name", ["auth_user_add", "auth_user_password_change", "portal_account_add"])
def test_a_password_or_secret_that_waits_for_a_proof_is_not_stored_in_the_session(client, with_factor, name):
    client.force_login(with_factor)
    page = reverse(f"admin:{name}", args=[with_factor.pk] if name == "auth_user_password_change" else [])
    secret = "canary-7131"
    form = client.post(page, {"ref": "acct_0001", "password1": secret, "password2": secret, "secret": secret})
    assert form["Location"] == f"{reverse('account_reauthenticate')}?{urlencode({'next': page})}"
    assert secret not in str(dict(client.session))
    assert confirm(client, form)["Location"] == page
    assert "passwords and secrets are not kept" in client.get(page).text


def test_the_pages_of_everyday_work_are_named_as_the_admin_names_them(with_factor):
    names = get_resolver("config.urls").namespace_dict["admin"][1].reverse_dict
    named = [name for name in names if isinstance(name, str)]
    assert all(any(name.startswith(each) for name in named) for each in staff._EVERYDAY)
    assert set(staff._WITH_PASSWORDS) <= set(named)
