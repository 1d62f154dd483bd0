"""A process that imports reports on demand, as a scanner's schedule would beside the web processes.

Each line of standard input is a number of seconds; for so long it imports one report after the other, then
answers with how many findings it stored.
"""

import subprocess
import sys
from typing import Self

from benchmarks import records


class Writer:
    """The other process, as this one sees it."""

    def __init__(self, engine: str, database: str) -> None:
        self._command = [sys.executable, "-m", "benchmarks.writer", engine, database]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def start(self, seconds: float) -> None:
        """Begin to write, and return at once."""
        print(seconds, file=self._process.stdin, flush=True)

    def finish(self) -> int:
        """Wait for the end; how many findings were stored."""
        return int(self._process.stdout.readline())


def main() -> None:
    """Serve until standard input ends."""
    engine, database = sys.argv[1:]
    records.use(engine, database)
    from benchmarks import writing  # models can be imported only where Django is set up

    batches = writing.batches()
    for line in sys.stdin:
        print(writing.write_for(float(line), batches), flush=True)


if __name__ == "__main__":
    main()
