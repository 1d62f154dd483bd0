"""Refuse signed calls of the last minutes, after the database has lost nonces."""

from typing import Any

from django.utils import timezone

from dashboard_api.models import Nonce
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py refuse_earlier_calls."""

    help = (
        "Refuse every signed call that may have been accepted before now: new calls are answered again after "
        "five minutes. Run it after a failover or a restore that lost rows; 'manage.py restore' does it."
    )

    def perform(self, **options: Any) -> Result:
        last = Nonce.objects.raise_fence(timezone.now())
        return Result(
            text=f"Signed calls are answered again from {last:%Y-%m-%d %H:%M:%S} UTC on.",
            json_output={"changed": True, "refused_until": last},
        )
