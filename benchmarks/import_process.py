"""A separate process that imports reports on demand, as a scanner's schedule does in a deployment.

It reads a number of seconds from each line of standard input, imports reports for this time, and writes the
number of stored findings.
"""

import subprocess
import sys
from typing import Self

from benchmarks import databases


class ImportProcess:
    """The client side of the process."""

    def __init__(self, backend: str, database: str) -> None:
        self._command = [sys.executable, "-m", "benchmarks.import_process", backend, database]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def start(self, seconds: float) -> None:
        """Start importing and return immediately."""
        print(seconds, file=self._process.stdin, flush=True)

    def finish(self) -> int:
        """Wait for the end and return the number of stored findings."""
        return int(self._process.stdout.readline())


def main() -> None:
    """Import on demand until standard input ends."""
    backend, database = sys.argv[1:]
    databases.use(backend, database)
    from benchmarks import write_costs  # imports models: only after Django is set up

    batches = write_costs.batches()
    for line in sys.stdin:
        print(write_costs.import_for(float(line), batches), flush=True)


if __name__ == "__main__":
    main()
