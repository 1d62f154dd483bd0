"""How every benchmark is started: ``--json``, ``--short``, and an engine and a scale where there is data."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.figures import Table, report

ENGINES = ("sqlite", "postgresql")
ROUNDS, SHORT_ROUNDS = 15, 3
SHORT_SCALE = 0.01


class NotHere(Exception):
    """Something this benchmark needs does not run on this machine; the message says what."""


def run(tables: Callable[..., Iterable[Table]], doc: str | None, *, engines: Sequence[str] = ()) -> None:
    """Measure and print what the command line asks for; with ``engines``, on each of them by itself.

    ``tables`` takes ``rounds``, and with ``engines`` also ``engine`` and ``scale``.
    """
    arguments = _parser(doc, engines=engines).parse_args()
    chosen: dict[str, Any] = {"rounds": arguments.rounds or (SHORT_ROUNDS if arguments.short else ROUNDS)}
    if len(engines) > 1 and arguments.engine is None:
        module = sys.modules["__main__"].__spec__.name  # one engine to a process: settings are read once
        commands = [[module, *sys.argv[1:], "--engine", engine] for engine in ENGINES]
        sys.exit(run_each(commands, as_json=arguments.json))
    if engines:
        scale = arguments.scale or (SHORT_SCALE if arguments.short else 1)
        chosen |= {"engine": arguments.engine or engines[0], "scale": scale}
    try:
        report(tables(**chosen), as_json=arguments.json)
    except NotHere as error:
        print(f"Left out: {error}", file=sys.stderr)
        if arguments.json:
            print("[]")


def run_each(commands: Sequence[Sequence[str]], *, as_json: bool) -> int:
    """Run modules one after the other, each in its own process; 1 if any of them failed."""
    figures: list[object] = []
    failed = False
    for module, *options in commands:
        command = [sys.executable, "-m", module, *options]
        child = subprocess.run(command, stdout=subprocess.PIPE if as_json else None, check=False)  # noqa: S603
        failed = failed or child.returncode != 0
        if as_json and child.returncode == 0:
            figures += json.loads(child.stdout)
    if as_json:
        print(json.dumps(figures, indent=1))
    return int(failed)


def _parser(doc: str | None, *, engines: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print a list of figures instead of tables")
    parser.add_argument("--short", action="store_true", help="fewer rounds, and less data")
    parser.add_argument("--rounds", type=int, help=f"of bursts ({ROUNDS}, or {SHORT_ROUNDS} when short)")
    if engines:
        parser.add_argument("--engine", choices=engines, help="one database only (all of them unless told)")
        parser.add_argument("--scale", type=float, help="1 is 2,000,000 findings, 1,000,000 of one website")
    return parser
