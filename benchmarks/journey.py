"""From the sign-up to the first finding in a fresh demo: the seconds without those that a person takes.

A browser walks it as tests/browser/test_journey.py does; the demo runs in a copy of the product.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.browsing import check_chromium
from benchmarks.command_line import Unavailable, run
from benchmarks.figures import Table

_READY = "Quit the server"
PATIENCE = 120.0  # seconds for each step, and for the demo to be ready


def tables(*, rounds: int) -> Iterator[Table]:  # noqa: ARG001  # one journey a demo
    """Yield one table."""
    check_chromium()
    from playwright.sync_api import expect

    from tests.browser import journey
    from tests.browser.chromium import running_chromium
    from tests.config.checkout import Checkout

    expect.set_options(timeout=PATIENCE * 1000)
    with tempfile.TemporaryDirectory(prefix="journey-") as name, running_chromium() as browser:
        demo = Checkout(Path(name))
        with _serving(demo.folder) as (address, log):
            page = browser.new_page(base_url=address, locale="en-GB")
            page.set_default_timeout(PATIENCE * 1000)
            times = [time.monotonic()]
            for step in (
                lambda: journey.ask_for_an_account(page),
                lambda: journey.create_the_account(page, _link(log)),
                lambda: journey.prove_the_website(page, demo.folder / "var/demo/website"),
                lambda: journey.read_the_first_finding(page),
                lambda: journey.ask_to_check_it_again(page),
                lambda: journey.read_that_it_is_still_there(page),
            ):
                step()
                times.append(time.monotonic())
    table = Table("From the sign-up to the first finding", "A fresh demo; the browser types at once.")
    table.add("sign-up to first finding", "seconds", times[4] - times[0], "s", at_most=60)
    table.add("of it, proof to first finding", "seconds", times[4] - times[2], "s")
    table.add("check the finding again", "seconds", times[6] - times[4], "s")
    yield table


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[str, Path]]:
    """Serve a new demo until the end of the block; yield its address and what it prints."""
    port = _free_port()
    log = folder / "log"
    with log.open("w") as output:
        server = subprocess.Popen(  # noqa: S603  # our own interpreter
            [sys.executable, "manage.py", "demo", "--port", str(port)],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(lambda: _READY in log.read_text(), log)
            yield f"http://127.0.0.1:{port}", log
        finally:
            server.terminate()
            server.wait()


def _free_port() -> int:
    """Return a free port, of which the next one is free, too: the demo's website has that."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port: int = free.getsockname()[1]
            with suppress(OSError), socket.create_server(("127.0.0.1", port + 1)):
                return port


def _wait(condition: Callable[[], object], log: Path) -> None:
    ends = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > ends:
            raise Unavailable(f"the demo did not answer:\n{log.read_text()}")
        time.sleep(0.1)


def _link(log: Path) -> str:
    from tests.browser.journey import LINK

    def links() -> list[str]:
        return LINK.findall(log.read_text().partition(_READY)[2])

    _wait(links, log)
    return links()[0]


if __name__ == "__main__":
    run(tables, __doc__)
