"""The program of the engine: ``python program.py HOST ADDRESS REPORT [--private]``; needs no environment."""

import sys
from pathlib import Path

import django
from django.conf import settings


def main(arguments: list[str]) -> None:
    """Scan, and write the report."""
    sys.path.insert(0, str(Path(__file__).parents[3]))
    host, address, path, *options = arguments
    settings.configure(ALLOW_PRIVATE_HOSTS="--private" in options, SUPPORT_URL="", PORTAL_BASE_URL="")
    django.setup()
    from dashboard_api.crawler.essentials.scan import write

    write(path, host, address)


if __name__ == "__main__":
    main(sys.argv[1:])
