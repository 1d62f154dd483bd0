"""Open invitations and live share links have the ids of those who made them, also of before an update."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from portal.models import Invitation, Membership, ShareLink
from portal.sharing import actions as sharing
from portal.team import actions
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user

pytestmark = pytest.mark.django_db


def test_people_are_found_by_the_names_on_record_where_these_still_fit():
    account = make_portal_account()
    ada, bob = (make_membership(make_user(name), account, "owner").user for name in ("ada", "bob"))
    website = make_portal_website(account)
    for person in (ada, bob):
        actions.invite(account, f"{person}@example.org", "owner", by=person, was_emailed=True)
        sharing.create(website, sharing.Subject(title=str(person)), by=person, days=7)
    actions.invite(account, "ours@example.org", "owner", by=None, was_emailed=True)
    actions.invite(account, "old@example.org", "owner", by=ada, was_emailed=True)
    Invitation.objects.filter(email="old@example.org").update(expires_at=timezone.now() - timedelta(days=1))
    Invitation.objects.update(invited_by=None)
    ShareLink.objects.update(creator=None)
    bob.username = "renamed"
    bob.save()
    import_module("portal.migrations.0008_fill_people").fill(apps, connection.schema_editor())
    assert dict(Invitation.objects.values_list("email", "invited_by")) == {
        "ada@example.org": ada.pk,
        "bob@example.org": None,
        "ours@example.org": None,
        "old@example.org": None,
    }
    assert dict(ShareLink.objects.values_list("title", "creator")) == {"ada": ada.pk, "bob": None}


def test_a_person_who_made_them_can_be_deleted_also_by_the_code_of_before():
    account = make_portal_account()
    website = make_portal_website(account)
    for name in ("ada", "bob"):
        person = make_membership(make_user(name), account, "owner").user
        actions.invite(account, f"{name}@example.org", "owner", by=person, was_emailed=True)
        sharing.create(website, sharing.Subject(title=name), by=person, days=7)
    User.objects.get(username="ada").delete()
    assert Invitation.objects.get(email="ada@example.org").invited_by_id is None
    assert ShareLink.objects.get(title="ada").creator_id is None
    Membership.objects.all().delete()
    # The code of before knows no such columns.
    User.objects.filter(username="bob")._raw_delete("default")
    connection.check_constraints()
    assert Invitation.objects.count() == ShareLink.objects.count() == 2
