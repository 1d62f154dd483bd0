"""The groups of staff: created once, with permissions that exist."""

import pytest
from django.contrib.auth.models import Group, Permission

from config.staff_groups import GROUPS, create_groups
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


def test_a_group_that_exists_stays_as_it_was_changed():
    group = Group.objects.get(name="Analysts")
    group.permissions.clear()
    create_groups("default")
    assert labels("Analysts") == set()


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
