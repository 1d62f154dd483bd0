"""Take a website out of the archive; its links stay revoked."""

from typing import Any

from django.core.management.base import CommandParser

from dashboard_api.management.lookup import find_website
from dashboard_api.models.sites import NotArchived
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py restore_site shop.example.com."""

    help = (
        "Take a website out of the archive: reports about it are imported again. Its links stay revoked "
        "until someone restores them (restore_link). A website outside the archive stays unchanged."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")

    def perform(self, *, host: str, **options: Any) -> Result:
        """Restore the website once, and name the links that someone may restore."""
        website = find_website(host)
        try:
            website.restore()
        except NotArchived as error:
            changed, lines = False, [f"{' '.join(error.messages)} Nothing changed."]
        else:
            changed, lines = True, [f"{website} is out of the archive."]
        revoked = list(website.links.filter(revoked_at__isnull=False).select_related("account"))
        if changed and revoked:
            lines.append("Its links stay revoked. Restore those that should work again:")
            lines += [
                f"manage.py restore_link {link.link_id} --reason ...  # {link.account}" for link in revoked
            ]
        links = [{"account": link.account.ref, "link_id": link.link_id} for link in revoked]
        return Result(
            text="\n".join(lines),
            fields={"host": website.host, "changed": changed, "revoked_links": links},
        )
