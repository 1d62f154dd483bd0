"""Run a short form of every benchmark, one after another (``make bench``)."""

import argparse
import sys
import time

from benchmarks.command_line import run_each
from benchmarks.servers import describe_machine

BENCHMARKS = ("es1", "reads", "requests", "writes", "imports", "scans", "portal_weight")


def main() -> None:
    """Print the machine and every table, or one JSON list of all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print a list of figures instead of tables")
    options = ["--short", *(["--json"] if (as_json := parser.parse_args().json) else [])]
    started = time.monotonic()
    if not as_json:
        print(f"{describe_machine()}\n", flush=True)
    failed = run_each([[f"benchmarks.{name}", *options] for name in BENCHMARKS], as_json=as_json)
    print(f"All benchmarks took {time.monotonic() - started:.0f} s.", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
