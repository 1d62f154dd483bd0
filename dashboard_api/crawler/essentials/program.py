"""The program of the built-in engines: ``python program.py website|domain|files HOST ADDRESS REPORT AGENT``.

It reads no environment; its options set DNS_RESOLVERS, ALLOW_PRIVATE_HOSTS and LOCALHOST_WEBSITES.
"""

import argparse
import json
import sys
from pathlib import Path

import django
from django.conf import settings


def main(arguments: list[str]) -> None:
    """Scan, and write the report."""
    sys.path.insert(0, str(Path(__file__).parents[3]))
    options = _parser().parse_args(arguments)
    settings.configure(
        DNS_RESOLVERS=[(address, int(port)) for address, port in options.resolver],
        ALLOW_PRIVATE_HOSTS=options.private,
        LOCALHOST_WEBSITES={name: int(port) for name, port in options.website},
        SUPPORT_URL="",
        PORTAL_BASE_URL="",
    )
    django.setup()
    from dashboard_api.crawler.essentials import exposed, scan
    from dashboard_api.crawler.essentials.domain import report as domain
    from foundation.outbound.pace import set_pace

    set_pace(options.a_second)
    if options.kind == "domain":
        lines = domain.report(options.host, agent=options.agent, never=options.never)
    else:
        report = scan.report if options.kind == "website" else exposed.report
        lines = report(options.host, options.address, agent=options.agent, never=options.never)
    with Path(options.report).open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["website", "domain", "files"])
    for name in ("host", "address", "report", "agent"):
        parser.add_argument(name)
    parser.add_argument("--a-second", type=float, default=5.0, help="connections")
    parser.add_argument("--resolver", nargs=2, action="append", default=[], metavar=("ADDRESS", "PORT"))
    parser.add_argument("--private", action="store_true")
    parser.add_argument("--website", nargs=2, action="append", default=[], metavar=("NAME", "PORT"))
    parser.add_argument("--never", action="append", default=[], metavar="HOST_OR_PREFIX")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
