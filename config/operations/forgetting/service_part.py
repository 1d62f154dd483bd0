"""Delete the service's part of an account."""

from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from config.operations.forgetting.people import FORGOTTEN, forget_log_entries
from dashboard_api.importing import report_files
from dashboard_api.models import (
    Account,
    AnalystNote,
    CallRecord,
    Entitlement,
    Finding,
    ForgottenAccount,
    ImportRun,
    OwnershipClaim,
    ReportJob,
    ReportToken,
    ScanJob,
    Secret,
    SiteLink,
    Website,
)

_BATCH = 2_000
_RETIRED_BECAUSE = "The account that held it last was deleted."


class ServicePart:
    """Account of the service; ``own`` are its websites that no other account ever linked."""

    def __init__(self, account: Account) -> None:
        self.account = account
        linked = Website.objects.filter(pk__in=SiteLink.objects.filter(account=account).values("website"))
        others = SiteLink.objects.exclude(account=account).values("website")
        self.own: QuerySet[Website] = linked.exclude(pk__in=others)
        self.shared: QuerySet[Website] = linked.filter(pk__in=others)

    def counts(self) -> dict[str, int]:
        """Return how many rows of each kind will be deleted."""
        return {
            "secrets": self.account.secrets.count(),
            "links": self.account.links.count(),
            "report_tokens": self.account.report_tokens.count(),
            "answers": self.account.answers.count(),
            "messages": self.account.messages.count(),
            "calls": CallRecord.objects.filter(account_id=self.account.pk).count(),
            "websites": self.own.count(),
            "findings": Finding.objects.filter(website__in=self.own).count(),
            "imports": ImportRun.objects.filter(website__in=self.own).count(),
        }

    def announce(self) -> None:
        """Note, in a transaction of its own, that the calls of the account may be deleted."""
        ForgottenAccount.note(self.account.pk, timezone.now())

    def delete(self) -> set[str]:
        """Delete the account in the caller's transaction; return the names of its report tokens."""
        # Lock websites before the account, as everywhere: another order could end in a deadlock.
        own = list(self.own.select_for_update().order_by("pk"))
        for website in self.shared.filter(archived_at=None).order_by("pk"):
            if self._held_last(website):  # the account's links, the only record of this, are deleted below
                website.retire(now=timezone.now(), reason=_RETIRED_BECAUSE)
        account = Account.objects.select_for_update().get(pk=self.account.pk)
        tokens = {token.pk: f"{token.name} (token {token.pk})" for token in account.report_tokens.all()}
        ImportRun.objects.filter(by__in=tokens.values()).update(by=FORGOTTEN)
        for report in ReportJob.objects.filter(token__in=tokens).values_list("pk", flat=True):
            transaction.on_commit(partial(report_files.delete, report))
        self._forget_log()
        for website in own:
            _delete(website)
        Website.objects.filter(verified_by=account.ref).update(verified_by=FORGOTTEN)  # by its own claim
        ScanJob.objects.filter(by=account.ref).update(by=FORGOTTEN)
        account.delete()
        transaction.on_commit(lambda: ForgottenAccount.finish(timezone.now()))  # or the next prune does it
        return set(tokens.values())

    def _held_last(self, website: Website) -> bool:
        """Return whether this account was the last to have the website."""
        links = SiteLink.objects.filter(website=website)
        others = links.exclude(account=self.account)
        if others.not_revoked().exists():
            return False
        revoked_at = links.get(account=self.account).revoked_at
        return revoked_at is None or not others.filter(revoked_at__gte=revoked_at).exists()

    def _forget_log(self) -> None:
        forget_log_entries(Account.objects.filter(pk=self.account.pk))
        forget_log_entries(self.own)
        for model in (AnalystNote, Entitlement, OwnershipClaim, ReportToken, Secret, SiteLink):
            rows: QuerySet[Any] = model._default_manager.all()  # noqa: SLF001
            forget_log_entries(rows.filter(account=self.account))


def _delete(website: Website) -> None:
    """Delete a website with its findings, in batches, because there can be millions."""
    while keys := list(website.findings.order_by("pk").values_list("pk", flat=True)[:_BATCH]):
        Finding.objects.filter(pk__in=keys).delete()
    website.delete()
