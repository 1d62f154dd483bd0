"""A small website for the demo, which a new user adds, proves by a file and has scanned."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NAME = "demo-shop.localhost"


class _Handler(SimpleHTTPRequestHandler):
    """A web server with the usual faults: a cookie without protection, and its version in a header."""

    def end_headers(self) -> None:
        self.send_header("Set-Cookie", "basket=1; Path=/")
        super().end_headers()

    def list_directory(self, path: Any) -> None:
        self.send_error(404)

    def log_message(self, *_: Any) -> None:
        """Leave the terminal to the addresses of the demo."""


def create(folder: Path) -> None:
    """Create the files of the website, and keep those that exist."""
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
