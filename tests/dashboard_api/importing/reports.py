"""Import the bytes of a report as the product imports a file."""

import io

from dashboard_api.importing.ingest import ImportOptions
from dashboard_api.importing.service import import_file


def import_bytes(data, website, **options):
    """Import the only report in ``data``; ``options`` are those of ImportOptions."""
    stream = io.BytesIO(data)
    (result,) = import_file(stream, website, ImportOptions(**options), file_name="report", by="tests")
    return result
