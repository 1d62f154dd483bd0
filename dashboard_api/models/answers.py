"""Answers of accounts to findings, their conversations with analysts, and disputes."""

from datetime import date
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard_api.models.accounts import Account
from dashboard_api.models.findings import Finding, Severity
from dashboard_api.models.sites import Website
from signed_api import limits as contract_limits

_PERSON = contract_limits.MAX_PERSON_LENGTH
_PERSON_HELP = "The customer's reference of a person; this service does not interpret it."

# Of a case or an answer: its account still has the website.
STILL_LINKED = Q(website__links__account=models.F("account"), website__links__revoked_at=None)


class CaseQuerySet(models.QuerySet["Case"]):
    """Queries on cases."""

    def open(self) -> Self:
        """Return the cases that are not closed."""
        return self.filter(closed_at=None)

    def for_analysts(self) -> Self:
        """Return the open cases that wait for an analyst, the most urgent promise first.

        Cases about a website that the account no longer has wait for nobody.
        """
        return self.open().filter(STILL_LINKED, waits_for_customer=False).order_by("promised_on", "pk")

    def overdue(self, today: date) -> Self:
        """Return the cases whose promised day has passed."""
        return self.filter(promised_on__lt=today)


class Case(models.Model):
    """A dispute of some findings, or a question about one, which an analyst must answer."""

    class Kind(models.TextChoices):
        """The kinds of case."""

        DISPUTE = "dispute", "Dispute"
        QUESTION = "question", "Question"

    class Outcome(models.TextChoices):
        """The ends of a case."""

        AGREED = "agreed", "Agreed"
        DISAGREED = "disagreed", "Disagreed"
        ANSWERED = "answered", "Answered"
        WITHDRAWN = "withdrawn", "Withdrawn"
        OVERTAKEN = "overtaken", "Overtaken by a scan"

    kind = models.CharField(max_length=8, choices=Kind)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="cases")
    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="cases")
    finding = models.ForeignKey(
        Finding, on_delete=models.CASCADE, related_name="cases", help_text="The first one of a dispute."
    )
    findings = models.PositiveIntegerField(default=1, help_text="How many findings it was about at first.")
    by = models.CharField(max_length=_PERSON, blank=True, help_text=_PERSON_HELP)
    opened_at = models.DateTimeField(default=timezone.now)
    promised_on = models.DateField(help_text="The day by which an analyst answers.")
    waits_for_customer = models.BooleanField(
        default=False, help_text="An analyst asked; the customer's next message brings it back."
    )
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.CharField(max_length=150, blank=True, help_text="The analyst; empty: nobody of us.")
    outcome = models.CharField(max_length=9, choices=Outcome, blank=True)
    decision = models.TextField(blank=True, help_text="What the analyst wrote; the customer reads it.")

    objects = CaseQuerySet.as_manager()

    class Meta:
        verbose_name = "question or dispute"
        verbose_name_plural = "questions and disputes"
        ordering: ClassVar = ["promised_on", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_case_end_is_whole",
                condition=Q(closed_at__isnull=True, outcome="")
                | (Q(closed_at__isnull=False) & ~Q(outcome="")),
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["promised_on"], condition=Q(closed_at__isnull=True), name="dashboard_api_case_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk} of {self.account}"


class AnswerQuerySet(models.QuerySet["Answer"]):
    """Queries on answers."""

    def open(self) -> Self:
        """Return the answers that have not ended."""
        return self.filter(ended_at=None)


class Answer(models.Model):
    """An answer of an account to a finding; at most one is open for each finding and account."""

    class Kind(models.TextChoices):
        """Values of ``answer`` in the API."""

        WILL_FIX = "will_fix", "Will fix"
        ACCEPTED = "accepted", "Accepts the risk"
        WAITING = "waiting", "Accepts the risk, waits for a second person"
        DISPUTED = "disputed", "Disputes"
        FIXED = "fixed", "Says it is fixed"

    class Outcome(models.TextChoices):
        """Values of ``outcome`` in the API."""

        REPLACED = "replaced", "Replaced"
        WITHDRAWN = "withdrawn", "Withdrawn"
        DECLINED = "declined", "Declined"
        EXPIRED = "expired", "Expired"
        WORSE = "worse", "Worse now"
        AGREED = "agreed", "Agreed"
        DISAGREED = "disagreed", "Disagreed"
        OVERTAKEN = "overtaken", "Overtaken by a scan"
        FIXED = "fixed", "Fixed"
        GONE = "gone", "Gone"
        STILL_THERE = "still_there", "Still there"
        DECIDED = "decided", "Decided by an analyst"

    account = models.ForeignKey(  # the unique constraint indexes the open ones
        Account, on_delete=models.CASCADE, related_name="answers"
    )
    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="answers", db_index=False)
    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="answers")
    case = models.ForeignKey(Case, on_delete=models.SET_NULL, null=True, blank=True, related_name="answers")
    answer = models.CharField(max_length=8, choices=Kind)
    reason = models.TextField(blank=True)
    evidence = models.TextField(blank=True)
    due_on = models.DateField(null=True, blank=True, help_text="The day by which it will be fixed.")
    until = models.DateField(null=True, blank=True, help_text="The last day of an accepted risk.")
    assignee = models.CharField(max_length=_PERSON, blank=True, help_text=_PERSON_HELP)
    by = models.CharField(max_length=_PERSON, blank=True, help_text=_PERSON_HELP)
    name = models.CharField(
        max_length=contract_limits.MAX_NAME_LENGTH,
        blank=True,
        help_text="Typed on a shared page, unverified.",
    )
    severity_then = models.PositiveSmallIntegerField(choices=Severity)
    at = models.DateTimeField(default=timezone.now)
    second_by = models.CharField(max_length=_PERSON, blank=True, help_text=_PERSON_HELP)
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=11, choices=Outcome, blank=True)
    ended_run = models.BigIntegerField(
        null=True, blank=True, help_text="The import that ended it; if it is undone, the answer opens again."
    )
    warned_at = models.DateTimeField(null=True, blank=True, help_text="When its end was announced.")

    objects = AnswerQuerySet.as_manager()

    class Meta:
        verbose_name = "answer"
        verbose_name_plural = "answers"
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["finding", "account"],
                condition=Q(ended_at__isnull=True),
                name="dashboard_api_answer_one_open",
            ),
            models.CheckConstraint(
                name="dashboard_api_answer_end_is_whole",
                condition=Q(ended_at__isnull=True, outcome="") | (Q(ended_at__isnull=False) & ~Q(outcome="")),
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["website", "account", "finding"],
                condition=Q(ended_at__isnull=True),
                name="dashboard_api_answer_open",
            ),
            models.Index(
                fields=["until"],
                condition=Q(ended_at__isnull=True, until__isnull=False),
                name="dashboard_api_answer_until",
            ),
            models.Index(
                fields=["ended_run"],
                condition=Q(ended_run__isnull=False),
                name="dashboard_api_answer_ended_run",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account}: {self.get_answer_display()} ({self.finding_id})"


