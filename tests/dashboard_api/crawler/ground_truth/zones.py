"""Zones with known problems, and a command that compares them with what the DNS engine reports.

``python -m tests.dashboard_api.crawler.ground_truth.zones [NAME ...]`` prints what was found, missed and
extra, by rule. Each zone is served by a real name server on loopback, and its pages by real servers.
"""

import os
import ssl
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from dnslib import QTYPE, RCODE, RR, SOA
from dnslib.server import DNSLogger, DNSServer

from tests.faults.certificate import write_certificate
from tests.faults.name_servers import RESOLVER
from tests.faults.server import FaultServer, free_port, http

TABLE = Path(__file__).with_suffix(".toml")
MTA_STS = "mta-sts.example.com"  # the name of the only page over https


class Zone(NamedTuple):
    """A zone, the website that is scanned, and the rules that must be reported."""

    name: str
    of: str
    host: str
    records: list[str]
    pages: dict[str, str]
    wanted: frozenset[str]


def zones():
    """Return the zones of the table, in its order."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return [_zone(name, fields, table["good"]) for name, fields in table["zones"].items()]


def _zone(name, fields, good):
    own = fields.get("set", [])
    gone = {_set_of(record) for record in own} | {tuple(each.split()) for each in fields.get("without", [])}
    return Zone(
        name,
        fields["of"],
        fields.get("host", "shop.example.com"),
        [record for record in good["records"] if _set_of(record) not in gone] + own,
        good["pages"] | fields.get("pages", {}),
        frozenset(fields["wanted"]),
    )


def _set_of(record):
    """Return the name and the type of a record."""
    name, kind, _ = record.split(maxsplit=2)
    return name, kind


class ZoneServer:
    """A resolver that knows ``records`` and nothing else, on a free port of loopback.

    It fails for names that are ``broken``, and counts the questions in ``asked``.
    """

    def __init__(self):
        self.records, self.broken, self.asked, self.port = [], set(), 0, free_port()
        self._servers = [
            DNSServer(
                SimpleNamespace(resolve=self._resolve),
                RESOLVER,
                self.port,
                tcp=is_tcp,
                logger=DNSLogger(logf=lambda _line: None),
            ).server
            for is_tcp in (False, True)
        ]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def knows(self, records):
        """Know these records, and no others."""
        self.records = [
            RR.fromZone(_with_short_strings(record.replace(" ", " 60 IN ", 1)))[0] for record in records
        ]

    def close(self):
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def addresses_of(self, name):
        """Return the IPv4 addresses of a name, at the end of its aliases."""
        return [str(record.rdata) for record in self._answers(name, QTYPE.A) if record.rtype == QTYPE.A]

    def _resolve(self, request, _handler):
        name, reply = _text(request.q.qname), request.reply(ra=1, aa=0)
        self.asked += 1
        answers = self._answers(name, request.q.qtype)
        if name in self.broken:
            reply.header.rcode = RCODE.SERVFAIL
            return reply
        for record in answers:
            reply.add_answer(record)
        last = _text(answers[-1].rdata.label) if answers and answers[-1].rtype == QTYPE.CNAME else name
        is_followed = request.q.qtype != QTYPE.CNAME
        if not answers or (is_followed and answers[-1].rtype == QTYPE.CNAME):
            if not any(f".{_text(record.rname)}".endswith(f".{last}") for record in self.records):
                reply.header.rcode = RCODE.NXDOMAIN
            reply.add_auth(
                RR("example", QTYPE.SOA, ttl=60, rdata=SOA("ns.example", "admin.example", (1,) * 5))
            )
        return reply

    def _answers(self, name, kind):
        """Return the records of a name, after the aliases that lead to them."""
        own = [record for record in self.records if _text(record.rname) == name]
        found = [record for record in own if record.rtype == kind]
        aliases = [record for record in own if record.rtype == QTYPE.CNAME]
        if found or not aliases:
            return found
        return [aliases[0], *self._answers(_text(aliases[0].rdata.label), kind)]


def _text(name):
    return str(name).rstrip(".").lower()


def _with_short_strings(line):
    """Cut strings of more than 255 bytes, as editors of zones do."""
    head, quote, rest = line.partition('"')
    text = rest.removesuffix('"')
    if len(text) <= 255:
        return head + quote + rest
    return head + " ".join(f'"{text[at : at + 255]}"' for at in range(0, len(text), 255))


class Zones:
    """The servers of all zones: a resolver, and the pages over http and https."""

    def __init__(self, folder, internet):
        self.name_server, self._internet, self._pages = ZoneServer(), internet, {}
        file, self.tls_of_server = write_certificate(folder, name=MTA_STS)
        self._tls = ssl.create_default_context(cafile=file)
        for scheme, port, tls in (("http", 80, None), ("https", 443, self.tls_of_server)):
            internet.serve(FaultServer(self._page(scheme), tls=tls), address="8.8.8.8", port=port)

    @property
    def resolvers(self):
        """The value of DNS_RESOLVERS."""
        return [(RESOLVER, self.name_server.port)]

    def close(self):
        self.name_server.close()

    def rules_of(self, zone):
        """Return the rules that the DNS engine reports about a zone; raise AssertionError if it failed."""
        lines = self.lines_of(zone)
        failed = [line for line in lines if line.get("error")]
        assert lines[-1]["complete"], failed
        assert not failed, failed
        return frozenset(line["finding"] for line in lines if "finding" in line)

    def lines_of(self, zone, **options):
        """Return the report about a zone."""
        from dashboard_api.crawler.essentials.domain.report import report

        self.name_server.knows(zone.records)
        self._pages = zone.pages
        names = {record.split()[0] for record in zone.records} | {zone.host}
        self._internet.zone = {
            f"{name}.": found for name in names if (found := self.name_server.addresses_of(name))
        }
        return list(report(zone.host, **{"tls": self._tls} | options))

    def _page(self, scheme):
        def script(server, connection):
            server.receive(connection)
            received = server.received[-1]
            path = received.head.split()[1].decode()
            page = self._pages.get(f"{scheme}://{received.header('host')}{path}", "")
            status, text = (int(page[:3]), page[4:]) if page[:3].isdigit() else (200, page)
            connection.sendall(http(status if page else 404, text.encode()))

        return script


@contextmanager
def serving(internet, folder):
    """Serve zones; ``internet`` leads names to their pages, and other connections nowhere."""
    served = Zones(folder, internet)
    try:
        yield served
    finally:
        served.close()
        internet.end()


def compare(served, chosen):
    """Return the numbers of found, missed and extra rules, and a line for each zone that differs."""
    counts = {"found": Counter(), "missed": Counter(), "extra": Counter()}
    lines = []
    for zone in chosen:
        try:
            rules = served.rules_of(zone)
        except AssertionError as error:
            rules = frozenset({"failed"})
            lines.append(f"{zone.name}: failed {error}")
        counts["found"].update(rules & zone.wanted)
        counts["missed"].update(zone.wanted - rules)
        counts["extra"].update(rules - zone.wanted)
        if rules != zone.wanted:
            lines.append(
                f"{zone.name}: missed {sorted(zone.wanted - rules)}, extra {sorted(rules - zone.wanted)}"
            )
    return counts, lines


def main(names):
    """Print the figures of the zones with these names, or of all."""
    import pytest
    from django.conf import settings

    from tests.foundation.outbound.internet import Internet

    chosen = [zone for zone in zones() if not names or zone.name in names]
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory() as folder,
        serving(Internet(patch, name_server=RESOLVER), Path(folder)) as served,
    ):
        settings.DNS_RESOLVERS = served.resolvers
        began = time.monotonic()
        counts, lines = compare(served, chosen)
        seconds = time.monotonic() - began
    rules = sorted(set().union(*counts.values()))
    print(f"{'rule':28} {'found':>6} {'missed':>6} {'extra':>6}")
    for rule in rules:
        print(f"{rule:28} {counts['found'][rule]:6} {counts['missed'][rule]:6} {counts['extra'][rule]:6}")
    found, missed, extra = (counts[kind].total() for kind in ("found", "missed", "extra"))
    clean = sum(not zone.wanted for zone in chosen)
    print(f"{'all':28} {found:6} {missed:6} {extra:6}")
    print(f"{len(chosen)} zones, {clean} of them without a finding, in {seconds:.1f} s")
    print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    with suppress(KeyboardInterrupt):
        main(sys.argv[1:])
