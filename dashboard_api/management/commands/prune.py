"""Forget nonces that can no longer be accepted, and uploads that nobody imported; run it hourly."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.models import Nonce, Upload
from foundation.operator_command import OperatorCommand, Result, positive


class Command(OperatorCommand):
    """manage.py prune."""

    help = "Forget expired nonces, in batches so that signed calls never wait for long, and old uploads."

    def add_arguments(self, parser: CommandParser) -> None:
        """How many at a time."""
        super().add_arguments(parser)
        parser.add_argument("--batch", type=positive, default=limits.PRUNE_BATCH, metavar="N")

    def perform(self, *, batch: int, **options: Any) -> Result:
        """How many were forgotten; each batch is a commit of its own."""
        now, total = timezone.now(), 0
        while forgotten := Nonce.objects.prune(now=now, batch=batch):
            total += forgotten
        uploads, _ = Upload.objects.filter(uploaded_at__lt=now - limits.UPLOAD_LIFETIME).delete()
        return Result(
            text=f"Forgot {total} expired nonces and {uploads} uploads that were not imported.",
            fields={"nonces": total, "uploads": uploads},
        )
