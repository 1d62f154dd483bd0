"""The program of the built-in engines: ``python program.py KIND HOST ADDRESS REPORT AGENT``.

The kind is website, domain, files or scripts. It reads no environment; its options have DNS_RESOLVERS,
RDAP_SERVICE, ALLOW_PRIVATE_HOSTS and LOCALHOST_WEBSITES. With ``--gate``, it opens no connection by itself.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import django
from django.conf import settings


def main(arguments: list[str]) -> None:
    """Scan, and write the report; write facts for the inventory to ``facts.json`` next to it."""
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
    from foundation.outbound.sockets import use_gate

    if options.gate is not None:
        use_gate(options.gate)
    facts: dict[str, Any] = {}
    common = {"agent": options.agent, "never": options.never}
    if options.kind == "domain":
        lines = domain.report(options.host, facts=facts, rdap=options.rdap, **common)
    elif options.kind == "website":
        lines = scan.report(options.host, options.address, facts=facts, **common)
    elif options.kind == "scripts":
        lines = _scripts(options, facts)
    else:
        lines = exposed.report(options.host, options.address, **common)
    with Path(options.report).open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)
    if facts:
        Path(options.report).with_name("facts.json").write_text(json.dumps(facts), encoding="utf-8")


def _scripts(options: argparse.Namespace, facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the lines about scripts; a wrong file of RetireJS is left out, as ``manage.py doctor`` says."""
    import msgspec

    from dashboard_api.crawler.essentials.scripts import report, retirejs
    from dashboard_api.crawler.essentials.scripts.libraries import TABLE

    expected = None
    if options.expected:
        expected = msgspec.json.decode(Path(options.expected).read_bytes(), type=report.Expected)
    known = TABLE.library
    if options.retirejs:
        with suppress(retirejs.WrongFile):
            known = retirejs.read(Path(options.retirejs))
    return report.report(
        options.host,
        options.address,
        agent=options.agent,
        never=options.never,
        expected=expected,
        libraries=known,
        facts=facts,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["website", "domain", "files", "scripts"])
    for name in ("host", "address", "report", "agent"):
        parser.add_argument(name)
    parser.add_argument("--gate", type=int, help="number of the open file that leads to the worker's gate")
    parser.add_argument("--resolver", nargs=2, action="append", default=[], metavar=("ADDRESS", "PORT"))
    parser.add_argument("--private", action="store_true")
    parser.add_argument("--website", nargs=2, action="append", default=[], metavar=("NAME", "PORT"))
    parser.add_argument("--rdap", default="", metavar="ADDRESS", help="of an RDAP service")
    parser.add_argument("--never", action="append", default=[], metavar="HOST_OR_PREFIX")
    parser.add_argument(
        "--expected", default="", metavar="FILE", help="known hosts and pinned scripts, as JSON"
    )
    parser.add_argument("--retirejs", default="", metavar="FILE", help="more libraries, as RetireJS has them")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
