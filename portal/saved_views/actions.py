"""Changes to saved views; those for everyone are on the audit log."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from audit.recording import record as audit
from portal.models import Account, Membership, SavedView

MAX_VIEWS = 50  # for everyone in an account, and of each person in it


class NameTaken(Exception):
    """Someone who would see the view sees another one with this name."""


class TooManyViews(Exception):
    """The account or the person has reached the limit."""


@transaction.atomic
def save(account_id: int, name: str, query: str, *, by: User, for_everyone: bool) -> SavedView:
    """Save the filters of ``query`` under ``name``.

    Raises NameTaken, TooManyViews, and DoesNotExist if the person has just lost the right to do it.
    """
    account = _lock(account_id)
    members = Membership.objects.of_user(by).filter(account=account)
    membership = (members.managing() if for_everyone else members).get()
    view = SavedView(account=account, membership=None if for_everyone else membership, name=name, query=query)
    same = SavedView.objects.filter(account=account, membership=view.membership)
    if same.count() >= MAX_VIEWS:
        raise TooManyViews
    _check_name(view)
    view.save()
    if for_everyone:
        audit("saved_view.saved", view, by=by)
    return view


@transaction.atomic
def rename(view: SavedView, name: str, *, by: User) -> None:
    """Rename the view; raises NameTaken, and DoesNotExist if the person may no longer do it."""
    view = _locked(view, by)
    old_name, view.name = view.name, name
    _check_name(view)
    view.save(update_fields=["name"])
    if view.is_for_everyone and old_name != name:
        audit("saved_view.renamed", view, by=by, before={"name": old_name}, after={"name": name})


@transaction.atomic
def delete(view: SavedView, *, by: User) -> None:
    """Delete the view; raises DoesNotExist if the person may no longer do it."""
    view = _locked(view, by)
    if view.is_for_everyone:
        audit("saved_view.deleted", view, by=by)
    view.delete()


def _lock(account_id: int) -> Account:
    """Lock the account, so that two views cannot take the same name or the last place at the same time."""
    return Account.objects.select_for_update().get(pk=account_id)


def _locked(view: SavedView, by: User) -> SavedView:
    _lock(view.account_id)
    return SavedView.objects.manageable_by(by).get(pk=view.pk)


def _check_name(view: SavedView) -> None:
    """Raise NameTaken if a person who sees ``view`` sees another view with its name, in any case.

    Everyone sees a view for everyone, so its name must differ from those of all members' own views.
    """
    others = SavedView.objects.filter(account=view.account_id).exclude(pk=view.pk)
    if not view.is_for_everyone:
        others = others.filter(Q(membership=None) | Q(membership=view.membership))
    names = {name.casefold() for name in others.values_list("name", flat=True)}
    if view.name.casefold() in names:
        raise NameTaken
