"""The program of the engine: ``python program.py HOST ADDRESS REPORT AGENT [--private [NAME:PORT ...]]``.

It needs no environment; the options are ALLOW_PRIVATE_HOSTS and LOCALHOST_WEBSITES.
"""

import sys
from pathlib import Path

import django
from django.conf import settings


def main(arguments: list[str]) -> None:
    """Scan, and write the report."""
    sys.path.insert(0, str(Path(__file__).parents[3]))
    host, address, path, agent, *options = arguments
    websites = (option.split(":") for option in options[1:])
    settings.configure(
        ALLOW_PRIVATE_HOSTS=options[:1] == ["--private"],
        LOCALHOST_WEBSITES={name: int(port) for name, port in websites},
        SUPPORT_URL="",
        PORTAL_BASE_URL="",
    )
    django.setup()
    from dashboard_api.crawler.essentials.scan import write

    write(path, host, address, agent)


if __name__ == "__main__":
    main(sys.argv[1:])
