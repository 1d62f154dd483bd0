"""Imports in the admin: taken back after a preview, with a reason."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from pytest_django.asserts import assertContains, assertNotContains

from dashboard_api.models import Finding, ImportRun
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_user, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def imported():
    import_bytes(json_lines(make_row()), make_website())
    return ImportRun.objects.get()


def take_back(client, run, **fields):
    choice = {"action": "take_back", "_selected_action": str(run.pk)}
    return client.post(reverse("admin:dashboard_api_importrun_changelist"), choice | fields, follow=True)


def test_the_confirmation_shows_what_would_happen_and_changes_nothing(operator, imported):
    page = take_back(operator, imported).content.decode()
    assert "Deleted: 1, open again: 0" in page
    assert Finding.objects.exists()


def test_a_confirmed_import_is_taken_back_by_the_user_with_the_reason(operator, imported):
    take_back(operator, imported, confirmed="on", reason="The wrong file")
    imported.refresh_from_db()
    assert (imported.undone_by, imported.undone_reason) == ("ada", "The wrong file")
    assert not Finding.objects.exists()


def test_the_page_of_an_import_offers_it_once(operator, imported):
    page = reverse("admin:dashboard_api_importrun_change", args=[imported.pk])
    assert "Take back" in operator.get(page).content.decode()
    take_back(operator, imported, confirmed="on", reason="The wrong file")
    shown = operator.get(page).content.decode()
    assert "Take back" not in shown
    assert "The wrong file" in shown
    again = take_back(operator, imported, confirmed="on", reason="Again")
    assert any("It was taken back on" in str(message) for message in again.context["messages"])


def test_a_colleague_who_may_only_look_is_not_offered_it(client, imported):
    user = make_user("grace", is_staff=True)
    user.user_permissions.add(*Permission.objects.filter(codename="view_importrun"))
    client.force_login(user)
    take_back(client, imported, confirmed="on", reason="The wrong file")
    assert Finding.objects.exists()


def test_an_older_import_names_and_links_the_newest_one_instead_of_the_button(operator, imported):
    import_bytes(json_lines(make_row()), imported.website)
    import_bytes(json_lines(make_row(template_id="later")), imported.website)
    newest = ImportRun.objects.latest("pk")
    page = operator.get(reverse("admin:dashboard_api_importrun_change", args=[imported.pk]))
    link = reverse("admin:dashboard_api_importrun_change", args=[newest.pk])
    assertContains(page, f'<a href="{link}">{newest}</a> (import {newest.pk}, the newest of 2 newer ones)')
    assertNotContains(page, 'value="take_back"')
    refused = take_back(operator, imported, confirmed="on", reason="The wrong file")
    assertContains(refused, f"(import {newest.pk})")
    assert Finding.objects.count() == 2


def test_imports_that_are_taken_back_together_go_the_newest_first(operator, imported):
    import_bytes(json_lines(make_row(template_id="later")), imported.website)
    numbers = [str(run.pk) for run in ImportRun.objects.order_by("pk")]
    list_of_imports = reverse("admin:dashboard_api_importrun_changelist")
    choice = {"action": "take_back", "_selected_action": numbers}
    asked = operator.post(list_of_imports, choice)
    assertContains(asked, "Deleted: 1, open again: 0")
    assertContains(asked, f"{imported}: no preview")
    operator.post(list_of_imports, choice | {"confirmed": "on", "reason": "The wrong website"})
    assert not ImportRun.objects.not_undone().exists()
    assert not Finding.objects.exists()
