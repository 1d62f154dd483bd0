"""Compare the stored counts with the findings, after a restore or every night."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.db import connections, router

from dashboard_api.backends import verify
from dashboard_api.models import Finding, Website
from foundation.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py verify_counts."""

    interval = timedelta(weeks=1)

    help = "Compare the stored counts with the findings; exit code 1 if they differ."
    commits_itself = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="recount where they differ")

    def perform(self, *, repair: bool, **options: Any) -> Result:
        connection = connections[router.db_for_write(Finding)]
        wrong = verify.wrong_counts(connection)
        if repair:
            for website in wrong:
                verify.recount(connection, website)
        hosts = dict(Website.objects.filter(pk__in=wrong).values_list("pk", "host"))
        sites = [{"website": pk, "host": hosts.get(pk), "wrong": wrong[pk]} for pk in sorted(wrong)]
        fields = {"websites": sites, "repaired": repair and bool(sites)}
        failure = "Counts differ from the findings: run 'manage.py verify_counts --repair'."
        return Result(
            text=_in_words(sites, repair), fields=fields, failure=failure if sites and not repair else ""
        )


def _in_words(sites: list[dict[str, Any]], repair: bool) -> str:
    if not sites:
        return "All counts are correct."
    repaired = ", recounted" if repair else ""
    names = [site["host"] or f"deleted website {site['website']}" for site in sites]
    lines = zip(names, sites, strict=True)
    return "\n".join(f"{name}: {site['wrong']} wrong{repaired}." for name, site in lines)
