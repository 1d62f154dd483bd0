"""The command line of every benchmark."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.figures import Table, report

BACKENDS = ("sqlite", "postgresql")
ROUNDS, SHORT_ROUNDS = 15, 3
SHORT_SCALE = 0.01


class Unavailable(Exception):
    """Something that a benchmark needs is missing on this machine; the message says what."""


def run(tables: Callable[..., Iterable[Table]], doc: str | None, *, backends: Sequence[str] = ()) -> None:
    """Measure as the command line says and print the tables; with ``backends``, run one process for each.

    ``tables`` takes ``rounds``, and with ``backends`` also ``backend`` and ``scale``.
    """
    arguments = _parser(doc, backends=backends).parse_args()
    options: dict[str, Any] = {"rounds": arguments.rounds or (SHORT_ROUNDS if arguments.short else ROUNDS)}
    if len(backends) > 1 and arguments.backend is None:
        module = sys.modules["__main__"].__spec__.name  # Django reads its settings once a process
        commands = [[module, *sys.argv[1:], "--backend", backend] for backend in BACKENDS]
        sys.exit(run_each(commands, as_json=arguments.json))
    if backends:
        scale = arguments.scale or (SHORT_SCALE if arguments.short else 1)
        options |= {"backend": arguments.backend or backends[0], "scale": scale}
    try:
        report(tables(**options), as_json=arguments.json)
    except Unavailable as error:
        print(f"Skipped: {error}", file=sys.stderr)
        if arguments.json:
            print("[]")


def run_each(commands: Sequence[Sequence[str]], *, as_json: bool) -> int:
    """Run modules one after another, each in its own process; return 1 if any failed, else 0."""
    figures: list[object] = []
    failed = False
    for arguments in commands:
        command = [sys.executable, "-m", *arguments]
        child = subprocess.run(command, stdout=subprocess.PIPE if as_json else None, check=False)  # noqa: S603
        failed = failed or child.returncode != 0
        if as_json and child.returncode == 0:
            figures += json.loads(child.stdout)
    if as_json:
        print(json.dumps(figures, indent=1))
    return int(failed)


def _parser(doc: str | None, *, backends: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print a list of figures instead of tables")
    parser.add_argument("--short", action="store_true", help="fewer rounds and less data")
    parser.add_argument(
        "--rounds", type=int, help=f"number of rounds (default: {ROUNDS}; {SHORT_ROUNDS} with --short)"
    )
    if backends:
        parser.add_argument("--backend", choices=backends, help="measure one database only (default: all)")
        parser.add_argument(
            "--scale",
            type=float,
            help="size of the data; 1 is 2,000,000 findings (default; 0.01 with --short)",
        )
    return parser
