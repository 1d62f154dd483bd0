"""Archive, restore and delete websites in the admin."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dashboard_api.models import Finding, SiteLink, Website
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_account, make_coverage, make_finding, make_link, make_user, make_website

pytestmark = pytest.mark.django_db
LIST = reverse("admin:dashboard_api_website_changelist")


@pytest.fixture
def operator(client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    return client


def act(client, website, action, **answers):
    data = {"action": action, "_selected_action": website.pk} | answers
    return client.post(f"{LIST}?archive=all", data, follow=True)


def confirm(client, website, action, **answers):
    return act(client, website, action, confirmed="True", **answers)


def page(client, website):
    return client.get(reverse("admin:dashboard_api_website_change", args=[website.pk])).text


def offered(client, website):
    actions = ("verify", "unverify", "archive", "restore", "delete_unused")
    text = page(client, website)
    return [action for action in actions if f'name="action" value="{action}"' in text]


def test_a_website_is_archived_after_confirmation_and_its_accounts_are_named(operator):
    link = make_link()
    asked = act(operator, link.website, "archive")
    assert "Linked by: acct_0001." in asked.text
    assert "All their links are revoked" in asked.text
    assert SiteLink.objects.not_revoked().exists()

    confirm(operator, link.website, "archive", reason="Contract ended")
    website = Website.objects.get()
    assert (website.archived_by, website.archive_reason) == ("ada", "Contract ended")
    assert not SiteLink.objects.not_revoked().exists()
    assert LogEntry.objects.get().change_message == "Archived."
    assert "Contract ended" in page(operator, website)


def test_the_list_leaves_archived_websites_out_until_they_are_asked_for(operator):
    archived, other = make_website(), make_website("blog.example.com")
    confirm(operator, archived, "archive", reason="Contract ended")

    def listed(query):
        return {website.host for website in operator.get(LIST + query).context["cl"].queryset}

    assert listed("") == {other.host}
    assert listed("?archive=archived") == {archived.host}
    assert listed("?archive=all") == {archived.host, other.host}


def test_each_website_is_offered_what_suits_it(operator):
    empty, used = make_website(verified=False), make_website("blog.example.com")
    make_finding(used)
    assert offered(operator, empty) == ["verify", "archive", "delete_unused"]
    assert offered(operator, used) == ["unverify", "archive"]
    confirm(operator, used, "archive", reason="Contract ended")
    assert offered(operator, used) == ["unverify", "restore"]
    confirm(operator, used, "unverify", reason="Contract ended")
    assert offered(operator, used) == ["restore"]


def test_a_verification_is_withdrawn_after_confirmation_and_the_accounts_are_named(operator):
    link = make_link()
    assert "Linked by: acct_0001." in act(operator, link.website, "unverify").text
    assert SiteLink.objects.not_revoked().exists()
    confirm(operator, link.website, "unverify", reason="The domain was sold")
    assert Website.objects.get().verified_at is None
    assert not SiteLink.objects.not_revoked().exists()


def test_a_restored_website_is_in_the_list_again_and_its_links_stay_revoked(operator):
    link = make_link()
    confirm(operator, link.website, "archive", reason="Contract ended")
    assert "Their links remain revoked" in act(operator, link.website, "restore").text
    confirm(operator, link.website, "restore")
    assert Website.objects.filter(archived_at=None).get() == link.website
    assert not SiteLink.objects.not_revoked().exists()


def test_a_website_without_findings_is_deleted_and_the_deletion_logged(operator):
    website = make_website()
    assert Website.objects.get() == website
    response = confirm(operator, website, "delete_unused")
    assert "Deleted: shop.example.com." in response.text
    assert not Website.objects.exists()
    assert LogEntry.objects.get().object_id == str(website.pk)


def test_a_website_with_findings_is_kept_with_advice(operator):
    website = make_website()
    make_finding(website)
    assert "archive it instead" in confirm(operator, website, "delete_unused").text
    assert Finding.objects.exists()


@pytest.mark.parametrize(
    ("action", "codename", "answers"),
    [
        ("archive", "change_website", {"reason": "Contract ended"}),
        ("delete_unused", "delete_website", {}),
    ],
)
def test_only_staff_with_the_permission_archive_or_delete(client, action, codename, answers):
    user = make_user("grace", is_staff=True)
    client.force_login(user)
    website = make_website()
    user.user_permissions.set(Permission.objects.filter(codename="view_website"))
    assert offered(client, website) == []
    confirm(client, website, action, **answers)
    assert Website.objects.filter(archived_at=None).exists()

    user.user_permissions.set(Permission.objects.filter(codename__in=["view_website", codename]))
    confirm(client, website, action, **answers)
    assert not Website.objects.filter(archived_at=None).exists()


def test_an_archived_website_is_not_linked_and_the_form_says_what_to_do(operator):
    account, website = make_account(), make_website()
    confirm(operator, website, "archive", reason="Contract ended")
    form = {"account": account.pk, "website": website.pk}
    response = operator.post(reverse("admin:dashboard_api_sitelink_add"), form)
    assert "take it out of the archive in the admin first" in response.text
    assert not SiteLink.objects.exists()


def test_an_upload_about_an_archived_website_is_refused_with_what_to_do(operator):
    website = make_website()
    confirm(operator, website, "archive", reason="Contract ended")
    report = SimpleUploadedFile("report.jsonl", json_lines(make_row()))
    path = reverse("admin:dashboard_api_website_import", args=[website.pk])
    response = operator.post(path, {"report": report, "format_name": "auto"}, follow=True)
    assert "take it out of the archive in the admin first" in response.text
    assert not Finding.objects.exists()


def test_coverage_of_an_archived_website_is_not_overdue(operator, settings):
    website = make_website()
    coverage = make_coverage(website)
    type(coverage).objects.update(last_run_at="2026-01-01T00:00:00Z")
    path = reverse("admin:dashboard_api_coverage_changelist")
    assert ", overdue" in operator.get(path).text
    confirm(operator, website, "archive", reason="Contract ended")
    assert ", overdue" not in operator.get(path).text
