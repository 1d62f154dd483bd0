"""States of claims, as last read from the service, and e-mails about claims."""

from typing import ClassVar

from django.db import models

from portal.models.accounts import Website
from portal.models.members import Membership


class ClaimState(models.Model):
    """The last known state of a website's claim, so that the list of websites needs no call.

    Only states that need an action have a row.
    """

    website = models.OneToOneField(
        Website, on_delete=models.CASCADE, primary_key=True, related_name="claim_state"
    )
    claim_id = models.BigIntegerField()
    state = models.CharField(max_length=20, help_text="State of the claim; the reason if it has ended.")
    lapses_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["website"]

    def __str__(self) -> str:
        return f"{self.website}: {self.state}"


class ClaimEmail(models.Model):
    """An e-mail to an owner about one event of a claim or of a plan; ``key`` distinguishes the events."""

    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="claim_emails")
    key = models.CharField(max_length=100)
    claimed_at = models.DateTimeField(null=True, help_text="When a process began to send it.")
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["membership", "key"], name="portal_claimemail_once"),
        ]

    def __str__(self) -> str:
        return f"{self.key} for {self.membership}"
