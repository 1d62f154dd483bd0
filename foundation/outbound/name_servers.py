"""DNS queries to the name servers of a customer's domain, and to our own resolvers."""

import socket
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdatatype
import dns.resolver
from django.conf import settings

from foundation.addresses.domains import registrable_domain
from foundation.outbound import sockets
from foundation.outbound.addresses import is_public
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.names import NoAddress

PORT = 53
MAX_SERVERS = 6  # addresses to query
_SECONDS = 2.0  # for one query over one protocol
_MAX_BYTES, _MAX_RECORDS, _MAX_COST = 32_768, 400, 2_000  # of a reply
_GOOD_CODES = {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}
_FAILURES = (dns.exception.DNSException, OSError, EOFError, DeadlinePassed, ValueError)
_COST_OF_NAME = 100  # in a record, because it may point to a long name; a TXT string costs 1
_COSTS: dict[int, int] = {
    **dict.fromkeys((dns.rdatatype.A, dns.rdatatype.AAAA, dns.rdatatype.CAA, dns.rdatatype.DS), 1),
    **dict.fromkeys((dns.rdatatype.CNAME, dns.rdatatype.MX, dns.rdatatype.NS), _COST_OF_NAME),
}
_UNCHECKED = dns.flags.CD  # asks a resolver not to check DNSSEC signatures
_POINTER = 0xC0  # such a byte, or a higher one, begins a two-byte pointer to the rest of a name
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Server:
    """One address of a name server of a zone."""

    name: str
    address: str


class Records(NamedTuple):
    """The records of one type for a name, from our resolvers.

    ``aliases`` are the targets of its CNAMEs, in their order. ``exists`` is false if the name, or the end of
    its CNAMEs, does not exist.
    """

    values: tuple[Any, ...]
    exists: bool
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReply:
    """The TXT records of a name, in the reply of one server of its zone."""

    server: Server
    texts: tuple[str, ...] = ()
    exists: bool = True  # the name exists, perhaps without a TXT record
    alias: str = ""  # target of its CNAME
    negative_ttl: int = 0  # seconds for which resolvers cache the absence of a record
    is_tcp: bool = True


def is_bogus(name: str, deadline: Deadline) -> bool:
    """Return whether our resolvers refuse the name because its DNSSEC signatures are wrong.

    Raises NoAddress if they do not answer, or if they fail for another or an unknown reason.
    """
    if _ask_resolvers(name, dns.rdatatype.TXT, deadline).rcode() != dns.rcode.SERVFAIL:
        return False
    records_of(name, "TXT", deadline)  # raises unless they answer without checking signatures
    is_signed = records_of(registrable_domain(name) or name, "DS", deadline).values
    # Ask for another type: resolvers cache failures.
    again = _ask_resolvers(name, dns.rdatatype.SOA, deadline).rcode()
    if not is_signed or again != dns.rcode.SERVFAIL:
        raise NoAddress("servers_silent")
    return True


def records_of(name: str, kind: str, deadline: Deadline) -> Records:
    """Return the records of a type, such as ``CAA``, without checking signatures; raise NoAddress."""
    wanted = dns.rdatatype.from_text(kind)
    try:
        reply = _ask_resolvers(name, wanted, deadline, flags=_UNCHECKED)
    except dns.exception.DNSException:  # an invalid name, such as one that is too long
        return Records((), exists=False)
    if reply.rcode() not in _GOOD_CODES:
        raise NoAddress("servers_silent")
    # A reply has sets of records: all of one type for one name.
    targets = {each.name: each[0].target for each in reply.answer if each.rdtype == dns.rdatatype.CNAME}
    aliases, last = [], reply.question[0].name
    while last in targets:  # popped, because CNAMEs may form a loop
        last = targets.pop(last)
        aliases.append(str(last).rstrip(".").lower())
    return Records(
        values=tuple(record for each in reply.answer if each.rdtype == wanted for record in each),
        exists=reply.rcode() == dns.rcode.NOERROR,
        aliases=tuple(aliases),
    )


def servers_of(name: str, deadline: Deadline) -> list[Server]:
    """Return at most 6 addresses of name servers for the zone of ``name``; raise NoAddress.

    A single private address is an error, unless ALLOW_PRIVATE_HOSTS is set.
    """
    names = _names_of_servers(name, deadline)[:MAX_SERVERS]
    addresses_by_server = _in_parallel(lambda server: _addresses(server, deadline), names)
    # First one address of each server, then the second ones, so that a limit leaves out no server.
    servers = [
        Server(server, address)
        for addresses in zip_longest(*addresses_by_server)
        for server, address in zip(names, addresses, strict=True)
        if address is not None
    ]
    if not servers:
        raise NoAddress("servers_silent")
    if not settings.ALLOW_PRIVATE_HOSTS and not all(is_public(server.address) for server in servers):
        raise NoAddress("private_address")
    return servers[:MAX_SERVERS]


