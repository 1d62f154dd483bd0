"""Delete expired nonces and old uploads; run it hourly."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.models import Nonce, Upload
from foundation.operator_command import OperatorCommand, Result, positive


class Command(OperatorCommand):
    """manage.py prune."""

    help = "Delete expired nonces, in batches so that signed calls never wait for long, and old uploads."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--batch", type=positive, default=limits.PRUNE_BATCH, metavar="N")

    def perform(self, *, batch: int, **options: Any) -> Result:
        """Delete them with a commit for each batch, and return their numbers."""
        now, total = timezone.now(), 0
        while deleted := Nonce.objects.prune(now=now, batch=batch):
            total += deleted
        uploads, _ = Upload.objects.filter(uploaded_at__lt=now - limits.UPLOAD_LIFETIME).delete()
        return Result(
            text=f"Deleted {total} expired nonces and {uploads} old uploads.",
            fields={"nonces": total, "uploads": uploads},
        )
