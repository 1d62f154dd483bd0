"""What members want to hear, how far each website was heard of, and what is still to be told."""

from typing import TYPE_CHECKING, ClassVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils import timezone

from portal import labels
from portal.models.members import Membership
from portal.team.emails import can_be_sent

if TYPE_CHECKING:
    from portal.models import Website

USUAL_FLOOR = "High"


class Subscription(models.Model):
    """What a member wants to hear; whoever never chose has none stored."""

    class Rhythm(models.TextChoices):
        """When."""

        AT_ONCE = "at_once"
        DAILY = "daily"
        NEVER = "never"

    membership = models.OneToOneField(
        Membership, on_delete=models.CASCADE, primary_key=True, related_name="subscription"
    )
    floor = models.CharField(max_length=10, default=USUAL_FLOOR, help_text="The mildest severity to hear of.")
    rhythm = models.CharField(max_length=10, choices=Rhythm)
    language = models.CharField(
        max_length=10,
        blank=True,
        help_text="The one in which the member chose; empty: that of the last visit.",
    )

    class Meta:
        ordering: ClassVar = ["membership"]

    def __str__(self) -> str:
        return f"{self.membership}: {self.rhythm}"

    @classmethod
    def of(cls, membership: Membership) -> "Subscription":
        """The member's, or what is usual for the role: owners hear, others do when they choose to."""
        try:
            return membership.subscription
        except cls.DoesNotExist:
            usual = cls.Rhythm.AT_ONCE if membership.is_owner else cls.Rhythm.NEVER
            return cls(membership=membership, rhythm=usual)

    @property
    def hears(self) -> bool:
        """Whether there is somebody to write to, who wants it."""
        person = self.membership.user
        return bool(self.rhythm != self.Rhythm.NEVER and person.is_active and person.email)

    def wants(self, severity: str) -> bool:
        """Whether findings of this severity are told."""
        return labels.rank(severity) <= labels.rank(self.floor)


def hears_of(user: AbstractBaseUser | AnonymousUser, website: "Website") -> bool:
    """Whether ``user`` gets e-mails about ``website``, and they can be sent."""
    place = Membership.objects.of(user).filter(account=website.account_id).first()
    return place is not None and can_be_sent() and Subscription.of(place).hears


class Listening(models.Model):
    """Up to where the service told of a website that somebody wants to hear of."""

    website = models.OneToOneField(
        "portal.Website", on_delete=models.CASCADE, primary_key=True, related_name="listening"
    )
    cursor = models.TextField()

    class Meta:
        ordering: ClassVar = ["website"]

    def __str__(self) -> str:
        return f"{self.website} up to {self.cursor}"


class Tiding(models.Model):
    """What an import or a day changed on one website, for one member, until the mail server has taken it."""

    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="tidings")
    website = models.ForeignKey("portal.Website", on_delete=models.CASCADE, related_name="tidings")
    told = models.TextField(help_text="JSON.")
    heard_at = models.DateTimeField(default=timezone.now)
    mail = models.UUIDField(null=True, help_text="The e-mail that it belongs to, once it was tried to send.")
    claimed_at = models.DateTimeField(null=True, help_text="Since when somebody is sending it.")

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.website} for {self.membership}"