def ask_servers(servers: Sequence[Server], name: str, deadline: Deadline) -> list[TextReply]:
    """Return the TXT replies of the servers that are authoritative for ``name``.

    Queries run in parallel: over TCP, because others cannot forge its replies, and over UDP if TCP fails.
    """
    replies = _in_parallel(lambda server: _ask_server(server, name, deadline), servers)
    return [reply for reply in replies if reply is not None]


def _names_of_servers(name: str, deadline: Deadline) -> list[str]:
    """Return the name servers of the closest enclosing zone, from ``name`` upwards."""
    zone = dns.name.from_text(name)
    while len(zone) > 2:  # the root counts as a label; no customer owns a top-level domain
        reply = _ask_resolvers(str(zone), dns.rdatatype.NS, deadline, flags=_UNCHECKED)
        if reply.rcode() not in _GOOD_CODES:
            raise NoAddress("servers_silent")
        servers = [
            str(each.target)
            for records in reply.answer
            if records.name == zone and records.rdtype == dns.rdatatype.NS
            for each in records
        ]
        if servers:
            return sorted(servers)
        zone = _zone_above(reply, zone)
    raise NoAddress("no_address")


def _zone_above(reply: dns.message.Message, name: dns.name.Name) -> dns.name.Name:
    """Return the enclosing zone by the reply's SOA record, else the parent name."""
    for records in reply.authority:
        if records.rdtype == dns.rdatatype.SOA and name != records.name and name.is_subdomain(records.name):
            return records.name
    return name.parent()


def _addresses(server: str, deadline: Deadline) -> list[str]:
    found: list[str] = []
    for kind in (dns.rdatatype.A, dns.rdatatype.AAAA):
        with suppress(NoAddress):
            reply = _ask_resolvers(server, kind, deadline, flags=_UNCHECKED)
            found += [
                str(each.address) for records in reply.answer if records.rdtype == kind for each in records
            ]
    return found


def _ask_resolvers(
    name: str, kind: dns.rdatatype.RdataType, deadline: Deadline, *, flags: int = 0
) -> dns.message.Message:
    """Return the first good reply of our resolvers, else the last failure reported; raise NoAddress."""
    question = dns.message.make_query(name, kind, use_edns=0, flags=dns.flags.RD | flags)
    failure = None
    for address, port in resolvers():
        with suppress(*_FAILURES):
            reply = _over_udp(question, address, port, deadline)
            if reply.rcode() in _GOOD_CODES:
                return reply
            failure = reply
    if failure is None:
        raise NoAddress("servers_silent")
    return failure


def resolvers() -> list[tuple[str, int]]:
    """Return the addresses and ports of DNS_RESOLVERS, else the system's resolvers."""
    if settings.DNS_RESOLVERS:
        return list(settings.DNS_RESOLVERS)
    try:
        return [(str(address), PORT) for address in dns.resolver.Resolver().nameservers]
    except dns.resolver.NoResolverConfiguration:
        return []


def _ask_server(server: Server, name: str, deadline: Deadline) -> TextReply | None:
    """Return the server's reply, if it is authoritative."""
    try:
        question = dns.message.make_query(name, dns.rdatatype.TXT, use_edns=0, flags=0)
    except dns.exception.DNSException:  # an invalid name, such as one that is too long
        return None
    try:
        reply, is_tcp = _over_tcp(question, server.address, PORT, deadline), True
    except _FAILURES:
        try:
            reply, is_tcp = _over_udp(question, server.address, PORT, deadline), False
        except _FAILURES:
            return None
    is_authoritative = reply.flags & dns.flags.AA
    if not is_authoritative or reply.rcode() not in _GOOD_CODES:
        return None
    asked = question.question[0].name
    own = [records for records in reply.answer if records.name == asked]
    return TextReply(
        server=server,
        texts=tuple(
            text_of(each) for records in own if records.rdtype == dns.rdatatype.TXT for each in records
        ),
        exists=reply.rcode() == dns.rcode.NOERROR,
        alias=next(
            (str(records[0].target) for records in own if records.rdtype == dns.rdatatype.CNAME), ""
        ).rstrip("."),
        negative_ttl=_negative_ttl(reply),
        is_tcp=is_tcp,
    )


