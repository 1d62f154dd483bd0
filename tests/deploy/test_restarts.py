"""Two web processes behind deploy/nginx.conf restart one after the other (docs/operating/install.md)."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.deploy.production import nginx
from tests.faults.server import free_port

ASKED = 20  # each worker of nginx has its own memory of processes that fail


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def process(port):
    """Serve a page at a port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Page)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_no_request_fails_while_two_processes_restart_one_after_the_other(tmp_path):
    first, second = free_port(), free_port()
    changes = {"# server 127.0.0.1:8001": f"server 127.0.0.1:{second}"}
    with nginx(tmp_path, first, changes=changes) as browser:

        def statuses():
            return {browser.ask("GET", path)[0] for path in ("/", "/v1/docs") * ASKED}

        with process(second):
            assert statuses() == {200}
        with process(first):
            assert statuses() == {200}
