"""The system's Chromium, driven by Playwright."""

import shutil
from contextlib import contextmanager

from playwright.sync_api import sync_playwright

# The first is Chromium without windows, a third cheaper to run.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = [
    "--no-sandbox",  # continuous integration runs as root, and every page that is opened is our own
    "--disable-dev-shm-usage",
    # Nobody watches: a fifth less work.
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--in-process-gpu",
]


def chromium_path():
    """Return the path of the installed Chromium, or None."""
    return next((path for path in map(shutil.which, _NAMES) if path), None)


@contextmanager
def running_chromium():
    """Run a browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=_ARGUMENTS)
        yield browser
        browser.close()