def text_of(record: Any) -> str:
    """Return the text of a TXT record: its strings joined."""
    return b"".join(record.strings).decode("utf-8", "replace")


def _negative_ttl(reply: dns.message.Message) -> int:
    for records in reply.authority:
        if records.rdtype == dns.rdatatype.SOA:
            return min(int(records.ttl), int(records[0].minimum))
    return 0


def _over_tcp(
    question: dns.message.Message, address: str, port: int, deadline: Deadline
) -> dns.message.Message:
    query_deadline = Deadline(min(_SECONDS, deadline.remaining()))
    with sockets.connect_to_name_server(address, port, query_deadline.remaining()) as connection:
        wire = question.to_wire()
        connection.sendall(len(wire).to_bytes(2) + wire)  # over TCP, its length precedes a message
        size = int.from_bytes(_received(connection, 2, query_deadline))
        if size > _MAX_BYTES:
            raise ValueError("the reply is too long")
        return _message(question, _received(connection, size, query_deadline))


def _received(connection: socket.socket, size: int, query_deadline: Deadline) -> bytes:
    """Return exactly ``size`` bytes."""
    wire = b""
    while len(wire) < size:
        connection.settimeout(query_deadline.remaining())
        part = connection.recv(size - len(wire))
        if not part:
            raise EOFError
        wire += part
    return wire


def _over_udp(
    question: dns.message.Message, address: str, port: int, deadline: Deadline
) -> dns.message.Message:
    """Query over UDP, and over TCP if the reply is truncated; a closed port fails at once."""
    query_deadline = Deadline(min(_SECONDS, deadline.remaining()))
    with sockets.datagrams_to_name_server(address, port) as connection:
        connection.send(question.to_wire())
        while True:  # skip packets that do not answer this query: anyone can send them
            connection.settimeout(query_deadline.remaining())
            wire = connection.recv(65_535)
            try:
                return _message(question, wire)
            except dns.message.Truncated as error:
                if question.is_response(error.message()):  # type: ignore[no-untyped-call]
                    return _over_tcp(question, address, port, deadline)
            except (dns.exception.DNSException, ValueError):
                pass


def _message(question: dns.message.Message, wire: bytes) -> dns.message.Message:
    """Parse the reply in ``wire``; raise a DNSException, or ValueError if parsing costs too much.

    dnspython parses thousands of long names for half a minute, and no deadline interrupts it.
    """
    # The header says how many questions it has, and how many records in each of three sections.
    counts = [int.from_bytes(wire[at : at + 2]) for at in (4, 6, 8, 10)]
    if len(wire) > _MAX_BYTES or sum(counts) > _MAX_RECORDS or _cost(wire, *counts) > _MAX_COST:
        raise ValueError("the reply is too long")
    reply = dns.message.from_wire(wire, raise_on_truncation=True)
    if not question.is_response(reply):
        raise dns.query.BadResponse
    return reply


def _cost(wire: bytes, questions: int, *records: int) -> int:
    """Estimate the cost of parsing the records in ``wire``, up to where it is truncated or damaged."""
    cost, at = 0, 12  # after the header
    with suppress(IndexError):
        for _ in range(questions):
            at = _end_of_name(wire, at) + 4  # type and class
        for _ in range(sum(records)):
            at = _end_of_name(wire, at) + 10  # type, class, TTL, and the size of the data
            kind, size = int.from_bytes(wire[at - 10 : at - 8]), int.from_bytes(wire[at - 2 : at])
            end = at + size
            if kind != dns.rdatatype.TXT:  # assume two names, as in SOA, and more in longer records
                cost += _COSTS.get(kind, 2 * _COST_OF_NAME * (1 + size // 255))
            else:
                while at < end:  # each string of the TXT record, after a byte with its length
                    at, cost = at + 1 + wire[at], cost + 1
            at = end
    return cost


def _end_of_name(wire: bytes, at: int) -> int:
    """Return the place after the name at ``at``, which ends with a zero byte or a pointer."""
    while 0 < wire[at] < _POINTER:
        at += 1 + wire[at]
    return at + (2 if wire[at] >= _POINTER else 1)


def _in_parallel(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    with ThreadPoolExecutor(max_workers=MAX_SERVERS) as threads:
        return list(threads.map(function, items))
