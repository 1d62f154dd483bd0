"""Shared work of the processes of one test run: one of them does it, for all of them."""

import fcntl
import os
import pickle
from contextlib import contextmanager


@contextmanager
def one_at_a_time(path):
    """Let one process at a time work on ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def made_once(tmp_path_factory, name, make):
    """Return ``make(folder)``: the first process that asks calls it, the others read what it returned.

    ``folder`` is empty and stays for all of them, who must not change it.
    """
    root = tmp_path_factory.getbasetemp()
    folder = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / name
    result = folder.with_name(f"{name}.pickle")
    with one_at_a_time(folder):
        if not result.exists():
            folder.mkdir(exist_ok=True)
            result.write_bytes(pickle.dumps(make(folder)))
        return pickle.loads(result.read_bytes())
