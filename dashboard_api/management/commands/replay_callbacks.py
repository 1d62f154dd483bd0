"""Apply stored payment callbacks again."""

from argparse import ArgumentTypeError
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dashboard_api.billing.callbacks import applying
from dashboard_api.billing.callbacks.snapshots import CannotApply
from dashboard_api.models import CallbackEvent
from foundation.operator_command import OperatorCommand, Result, row_number


class Command(OperatorCommand):
    """manage.py replay_callbacks --dead."""

    help = (
        "Apply stored payment callbacks again, the oldest first: one, all since a time, or those that were "
        "given up. A callback that has been applied changes nothing. Bodies are kept for 30 days."
    )
    commits_itself = True

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--id", type=row_number, help="the number of one callback, as the admin lists it")
        which.add_argument("--since", type=_moment, help="received since then, such as 2026-11-23T09:00Z")
        which.add_argument("--dead", action="store_true", help="those that were given up")
        parser.add_argument(
            "--new-customer",
            action="store_true",
            help="with --id, after second_customer: its customer pays instead of the earlier one",
        )

    def perform(self, *, since: datetime | None, dead: bool, new_customer: bool, **options: Any) -> Result:
        """Process each in a transaction of its own."""
        rows = CallbackEvent.objects.exclude(sealed_body="").order_by("id")
        if dead:
            rows = rows.filter(state=CallbackEvent.State.DEAD)
        elif since:
            rows = rows.filter(received_at__gte=since)
        else:
            rows = rows.filter(pk=options["id"])
        keys = list(rows.values_list("pk", flat=True))
        if options["id"] and not keys:
            raise CommandError(f"There is no callback {options['id']} whose body is still kept.")
        if new_customer and not options["id"]:
            raise CommandError("--new-customer needs --id.")
        states: dict[str, int] = {}
        for pk in keys:
            state = _with_new_customer(pk) if new_customer else applying.replay(pk, timezone.now()) or "busy"
            states[state] = states.get(state, 0) + 1
        words = ", ".join(f"{state} {number}" for state, number in sorted(states.items()))
        return Result(text=f"Callbacks: {words or 'none'}.", fields={**states, "replayed": len(keys)})


def _with_new_customer(pk: int) -> str:
    try:
        state = applying.replace_customer(pk, timezone.now())
    except CannotApply as error:
        raise CommandError(f"The callback fails again, so nothing was changed: {error.code}.") from error
    if not state:
        raise CommandError("This callback did not fail because of its customer.")
    return state


def _moment(text: str) -> datetime:
    """Return a time with its zone; raise ArgumentTypeError."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ArgumentTypeError(f"{text} is not a time such as 2026-11-23T09:00Z")
    return moment
