"""Settings of gunicorn, which reads this file if it starts in this folder.

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
preload_app = True  # wrong settings stop the start once, and workers share the code's memory
timeout = 60  # for a worker with a hanging main loop; DASHBOARD_TIMEOUT_SECONDS limits a page's wait
graceful_timeout = 30
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  # a heartbeat, not data

limit_request_line = 4094
limit_request_fields = 64
limit_request_field_size = 8190

# gunicorn reads no scheme, path or address from headers; Django does with TRUST_PROXY.
forwarder_headers = ""
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
control_socket_disable = True

# prometheus-client reads the folder's name when it is imported. Delete the folders of ended processes.
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
    """Give the worker the lowest free number, which names the files of its metrics."""
    taken = {each.number for each in server.WORKERS.values()}
    worker.number = next(number for number in range(1, len(taken) + 2) if number not in taken)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001  # as gunicorn calls it
    """Count metrics in the files of the worker's number."""
    from foundation.operations import metrics

    metrics.use_number(worker.number)


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001  # as gunicorn calls it
    """Tell prometheus-client that a worker ended; the next worker with its number continues its counters."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.number)
