"""Checks of SPF (RFC 7208): what the record, and all records that it includes, ask receivers to do."""

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, collapse_addresses

from dashboard_api.crawler.essentials.domain.site import Lookups, Site
from dashboard_api.crawler.essentials.domain.spf_record import (
    VERSION,
    Term,
    WrongRecord,
    has_macro,
    is_spf,
    parse,
)
from foundation.outbound.names import NoAddress

RULES = (
    *("spf-missing", "spf-invalid", "spf-loop", "spf-too-many-lookups"),
    *("spf-allows-everyone", "spf-wide-network", "spf-refuses-nobody"),
)
_MOST_LOOKUPS, _MOST_EMPTY = 10, 2  # by RFC 7208, 4.6.4
_COUNTED = 30  # lookups, then the rest is not read
_PERMIT = "+"
# No provider of mail has wider networks: a million addresses of IPv4, or all of a large internet provider.
_WIDE = {4: 12, 6: 28}
# Networks of which half of IPv4, or half of the part of IPv6 in use, is everyone.
_EVERYONE = {4: 2**31, 6: 2**124}
# Networks that no mail comes from: private, and of one machine.
_LOCAL_4 = tuple(map(IPv4Network, ("10.0.0.0/8", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_LOCAL_6 = tuple(map(IPv6Network, ("fc00::/7", "fe80::/10")))


class _Loop(Exception):
    """A record includes itself; the message has the way there."""


class _TooMany(Exception):
    """There are so many lookups that the rest does not matter."""


def check(site: Site) -> Iterator[tuple[str, str]]:
    """Check SPF as receivers do: the record of the domain, which must be the only one."""
    found = [text for text in site.lookups.texts(site.domain) if is_spf(text)]
    if len(found) != 1:
        reason = "No TXT record begins with" if not found else "Receivers ignore several records with"
        yield "spf-missing", f"{reason} {VERSION} at {site.domain}."
        return
    walk = _Walk(site.lookups)
    end, mistake = "-", ""
    try:
        end = walk.end_of(found[0], (site.domain,), is_permitted=True)
    except WrongRecord as error:
        mistake = str(error)
    except _Loop as error:
        yield "spf-loop", f"{found[0]}\n{error}."
    except _TooMany:
        pass
    if not mistake and len(walk.empty) > _MOST_EMPTY:
        mistake = f"Receivers accept two names without records, and not {', '.join(walk.empty)}"
    if mistake:
        yield "spf-invalid", f"{found[0]}\n{mistake}."
    if limits := walk.passed_limits():
        yield "spf-too-many-lookups", "\n".join([found[0], *limits])
    if end == _PERMIT or walk.permits_everyone():
        yield "spf-allows-everyone", "\n".join([found[0], *walk.why])
    elif wide := walk.wide_networks():
        yield "spf-wide-network", "\n".join([found[0], *wide])
    if end == "?":
        yield "spf-refuses-nobody", found[0]


class _Walk:
    """The way through a record of a receiver whose sender matches no server.

    ``why`` says where everyone is permitted, ``empty`` lists names without the records that were asked for,
    and ``crowded`` those with too many mail servers.
    """

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups
        self._networks: list[tuple[IPv4Network | IPv6Network, str]] = []
        self.lookups = 0
        self.empty: list[str] = []
        self.crowded: list[str] = []
        self.why: list[str] = []

    def end_of(self, text: str, way: tuple[str, ...], *, is_permitted: bool) -> str:
        """Return the qualifier that the sender gets, by ``all`` or by default.

        ``way`` are the domains up to that of the record. ``is_permitted`` means that all includes on this way
        permit who matches. Raises WrongRecord, _Loop, _TooMany and NoAddress.
        """
        try:
            record = parse(text)
        except WrongRecord as error:
            raise WrongRecord(f"At {way[-1]}: {error}") from error
        for term in record.terms:
            if term.name == "all":
                if term.qualifier == _PERMIT and is_permitted and len(way) > 1:
                    self.why.append(f"{' > '.join(way)}: {text}")
                return term.qualifier
            is_permit = is_permitted and term.qualifier == _PERMIT
            if term.needs_lookup:
                self._count()
            if term.name == "include":
                if has_macro(term.domain):
                    continue
                if self._included(term.domain, way, is_permitted=is_permit) == _PERMIT:
                    return term.qualifier  # everyone matches
                continue
            self._note_records(term, way[-1])
            if is_permit:
                self._note_networks(term, way)
        if record.redirect:
            self._count()
            if not has_macro(record.redirect):
                return self._included(record.redirect, way, is_permitted=is_permitted)
        return "?"

    def passed_limits(self) -> list[str]:
        """Return a line for each limit of lookups that is passed."""
        number = f"more than {_COUNTED}" if self.lookups > _COUNTED else self.lookups
        own = f"Receivers make {_MOST_LOOKUPS} lookups, and it needs {number}."
        of_mx = "{} has more than {} mail servers, and receivers look up no more."
        crowded = [of_mx.format(name, _MOST_LOOKUPS) for name in self.crowded]
        return [own, *crowded] if self.lookups > _MOST_LOOKUPS else crowded

    def permits_everyone(self) -> bool:
        """Return whether the permitted networks hold half of all addresses."""
        of_4 = collapse_addresses(each for each, _ in self._networks if isinstance(each, IPv4Network))
        of_6 = collapse_addresses(each for each, _ in self._networks if isinstance(each, IPv6Network))
        sizes = {4: sum(each.num_addresses for each in of_4), 6: sum(each.num_addresses for each in of_6)}
        versions = {version for version, limit in _EVERYONE.items() if sizes[version] >= limit}
        self.why += [why for each, why in self._networks if each.version in versions and _is_wide(each)]
        return bool(versions)

    def wide_networks(self) -> list[str]:
        """Return a line for each permitted network that is wider than those of any provider."""
        return [why for each, why in self._networks if _is_wide(each)]

    def _included(self, domain: str, way: tuple[str, ...], *, is_permitted: bool) -> str:
        name = domain.lower().rstrip(".")
        further = (*way, name)
        if name in way:
            raise _Loop(" > ".join(further))
        found = [text for text in self._lookups.texts(name) if is_spf(text)]
        if len(found) != 1:
            raise WrongRecord(f"At {way[-1]}: {name} has {'no' if not found else 'more than one'} SPF record")
        return self.end_of(found[0], further, is_permitted=is_permitted)

    def _count(self) -> None:
        self.lookups += 1
        if self.lookups > _COUNTED:
            raise _TooMany

    def _note_records(self, term: Term, own: str) -> None:
        """Note a name without the records that receivers ask for, or with too many."""
        name = term.domain or own
        if has_macro(name) or term.name not in ("a", "mx", "exists"):
            return
        with suppress(NoAddress):  # a name server of somebody else that fails now says nothing about SPF
            if term.name == "mx":
                number = len(self._lookups.records(name, "MX").values)
            else:
                number = int(self._lookups.has_address(name))
            if number > _MOST_LOOKUPS and name not in self.crowded:
                self.crowded.append(name)
            if not number and name not in self.empty:
                self.empty.append(name)

    def _note_networks(self, term: Term, way: tuple[str, ...]) -> None:
        networks: list[IPv4Network | IPv6Network] = [term.network] if term.network else []
        if term.name in ("a", "mx"):  # the size counts, not the place
            networks = [IPv4Network((0, term.prefixes[0])), IPv6Network((0, term.prefixes[1]))]
        self._networks += [
            (each, f"{' > '.join(way)}: {term.text}") for each in networks if not _is_local(each)
        ]


def _is_wide(network: IPv4Network | IPv6Network) -> bool:
    return network.prefixlen < _WIDE[network.version]


def _is_local(network: IPv4Network | IPv6Network) -> bool:
    if isinstance(network, IPv4Network):
        return any(network.subnet_of(each) for each in _LOCAL_4)
    return any(network.subnet_of(each) for each in _LOCAL_6)
