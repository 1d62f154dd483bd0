"""An import of a sent report that stops in the middle: run by a test, which kills it there."""

import os
import sys
import time
import uuid

import django


def import_and_stop(job_id):
    from django.conf import settings

    from dashboard_api.importing import ingest, report_jobs

    settings.REPORTS_FOLDER = os.environ["REPORTS_OF_TESTS"]
    apply_reported = ingest.apply_reported

    def apply_and_wait(*arguments):
        apply_reported(*arguments)
        sys.stdout.write("in the middle\n")
        sys.stdout.flush()
        time.sleep(60)

    ingest.apply_reported = apply_and_wait
    report_jobs.run(uuid.UUID(job_id))


if __name__ == "__main__":
    django.setup()
    import_and_stop(sys.argv[1])
