"""Import the bytes of a report as the product imports a file."""

import io

from dashboard_api.importing.ingest import ReportOptions
from dashboard_api.importing.service import ImportOptions, import_file


def import_bytes(data, website, **options):
    """Import the only report in ``data``; ``options`` are those of ReportOptions."""
    stream = io.BytesIO(data)
    report = ReportOptions(**options)
    (result,) = import_file(stream, website, ImportOptions(file_name="report", by="tests", report=report))
    return result
