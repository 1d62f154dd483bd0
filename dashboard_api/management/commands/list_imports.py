"""List the latest imports of reports."""

from typing import Any

from django.core.management.base import CommandParser

from dashboard_api.management.lookup import find_account, find_website
from dashboard_api.models import ImportRun
from foundation.operator_command import OperatorCommand, Result, positive

_FIELDS = ("undone_at", "state", "by", "file_name", "rows", "rejected", "new", "updated", "reopened", "fixed")


class Command(OperatorCommand):
    """manage.py list_imports --host shop.example.com."""

    help = "List the latest imports, the newest first, with their numbers."
    without_event = "it only reads"
    on_record = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", help="of this website")
        parser.add_argument("--account", metavar="REF", help="of the websites that this account has linked")
        parser.add_argument("--rejected", action="store_true", help="only those with rejected rows")
        parser.add_argument(
            "--limit", type=positive, default=20, metavar="N", help="at most N; by default 20"
        )

    def perform(
        self, *, host: str | None, account: str | None, rejected: bool, limit: int, **options: Any
    ) -> Result:
        """Return one row for each import; --json prints each on a line of its own."""
        runs = ImportRun.objects.select_related("website", "source")
        if host:
            runs = runs.filter(website=find_website(host))
        if account:
            links = find_account(account).links.not_revoked()
            runs = runs.filter(website__in=links.values("website"))
        if rejected:
            runs = runs.filter(rejected__gt=0)
        rows = [_fields(run) for run in runs[:limit]]
        is_of_host = host and not account and not rejected
        nothing = f"No imports of {host}." if is_of_host else "There are no such imports."
        return Result(text="\n".join(map(_in_words, rows)) or nothing, fields=rows)


def _fields(run: ImportRun) -> dict[str, Any]:
    return {
        "id": run.pk,
        "host": run.website.host,
        "source": run.source.slug,
        "imported_at": run.imported_at,
        "scanned_at": run.scanned_at,
        **{name: getattr(run, name) for name in _FIELDS},
    }


def _in_words(row: dict[str, Any]) -> str:
    taken_back = ", taken back" if row["undone_at"] else ""
    return (
        f"{row['imported_at']:%Y-%m-%d %H:%M} UTC  {row['host']}  {row['source']}, {row['state']}: "
        f"{row['new']} new, {row['reopened']} reopened, {row['fixed']} fixed, {row['rejected']} rejected "
        f"(import {row['id']}, by {row['by'] or '-'}{taken_back})"
    )
