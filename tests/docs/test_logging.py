"""docs/logging.md lists every logger."""

import re
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
GET_LOGGER = re.compile(r"getLogger\((?:(__name__)|\"([\w.]+)\")\)")


def loggers():
    for path in ROOT.glob("*/**/*.py"):
        name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        if not name.startswith((".", "tests.", "benchmarks.", "var.")):
            yield from (given or name for _, given in GET_LOGGER.findall(path.read_text()))
    yield from settings.LOGGING["loggers"]


def test_every_logger_is_in_the_inventory():
    rows = set(re.findall(r"^\| `([\w.]+)` \|", (ROOT / "docs/logging.md").read_text(), re.MULTILINE))
    found = set(loggers())
    assert len(found) > 10
    assert not found - rows, "Add a row to docs/logging.md for each of these."
