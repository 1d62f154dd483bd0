"""The page of saved views: those of each account that the person may rename and delete, and the others."""

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from portal.models import Membership, SavedView
from portal.pages.forms import ViewNameForm
from portal.pages.urls import site_address
from portal.pages.view_models import reader_of
from portal.pages.view_models.saved_views import dropped_filters, filters_in_words, filters_of, view_url


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRow:
    """A saved view; ``form`` renames it if the person may, and ``url`` is empty for several websites.

    ``dropped`` names filters that the portal no longer knows.
    """

    pk: int
    name: str
    url: str
    filters: str
    dropped: tuple[str, ...]
    form: ViewNameForm | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSection:
    """The saved views of one account: the person's own, and those for everyone."""

    pk: int
    account: str
    own: tuple[ViewRow, ...]
    everyone: tuple[ViewRow, ...]


def account_sections(
    user: AbstractBaseUser | AnonymousUser, invalid: tuple[int, ViewNameForm] | None = None
) -> tuple[AccountSection, ...]:
    """Return the views in each account of ``user``; ``invalid`` is a refused form with its view's number."""
    memberships = Membership.objects.of_user(user).select_related("account")
    return tuple(_section(user, membership, invalid) for membership in memberships)


def _section(
    user: AbstractBaseUser | AnonymousUser, membership: Membership, invalid: tuple[int, ViewNameForm] | None
) -> AccountSection:
    account = membership.account
    visible = sorted(
        SavedView.objects.visible_to(user).filter(account=account), key=lambda view: view.name.casefold()
    )
    reader = reader_of(account.pk, user)
    websites = list(account.websites.select_related("account")[:2])
    address = site_address(websites[0], names_account=True) if len(websites) == 1 else None

    def row(view: SavedView) -> ViewRow:
        may_manage = not view.is_for_everyone or membership.can_link_websites
        form = ViewNameForm(initial={"name": view.name}, auto_id=f"view-{view.pk}-%s") if may_manage else None
        return ViewRow(
            pk=view.pk,
            name=view.name,
            url=view_url(view, address) if address else "",
            filters=" · ".join(filters_in_words(filters_of(view), reader)),
            dropped=dropped_filters(view.query, reader),
            form=invalid[1] if invalid and invalid[0] == view.pk else form,
        )

    return AccountSection(
        pk=account.pk,
        account=str(account),
        own=tuple(row(view) for view in visible if not view.is_for_everyone),
        everyone=tuple(row(view) for view in visible if view.is_for_everyone),
    )
