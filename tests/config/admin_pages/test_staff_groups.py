"""The groups of staff: created once, with permissions that exist, and extended by updates."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission

from audit.models import AuditEvent
from config.admin_pages.staff_groups import GROUPS, create_groups
from config.models import GivenPermission
from tests.factories import make_finding, make_user, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _groups():
    create_groups("default")


def labels(name):
    permissions = Permission.objects.filter(group__name=name).select_related("content_type")
    return {f"{it.content_type.app_label}.{it.codename}" for it in permissions}


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_has_exactly_its_permissions(name):
    assert labels(name) == set(GROUPS[name])


@pytest.mark.parametrize("name", GROUPS)
def test_no_group_deletes_records_or_changes_staff(name):
    for label in labels(name):
        assert not label.startswith(("auth.", "dashboard_api.delete", "mfa.")), label


def take_back(release):
    """Let the database be one that ``release`` permissions are new to."""
    for group in Group.objects.all():
        group.permissions.remove(*Permission.objects.filter(codename__in=release))
    GivenPermission.objects.filter(permission__in=[f"dashboard_api.{name}" for name in release]).delete()


def permission(label):
    app, _, codename = label.partition(".")
    return Permission.objects.get(content_type__app_label=app, codename=codename)


def test_an_update_gives_groups_new_permissions_once_and_keeps_what_staff_changed():
    take_back(["view_callbackevent", "view_scanoptout"])
    operators, added = Group.objects.get(name="Operators"), "dashboard_api.delete_website"
    operators.permissions.remove(permission("dashboard_api.change_source"))
    operators.permissions.add(permission(added))
    create_groups("default")
    assert labels("Operators") == {*GROUPS["Operators"], added} - {"dashboard_api.change_source"}
    assert labels("Support") == set(GROUPS["Support"])
    operators.permissions.remove(permission("dashboard_api.view_callbackevent"))
    create_groups("default")
    assert "dashboard_api.view_callbackevent" not in labels("Operators")


def test_an_update_that_extends_a_group_is_on_record():
    take_back(["view_callbackevent"])
    create_groups("default")
    event = AuditEvent.objects.get(action="staff_group.extended")
    assert (event.label, event.after) == ("Operators", {"permissions": "dashboard_api.view_callbackevent"})


def test_every_page_of_the_admin_is_open_to_a_group_but_those_about_staff():
    """Users, groups and second factors are for administrators only."""
    everyone = {label for granted in GROUPS.values() for label in granted}
    names = {f"{model._meta.app_label}.view_{model._meta.model_name}" for model in admin.site._registry}
    assert {name for name in names - everyone if not name.startswith(("auth.", "mfa."))} == set()


@pytest.mark.parametrize(
    ("name", "status"), [("Analysts", 200), ("Operators", 200), ("Support", 200), ("", 403)]
)
def test_who_may_open_the_workbench(client, name, status):
    make_finding(make_website())
    user = make_user("grace", is_staff=True)
    user.groups.set(Group.objects.filter(name=name))
    client.force_login(user)
    assert client.get("/admin/dashboard_api/finding/workbench/").status_code == status


@pytest.mark.parametrize(("name", "status"), [("Analysts", 302), ("Operators", 403), ("Support", 403)])
def test_only_analysts_decide(client, name, status):
    finding = make_finding(make_website())
    user = make_user("grace", is_staff=True)
    user.groups.set(Group.objects.filter(name=name))
    client.force_login(user)
    url = f"/admin/dashboard_api/finding/workbench/{finding.pk}/decide/"
    assert client.post(url, {"decision": "reviewed"}).status_code == status
