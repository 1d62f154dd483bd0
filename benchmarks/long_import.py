"""A process that imports one report, so that the memory it took at most is that of nothing else.

Prints CPU seconds, rows and bytes of memory as JSON.
"""

import json
import os
import sys
from pathlib import Path

from benchmarks import records
from benchmarks.machine import peak_bytes


def main() -> None:
    """``python -m benchmarks.long_import ENGINE DATABASE FILE HOST``."""
    engine, database, file, host = sys.argv[1:]
    records.use(engine, database)
    from benchmarks.statements import Clock  # models can be imported only where Django is set up
    from dashboard_api.importing.ingest import ImportOptions
    from dashboard_api.importing.service import import_file
    from dashboard_api.models import Website

    website = Website.objects.create(host=host)
    clock = Clock(with_client=True)
    before = clock()
    with Path(file).open("rb") as stream:
        (result,) = import_file(stream, website, ImportOptions(), file_name=file, by="benchmark")
    spent = clock() - before
    print(json.dumps({"rows": result.rows, "cpu_seconds": spent, "peak_bytes": peak_bytes(os.getpid())}))


if __name__ == "__main__":
    main()
