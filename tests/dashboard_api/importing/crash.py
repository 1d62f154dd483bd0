"""An import that stops in the middle of its transaction: run by a test, which kills it there."""

import sys
import time

import django


def import_and_stop(host):
    from dashboard_api.importing import ingest
    from dashboard_api.models import Website
    from dashboard_api.scanners.report import ReportedFinding, ScanReport, Severity

    merge = ingest.merge

    def merge_and_wait(*arguments, **options):
        merge(*arguments, **options)
        sys.stdout.write("in the middle\n")
        sys.stdout.flush()
        time.sleep(60)

    ingest.merge = merge_and_wait
    findings = [
        ReportedFinding.cleaned(
            row=number,
            identity=[f"{number}"],
            rule="rule",
            severity=Severity.HIGH,
            severity_raw="",
            kind="confirmed",
            title=f"Finding {number}",
            description="",
            remediation="",
            location=f"https://{host}/{number}",
        )
        for number in range(1, 1_501)
    ]
    report = ScanReport(
        source="nuclei",
        source_name="Nuclei",
        entries=iter(findings),
    )
    ingest.import_report(report, Website.objects.get(host=host))


if __name__ == "__main__":
    django.setup()
    import_and_stop(sys.argv[1])