class Message(models.Model):
    """A message between members of an account and analysts, or an event in their conversation.

    Internal notes of analysts are AnalystNotes, never messages: every message is for the customer.
    """

    class Side(models.TextChoices):
        """Values of ``side`` in the API."""

        MEMBER = "member", "Customer"
        ANALYST = "analyst", "Analyst"
        SERVICE = "service", "Service"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="messages", db_index=False)
    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="messages", db_index=False)
    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="messages")
    case = models.ForeignKey(Case, on_delete=models.SET_NULL, null=True, blank=True, related_name="messages")
    findings = models.PositiveIntegerField(default=1, help_text="How many findings it is about.")
    side = models.CharField(max_length=7, choices=Side)
    event = models.CharField(max_length=11, help_text="message, asked, disputed, or an outcome of an answer.")
    by = models.CharField(max_length=150, blank=True, help_text="The analyst, or the customer's reference.")
    text = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)
    edited_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "message"
        verbose_name_plural = "messages"
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["account", "website", "id"], name="dashboard_api_message_changes"),
        ]

    def __str__(self) -> str:
        return f"{self.get_side_display()}: {self.event} ({self.finding_id})"


class RememberedCall(models.Model):
    """The response to a call with a request_key, so that a repeated call changes nothing."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=contract_limits.MAX_REQUEST_KEY_LENGTH)
    at = models.DateTimeField(default=timezone.now, db_index=True)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the request.")
    response = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "key"], name="dashboard_api_remembered_once"),
        ]

    def __str__(self) -> str:
        return f"{self.account}: {self.key}"
