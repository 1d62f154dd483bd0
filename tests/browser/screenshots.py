"""Makes the README's pictures: ``python -m tests.browser.screenshots``.

They show a demo that lives in a temporary folder, so that no other data is used.
"""

import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager

from playwright.sync_api import expect

from tests.browser.chromium import chromium_path, running_chromium
from tests.browser.steps import PATH, findings, sign_in, the_finding
from tests.config.checkout import BASE_DIR, Checkout
from tests.faults.server import free_port

FOLDER = BASE_DIR / "docs" / "screenshots"
MOST_BYTES = 150_000
WORKBENCH = "/admin/dashboard_api/finding/workbench/"
QUESTIONS = "/admin/dashboard_api/case/workbench/"
LAPTOP = {"width": 1280, "height": 760}
SHORT = {"width": 1280, "height": 540}
PHONE = {"viewport": {"width": 390, "height": 792}, "has_touch": True, "is_mobile": True}


@contextmanager
def served_demo():
    """Return the URL of a new demo, and the password of its users."""
    with tempfile.TemporaryDirectory() as folder:
        demo, port = Checkout(folder), str(free_port())
        prepared = demo.manage("demo", "--no-serve", "--port", port)
        if prepared.returncode:
            sys.exit(prepared.stderr)
        command = [sys.executable, "-u", "manage.py", "demo", "--port", port]
        environ = {"PATH": os.environ["PATH"]}
        with subprocess.Popen(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as server:
            try:
                next(line for line in server.stdout if "Quit the server" in line)
                yield f"http://127.0.0.1:{port}", re.search(r"with the password (\S+)", prepared.stdout)[1]
            finally:
                server.terminate()


class Camera:
    """A person's browser, and the folder of its pictures."""

    def __init__(self, browser, address, password, *, user="owner", start="/"):
        self._browser = browser
        self._options = {"base_url": address, "locale": "en-GB", "timezone_id": "UTC"}
        page = self.open(f"/accounts/login/?next={start}")
        sign_in(page, user, password)
        expect(page).to_have_url(start)
        self._options["storage_state"] = page.context.storage_state()

    def open(self, path, **options):
        page = self._browser.new_context(**{"viewport": LAPTOP} | self._options | options).new_page()
        page.goto(path)
        return page

    def take(self, name, page):
        """Save the visible part of ``page``."""
        file = FOLDER / f"{name}.png"
        page.screenshot(path=file)
        size = file.stat().st_size
        print(f"{file.relative_to(BASE_DIR)}: {size / 1000:.0f} kB")  # noqa: T201
        if size > MOST_BYTES:
            sys.exit(f"{name} is larger than {MOST_BYTES / 1000:.0f} kB: show less of the page.")


def take_pictures(camera):
    """Take every picture of the README."""
    for scheme in ("light", "dark"):
        camera.take(f"dashboard-{scheme}", camera.open(PATH, color_scheme=scheme, viewport=SHORT))
    camera.take("sites", camera.open("/", viewport={"width": 1280, "height": 448}))
    camera.take("phone", camera.open(PATH, **PHONE))
    camera.take("inventory", camera.open(f"{PATH}inventory/", viewport={"width": 1280, "height": 1000}))
    camera.take("public", camera.open("/v1/public"))

    page = camera.open(f"{PATH}?severity=Critical&query=sql+stores")
    findings(page).first.get_by_role("link").click()
    expect(the_finding(page)).to_be_visible()
    camera.take("finding", page)

    page = camera.open(f"{PATH}answer/?problem=content-security-policy", viewport=SHORT)
    page.get_by_text("We accept the risk").click()
    camera.take("answer", page)
    page = camera.open(f"{PATH}?severity=Critical&answer=will_fix", color_scheme="dark", **PHONE)
    findings(page).first.get_by_role("link").click()
    page.get_by_role("heading", name="Conversation").scroll_into_view_if_needed()
    camera.take("conversation", page)


if __name__ == "__main__":
    if chromium_path() is None:
        sys.exit("Chromium is not installed (Debian: apt install chromium).")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with served_demo() as (address, password), running_chromium() as browser:
        take_pictures(Camera(browser, address, password))
        analyst = Camera(browser, address, password, user="analyst", start=WORKBENCH)
        analyst.take("workbench", analyst.open(WORKBENCH, viewport={"width": 1280, "height": 620}))
        analyst.take("questions", analyst.open(QUESTIONS, viewport={"width": 1280, "height": 620}))
