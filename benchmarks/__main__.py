"""The short form of all benchmarks, one after the other: ``make bench``."""

import argparse
import sys
import time

from benchmarks.command_line import run_each
from benchmarks.machine import described

FILES = ("es1", "reads", "requests", "writes", "import_reports", "portal_weight")


def main() -> None:
    """Print what the figures hold for, then every table; or one JSON list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print a list of figures instead of tables")
    options = ["--short", *(["--json"] if (as_json := parser.parse_args().json) else [])]
    started = time.monotonic()
    if not as_json:
        print(f"{described()}\n", flush=True)
    failed = run_each([[f"benchmarks.{file}", *options] for file in FILES], as_json=as_json)
    print(f"All benchmarks took {time.monotonic() - started:.0f} s.", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
