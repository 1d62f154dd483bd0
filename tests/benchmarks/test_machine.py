import os
import subprocess
import sys
from subprocess import PIPE

from benchmarks.machine import (
    children_of,
    cpu_seconds,
    cpu_seconds_of_ended,
    cpu_seconds_once_idle,
    own_bytes,
    parent_of,
    peak_bytes,
)

WAITING = "import sys; print('here', flush=True); sys.stdin.read()"
BUSY = "import time\nwhile time.process_time() < 0.2: pass"


def test_a_running_child_is_found_and_what_it_costs_is_known():
    with subprocess.Popen([sys.executable, "-c", WAITING], stdin=PIPE, stdout=PIPE) as child:
        child.stdout.readline()  # it runs
        assert parent_of(child.pid) == os.getpid()
        assert child.pid in children_of(os.getpid())
        assert cpu_seconds([child.pid]) > 0
        assert own_bytes(child.pid) > 2**20
        child.stdin.close()


def test_what_a_process_costs_is_known_once_it_waits():
    busy = f"print('here', flush=True)\n{BUSY}\n{WAITING}"
    with subprocess.Popen([sys.executable, "-c", busy], stdin=PIPE, stdout=PIPE) as child:
        child.stdout.readline()
        assert cpu_seconds_once_idle([child.pid]) >= 0.2
        child.stdin.close()


def test_peak_of_memory_is_remembered_and_not_that_of_the_parent():
    large = bytearray(200 * 2**20)
    grown = f"bytearray({80 * 2**20}); {WAITING}"
    with subprocess.Popen([sys.executable, "-c", grown], stdin=PIPE, stdout=PIPE) as child:
        child.stdout.readline()
        assert 80 * 2**20 < peak_bytes(child.pid) < len(large) < peak_bytes(os.getpid())
        child.stdin.close()


def test_what_ended_children_have_cost_is_not_lost():
    before = cpu_seconds_of_ended(os.getpid())
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert cpu_seconds_of_ended(os.getpid()) - before >= 0.1
