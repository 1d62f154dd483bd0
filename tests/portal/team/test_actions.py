"""Changes to a team: an account always has an owner, and every change is recorded."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.models import Account
from portal.models.members import Invitation, Membership, MembershipChange
from portal.team import actions, seats
from tests.factories import make_membership, make_portal_account, make_user
from tests.racing import race

pytestmark = pytest.mark.django_db

OWNER, MANAGER, CONTRIBUTOR, VIEWER = Membership.Role.values


@pytest.fixture
def account():
    return make_portal_account(name="Example Shop")


@pytest.fixture
def owner(account):
    return make_membership(make_user("owner"), account, OWNER)


@pytest.fixture
def viewer(account):
    return make_membership(make_user("viewer"), account, VIEWER)


def invite(account, by, email="new@example.com", role=VIEWER, **limits):
    return actions.invite(account, email, role, by=by.user, was_emailed=True, **limits)


def recorded():
    rows = MembershipChange.objects.values_list("by", "action", "person", "role")
    return [" ".join(filter(None, row)) for row in reversed(rows)]


# Seats

THREE = seats.Seats(limit=3)


def test_members_and_open_invitations_take_the_seats_of_the_plan(account, owner, viewer):
    first = invite(account, owner, seats=THREE)
    with pytest.raises(seats.NoSeat) as refusal:
        invite(account, owner, "other@example.com", seats=THREE)
    assert refusal.value.limit == 3
    invite(account, owner, role=MANAGER, seats=THREE)  # replaces the first one
    with pytest.raises(actions.InvitationClosed):
        actions.withdraw(first, by=owner.user)
    actions.remove(viewer, by=owner.user)
    invite(account, owner, "other@example.com", seats=THREE)
    assert account.seats_taken(timezone.now()) == 3


def test_an_invitation_is_accepted_while_a_seat_is_free_and_stays_open_otherwise(account, owner, viewer):
    invitation = invite(account, owner)
    with pytest.raises(seats.NoSeat):
        actions.accept(invitation, make_user("new"), seats=seats.Seats(limit=2))
    actions.accept(invitation, make_user("newer"), seats=THREE)
    full = seats.Seats(limit=2)
    assert actions.accept(invite(account, owner), viewer.user, seats=full) == viewer  # has a seat


def test_without_an_active_plan_no_one_is_invited_but_an_invited_person_joins(account, owner):
    inactive = seats.Seats(may_grow=False)
    with pytest.raises(seats.PlanInactive):
        invite(account, owner, seats=inactive)
    actions.accept(invite(account, owner), make_user("new"), seats=inactive)


@pytest.mark.django_db(transaction=True)
def test_the_last_seat_is_given_once(account, owner, viewer):
    def ask(number):
        try:
            invite(Account.objects.get(pk=account.pk), owner, f"new{number}@example.com", seats=THREE)
        except seats.NoSeat:
            return False
        return True

    assert sum(race(ask, times=4)) == 1


@pytest.mark.django_db(transaction=True)
def test_the_last_invitation_of_a_day_is_sent_once(account, owner):
    for number in range(actions.MAX_INVITATIONS_A_DAY - 1):
        invite(account, owner, f"person{number}@example.com")

    def ask(number):
        try:
            invite(Account.objects.get(pk=account.pk), owner, f"new{number}@example.com")
        except actions.TooManyInvitations:
            return False
        return True

    assert sum(race(ask, times=4)) == 1
    actions.invite(account, "ours@example.com", OWNER, by=None, was_emailed=True)


# Owners


def test_the_last_owner_is_neither_removed_nor_demoted(owner, viewer):
    with pytest.raises(actions.LastOwner):
        actions.remove(owner, by=owner.user)
    with pytest.raises(actions.LastOwner):
        actions.change_role(owner, MANAGER, by=owner.user)
    owner.refresh_from_db()
    assert owner.role == OWNER
    assert recorded() == []


def test_the_owner_of_another_account_is_no_replacement(owner):
    make_membership(make_user("other"), make_portal_account("acct_0002"), OWNER)
    with pytest.raises(actions.LastOwner):
        actions.remove(owner, by=owner.user)


def test_an_owner_who_cannot_sign_in_is_no_replacement(account, owner):
    make_membership(make_user("second", is_active=False), account, OWNER)
    with pytest.raises(actions.LastOwner):
        actions.remove(owner, by=owner.user)


def test_the_last_owner_may_be_made_owner_again(owner):
    actions.change_role(owner, OWNER, by=owner.user)
    assert recorded() == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", ["remove", "demote"])
def test_two_owners_cannot_remove_each_other_at_the_same_time(account, owner, act):
    second = make_membership(make_user("second"), account, OWNER)

    def end(number):
        by, other = (owner, second) if number else (second, owner)
        membership = Membership.objects.get(pk=other.pk)
        try:
            if act == "remove":
                actions.remove(membership, by=by.user)
            else:
                actions.change_role(membership, VIEWER, by=by.user)
        except Membership.DoesNotExist:
            return "refused"
        return "done"

    assert sorted(race(end, times=2)) == ["done", "refused"]
    assert account.memberships.owners().count() == 1


def test_a_member_removed_in_another_request_is_gone(owner, viewer):
    stale = Membership.objects.get(pk=viewer.pk)
    actions.remove(viewer, by=owner.user)
    for act in (
        lambda: actions.remove(stale, by=owner.user),
        lambda: actions.change_role(stale, MANAGER, by=owner.user),
    ):
        with pytest.raises(Membership.DoesNotExist):
            act()
    assert recorded() == ["owner removed viewer"]


# Invitations


def test_an_invitation_makes_a_member_once(account, owner):
    invitation = invite(account, owner, role=MANAGER)
    actions.accept(invitation, make_user("new"))
    with pytest.raises(actions.InvitationClosed):
        actions.accept(invitation, make_user("second"))
    assert account.memberships.get(user__username="new").role == MANAGER
    assert account.memberships.count() == 2


@pytest.mark.django_db(transaction=True)
def test_one_link_in_many_hands_makes_one_member(account, owner):
    invitation = invite(account, owner)
    people = [make_user(f"person{number}") for number in range(6)]

    def accept(number):
        try:
            actions.accept(Invitation.objects.get(pk=invitation.pk), people[number])
        except actions.InvitationClosed:
            return "refused"
        return "joined"

    assert sorted(race(accept, times=6)) == ["joined"] + ["refused"] * 5
    assert account.memberships.count() == 2


def test_an_invitation_is_open_for_a_week(account, owner):
    invitation = invite(account, owner)
    assert invitation.expires_at - invitation.created_at == timedelta(days=7)
    assert actions.open_invitation(invitation.token) == invitation
    invitation.expires_at = timezone.now() - timedelta(seconds=1)
    invitation.save()
    with pytest.raises(actions.InvitationClosed):
        actions.open_invitation(invitation.token)
    with pytest.raises(actions.InvitationClosed):
        actions.accept(invitation, make_user("new"))


def test_a_second_invitation_replaces_the_first_in_the_same_account(account, owner):
    second_account = make_portal_account("acct_0002")
    make_membership(owner.user, second_account, OWNER)
    elsewhere, another = invite(second_account, owner), invite(account, owner, email="other@example.com")
    first, second = invite(account, owner), invite(account, owner)
    with pytest.raises(actions.InvitationClosed):
        actions.open_invitation(first.token)
    assert actions.open_invitation(second.token) == second
    assert actions.open_invitation(elsewhere.token) == elsewhere
    assert actions.open_invitation(another.token) == another


@pytest.mark.parametrize("end", ["remove", "demote", "leave"])
def test_the_open_invitations_of_an_owner_end_with_the_role(account, owner, end):
    other = make_membership(make_user("other"), account, OWNER)
    own, kept = invite(account, owner, "own@example.com", OWNER), invite(account, other, "kept@example.com")
    by = owner if end == "leave" else other
    if end == "demote":
        actions.change_role(owner, MANAGER, by=by.user)
    else:
        actions.remove(owner, by=by.user)
    assert list(Invitation.objects.open(at=timezone.now())) == [kept]
    with pytest.raises(actions.InvitationClosed):
        actions.accept(own, make_user("second-self"))
    assert f"{by.user} withdrawn own@example.com" in recorded()


@pytest.mark.parametrize("end", ["remove", "demote", "leave"])
def test_the_open_invitations_to_a_person_end_with_the_role(account, owner, end):
    person = make_membership(make_user("person", email="Person@M\u00fcller.example"), account, OWNER)
    elsewhere = make_portal_account("acct_0002")
    make_membership(owner.user, elsewhere, OWNER)
    address = "person@xn--mller-kva.example"
    own, kept = invite(account, owner, address, OWNER), invite(account, owner)
    kept_elsewhere = invite(elsewhere, owner, address, OWNER)
    by = person if end == "leave" else owner
    if end == "demote":
        actions.change_role(person, VIEWER, by=by.user)
    else:
        actions.remove(person, by=by.user)
    assert list(Invitation.objects.open(at=timezone.now())) == [kept, kept_elsewhere]
    with pytest.raises(actions.InvitationClosed):
        actions.open_invitation(own.token)
    assert f"{by.user} withdrawn {address}" in recorded()


def test_the_end_of_a_person_without_an_address_ends_no_invitation(account, owner):
    person = make_membership(make_user("person", email=""), account, VIEWER)
    kept = invite(account, owner)
    actions.remove(person, by=owner.user)
    assert list(Invitation.objects.open(at=timezone.now())) == [kept]


def test_an_owner_whose_role_ended_a_moment_ago_changes_nothing(account, owner, viewer):
    other = make_membership(make_user("other"), account, OWNER)
    actions.change_role(owner, VIEWER, by=other.user)
    for change in (
        lambda: invite(account, owner),
        lambda: actions.change_role(viewer, OWNER, by=owner.user),
        lambda: actions.remove(other, by=owner.user),
    ):
        with pytest.raises(Membership.DoesNotExist):
            change()
    assert not account.invitations.exists()


def test_a_member_who_accepts_an_invitation_keeps_the_role_and_closes_it(account, owner, viewer):
    invitation = invite(account, owner, role=MANAGER)
    for _ in range(2):  # a form that is sent twice at once
        assert actions.accept(invitation, viewer.user).role == VIEWER
    assert recorded() == ["owner invited new@example.com manager"]
    actions.remove(viewer, by=owner.user)
    with pytest.raises(actions.InvitationClosed):
        actions.open_invitation(invitation.token)
    with pytest.raises(actions.InvitationClosed):
        actions.accept(invitation, viewer.user)


@pytest.mark.parametrize("change", ["bare", "cut", "other", "empty", "letter"])
def test_a_forged_invitation_link_is_not_found(account, owner, change):
    token = invite(account, owner).token
    other = invite(account, owner, email="other@example.com").token
    forged = {
        "bare": token.partition(":")[0],
        "cut": token[:-1],
        "other": token.partition(":")[0] + ":" + other.partition(":")[2],
        "empty": "",
        "letter": token[:-1] + ("A" if token[-1] != "A" else "B"),
    }[change]
    with pytest.raises(actions.InvitationClosed):
        actions.open_invitation(forged)


# The record


def test_every_change_is_recorded_with_person_and_time(account, owner, viewer):
    before = timezone.now()
    invitation = invite(account, owner, role=MANAGER)
    actions.withdraw(invitation, by=owner.user)
    actions.accept(invite(account, owner, role=MANAGER), make_user("new"))
    actions.change_role(viewer, OWNER, by=owner.user)
    actions.remove(account.memberships.get(user__username="new"), by=viewer.user)
    actions.remove(owner, by=owner.user)
    assert recorded() == [
        "owner invited new@example.com manager",
        "owner withdrawn new@example.com",
        "owner invited new@example.com manager",
        "new joined new manager",
        "owner role viewer owner",
        "viewer removed new",
        "owner left owner",
    ]
    assert all(before <= change.at <= timezone.now() for change in MembershipChange.objects.all())


def test_the_record_outlives_the_user(account, owner, viewer):
    actions.change_role(viewer, OWNER, by=owner.user)
    owner.user.delete()
    assert recorded() == ["owner role viewer owner"]
