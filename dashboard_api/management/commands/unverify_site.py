"""Withdraw the verification of a website, which revokes its links."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api.management.lookup import find_website
from dashboard_api.models.sites import NotVerified
from foundation.operator_command import OnRecord, OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py unverify_site shop.example.com --reason "The domain was sold"."""

    help = (
        "Withdraw the verification of a website: its links are revoked, and no account can link it and no "
        "scan begins until verify_site records a new proof. Findings stay. A website that is not verified "
        "stays unchanged."
    )
    on_record = OnRecord(needs_reason=True)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")

    def perform(self, *, host: str, reason: str, by: str, **options: Any) -> Result:
        """Withdraw the verification; a repetition changes nothing."""
        website = find_website(host)
        try:
            revoked = website.unverify(by=by, reason=reason, now=timezone.now())
        except NotVerified:
            changed, revoked, text = False, 0, f"{website} is not verified. Nothing changed."
        else:
            changed = True
            text = f"{website} is no longer verified. Revoked links: {revoked}."
        return Result(text=text, fields={"host": website.host, "changed": changed, "revoked_links": revoked})
