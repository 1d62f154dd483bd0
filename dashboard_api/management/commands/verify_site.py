"""Record the proof of a website's ownership, which links require."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from dashboard_api.models import Website
from foundation.operator_command import OnRecord, OperatorCommand, Result, host_of


class Command(OperatorCommand):
    """manage.py verify_site shop.example.com --by Ada --method dns."""

    help = "Record who verified a website's ownership, and how; a verified website stays unchanged."
    on_record = OnRecord(by="who checked it; recorded", needs_by=True)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")
        parser.add_argument("--method", choices=Website.Method.values, default=Website.Method.MANUAL)

    @transaction.atomic
    def perform(self, *, host: str, by: str, method: str, **options: Any) -> Result:
        """Create the website if it is missing, and verify it once."""
        website, created = Website.objects.get_or_create(host=host_of(host))
        website.check_not_archived()
        changed = website.verified_at is None
        if changed:
            website.verify(method=method, by=by, at=timezone.now())
        how = f"{website.get_verification_method_display()}, by {website.verified_by}"
        next_step = f"Next: manage.py link_site REF {website}" if changed else "Nothing changed."
        return Result(
            text=f"{website} is verified since {website.verified_at:%Y-%m-%d} ({how}).\n{next_step}",
            fields={
                "host": website.host,
                "created": created,
                "changed": changed,
                "verified_at": website.verified_at,
                "verified_by": website.verified_by,
                "method": website.verification_method,
            },
        )
