"""Saving, renaming and deleting views: names, limits, rights and the audit log."""

import pytest

from audit.models import AuditEvent
from portal.models import Membership, SavedView
from portal.saved_views import actions
from portal.team import actions as team
from tests.factories import make_membership, make_user
from tests.portal.sharing.conftest import MANAGER, OWNER, VIEWER

pytestmark = pytest.mark.django_db
QUERY = "severity=High"


@pytest.fixture
def save(website, members):
    """Return a function that saves a view for a member, or as one for everyone."""

    def save(name, by=VIEWER, *, for_everyone=False):
        return actions.save(website.account_id, name, QUERY, by=members[by].user, for_everyone=for_everyone)

    return save


def seen_by(member):
    return [view.name for view in SavedView.objects.visible_to(member.user)]


def test_a_view_is_for_its_member_alone_or_for_everyone_in_the_account(save, members):
    save("Mine")
    save("Ours", OWNER, for_everyone=True)
    assert seen_by(members[VIEWER]) == ["Mine", "Ours"]
    assert seen_by(members[MANAGER]) == ["Ours"]
    assert seen_by(members["stranger"]) == []


def test_a_viewer_neither_saves_nor_changes_a_view_for_everyone(save, members):
    view, viewer = save("Ours", MANAGER, for_everyone=True), members[VIEWER].user
    with pytest.raises(Membership.DoesNotExist):
        save("Mine", VIEWER, for_everyone=True)
    with pytest.raises(SavedView.DoesNotExist):
        actions.rename(view, "Theirs", by=viewer)
    with pytest.raises(SavedView.DoesNotExist):
        actions.delete(view, by=viewer)
    assert seen_by(members[VIEWER]) == ["Ours"]


def test_an_owner_does_not_change_the_own_view_of_a_member(save, members):
    view = save("Mine")
    with pytest.raises(SavedView.DoesNotExist):
        actions.rename(view, "Yours", by=members[OWNER].user)
    with pytest.raises(SavedView.DoesNotExist):
        actions.delete(view, by=members[OWNER].user)


def test_a_name_is_unique_within_what_a_person_sees(save, members):
    save("Ours", OWNER, for_everyone=True)
    save("Mine")
    save("mine", MANAGER)  # no one sees both
    for name, options in (("OURS", {}), ("MINE", {}), ("Mine", {"by": OWNER, "for_everyone": True})):
        with pytest.raises(actions.NameTaken):
            save(name, **options)
    with pytest.raises(actions.NameTaken):
        actions.rename(save("Other"), "ours", by=members[VIEWER].user)


def test_a_view_is_renamed_to_its_name_in_other_letters(save, members):
    actions.rename(save("mine"), "Mine", by=members[VIEWER].user)
    assert seen_by(members[VIEWER]) == ["Mine"]


def test_the_account_and_each_person_have_their_own_limit(save, monkeypatch):
    monkeypatch.setattr(actions, "MAX_VIEWS", 1)
    save("Mine")
    save("Yours", OWNER)
    save("Ours", OWNER, for_everyone=True)
    with pytest.raises(actions.TooManyViews):
        save("One more")
    with pytest.raises(actions.TooManyViews):
        save("One more", MANAGER, for_everyone=True)


def test_each_change_to_a_view_for_everyone_is_on_the_audit_log_and_none_to_an_own_one(save, members):
    for for_everyone in (False, True):
        view = save(f"View {for_everyone}", OWNER, for_everyone=for_everyone)
        actions.rename(view, f"Other {for_everyone}", by=members[OWNER].user)
        actions.delete(view, by=members[OWNER].user)
    events = AuditEvent.objects.order_by("pk").values_list("action", "account", "label", "after")
    assert list(events) == [
        ("saved_view.saved", "acct_0001", "View True", None),
        ("saved_view.renamed", "acct_0001", "Other True", {"name": "Other True"}),
        ("saved_view.deleted", "acct_0001", "Other True", None),
    ]


def test_a_person_who_leaves_loses_their_own_views_and_leaves_those_for_everyone(save, website, members):
    save("Mine", MANAGER)
    save("Ours", MANAGER, for_everyone=True)
    person = members[MANAGER].user
    team.remove(members[MANAGER], by=person)
    assert [view.name for view in SavedView.objects.all()] == ["Ours"]
    make_membership(person, website.account)
    assert [view.name for view in SavedView.objects.visible_to(person)] == ["Ours"]


def test_a_removed_user_or_account_leaves_no_view(save, website, members):
    save("Mine")
    save("Ours", OWNER, for_everyone=True)
    members[VIEWER].user.delete()
    assert [view.name for view in SavedView.objects.all()] == ["Ours"]
    website.account.delete()
    assert not SavedView.objects.exists()


def test_a_person_in_two_accounts_has_views_in_each(save, website, members):
    person = make_user("both")
    for account in (website.account, members["stranger"].account):
        make_membership(person, account)
        actions.save(account.pk, "Same name", QUERY, by=person, for_everyone=False)
    assert SavedView.objects.visible_to(person).count() == 2
