"""Calls that Schemathesis makes from the OpenAPI description, signed, at a deployed server.

Cases that fit the description and cases that do not, for every operation: no response may be a 5xx or take
2 seconds, and each has a status, a content type and a body that the description names; what does not fit is
refused. ``make schemathesis`` installs Schemathesis and runs this.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

from django.db import connections

from benchmarks import databases, dataset
from benchmarks.command_line import BACKENDS, Unavailable
from benchmarks.servers import run_server

SCALE = 0.001  # 2,000 findings
CASES = 2_000  # of each operation, at most
SLOW = 2.0  # seconds
COPY = "threat_dashboard_cases"
CONFIGURATION = "schemathesis.toml"
# Schemathesis itself does not expect 413, which it gets for generated bodies over 8 KB.
_CONFIGURED = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 429]
"""
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "negative_data_rejection"
)


def main() -> int:
    """Send the cases; return the exit code of Schemathesis."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=CASES, help="cases of each operation, at most")
    parser.add_argument("--backend", choices=BACKENDS, default="sqlite")
    options = parser.parse_args()
    program = os.environ.get("SCHEMATHESIS") or shutil.which("schemathesis")
    if program is None:
        print("Skipped: Schemathesis is not installed; make schemathesis installs it.")
        return 0
    try:
        name = dataset.prepare(options.backend, SCALE)
    except Unavailable as error:
        print(f"Skipped: {error}")
        return 0
    from benchmarks import product  # imports models: only after Django is set up

    hooks = {
        "SCHEMATHESIS_HOOKS": "tests.long.openapi_hooks",
        "PYTHONPATH": str(databases.ROOT),
        "CASES_SECRET": dataset.SECRET,
        "CASES_BODY": json.dumps(product.body_about(dataset.LARGEST, finding_id=_a_finding())),
    }
    connections.close_all()
    databases.copy(options.backend, name, to=COPY)  # calls change it
    # Scans are accepted, and nothing carries them out.
    scanning = {"CRAWLER_ENABLED": "true"}
    with run_server(databases.environment(options.backend, COPY) | scanning) as server:
        address = f"http://127.0.0.1:{server.port}"
        (databases.FOLDER / CONFIGURATION).write_text(_CONFIGURED)
        command = [
            program,
            "--config-file",
            CONFIGURATION,
            "run",
            f"{address}/v1/openapi.json",
            "--url",
            address,
            "--no-color",
        ]
        command += ["--max-examples", str(options.cases), "--mode", "all", "--phases", "coverage,fuzzing"]
        command += ["--checks", CHECKS, "--max-response-time", str(SLOW), "--continue-on-failure"]
        done = subprocess.run(command, env=os.environ | hooks, cwd=databases.FOLDER, check=False)
    databases.discard(options.backend, COPY)
    print("Something was wrong." if done.returncode else "Nothing was wrong.")
    return done.returncode


def _a_finding() -> str:
    """Return the id of a finding of the website."""
    from dashboard_api.models import Finding  # only after Django is set up

    return str(Finding.objects.filter(website__host=dataset.host(dataset.LARGEST)).latest("pk").pk)


if __name__ == "__main__":
    sys.exit(main())
