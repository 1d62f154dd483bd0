"""Compare the audit events with their seals."""

import json
from typing import Any

from django.core.management.base import CommandParser

from audit import seals
from audit.models import AuditSeal
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py verify_audit."""

    help = (
        "Compare the audit events with their seals, and name the first hour that differs. Give it "
        "the last digest in the log: who can change the database can also change and remove its seals."
    )
    no_event_because = "it only reads"
    audit_options = None

    def add_arguments(self, parser: CommandParser) -> None:
        """Add --digest, the last digest in the log."""
        super().add_arguments(parser)
        parser.add_argument(
            "--digest", help="the last digest in the log of seal_audit: fail if no seal has it"
        )

    def perform(self, **options: Any) -> Result:
        """Return the last seal; fail if a seal differs, or the digest of the log is unknown."""
        difference = seals.first_difference()
        last = AuditSeal.objects.last()
        unsealed = seals.unsealed()
        digest = last.digest if last else None
        json_output = {
            "differs_at": difference.at if difference else None,
            "seals": AuditSeal.objects.count(),
            "unsealed": unsealed,
            "digest": digest,
        }
        if difference is not None and not difference.events_digest:
            failure = (
                f"The seal of {difference.at:%Y-%m-%d %H:%M} UTC was made by an earlier version, whose seals "
                "cannot be checked any more."
            )
            return Result(text=failure, json_output=json_output, failure=failure)
        if difference is not None:
            failure = (
                f"The events differ from the seal of {difference.at:%Y-%m-%d %H:%M} UTC: events up to "
                f"{difference.last_id}, after {difference.after_id}."
            )
            return Result(text=failure, json_output=json_output, failure=failure)
        if (logged := options["digest"]) and not AuditSeal.objects.filter(digest=logged).exists():
            failure = (
                f"No seal has the digest {logged}: seals and events were removed, or seals were replaced."
            )
            return Result(text=failure, json_output=json_output, failure=failure)
        text = (
            f"All {json_output['seals']} seals fit. Events without a seal yet: {unsealed}. Last seal: "
            f"{json.dumps(seals.facts_of(last)) if last else None}. Last digest: {digest}."
        )
        return Result(text=text, json_output=json_output)
