"""A small website of the demo, which a new user can add, verify by a file and scan."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NAME = "demo-shop.localhost"


class _Handler(SimpleHTTPRequestHandler):
    """Web server with usual faults: an unprotected cookie, and its version in a header."""

    def end_headers(self) -> None:
        self.send_header("Set-Cookie", "basket=1; Path=/")
        super().end_headers()

    def list_directory(self, path: Any) -> None:
        self.send_error(404)  # instead of a list of the files

    def log_message(self, *_: Any) -> None:
        """Do not print requests, so that the demo's addresses remain visible in the terminal."""


def create(folder: Path) -> None:
    """Create the missing files of the website."""
    (folder / ".well-known").mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    if not page.exists():
        page.write_bytes(Path(__file__).with_suffix(".html").read_bytes())


@contextmanager
def serving(folder: Path, port: int) -> Iterator[None]:
    """Serve the files of ``folder`` on this machine until the end of the block."""
    with ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, directory=str(folder))) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
