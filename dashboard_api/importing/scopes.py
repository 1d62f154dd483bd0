"""The scope of a report: its targets, rules and category."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from dashboard_api.importing.locations import DEFAULT_PORTS

_MAX_NAMED_FAILURES = 10_000  # rules and locations of failed checks, which are kept in memory


def target_of(location: str) -> str:
    """Return host and port of a normalised location; only the host if the port is unknown."""
    scheme, mark, rest = location.partition("://")
    if not mark or "/" in scheme:  # without a scheme; "://" may be in the path
        scheme, rest = "", location
    return _target(scheme, rest.partition("/")[0])


@lru_cache(maxsize=1024)  # rows share a few targets
def _target(scheme: str, authority: str) -> str:
    port = DEFAULT_PORTS.get(scheme)
    has_port = _host(authority) != authority
    return authority if port is None or has_port else f"{authority}:{port}"


def _host(target: str) -> str:
    """Return the host of a target, with the brackets of an IPv6 address."""
    host, _, port = target.rpartition(":")
    return host if port.isdecimal() and host else target


def _port(target: str) -> str:
    return target[len(_host(target)) + 1 :]


class Targets:
    """A set of hosts and ports. A host without a port, on either side, matches every port of the host."""

    def __init__(self, targets: Iterable[str] = ()) -> None:
        self._targets = set(targets)
        self._hosts = set(map(_host, self._targets))

    def add(self, target: str) -> None:
        """Include ``target``."""
        if target not in self._targets:
            self._targets.add(target)
            self._hosts.add(_host(target))

    def without_names(self) -> "Targets":
        """Return the targets without plain hosts that are also listed with ports."""
        hosts = {_host(target) for target in self._targets if _port(target)}
        return Targets(self._targets - hosts)

    def __contains__(self, target: str) -> bool:
        host = _host(target)
        return target in self._targets or host in self._targets or (host == target and host in self._hosts)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._targets))

    def __bool__(self) -> bool:
        return bool(self._targets)


@dataclass(slots=True, kw_only=True)
class Scope:
    """The targets, rules and category of a report; complete after the last row."""

    category: str = ""
    targets: Targets = field(default_factory=Targets)
    checks: set[str] | None = None  # the rules that ran; unset: all
    ports: set[str] | None = None  # that were scanned, at every target; unset: all
    rule_separators: str = "/"
    # Targets where a rule failed, by rule; where every rule failed, by "".
    failed: dict[str, Targets] = field(default_factory=lambda: defaultdict(Targets))
    failed_locations: set[str] = field(default_factory=set)  # where every rule failed, and only there
    named_failures: int = 0  # failed rules at a target, and failed locations

    def add_target(self, target: str) -> None:
        """Include ``target``, and its port if it has one."""
        self.targets.add(target)
        if self.ports is not None and (port := _port(target)):
            self.ports.add(port)

    def add_failure(self, target: str, rules: tuple[str, ...]) -> None:
        """Exclude failed or skipped ``rules`` at ``target``; every rule if they are unnamed or too many."""
        self.named_failures += len(rules)
        are_kept = rules and self.named_failures <= _MAX_NAMED_FAILURES
        for rule in rules if are_kept else ("",):
            self.failed[rule].add(target)

    def add_failed_location(self, location: str) -> None:
        """Exclude this location, or its whole target if the report names too many."""
        self.named_failures += 1
        if self.named_failures > _MAX_NAMED_FAILURES:
            self.failed[""].add(target_of(location))
        else:
            self.failed_locations.add(location)

    def covers(self, *, rule: str, location: str, category: str) -> bool:
        """Return whether the report would have listed a finding of ``rule`` at ``location``."""
        target = target_of(location)
        if category != self.category or target not in self.targets or location in self.failed_locations:
            return False
        if self.ports is not None and (port := _port(target)) and port not in self.ports:
            return False
        names = [rule, *_parents(rule, self.rule_separators)]
        if self.checks is not None and self.checks.isdisjoint(names):
            return False
        # self.failed[name] alone would add the name.
        return not any(target in self.failed[name] for name in ("", *names) if name in self.failed)


def _parents(rule: str, separators: str) -> Iterator[str]:
    """Yield the rules that include ``rule``: for BEAST_CBC_TLS1, BEAST_CBC and BEAST."""
    for end in range(len(rule) - 1, 0, -1):
        if rule[end] in separators:
            yield rule[:end]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A scan as proof of absence in ``scope`` at ``absent_at``; None if it proves no absence."""

    scope: Scope
    absent_at: datetime | None
