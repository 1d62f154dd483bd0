"""Members, invitations, and the record of changes to both."""

from datetime import datetime
from typing import ClassVar, Self
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.signing import BadSignature, Signer
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from foundation.texts.people import reference_of

_signer = Signer(salt="portal.invitation")


class MembershipQuerySet(models.QuerySet["Membership"]):
    """Queries for members."""

    def of_user(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the memberships of one person; empty for anonymous visitors."""
        return self.filter(user=user) if user.is_authenticated else self.none()

    def owners(self) -> Self:
        """Return owners, who manage the other members."""
        return self.filter(role=Membership.Role.OWNER)

    def managing(self) -> Self:
        """Return owners and managers, who may link websites and share findings."""
        return self.filter(role__in=(Membership.Role.OWNER, Membership.Role.MANAGER))

    def answering(self) -> Self:
        """Return everyone but viewers: they answer findings and write to analysts."""
        return self.exclude(role=Membership.Role.VIEWER)

    def names(self) -> dict[str, str]:
        """Return the names of these members by the references that answers and messages have."""
        return {reference_of(pk): name for pk, name in self.values_list("user_id", "user__username")}

    def manageable_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the members of every account that ``user`` owns."""
        return self.filter(account__in=self.model.objects.of_user(user).owners().values("account"))


class Membership(models.Model):
    """A person's role in an account.

    ``reference`` names the person in calls to the service, which does not interpret it.
    """

    class Role(models.TextChoices):
        """Viewers see websites; contributors also answer findings, and link or share nothing.

        Managers also see members, link and share; owners also manage members.
        """

        OWNER = "owner", _("Owner")
        MANAGER = "manager", _("Manager")
        CONTRIBUTOR = "contributor", _("Contributor")
        VIEWER = "viewer", _("Viewer")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    account = models.ForeignKey("portal.Account", on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=11, choices=Role, default=Role.VIEWER)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")
        ordering: ClassVar = ["account", "user"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "account"], name="portal_membership_once"),
        ]

    def __str__(self) -> str:
        return _("%(user)s in %(account)s: %(role)s") % {
            "user": self.user,
            "account": self.account,
            "role": self.get_role_display(),
        }

    @property
    def is_owner(self) -> bool:
        """Whether this person manages the account's members."""
        return self.role == self.Role.OWNER

    @property
    def can_see_members(self) -> bool:
        """Whether this person sees the other members."""
        return self.role in (self.Role.OWNER, self.Role.MANAGER)

    @property
    def can_link_websites(self) -> bool:
        """Whether this person may link websites to the account."""
        return self.role in (self.Role.OWNER, self.Role.MANAGER)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Queries for invitations."""

    def open(self, *, at: datetime) -> Self:
        """Return the invitations that can be accepted at ``at``."""
        return self.filter(closed_at=None, expires_at__gt=at)

    def with_token(self, token: str) -> Self:
        """Return the invitation with this token; empty if the token's signature is not ours."""
        try:
            return self.filter(pk=_signer.unsign(token))
        except BadSignature:
            return self.none()


class Invitation(models.Model):
    """An invitation to an account; its link works once, for any person who has it."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    account = models.ForeignKey("portal.Account", on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=11, choices=Membership.Role, default=Membership.Role.VIEWER)
    # Empty for invitations by operators. MembershipChange keeps the user name of that time.
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        db_constraint=False,  # so that older code can delete users
        related_name="+",
        editable=False,
    )
    was_emailed = models.BooleanField(
        help_text=_("The link was sent to the address and shown to no one else.")
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, help_text=_("When it was accepted, withdrawn or replaced."))

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["created_at", "id"]

    def __str__(self) -> str:
        return _("%(user)s in %(account)s: %(role)s") % {
            "user": self.email,
            "account": self.account,
            "role": self.get_role_display(),
        }

    @property
    def token(self) -> str:
        """The link's signed token; computing it needs the secret key as well as the database."""
        return _signer.sign(str(self.pk))


class MembershipChange(models.Model):
    """A record of one change to an account's members; rows are only added."""

    class Action(models.TextChoices):
        """The kinds of change."""

        INVITED = "invited", _("Invited")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        JOINED = "joined", _("Joined")
        ROLE = "role", _("Role")
        REMOVED = "removed", _("Removed")
        LEFT = "left", _("Left")

    account = models.ForeignKey("portal.Account", on_delete=models.CASCADE, related_name="membership_changes")
    at = models.DateTimeField(default=timezone.now)
    by = models.CharField(
        max_length=150, blank=True, help_text=_("The user name at the time; empty for operators.")
    )
    action = models.CharField(max_length=10, choices=Action)
    person = models.CharField(max_length=254, help_text=_("The member's user name, or the invited address."))
    role = models.CharField(max_length=11, choices=Membership.Role, blank=True)

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [models.Index(fields=["account", "-at", "-id"], name="portal_changes_of_account")]

    def __str__(self) -> str:
        return f"{self.by or 'an operator'}: {self.action} {self.person} {self.role}".strip()
