import os
import subprocess
import sys
from subprocess import PIPE

from benchmarks.servers import children_of, cpu_seconds, cpu_seconds_once_idle, parent_of

WAITING = "import sys; print('here', flush=True); sys.stdin.read()"
BUSY = "import time\nwhile time.process_time() < 0.2: pass"


def test_a_running_child_is_found_and_what_it_costs_is_known():
    with subprocess.Popen([sys.executable, "-c", WAITING], stdin=PIPE, stdout=PIPE) as child:
        child.stdout.readline()  # it runs
        assert parent_of(child.pid) == os.getpid()
        assert child.pid in children_of(os.getpid())
        assert cpu_seconds([child.pid]) > 0
        child.stdin.close()


def test_what_a_process_costs_is_known_once_it_waits():
    busy = f"print('here', flush=True)\n{BUSY}\n{WAITING}"
    with subprocess.Popen([sys.executable, "-c", busy], stdin=PIPE, stdout=PIPE) as child:
        child.stdout.readline()
        assert cpu_seconds_once_idle([child.pid]) >= 0.2
        child.stdin.close()
