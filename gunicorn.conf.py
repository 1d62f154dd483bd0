"""How gunicorn serves the product: read by itself where ``gunicorn config.wsgi`` is started beside it.

nginx stands in front (deploy/nginx.conf): a client that sends or reads slowly would hold a thread here.
The command line and GUNICORN_CMD_ARGS win over this file.
"""

import os
import sys
from pathlib import Path
from typing import Any

wsgi_app = "config.wsgi"
bind = "127.0.0.1:8000"

worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
preload_app = True  # wrong settings stop the start, once, and workers share the memory of the code
timeout = 60  # for a worker whose main loop hangs; what a page may wait is DASHBOARD_TIMEOUT_SECONDS
graceful_timeout = 30
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  # a heartbeat, not data

limit_request_line = 4094
limit_request_fields = 64
limit_request_field_size = 8190

# No header of a request decides about scheme, path or address here; TRUST_PROXY lets the settings read them.
forwarder_headers = ""
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
control_socket_disable = True

umask = 0o077  # the files of SQLite are for this user alone
accesslog = None  # nginx writes one, without tokens
errorlog = "-"


def on_starting(server: Any) -> None:  # noqa: ARG001  # as gunicorn calls it
    """Refuse to start with settings that the checks refuse: gunicorn by itself runs none."""
    from django.conf import settings
    from django.core.management import call_command
    from django.core.management.base import SystemCheckError

    try:
        call_command("check", deploy=settings.HTTPS, stdout=sys.stderr)
    except SystemCheckError as error:
        sys.exit(str(error))
