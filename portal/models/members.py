"""Members, invitations, and the record of what was done about them."""

from datetime import datetime
from typing import ClassVar, Self
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.signing import BadSignature, Signer
from django.db import models
from django.utils import timezone

_signer = Signer(salt="portal.invitation")


class MembershipQuerySet(models.QuerySet["Membership"]):
    """Questions about members."""

    def of(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """The places of one person; none for nobody."""
        return self.filter(user=user) if user.is_authenticated else self.none()

    def owners(self) -> Self:
        """Those who decide about members."""
        return self.filter(role=Membership.Role.OWNER)

    def may_link(self) -> bool:
        """Whether one of these members may link websites."""
        return self.filter(role__in=(Membership.Role.OWNER, Membership.Role.MANAGER)).exists()

    def decided_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """The members of every account that ``user`` owns."""
        return self.filter(account__in=self.model.objects.of(user).owners().values("account"))


class Membership(models.Model):
    """A person's place in an account."""

    class Role(models.TextChoices):
        """All see the account's websites; managers see the members, too, and owners decide about them."""

        OWNER = "owner"
        MANAGER = "manager"
        VIEWER = "viewer"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    account = models.ForeignKey("portal.Account", on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.VIEWER)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["account", "user"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "account"], name="portal_membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.account}: {self.role}"

    @property
    def is_owner(self) -> bool:
        """Whether this person decides about the account's members."""
        return self.role == self.Role.OWNER

    @property
    def sees_members(self) -> bool:
        """Whether this person sees who else is a member."""
        return self.role in (self.Role.OWNER, self.Role.MANAGER)

    @property
    def may_link(self) -> bool:
        """Whether this person may link websites to the account."""
        return self.role in (self.Role.OWNER, self.Role.MANAGER)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Questions about invitations."""

    def open(self, *, at: datetime) -> Self:
        """Those that can be accepted at this moment."""
        return self.filter(closed_at=None, expires_at__gt=at)

    def of_token(self, token: str) -> Self:
        """The one whose link ends in ``token``; none for a token that was not signed here."""
        try:
            return self.filter(pk=_signer.unsign(token))
        except BadSignature:
            return self.none()


class Invitation(models.Model):
    """A way into an account, once, for whoever holds its link."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    account = models.ForeignKey("portal.Account", on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=10, choices=Membership.Role, default=Membership.Role.VIEWER)
    was_mailed = models.BooleanField(help_text="The link went to the address, and nobody else has seen it.")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, help_text="When it was accepted, withdrawn or replaced.")

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.email} to {self.account}: {self.role}"

    @property
    def token(self) -> str:
        """The end of its link, which cannot be made from the database alone."""
        return _signer.sign(str(self.pk))


class MembershipChange(models.Model):
    """One thing that was done about the members of an account; rows are only ever added."""

    class What(models.TextChoices):
        """What was done."""

        INVITED = "invited"
        WITHDRAWN = "withdrawn"
        JOINED = "joined"
        ROLE = "role"
        REMOVED = "removed"
        LEFT = "left"

    account = models.ForeignKey("portal.Account", on_delete=models.CASCADE, related_name="membership_changes")
    at = models.DateTimeField(default=timezone.now)
    by = models.CharField(max_length=150, blank=True, help_text="Their user name then; empty for operators.")
    what = models.CharField(max_length=10, choices=What)
    person = models.CharField(max_length=254, help_text="Whom it is about: a user name or an address.")
    role = models.CharField(max_length=10, choices=Membership.Role, blank=True)

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [models.Index(fields=["account", "-at", "-id"], name="portal_changes_of_account")]

    def __str__(self) -> str:
        return f"{self.by or 'an operator'}: {self.what} {self.person} {self.role}".strip()
