"""manage.py prune_portal."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.models import Invitation, MembershipChange, SentReminder, ShareLink
from portal.sharing import actions
from portal.team.actions import invite
from tests.commands import run, run_json
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user

pytestmark = pytest.mark.django_db


def test_only_links_that_ended_long_ago_are_deleted():
    website, person = make_portal_website(), make_user()
    old, _ = actions.create(website, actions.Subject(title="Old"), by=person, days=7)
    new, _ = actions.create(website, actions.Subject(title="New"), by=person, days=7)
    ShareLink.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(days=31))
    assert run("prune_portal") == "Share links deleted: 1; changes of teams: 0.\n"
    assert list(ShareLink.objects.all()) == [new]
    assert run_json("prune_portal") == {"share_links": 0, "team_changes": 0}


def test_changes_of_teams_and_invitations_stay_as_long_as_actions_on_record():
    owner = make_membership(make_user("owner"), make_portal_account())
    for days in (401, 399):
        email = f"{days}@example.com"
        invitation = invite(owner.account, email, "viewer", by=owner.user, was_emailed=True)
        then = timezone.now() - timedelta(days=days)
        Invitation.objects.filter(pk=invitation.pk).update(expires_at=then)
        MembershipChange.objects.filter(person=email).update(at=then)
    assert run_json("prune_portal") == {"share_links": 0, "team_changes": 1}
    assert MembershipChange.objects.get().person == Invitation.objects.get().email == "399@example.com"


def test_reminders_are_on_record_until_they_can_no_longer_be_due():
    account = make_portal_account()
    for days in (101, 99):
        at = timezone.now() - timedelta(days=days)
        SentReminder.objects.create(account=account, key="a" * 64, days=days, created_at=at)
    run("prune_portal")
    assert SentReminder.objects.get().days == 99
