"""Saved views: filters of a dashboard with a name, for one member or for everyone in an account."""

from typing import ClassVar, Self

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.models.accounts import Account
from portal.models.members import Membership

MAX_NAME_LENGTH = 60


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    """Queries for saved views."""

    def for_everyone(self) -> Self:
        """Return the views for everyone in their account."""
        return self.filter(membership=None)

    def of_user(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the views that belong to ``user`` alone."""
        return self.filter(membership__in=Membership.objects.of_user(user))

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the person's own views, and those for everyone in the person's accounts."""
        own = Membership.objects.of_user(user)
        return self.filter(
            models.Q(membership__in=own) | models.Q(membership=None, account__in=own.values("account"))
        )

    def manageable_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the views that ``user`` may rename and delete: those for everyone as an owner or manager."""
        own = Membership.objects.of_user(user)
        managed = own.managing().values("account")
        return self.filter(models.Q(membership__in=own) | models.Q(membership=None, account__in=managed))


class SavedView(models.Model):
    """Filters with a name, for each website of the account; without a membership, for everyone in it."""

    account = models.ForeignKey(
        Account,
        on_delete=models.CASCADE,
        db_constraint=False,  # so that older code can delete accounts
        related_name="saved_views",
    )
    membership = models.ForeignKey(
        Membership,
        on_delete=models.CASCADE,
        null=True,
        db_constraint=False,  # so that older code can remove members
        related_name="saved_views",
    )
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    query = models.TextField(help_text=_("The filters, as the query string of the dashboard without a page."))
    created_at = models.DateTimeField(default=timezone.now)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_for_everyone(self) -> bool:
        """Whether everyone in the account sees the view."""
        return self.membership_id is None
