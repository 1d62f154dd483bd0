"""Queue a scan of a website."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from dashboard_api.crawler import queue
from dashboard_api.models import ScanJob, Website
from foundation.operations.operator_command import OperatorCommand, Result, host_of


class Command(OperatorCommand):
    """manage.py scan shop.example.com."""

    help = "Queue a scan of a verified website, unless one waits or runs; 'manage.py crawl' runs it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("host", metavar="HOST", help="such as shop.example.com")
        parser.add_argument(
            "--profile",
            choices=ScanJob.Profile.values,
            default=ScanJob.Profile.QUICK,
            help="the default is quick",
        )
        parser.add_argument("--first", action="store_true", help="put it before all scans of normal priority")

    def perform(self, *, host: str, profile: str, first: bool, by: str, **options: Any) -> Result:
        """Queue a scan, unless one of the website already waits or runs."""
        website = Website.objects.filter(host=host_of(host)).first()
        if website is None:
            raise CommandError(
                f"There is no website {host}: add it in the admin or by 'manage.py onboard REF {host}'."
            )
        trigger = ScanJob.Trigger.FIRST if first else ScanJob.Trigger.HAND
        job, created = queue.add(website, by=by, profile=profile, trigger=trigger)
        text = (
            f"Scan {job.pk} of {website} waits." if created else f"Scan {job.pk} of {website} exists already."
        )
        warning = "" if settings.CRAWLER_ENABLED else "CRAWLER_ENABLED is off here: no worker runs it."
        return Result(
            text=text,
            stderr_text=warning,
            json_output={"job": job.pk, "host": website.host, "state": job.state, "changed": created},
        )
