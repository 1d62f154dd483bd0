"""A person can be forgotten, and the seals of the audit still fit."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.utils import timezone

from audit import seals
from audit.models import AuditActor, AuditEvent, AuditOrigin
from audit.recording import Acting, Person, acting, record
from dashboard_api.models import Secret
from portal.models import MembershipChange
from portal.team import actions
from tests import factories
from tests.commands import run, run_json
from tests.config.test_sessions import sign_in

pytestmark = pytest.mark.django_db


def make_history():
    """Let ada, an owner, invite bob, who joins."""
    account = factories.make_portal_account()
    ada = factories.make_membership(factories.make_user("ada"), account).user
    bob = factories.make_user("bob")
    person = Person(bob.pk, "bob")
    with acting(Acting(person=lambda: person, address="192.0.2.7")):
        invitation = actions.invite(account, bob.email, "viewer", by=ada, was_emailed=True)
        actions.accept(invitation, bob)
        record("findings.exported", account="acct_0001")
    return account


def test_the_name_of_a_forgotten_person_is_nowhere_and_the_seals_fit():
    make_history()
    seals.seal(timezone.now())
    assert run_json("forget_person", "bob@example.com")["changed"]
    stored = [*AuditActor.objects.values(), *AuditEvent.objects.values(), *MembershipChange.objects.values()]
    assert "bob" not in str(stored)
    assert "ada" in str(stored)
    assert not AuditOrigin.objects.exists()
    assert seals.first_difference() is None
    assert not run_json("forget_person", "bob@example.com")["changed"]


def test_the_open_invitations_of_a_forgotten_owner_end():
    account = make_history()
    factories.make_membership(factories.make_user("second"), account)
    ada = User.objects.get(username="ada")
    actions.invite(account, "own@example.com", "owner", by=ada, was_emailed=True)
    run("forget_person", "ada")
    assert not account.invitations.open(at=timezone.now()).exists()


def test_the_name_of_a_forgotten_person_is_in_no_log_of_the_admin_and_on_no_secret():
    account = make_history()
    staff = sign_in(factories.make_user("staff", is_staff=True, is_superuser=True))
    bob = User.objects.get(username="bob")
    membership = account.memberships.get(user=bob)
    sent = {"user": bob.pk, "account": account.pk, "role": "owner"}
    staff.post(f"/admin/portal/membership/{membership.pk}/change/", sent)
    rows = {
        f"{name}-{kind}_FORMS": 0 for name in ("websites", "memberships") for kind in ("TOTAL", "INITIAL")
    }
    rows |= {"memberships-TOTAL_FORMS": 1, "memberships-INITIAL_FORMS": 1, "memberships-0-DELETE": "on"}
    rows |= {"memberships-0-id": membership.pk, "memberships-0-account": account.pk}
    rows |= {"membership_changes-TOTAL_FORMS": 0, "membership_changes-INITIAL_FORMS": 0}
    staff.post(f"/admin/portal/account/{account.pk}/change/", {"ref": account.ref, "name": "", **rows})
    assert LogEntry.objects.filter(change_message__contains='"object": "bob in').exists()
    LogEntry.objects.create(
        user_id=User.objects.get(username="staff").pk, object_repr="ada in acct", action_flag=2
    )
    Secret.objects.issue(factories.make_account(), by="bob")
    run_json("forget_person", "bob@example.com")
    stored = [*LogEntry.objects.values(), *Secret.objects.values("created_by")]
    assert "bob" not in str(stored)
    assert "ada" in str(stored)


def test_a_person_is_forgotten_by_each_spelling_of_the_address():
    account = make_history()
    factories.make_user("eve", email="eve@xn--mller-kva.example")
    ada = User.objects.get(username="ada")
    actions.invite(account, "eve@xn--mller-kva.example", "viewer", by=ada, was_emailed=True)
    factories.make_user("strasse")
    assert run("forget_person", "eve@m\u00fcller.example").startswith("Forgotten: users: 1, invitations: 1")
    assert not run_json("forget_person", "stra\u00dfe")["changed"], "this is another name"


def test_the_command_says_what_it_forgot():
    account = make_history()
    ada = User.objects.get(username="ada")
    actions.invite(account, "eve@example.com", "viewer", by=ada, was_emailed=True)
    assert run("forget_person", "Eve@example.com") == "Forgotten: invitations: 1, names in records: 2.\n"
    result = run_json("forget_person", "bob@example.com")
    assert result == {"changed": True, "users": 1, "invitations": 1, "records": 5}
    assert run("forget_person", "bob") == "There is no such person on record.\n"


def test_the_last_owner_of_an_account_is_not_forgotten():
    make_history()
    with pytest.raises(CommandError, match="last owner of acct_0001"):
        run_json("forget_person", "ada")
    assert AuditActor.objects.filter(name="bob@example.com").exists()
