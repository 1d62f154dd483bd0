"""Delete a website that has no findings."""

from typing import Any

from django.core.management.base import CommandParser

from dashboard_api.models import Website
from foundation.operator_command import OperatorCommand, Result, host_of


class Command(OperatorCommand):
    """manage.py delete_site shpo.example.com."""

    help = (
        "Delete a website without findings and without an active link, such as a mistyped one, with the "
        "history of its imports. One with findings can be archived (archive_site). A missing website is "
        "no error."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")

    def perform(self, *, host: str, **options: Any) -> Result:
        host = host_of(host)
        website = Website.objects.filter(host=host).first()
        if website is not None:
            website.delete_unused()
        text = f"There is no website {host}. Nothing changed." if website is None else f"Deleted {host}."
        return Result(text=text, fields={"host": host, "changed": website is not None})
