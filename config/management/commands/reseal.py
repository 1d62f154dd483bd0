"""Re-encrypt every stored secret with the newest master key, so that older keys can be removed."""

from typing import Any

from audit.recording import record
from config.operations.resealing import reseal, sealed_rows
from foundation.operations.operator_command import OperatorCommand, Result
from foundation.sealing import CannotUnseal


class Command(OperatorCommand):
    """manage.py reseal."""

    help = (
        "Seal every stored secret with the newest of MASTER_KEYS, bound to its place; you can remove the "
        "older keys afterwards."
    )
    in_one_transaction = False

    def perform(self, **options: Any) -> Result:
        """Reseal one row at a time, so that calls and sign-ins continue."""
        count, failures = 0, []
        for row in list(sealed_rows()):
            try:
                count += reseal(row)
            except CannotUnseal:
                if row.is_needed:
                    failures.append(row.name)
        if count:
            record("secrets.resealed", after={"changed": count})
        names = ", ".join(failures)
        failure = f"No key in MASTER_KEYS opens {names} in its place: keep every key for now."
        return Result(
            text=f"Sealed with the newest key: {count} changed.",
            json_output={"changed": bool(count), "secrets": count, "not_opened": failures},
            failure=failure if failures else "",
        )
