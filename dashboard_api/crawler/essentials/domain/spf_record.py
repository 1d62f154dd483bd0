"""The syntax of SPF records (RFC 7208): terms, read without any query."""

import re
from ipaddress import IPv4Network, IPv6Network
from typing import NamedTuple

VERSION = "v=spf1"
_DIRECTIVE = re.compile(r"([+?~-]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::(.*)|(/.*))?", re.IGNORECASE)
_MODIFIER = re.compile(r"([a-z][a-z0-9_.-]*)=(.*)", re.IGNORECASE)
_MACRO = r"%\{[slodiphv][0-9]*r?[-.+,/_=]*\}"  # c, r and t are only for texts of explanations
_MACRO_STRING = re.compile(rf"([!-$&-~]|%%|%_|%-|{_MACRO})*", re.IGNORECASE)
_DOMAIN_END = re.compile(rf"({_MACRO}|\.(?![0-9]+\.?$)[a-z0-9]([a-z0-9-]*[a-z0-9])?\.?)$", re.IGNORECASE)
_PREFIX = {4: r"0|[1-9]|[12][0-9]|3[0-2]", 6: r"0|[1-9][0-9]?|1[01][0-9]|12[0-8]"}
_PREFIXES = re.compile(rf"(/({_PREFIX[4]}))?(//({_PREFIX[6]}))?")
_WITHOUT_DOMAIN = {"a", "mx", "ptr"}  # the domain of these is that of the record, if they name none


class WrongRecord(ValueError):
    """A record that receivers cannot read; the message says why."""


class Term(NamedTuple):
    """A directive, such as ``-all``; ``prefixes`` are the sizes of its networks by IP version."""

    text: str
    qualifier: str
    name: str
    domain: str = ""
    prefixes: tuple[int, int] = (32, 128)
    network: IPv4Network | IPv6Network | None = None

    @property
    def needs_lookup(self) -> bool:
        """Whether receivers must ask for records, which they do only ten times."""
        return self.name not in ("all", "ip4", "ip6")


class SpfRecord(NamedTuple):
    """The directives of a record in their order, and the domain of its ``redirect``, if any."""

    terms: tuple[Term, ...]
    redirect: str


def is_spf(text: str) -> bool:
    """Return whether a TXT record is one of SPF: the version is a whole word, or the whole record."""
    return f"{text} ".lower().startswith(f"{VERSION} ")


def has_macro(domain: str) -> bool:
    """Return whether a domain depends on the mail, so that it cannot be asked for."""
    return "%" in domain


def parse(text: str) -> SpfRecord:
    """Return the terms of a record; raise WrongRecord."""
    terms, modifiers = [], dict[str, str]()
    for word in text[len(VERSION) :].split(" "):
        if not word:
            continue
        if modifier := _MODIFIER.fullmatch(word):
            name, value = modifier[1].lower(), modifier[2]
            if name in ("redirect", "exp"):
                if name in modifiers:
                    raise WrongRecord(f"{name} occurs twice")
                _check_domain(value, word)
            elif not _MACRO_STRING.fullmatch(value):
                raise WrongRecord(f"“{word}” has a wrong macro")
            modifiers[name] = value
        else:
            terms.append(_term(word))
    return SpfRecord(tuple(terms), modifiers.get("redirect", ""))


def _term(word: str) -> Term:
    directive = _DIRECTIVE.fullmatch(word)
    if directive is None:
        raise WrongRecord(f"“{word}” is not a part of SPF")
    qualifier, name, domain, sizes = (
        directive[1] or "+",
        directive[2].lower(),
        directive[3],
        directive[4] or "",
    )
    if name in ("ip4", "ip6"):
        return Term(word, qualifier, name, network=_network(name, word, domain or ""))
    if name in ("a", "mx") and domain is not None:
        domain, sizes = _without_sizes(domain)
    elif sizes and name not in ("a", "mx"):
        raise WrongRecord(f"“{word}”: {name} has no network")
    if name == "all":
        if domain is not None:
            raise WrongRecord(f"“{word}”: all has no value")
        return Term(word, qualifier, name)
    if domain is None and name not in _WITHOUT_DOMAIN:
        raise WrongRecord(f"“{word}” names no domain")
    if domain is not None:
        _check_domain(domain, word)
    prefixes = _PREFIXES.fullmatch(sizes)
    if prefixes is None:
        raise WrongRecord(f"“{word}” has a wrong size of a network")
    by_version = int(prefixes[2] or 32), int(prefixes[4] or 128)
    return Term(word, qualifier, name, domain=domain or "", prefixes=by_version)


def _without_sizes(text: str) -> tuple[str, str]:
    """Cut the sizes of networks off the end of a domain, which may have a slash itself."""
    end = re.search(r"(/[0-9]+)?(//[0-9]+)?$", text)
    return (text[: end.start()], end[0]) if end else (text, "")


def _network(name: str, word: str, value: str) -> IPv4Network | IPv6Network:
    kind, version = (IPv4Network, 4) if name == "ip4" else (IPv6Network, 6)
    _, slash, prefix = value.partition("/")
    wrong = WrongRecord(f"“{word}” has a wrong address or network")
    if slash and not re.fullmatch(_PREFIX[version], prefix):  # Python also reads other sizes
        raise wrong
    try:
        return kind(value, strict=False)
    except ValueError as error:
        raise wrong from error


def _check_domain(domain: str, word: str) -> None:
    if not _MACRO_STRING.fullmatch(domain) or not _DOMAIN_END.search(domain):
        raise WrongRecord(f"“{word}” names no domain that can exist")
