"""A copy of the product that runs apart from the tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parents[2]


class Checkout:
    """The product in its own folder, with its own .env, data and environment."""

    def __init__(self, folder):
        self.folder = folder
        unneeded = shutil.ignore_patterns(".*", "var", "tests", "docs", "benchmarks")
        shutil.copytree(BASE_DIR, folder, ignore=unneeded, dirs_exist_ok=True)

    def copy(self, folder):
        """Return a checkout in ``folder`` with the same .env and data."""
        copy = object.__new__(Checkout)
        copy.folder = shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return copy

    def manage(self, *arguments, **environ):
        return self.python("manage.py", *arguments, **environ)

    def python(self, *arguments, **environ):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
