"""The search for a claim's token in DNS, at the name servers of its domain."""

import ipaddress
import re
import secrets
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership.advice import advice_for
from dashboard_api.ownership.checking import CheckResult, shown_texts
from dashboard_api.ownership.claims import Verdict
from foundation.addresses.domains import registrable_domain
from foundation.addresses.hosts import MAX_HOST_LENGTH
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.name_servers import Server, TextReply, ask_servers, is_bogus, servers_of
from foundation.outbound.names import NoAddress

LABEL = "_threat-dashboard-challenge"
SECONDS = 6.0  # so that a silent server leaves time for the other places
_MAX_ALIASES = 5  # CNAMEs that are followed
# Outcomes after which the token may still be there.
_NOT_ASKED = {"servers_silent", "private_address", "dnssec_bogus"}


class Proof(NamedTuple):
    """A token that proves the website, and the host with its record."""

    host: str
    token: str


class _Reading(NamedTuple):
    outcome: str
    found: Sequence[str] = ()


def has_record(host: str) -> bool:
    """Return whether ``host`` can have a record: no IP address, and no single, local or very long name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        is_name = "." in host and not host.endswith(".localhost")
        return is_name and len(record_name(host)) <= MAX_HOST_LENGTH
    return False


def record_name(host: str) -> str:
    """Return the name of the TXT record that proves ``host``."""
    return f"{LABEL}.{host}"


def relative_name(host: str) -> str:
    """Return the name of the record for panels that add the domain themselves."""
    domain = registrable_domain(host) or ".".join(host.split(".")[-2:])
    return record_name(host).removesuffix(f".{domain}")


def look_in_dns(host: str, token: str, *, deadline: Deadline, parents: Iterable[Proof] = ()) -> CheckResult:
    """Look in DNS for ``parents``, the proofs of names above the host, then for the token of the claim.

    Parents come first, because a slow server leaves little time for the rest. If a parent could not be
    looked up, the proof does not count as missing.
    """
    look = _Look(Deadline(min(SECONDS, _seconds_left(deadline))))
    readings: list[_Reading] = []
    proofs = [*((parent, True) for parent in parents), (Proof(host, token), False)]
    for proof, is_parent in proofs:
        readings.append(look.read(proof, is_parent=is_parent))
        if readings[-1].outcome == "found":
            break
    reading = readings[-1]
    if reading.outcome not in _NOT_ASKED | {"found"}:
        reading = next((each for each in readings if each.outcome in _NOT_ASKED), reading)
    verdict = Verdict.NOT_ASKED if reading.outcome in _NOT_ASKED else Verdict.MISSING
    is_found = reading.outcome == "found"
    return CheckResult(
        outcome=reading.outcome,
        verdict=Verdict.FOUND if is_found else verdict,
        expected=token,
        found=shown_texts(reading.found),
        asked=tuple(look.asked),
        advice=advice_for(OwnershipClaim.Method.DNS, reading.outcome, ""),
        strength=OwnershipClaim.Strength.DNS if is_found else "",
    )


def _seconds_left(deadline: Deadline) -> float:
    try:
        return deadline.remaining()
    except DeadlinePassed:
        return 0.0


class _Look:
    """One look: several queries with one deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self.asked: list[str] = []

    def read(self, proof: Proof, *, is_parent: bool = False) -> _Reading:
        name = record_name(proof.host)
        try:
            if is_bogus(name, self._deadline):
                return _Reading("dnssec_bogus", [name])
            reading, servers = self._follow(name, proof.token)
            if reading.outcome == "found":
                return reading._replace(found=[f"{name}: {proof.token}"] if is_parent else [proof.token])
            if is_parent or reading.outcome not in {"name_missing", "no_txt", "other_value"}:
                return reading
            return self._look_elsewhere(proof, servers) or reading
        except NoAddress as error:
            outcome = "name_missing" if error.reason == "no_address" else error.reason
            return _Reading(outcome)
        except DeadlinePassed:
            return _Reading("servers_silent")

    def _follow(self, name: str, token: str) -> tuple[_Reading, list[Server]]:
        """Return the reading at the end of the CNAMEs of ``name``, and the servers of its own zone."""
        own_servers: list[Server] = []
        for _ in range(_MAX_ALIASES + 1):
            servers = servers_of(name, self._deadline)
            own_servers = own_servers or servers  # of the first name, before any CNAME
            replies = ask_servers(servers, name, self._deadline)
            self.asked += [f"{name} @ {server.name.rstrip('.')} ({server.address})" for server in servers]
            alias = _majority_of([reply.alias for reply in replies])
            if not alias:
                return _reading_of(replies, servers, token), own_servers
            if self._is_wildcard(servers, name, alias):
                return _Reading("wildcard", [f"*.{name.partition('.')[2]} CNAME {alias}"]), own_servers
            name = alias
        return _Reading("no_txt", [f"more than {_MAX_ALIASES} CNAME records"]), own_servers

    def _is_wildcard(self, servers: Sequence[Server], name: str, alias: str) -> bool:
        """Return whether a random name next to ``name`` leads to the same place."""
        sibling = f"_{secrets.token_hex(8)}.{name.partition('.')[2]}"
        return any(reply.alias == alias for reply in ask_servers(servers[:2], sibling, self._deadline))

    def _look_elsewhere(self, proof: Proof, servers: Sequence[Server]) -> _Reading | None:
        """Return the reading at a usual wrong place, if the token was put there by mistake."""
        host = proof.host
        for name in (
            f"{LABEL}.{host}.{host}",
            host,
            record_name(f"www.{host}"),
            f"{LABEL.removeprefix('_')}.{host}",
        ):
            replies = ask_servers(servers[:2], name, self._deadline)
            if any(_has_token(text, proof.token) for reply in replies for text in reply.texts):
                return _Reading("wrong_place", [f"{name}: {proof.token}"])
        return None


def _reading_of(replies: Sequence[TextReply], servers: Sequence[Server], token: str) -> _Reading:
    """Return the answer of the majority of replies; a single reply over UDP is not enough."""
    if not replies:
        return _Reading("servers_silent", [f"{_server_text(server)}: no answer" for server in servers])
    if len(replies) == 1 and not replies[0].is_tcp:
        return _Reading("servers_silent", [f"{_server_text(replies[0].server)}: no answer over TCP"])
    with_token = [reply for reply in replies if any(_has_token(text, token) for text in reply.texts)]
    if 2 * len(with_token) > len(replies):
        return _Reading("found", [token])
    if with_token:
        has = {True: "has the token", False: "does not have the token"}
        lines = [f"{_server_text(reply.server)}: {has[reply in with_token]}" for reply in replies]
        return _Reading("partly_published", lines)
    texts = list(dict.fromkeys(text for reply in replies for text in reply.texts))
    if texts:
        return _Reading("other_value", texts)
    if any(reply.exists for reply in replies):
        return _Reading("no_txt")
    seconds = max(reply.negative_ttl for reply in replies)
    return _Reading("name_missing", [f"no such name (resolvers remember this for {seconds} s)"])


def _server_text(server: Server) -> str:
    return f"{server.name.rstrip('.')} ({server.address})"


def _majority_of(aliases: Sequence[str]) -> str:
    """Return the target that more than half of the servers name; empty without such a majority."""
    return next((each for each in set(aliases) if each and 2 * aliases.count(each) > len(aliases)), "")


def _has_token(text: str, token: str) -> bool:
    """Return whether a part of the text is the token: alone, in quotation marks, or as ``token=...``."""
    parts = re.split(r"[\s;,]+", text.strip())
    return token in {part.strip("\"'").removeprefix("token=").strip("\"'") for part in parts}
