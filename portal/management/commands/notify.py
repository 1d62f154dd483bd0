"""Tell members by e-mail what changed; run it every few minutes."""

from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from foundation.operator_command import OperatorCommand, Result
from portal.gateway import GatewayError, InactiveEntitlement, RevokedLink, UnknownLink
from portal.models import Website
from portal.notifications import polling
from portal.notifications.delivery import send_due
from portal.notifications.polling import Audience

_REFUSED = (InactiveEntitlement, RevokedLink, UnknownLink)  # nothing that a later run would mend


@dataclass(slots=True, kw_only=True)
class Round:
    """What was heard: ``began`` of so many websites, ``told`` so often something to a member."""

    answered: list[Website] = field(default_factory=list)
    began: int = 0
    told: int = 0
    skipped: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Command(OperatorCommand):
    """manage.py notify."""

    help = (
        "Ask the service what each import changed on every website that a member wants to hear of, and send "
        "the e-mails that are due. The first time it only learns from where to go on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """It can be tried."""
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="ask, but keep and send nothing")

    def perform(self, *, dry_run: bool, **options: Any) -> Result:
        """Ask, keep, send; what fails is told, and keeps nothing else waiting."""
        if not settings.EMAIL_URL or not settings.PORTAL_BASE_URL:
            raise CommandError("Set EMAIL_URL to a mail server, and PORTAL_BASE_URL to where links lead.")
        audiences = polling.audiences()
        if not dry_run:
            polling.forget_unwanted(audiences)
        heard = Round()
        for audience in audiences:
            _hear(audience, heard, dry_run=dry_run)
        fields: dict[str, Any] = {
            "answered": len(heard.answered),
            "began": heard.began,
            "told": heard.told,
            "skipped": heard.skipped,
        }
        if not dry_run:
            outcome = send_due(heard.answered)
            fields |= {"sent": outcome.sent, "waiting": outcome.waiting, "given_up": outcome.given_up}
            heard.failures += outcome.failures
        fields["failures"] = heard.failures
        failure = f"Not everything worked: {len(heard.failures)}." if heard.failures else ""
        return Result(text=_in_words(fields), fields=fields, failure=failure)


def _hear(audience: Audience, heard: Round, *, dry_run: bool) -> None:
    """Ask about one website; a plan or a link that is over is no failure."""
    name = f"{audience.website.host} ({audience.website.account.ref})"
    try:
        for since, changes in polling.ask(audience):
            heard.began += not since
            heard.told += len(polling.news_for(audience, since, changes))
            if not dry_run:
                polling.keep(audience, since, changes, now=timezone.now())
    except _REFUSED as refusal:
        heard.skipped.append(f"{name}: {refusal.code}")
    except GatewayError as error:
        heard.failures.append(f"{name}: {type(error).__name__}: {error}")
    else:
        heard.answered.append(audience.website)


def _in_words(fields: dict[str, Any]) -> str:
    lines = [f"Asked about {fields['answered']} websites; for the first time about {fields['began']}."]
    if "sent" in fields:
        lines.append(f"E-mails sent: {fields['sent']}; still to be told: {fields['waiting']}.")
    else:
        lines.append(f"Members would be told: {fields['told']}. Nothing was kept, nothing was sent.")
    if fields.get("given_up"):
        lines.append(f"Given up after three days: {fields['given_up']}.")
    lines += [f"Skipped: {line}" for line in fields["skipped"]]
    lines += [f"Failed: {line}" for line in fields["failures"]]
    return "\n".join(lines)
