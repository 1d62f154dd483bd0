"""Settings of gunicorn, which reads this file if ``gunicorn config.wsgi`` starts in its folder.

Put nginx in front (deploy/nginx.conf): a slow client would hold a thread here.
The command line and GUNICORN_CMD_ARGS override this file.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

wsgi_app = "config.wsgi"
bind = "127.0.0.1:8000"

worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
preload_app = True  # wrong settings stop the start once, and workers share the memory of the code
timeout = 60  # of a worker whose main loop hangs; DASHBOARD_TIMEOUT_SECONDS limits the wait of a page
graceful_timeout = 30
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  # a heartbeat, not data

limit_request_line = 4094
limit_request_fields = 64
limit_request_field_size = 8190

# No header sets scheme, path or address here; with TRUST_PROXY, Django reads them.
forwarder_headers = ""
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
control_socket_disable = True

# prometheus-client looks for this folder when it is imported; those of ended processes are deleted.
_folders = Path(worker_tmp_dir or tempfile.gettempdir())
for _folder in _folders.glob("threat-dashboard-metrics-*"):
    if not Path("/proc", _folder.name.rpartition("-")[2]).exists():
        shutil.rmtree(_folder, ignore_errors=True)
_folder = _folders / f"threat-dashboard-metrics-{os.getpid()}"
_folder.mkdir(mode=0o700, exist_ok=True)  # a reload reads this file again
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_folder)

umask = 0o077  # only this user may read SQLite's files
accesslog = None  # nginx writes an access log without tokens
errorlog = "-"


def pre_fork(server: Any, worker: Any) -> None:
    """Give the worker the lowest number that is free; its metrics are counted in the files of this number."""
    taken = {each.number for each in server.WORKERS.values()}
    worker.number = next(number for number in range(1, len(taken) + 2) if number not in taken)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001  # as gunicorn calls it
    """Count with the worker's number."""
    from foundation.operations import metrics

    metrics.use_number(worker.number)


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001  # as gunicorn calls it
    """Tell prometheus-client that a worker ended; its counters stay, for the next one of its number."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.number)
