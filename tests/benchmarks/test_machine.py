import os
import subprocess
import sys

from benchmarks.machine import children_of, cpu_seconds, cpu_seconds_of_ended, parent_of

BUSY = "import time\nwhile time.process_time() < 0.2: pass"


def test_a_running_child_is_found_and_what_it_costs_is_known():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert parent_of(child.pid) == os.getpid()
        assert child.pid in children_of(os.getpid())
        assert cpu_seconds([child.pid]) > 0


def test_what_ended_children_have_cost_is_not_lost():
    before = cpu_seconds_of_ended(os.getpid())
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert cpu_seconds_of_ended(os.getpid()) - before >= 0.1
