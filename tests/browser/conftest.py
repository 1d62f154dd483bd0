"""Chromium for the browser tests: skipped with a reason where there is none, unless it is required."""

import os
import shutil

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium_path():
    """The installed Chromium, or None."""
    return next((path for path in map(shutil.which, _NAMES) if path), None)


def pytest_runtest_setup(item):
    """Skip; with REQUIRE_BROWSER=1 (continuous integration) fail instead."""
    if chromium_path() is None:
        without = pytest.fail if os.environ.get("REQUIRE_BROWSER") == "1" else pytest.skip
        without("Chromium is not installed (Debian: apt install chromium)")
