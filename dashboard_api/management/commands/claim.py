"""Add the claim of an account to a website, look for its token, decide about it or withdraw it."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.management.lookup import find_account
from dashboard_api.models import Account, OwnershipClaim
from dashboard_api.ownership import checks, claims
from dashboard_api.ownership.response import describe
from foundation.operator_command import OperatorCommand, Result, host_of


class Command(OperatorCommand):
    """manage.py claim acct_0001 shop.example.com --check."""

    help = (
        "Claim a website for an account, and print where its token belongs; run again, it changes nothing. "
        "--check looks for the token now, --accept and --refuse decide about a contested claim, and "
        "--withdraw ends a claim with its link; these three need --reason."
    )
    commits_itself = True
    without_event = "each change of a claim has an event"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")
        actions = parser.add_mutually_exclusive_group()
        for action, text in (
            ("check", "look for the token now, in every place"),
            ("accept", "link the account next to those that have the website"),
            ("refuse", "end the contested claim"),
            ("withdraw", "end the claim, and the account's link to the website"),
        ):
            actions.add_argument(
                f"--{action}", action="store_const", const=action, dest="action", default="add", help=text
            )

    def perform(self, *, ref: str, host: str, action: str, by: str, reason: str, **options: Any) -> Result:
        """Perform the action, and describe the claim as it then is."""
        account, name, now = find_account(ref), host_of(host), timezone.now()
        claim = claims.add(account, name, by=by, now=now) if action == "add" else _find(account, name)
        before = claim.state
        if action == "check":
            claim = _checked(claim)
        elif action == "withdraw":
            claim = claims.withdraw(claim, by=by, reason=reason, now=now)
        elif action != "add":
            claim = claims.decide(claim, accept=action == "accept", by=by, reason=reason, now=now)
        fields = describe(claim)
        return Result(text=_in_words(fields), fields=fields | {"account": ref, "state_before": before})


def _find(account: Account, host: str) -> OwnershipClaim:
    """Return the account's claim to the host that has not ended; raise CommandError."""
    claim = OwnershipClaim.objects.open().filter(account=account, host=host).first()
    if claim is None:
        raise CommandError(f"{account.ref} has no claim to {host}: add it without an option.")
    return claim


def _checked(claim: OwnershipClaim) -> OwnershipClaim:
    try:
        return checks.check_by_hand(claim, method="", now=timezone.now())
    except checks.TooSoon as error:
        raise CommandError(f"The claim can be checked again in {error.seconds} seconds.") from error


def _in_words(claim: dict[str, Any]) -> str:
    """Return the state of the claim, and where the token belongs or what the last check found."""
    lines = [f"{claim['host']}: {claim['state']}, claim {claim['claim_id']}."]
    lines += [f"  {each['method']}: {each['outcome']}. {each['advice']}".rstrip() for each in claim["checks"]]
    if claim["state"] == OwnershipClaim.State.PENDING:
        places = claim["instructions"]
        if record := places.get("dns"):
            lines.append(f"  DNS: a TXT record at {record['name']} with the value {record['value']}")
        lines.append(f"  File: {places['file']['url']} with the line {places['file']['content']}")
        lines.append(f"  Home page: {places['meta']}")
        lines.append(f"Publish one of these, and then: manage.py claim REF {claim['host']} --check")
    return "\n".join(lines)
