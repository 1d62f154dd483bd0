import pytest
from django.core import mail
from django.core.management.base import CommandError
from django.utils import timezone

from portal.models import Membership
from portal.team import actions
from tests.commands import run, run_json
from tests.factories import make_membership, make_portal_account, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["ada", "ada@example.com", "ADA@Example.com"])
def test_member_is_found_by_username_or_e_mail(name):
    account, user = make_portal_account("acct_0001"), make_user("ada")
    assert "ada is now owner of acct_0001" in run("add_member", "acct_0001", name, "--role", "owner")
    membership = Membership.objects.get()
    assert (membership.account, membership.user, membership.role) == (account, user, "owner")


def test_member_is_a_viewer_by_default():
    make_portal_account("acct_0001")
    make_user("ada")
    result = run_json("add_member", "acct_0001", "ada")
    assert result == {
        "changed": True, "account": "acct_0001", "user": "ada", "role": "viewer", "created": True,
    }  # fmt: skip
    assert run_json("add_member", "acct_0001", "ada")["changed"] is False


def test_member_gets_another_role():
    make_membership(make_user("ada"), make_portal_account("acct_0001"), role="viewer")
    assert "ada is now manager" in run("add_member", "acct_0001", "ada", "--role", "manager")
    assert Membership.objects.get().role == "manager"


def test_member_keeps_the_role_when_none_is_given():
    make_membership(make_user("ada"), make_portal_account("acct_0001"), role="owner")
    assert "ada stays owner" in run("add_member", "acct_0001", "ada")
    assert Membership.objects.get().role == "owner"


def test_changes_by_the_command_are_recorded():
    account = make_portal_account("acct_0001")
    make_user("ada")
    run("add_member", "acct_0001", "ada")
    run("add_member", "acct_0001", "ada")
    run("add_member", "acct_0001", "ada", "--role", "owner")
    assert [str(change) for change in reversed(account.membership_changes.all())] == [
        "an operator: joined ada viewer",
        "an operator: role ada owner",
    ]


@pytest.mark.parametrize(("role", "is_open"), [("owner", True), ("viewer", False)])
def test_the_open_invitations_of_an_owner_end_with_the_role(role, is_open):
    account = make_portal_account("acct_0001")
    ada = make_membership(make_user("ada"), account, role="owner").user
    other = make_membership(make_user("other"), account, role="owner").user
    actions.invite(account, "own@example.com", "owner", by=ada, was_emailed=True)
    actions.invite(account, ada.email, "owner", by=other, was_emailed=True)
    run("add_member", "acct_0001", "ada", "--role", role)
    assert account.invitations.open(at=timezone.now()).count() == (2 if is_open else 0)


def test_the_last_owner_who_can_sign_in_keeps_the_role():
    account = make_portal_account("acct_0001")
    ada = make_membership(make_user("ada"), account, role="owner")
    make_membership(make_user("former", is_active=False), account, role="owner")
    actions.invite(account, "new@example.com", "viewer", by=ada.user, was_emailed=True)
    with pytest.raises(CommandError, match="ada is the last owner of acct_0001 who can sign in"):
        run("add_member", "acct_0001", "ada", "--role", "viewer")
    ada.refresh_from_db()
    assert ada.role == "owner"
    assert account.invitations.open(at=timezone.now()).exists()


def test_a_user_name_has_priority_over_an_e_mail_address():
    make_portal_account("acct_0001")
    user = make_user("ada@example.com", email="other@example.com")
    make_user("ada")
    run("add_member", "acct_0001", "ada@example.com")
    assert Membership.objects.get().user == user


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["acct_0002", "ada"], r"manage\.py connect_account acct_0002"),
        (["acct_0001", "eve"], r"manage\.py createsuperuser"),
        (["acct_0001", "shared@example.com"], r"give a user name \(bob, carol\)"),
        (["acct_0001", "ada", "--role", "king"], "invalid choice: 'king'"),
    ],
)
def test_invalid_member_is_refused_with_advice(arguments, refusal):
    make_portal_account("acct_0001")
    make_user("ada")
    make_user("bob", email="shared@example.com")
    make_user("carol", email="Shared@example.com")
    with pytest.raises(CommandError, match=refusal):
        run("add_member", *arguments)
    assert not Membership.objects.exists()


def test_a_person_without_a_user_is_invited_once(settings):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "smtp://mail.example.com", "https://portal.example.com"
    account = make_portal_account("acct_0001")
    command = ["add_member", "acct_0001", "Ada@example.com", "--role", "owner", "--invite", "--by", "Robin"]
    first, again = run_json(*command), run_json(*command)
    assert (first["changed"], again["changed"], first["invitation_link"]) == (True, False, None)
    (letter,) = mail.outbox
    assert "Robin invites you" in letter.body
    assert f"https://portal.example.com/invitations/{account.invitations.get().token}/" in letter.body


def test_without_a_mail_server_the_link_of_an_invitation_is_printed(settings):
    settings.EMAIL_URL = ""
    account = make_portal_account("acct_0001")
    text = run("add_member", "acct_0001", "ada@example.com", "--invite")
    assert f"/invitations/{account.invitations.get().token}/" in text
    assert account.invitations.get().role == "viewer"


def test_a_user_needs_no_invitation():
    make_portal_account("acct_0001")
    make_user("ada")
    run("add_member", "acct_0001", "ada@example.com", "--invite")
    assert Membership.objects.get().role == "viewer"


def test_a_word_that_is_no_address_is_not_invited():
    account = make_portal_account("acct_0001")
    with pytest.raises(CommandError, match="valid email"):
        run("add_member", "acct_0001", "ada", "--invite")
    assert not account.invitations.exists()
