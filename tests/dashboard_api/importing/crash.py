"""An import that stops in the middle of its transaction: run by a test, which kills it there."""

import sys
import time

import django


def import_and_stop(host):
    from dashboard_api.importing import ingest
    from dashboard_api.models import Website
    from tests.dashboard_api.importing.reports import import_bytes
    from tests.dashboard_api.scanners.samples import json_lines, make_row

    apply_reported = ingest.apply_reported

    def apply_and_wait(*arguments):
        apply_reported(*arguments)
        sys.stdout.write("in the middle\n")
        sys.stdout.flush()
        time.sleep(60)

    ingest.apply_reported = apply_and_wait
    rows = [
        make_row(template_id=f"rule-{number}", matched_at=f"https://{host}/{number}")
        for number in range(1_500)
    ]
    import_bytes(json_lines(*rows), Website.objects.get(host=host))


if __name__ == "__main__":
    django.setup()
    import_and_stop(sys.argv[1])
