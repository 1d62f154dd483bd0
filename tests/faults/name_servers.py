"""A small DNS on loopback: a resolver and three servers of a zone, each of which can fail in its own way."""

import socket
import threading
from types import SimpleNamespace

from dnslib import AAAA, CNAME, NS, QTYPE, RCODE, RR, SOA, TXT, A, DNSError
from dnslib.server import DNSLogger, DNSServer

RESOLVER = "127.0.0.9"
ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
NEGATIVE_TTL = 300
_TYPES = {"A": A, "AAAA": AAAA, "CNAME": CNAME, "NS": NS}


class NameServers:
    """The servers of the zones in ``zones``; all answer from ``records`` and from their own ``records``.

    A server can be ``silent``, ``lame`` (without authority) or ``udp_only``. ``asked`` are the names that the
    servers of the zones were asked for. For as many questions as ``bogus`` says, the resolver refuses
    signatures. It answers from the records that it ``knows``.
    """

    def __init__(self):
        self.port = _free_port()
        self.servers = [SimpleNamespace(address=address) for address in ADDRESSES]
        self.reset()
        self._running = [self._run(RESOLVER, self._resolve, tcp) for tcp in (False, True)]
        for server in self.servers:
            self._running += [
                self._run(server.address, lambda *ask, own=server: self._answer(own, *ask), tcp)
                for tcp in (False, True)
            ]

    def reset(self):
        self.records, self.asked, self.bogus, self.broken, self.known = {}, [], 0, False, []
        self.zones = {"example.com": 3, "other.example.net": 1}
        for server in self.servers:
            server.records, server.silent, server.lame, server.udp_only = {}, False, False, False

    def add(self, name, *texts, kind="TXT"):
        self.records[name, kind] = list(texts)

    def knows(self, *lines):
        """Let the resolver know these records, as lines of a zone file."""
        self.known += [RR.fromZone(line)[0] for line in lines]

    def close(self):
        for server in self._running:
            server.shutdown()
            server.server_close()

    def _run(self, address, answer, tcp):
        wanted = SimpleNamespace(resolve=answer)
        server = DNSServer(wanted, address, self.port, tcp=tcp, logger=DNSLogger("-log")).server
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return server

    def _zone_of(self, name):
        return max(
            (zone for zone in self.zones if f".{name}".endswith(f".{zone}")), key=len, default="invalid"
        )

    def _resolve(self, request, handler):
        """Answer as a resolver does; ``broken`` answers nothing but SERVFAIL."""
        name, kind, reply = _question(request)
        zone = self._zone_of(name)
        number = name.removeprefix("ns").partition(".")[0]
        is_refused = self.bogus and kind != "DS" and not request.header.bitmap & 0x10  # DS is signed above
        if self.broken or is_refused:
            self.bogus -= 1
            reply.header.rcode = RCODE.SERVFAIL
        elif known := self._known(name, kind):
            for record in known:
                reply.add_answer(record)
            if kind != "CNAME" and all(record.rtype == QTYPE.CNAME for record in known):
                reply.header.rcode = RCODE.NXDOMAIN  # what they lead to does not exist
        elif kind == "NS" and name == zone:
            for count in range(self.zones[zone]):
                reply.add_answer(RR(name, QTYPE.NS, rdata=NS(f"ns{count}.{zone}")))
        elif kind == "A" and number.isdigit():
            reply.add_answer(RR(name, QTYPE.A, rdata=A(self.servers[int(number) % 3].address)))
        elif kind == "TXT" and zone != "invalid":
            pass
        else:
            reply.header.rcode = RCODE.NXDOMAIN
            _add_soa(reply, zone)
        return reply

    def _known(self, name, kind):
        types = {getattr(QTYPE, kind), QTYPE.CNAME}
        return [each for each in self.known if str(each.rname).rstrip(".") == name and each.rtype in types]

    def _answer(self, server, request, handler):
        name, _kind, reply = _question(request)
        self.asked.append(name)
        if server.silent or (server.udp_only and handler.protocol == "tcp"):
            raise DNSError("silence")
        records = self.records | server.records
        parent = name.partition(".")[2]
        names = {known for known, _ in records}
        source = name if name in names else f"*.{parent}"
        reply.header.aa = not server.lame
        for found in ("CNAME", "TXT"):
            for text in records.get((source, found)) or ():
                data = CNAME(text) if found == "CNAME" else TXT(text.split("|"))
                reply.add_answer(RR(name, getattr(QTYPE, found), rdata=data))
        if not reply.rr:
            if not any(known == name or known.endswith(f".{name}") for known in names):
                reply.header.rcode = RCODE.NXDOMAIN
            _add_soa(reply, self._zone_of(name))
        return reply


def _free_port():
    """Return a port that is free now, for all addresses of loopback."""
    with socket.socket() as probe:
        probe.bind((ADDRESSES[0], 0))
        return probe.getsockname()[1]


def _question(request):
    return str(request.q.qname).rstrip(".").lower(), QTYPE[request.q.qtype], request.reply(ra=0, aa=0)


def _add_soa(reply, zone):
    times = (1, 3600, 600, 86400, NEGATIVE_TTL)
    reply.add_auth(RR(zone, QTYPE.SOA, ttl=3600, rdata=SOA("ns0." + zone, "admin." + zone, times)))
