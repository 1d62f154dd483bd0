"""A person can be forgotten, and the seals of the audit still fit."""

import io

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from audit import seals
from audit.models import AuditActor, AuditEvent, AuditOrigin
from audit.recording import Acting, Person, acting, record
from config.operations.forgetting.people import FORGOTTEN
from dashboard_api.models import Answer, Case, Message, Secret, SiteLink
from foundation.texts.people import reference_of
from portal.models import MembershipChange, SavedView
from portal.team import actions
from tests import factories
from tests.commands import run, run_json
from tests.config.identity.test_sessions import sign_in
from tests.dashboard_api.answers.acting import act, open_answer, write

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
    account = make_history()
    own = account.memberships.get(user__username="bob")
    SavedView.objects.create(account=account, membership=own, name="For bob", query="query=bob")
    seals.seal(timezone.now())
    assert run_json("forget_person", "bob@example.com", "--yes")["changed"]
    stored = [*AuditActor.objects.values(), *AuditEvent.objects.values(), *MembershipChange.objects.values()]
    assert "bob" not in str(stored)
    assert "ada" in str(stored)
    assert not SavedView.objects.exists()
    assert not AuditOrigin.objects.exists()
    assert seals.first_difference() is None
    assert not run_json("forget_person", "bob@example.com", "--yes")["changed"]


def test_the_open_invitations_of_a_forgotten_owner_end():
    account = make_history()
    factories.make_membership(factories.make_user("second"), account)
    ada = User.objects.get(username="ada")
    actions.invite(account, "own@example.com", "owner", by=ada, was_emailed=True)
    run("forget_person", "ada", "--yes")
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
    run_json("forget_person", "bob@example.com", "--yes")
    stored = [*LogEntry.objects.values(), *Secret.objects.values("created_by")]
    assert "bob" not in str(stored)
    assert "ada" in str(stored)


def test_a_forgotten_person_is_in_no_answer_or_message_of_the_portals_accounts():
    make_history()
    bob, ada = (reference_of(User.objects.get(username=name).pk) for name in ("bob", "ada"))
    service_account = factories.make_account()
    link = factories.make_link(service_account)
    finding = factories.make_finding(link.website)
    people = {"by": bob, "assignee": bob}
    act(link, "will_fix", finding, **people)
    act(link, "disputed", factories.make_finding(link.website), by=bob)
    write(link, finding, by=ada)
    Answer.objects.filter(answer="disputed").update(second_by=bob)
    elsewhere = factories.make_link(factories.make_account("acct_api"), link.website)
    act(elsewhere, "will_fix", finding, **people)
    version = SiteLink.objects.get(pk=link.pk).answers_version
    run("forget_person", "bob@example.com", "--yes")
    stored = [
        *Answer.objects.filter(account=service_account).values(),
        *Case.objects.values(),
        *Message.objects.values(),
    ]
    assert bob not in str(stored)
    assert ada in str(stored)
    assert open_answer(link, finding).by == FORGOTTEN
    assert open_answer(link, finding).assignee == ""
    assert SiteLink.objects.get(pk=link.pk).answers_version > version
    assert open_answer(elsewhere, finding).by == bob  # a reference of another system


def test_a_person_is_forgotten_by_each_spelling_of_the_address():
    account = make_history()
    factories.make_user("eve", email="eve@xn--mller-kva.example")
    ada = User.objects.get(username="ada")
    actions.invite(account, "eve@xn--mller-kva.example", "viewer", by=ada, was_emailed=True)
    factories.make_user("strasse")
    assert run("forget_person", "eve@m\u00fcller.example", "--yes").startswith(
        "Forgotten: users: 1, invitations: 1"
    )
    assert not run_json("forget_person", "stra\u00dfe", "--yes")["changed"], "this is another name"


def test_the_command_says_what_it_forgot():
    account = make_history()
    ada = User.objects.get(username="ada")
    actions.invite(account, "eve@example.com", "viewer", by=ada, was_emailed=True)
    said = run("forget_person", "Eve@example.com", "--yes")
    assert said == "Forgotten: invitations: 1, names in records: 2.\n"
    result = run_json("forget_person", "bob@example.com", "--yes")
    assert result == {"changed": True, "users": 1, "invitations": 1, "records": 5}
    assert run("forget_person", "bob", "--yes") == "There is no such person on record.\n"


def test_the_last_owner_of_an_account_is_not_forgotten():
    make_history()
    with pytest.raises(CommandError, match="last owner of acct_0001"):
        run_json("forget_person", "ada", "--yes")
    assert AuditActor.objects.filter(name="bob@example.com").exists()


class Terminal(io.StringIO):
    """Standard input at which a person types."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (io.StringIO(), "To delete it all, add --yes"),
        (Terminal("bob\n"), "this is not bob@example.com"),
    ],
)
def test_a_person_is_shown_and_stays_unless_the_operator_agrees(typed, words, monkeypatch):
    make_history()
    monkeypatch.setattr("sys.stdin", typed)
    shown = io.StringIO()
    with pytest.raises(CommandError, match=words):
        call_command("forget_person", "bob@example.com", stderr=shown)
    assert shown.getvalue().splitlines() == [
        "This forgets bob@example.com for good, in all records:",
        "  the user bob (bob@example.com): viewer of acct_0001",
    ]
    assert User.objects.filter(username="bob").exists()


def test_an_operator_who_types_the_address_forgets_the_person(monkeypatch):
    make_history()
    monkeypatch.setattr("sys.stdin", Terminal("bob@example.com\n"))
    assert run_json("forget_person", "bob@example.com")["users"] == 1


@pytest.mark.parametrize("empty", ["", " ", "\t\n", "\u00a0"])
def test_an_empty_text_forgets_nobody(empty):
    factories.make_user("eve", email="")
    factories.make_user("adam", email="")
    with pytest.raises(CommandError, match="the text is empty"):
        run("forget_person", empty, "--yes")
    assert User.objects.count() == 2


def test_spaces_around_a_name_are_left_out(monkeypatch):
    make_history()
    monkeypatch.setattr("sys.stdin", Terminal("bob\n"))
    assert run_json("forget_person", " bob ")["users"] == 1


def test_it_says_at_once_that_no_user_has_the_name():
    shown = io.StringIO()
    with pytest.raises(CommandError, match="add --yes"):
        call_command("forget_person", "unknown@example.com", stderr=shown)
    assert "no user: only names and addresses on record" in shown.getvalue()


def test_staff_and_people_who_cannot_sign_in_are_shown_as_such():
    factories.make_user("eve", is_staff=True, is_active=False, email="")
    shown = io.StringIO()
    call_command("forget_person", "eve", "--yes", stderr=shown, stdout=io.StringIO())
    assert "the user eve (no address): staff, cannot sign in" in shown.getvalue()


def test_the_last_superuser_who_can_sign_in_is_not_forgotten():
    factories.make_user("root", is_staff=True, is_superuser=True)
    factories.make_user("former", is_staff=True, is_superuser=True, is_active=False)
    with pytest.raises(CommandError, match="last superuser who can sign in"):
        run("forget_person", "root", "--yes")
    assert User.objects.filter(username="root").exists()
    run("forget_person", "former", "--yes")
    factories.make_user("second", is_staff=True, is_superuser=True)
    run("forget_person", "root", "--yes")
    assert not User.objects.filter(username="root").exists()
