"""Refresh the numbers of all websites, and send members e-mails about changes; run it every few minutes."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from foundation.operations.operator_command import OperatorCommand, Result
from foundation.operations.storage import is_storage_fault
from portal.answers import service
from portal.models import Website
from portal.notifications import polling, reminders
from portal.notifications.delivery import send_due
from portal.notifications.polling import Audience
from portal.onboarding import emails as claim_emails
from portal.plan import emails as plan_emails
from signed_api.errors import CallError, InactiveEntitlement, RevokedLink, UnknownLink

logger = logging.getLogger(__name__)
REFRESH_SECONDS = 240  # less than the time between two runs
_WITHOUT_MAIL = "No e-mails: set EMAIL_URL to a mail server, and PORTAL_BASE_URL to the portal's address."
_SKIPPED = (InactiveEntitlement, RevokedLink, UnknownLink)  # a later run would not help


@dataclass(slots=True, kw_only=True)
class PollResult:
    """Websites that were polled or had not changed, counts, and failures.

    ``subscribed`` counts websites polled for the first time, ``created`` new notifications.
    """

    polled: list[Website] = field(default_factory=list)
    unchanged: list[Website] = field(default_factory=list)
    subscribed: int = 0
    created: int = 0
    skipped: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Command(OperatorCommand):
    """manage.py notify."""

    interval = timedelta(minutes=15)

    help = (
        "Refresh the numbers of the websites that changed. With a mail server, poll the service for the "
        "changes by each import, on every website with subscribers whose data "
        "changed, for proofs of ownership and for plans, and send the e-mails that are due. The first run "
        "for a website only stores where to continue: for a new one, before its first check."
    )
    no_event_because = "each e-mail that it sends has a row, and members ordered it"  # why no audit event
    audit_options = None  # no options --by and --reason

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="poll, but store and send nothing")

    def perform(self, *, dry_run: bool, **options: Any) -> Result:
        """Poll, store, send; a failure is reported and does not delay the other websites."""
        websites = list(Website.objects.select_related("account"))
        versions = service.versions_of({website.account for website in websites})
        if not settings.EMAIL_URL or not settings.PORTAL_BASE_URL:
            numbers = _refresh(websites, versions, dry_run=dry_run)
            return Result(
                text=_in_words(numbers), json_output=numbers, stderr_text=_WITHOUT_MAIL, lacks_settings=True
            )
        audiences = polling.audiences()
        if not dry_run:
            polling.delete_unsubscribed(audiences)
        result = PollResult()
        for audience in audiences:
            version = versions.get(audience.website.account_id, {}).get(audience.website.link_id, "")
            if polling.is_read(audience, version):
                result.unchanged.append(audience.website)
            else:
                _poll(audience, version, result, dry_run=dry_run)
        json_output: dict[str, Any] = {
            "polled": len(result.polled),
            "unchanged": len(result.unchanged),
            "subscribed": result.subscribed,
            "created": result.created,
            "skipped": result.skipped,
            **_refresh(websites, versions, dry_run=dry_run),
        }
        if not dry_run:
            readable = {website.pk for website in (*result.polled, *result.unchanged)}
            reminded = reminders.store_due(
                (each for each in audiences if each.website.pk in readable), now=timezone.now()
            )
            json_output["reminders"] = reminded.created
            result.failures += reminded.failures
            outcome = send_due([*result.polled, *result.unchanged])
            json_output |= {"sent": outcome.sent, "waiting": outcome.waiting, "expired": outcome.expired}
            about_claims, about_plans = claim_emails.send_due(), plan_emails.send_due()
            json_output |= {"about_claims": about_claims.sent, "about_plans": about_plans.sent}
            json_output["refused"] = [*outcome.refused, *about_claims.refused, *about_plans.refused]
            result.failures += [*outcome.failures, *about_claims.failures, *about_plans.failures]
            sent = outcome.sent + about_claims.sent + about_plans.sent
            refused_people = {line.partition(": ")[0] for line in json_output["refused"]}
            if not sent and len(refused_people) > 1:
                result.failures.append("The mail server refused every address.")
        json_output["failures"] = result.failures
        failure = f"{len(result.failures)} failed." if result.failures else ""
        return Result(text=_in_words(json_output), json_output=json_output, failure=failure)


def _refresh(websites: Sequence[Website], versions: service.Versions, *, dry_run: bool) -> dict[str, int]:
    """Refresh the numbers that changed, so that e-mails, the list and "What is new" agree."""
    if dry_run:
        return {"refreshed": 0}
    return {"refreshed": service.refresh_summaries(websites, versions, seconds=REFRESH_SECONDS)}


def _poll(audience: Audience, version: str, result: PollResult, *, dry_run: bool) -> None:
    """Poll one website; an expired plan or a revoked link is not a failure."""
    name = f"{audience.website.host} ({audience.website.account.ref})"
    try:
        for cursor, changes in polling.poll(audience):
            if not cursor:
                result.subscribed += 1
            digests = polling.digests_for(audience, cursor, changes)
            result.created += len(digests)
            if not dry_run:
                polling.store(audience, cursor, changes, digests, now=timezone.now())
        if not dry_run:
            polling.note_read(audience, version)
    except _SKIPPED as refusal:
        result.skipped.append(f"{name}: {refusal.code}")
    except CallError as error:
        result.failures.append(f"{name}: {type(error).__name__}: {error}")
    except Exception as error:
        if is_storage_fault(error):
            raise
        logger.exception("%s: the changes cannot be stored", name)
        result.failures.append(f"{name}: {type(error).__name__}: {error}")
    else:
        result.polled.append(audience.website)


def _in_words(json_output: dict[str, Any]) -> str:
    lines = [f"Websites with new numbers: {json_output['refreshed']}."]
    if "polled" in json_output:
        lines += [
            f"Websites polled: {json_output['polled']}; for the first time: {json_output['subscribed']}.",
            f"Websites without changes: {json_output['unchanged']}.",
        ]
    if "sent" in json_output:
        lines.append(f"E-mails sent: {json_output['sent']}; notifications waiting: {json_output['waiting']}.")
        if json_output["reminders"]:
            lines.append(f"Reminders of certificates and domains: {json_output['reminders']}.")
        if json_output["about_claims"]:
            lines.append(f"E-mails about proofs of ownership: {json_output['about_claims']}.")
        if json_output["about_plans"]:
            lines.append(f"E-mails about plans: {json_output['about_plans']}.")
    elif "polled" in json_output:
        lines.append(f"Notifications: {json_output['created']}. Nothing was stored or sent.")
    if json_output.get("expired"):
        lines.append(f"Expired after ten days: {json_output['expired']}.")
    lines += [f"Skipped: {line}" for line in json_output.get("skipped", ())]
    lines += [f"Refused by the mail server: {line}" for line in json_output.get("refused", ())]
    lines += [f"Failed: {line}" for line in json_output.get("failures", ())]
    return "\n".join(lines)
