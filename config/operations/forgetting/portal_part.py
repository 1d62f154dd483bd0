"""Delete the portal's part of an account, and find the people who are in no other account."""

from django.contrib.auth.models import User
from django.db.models import Q

from config.operations.forgetting.people import forget_log_entries, names_of
from portal.models import Account, Badge, Invitation, Membership, MembershipChange, ShareLink


class PortalPart:
    """Account of the portal; ``people`` are in no other account and not staff, ``kept`` are the others."""

    def __init__(self, account: Account) -> None:
        self.account = account
        members, past_names = account.memberships.values("user"), account.membership_changes.values("person")
        known = User.objects.filter(Q(pk__in=members) | Q(username__in=past_names)).order_by("username")
        is_kept = Q(is_staff=True) | Q(pk__in=Membership.objects.exclude(account=account).values("user"))
        self.kept = list(known.filter(is_kept))
        self.people = list(known.exclude(is_kept))

    def counts(self) -> dict[str, int]:
        """Return how many rows of each kind will be deleted."""
        return {
            "portal_websites": self.account.websites.count(),
            "memberships": self.account.memberships.count(),
            "invitations": self.account.invitations.count(),
            "saved_views": self.account.saved_views.count(),
            "share_links": ShareLink.objects.of_account(self.account).count(),
            "users": len(self.people),
        }

    def announce(self) -> None:
        """Do nothing: the portal deletes no rows outside the transaction."""

    def delete(self) -> set[str]:
        """Delete the account in the caller's transaction; return the names that now belong to no account."""
        account = Account.objects.select_for_update().get(pk=self.account.pk)
        names = names_of(self.people) | self._names_only_here()
        forget_log_entries(Account.objects.filter(pk=account.pk))
        forget_log_entries(account.memberships.all())
        forget_log_entries(account.websites.all())
        forget_log_entries(Badge.objects.filter(website__account=account))
        forget_log_entries(ShareLink.objects.of_account(account))
        account.delete()
        return names

    def _names_only_here(self) -> set[str]:
        """Return the names in the account's records that no user and no other account has."""
        invitations, changes = Invitation.objects, MembershipChange.objects
        own = {"account_id": self.account.pk}
        names = {*invitations.filter(**own).values_list("email", flat=True)}
        names |= {*changes.filter(**own).values_list("person", flat=True)}
        elsewhere = {*invitations.exclude(**own).values_list("email", flat=True)}
        elsewhere |= {*changes.exclude(**own).values_list("person", flat=True)}
        kept = {name.lower() for name in elsewhere | names_of(User.objects.all())}
        return {name for name in names if name and name.lower() not in kept}
