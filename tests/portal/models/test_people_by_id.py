"""Open invitations and live share links have the ids of those who made them, also of before an update."""

import pytest
from django.contrib.auth.models import User
from django.db import connection

from portal.models import Invitation, Membership, ShareLink
from portal.sharing import actions as sharing
from portal.team import actions
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user

pytestmark = pytest.mark.django_db


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
