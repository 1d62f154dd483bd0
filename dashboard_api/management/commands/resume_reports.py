"""Import reports that were sent over HTTP and then interrupted; for cron."""

from datetime import timedelta
from typing import Any

from dashboard_api.importing import report_jobs
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py resume_reports."""

    interval = timedelta(minutes=15)

    help = (
        "Import reports that were sent over HTTP and still wait because a process was stopped. Reports that "
        "another process is importing are skipped. Run it every few minutes."
    )
    no_event_because = "each import has an event"

    def perform(self, **options: Any) -> Result:
        jobs = report_jobs.run_all()
        lines = []
        for job in jobs:
            outcome = "imported." if job.status == 200 else f"refused. {(job.outcome or {})['message']}"
            lines.append(f"Report {job.pk} about {job.website}: {outcome}")
        json_output = [{"id": str(job.pk), "host": job.website.host, "status": job.status} for job in jobs]
        return Result(
            text="\n".join(lines) or "No reports are waiting.", json_output={"reports": json_output}
        )
