"""One long run by itself, with fewer rounds or more: ``python -m tests.long kills --rounds 500``."""

import argparse
import logging
import random
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks import databases, dataset
from benchmarks.command_line import BACKENDS, Unavailable
from tests.long import hostile_calls, kills, leaks, storage, timing

SCALE = 0.001  # 2,000 findings
RUNS: dict[str, tuple[Callable[..., Iterator[str]], int]] = {
    "races": (storage.races, 1_000),
    "kills": (kills.kills, 10_000),
    "power": (storage.power, 100),
    "backups": (storage.backups, 20),
    "signed": (hostile_calls.signed, 50_000),
    "garbage": (hostile_calls.garbage, 100_000),
    "timing": (timing.timing, 10_000),
    "leaks": (leaks.leaks, 120),
}


def main() -> int:
    """Do one run as the command line says; return 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", choices=RUNS)
    parser.add_argument("--rounds", type=int, help="rounds, calls, backups, or pages of each person")
    parser.add_argument("--seed", type=int, default=time.time_ns(), help="repeats the calls of a run")
    parser.add_argument("--backend", choices=BACKENDS, default="sqlite")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    random.seed(options.seed)
    run, usual = RUNS[options.run]
    try:
        wrong = list(_begun(run, options.backend, options.rounds or usual))
    except Unavailable as error:
        print(f"Skipped: {error}")
        return 0
    print("\n".join(wrong[:50]) or "Nothing was wrong.")
    return int(bool(wrong))


def _begun(run: Callable[..., Iterator[str]], backend: str, rounds: int) -> Iterator[str]:
    """Begin a run on a dataset; leaks have a demo of their own."""
    if run is leaks.leaks:
        return run(backend, rounds=rounds)
    environment = databases.environment(backend, dataset.prepare(backend, SCALE))
    from django.core.management import call_command

    from benchmarks import product  # imports models: only after Django is set up

    call_command("collectstatic", interactive=False, verbosity=0)
    logging.disable(logging.CRITICAL)
    return run(environment, product.body_about(dataset.LARGEST), rounds=rounds)


if __name__ == "__main__":
    sys.exit(main())
