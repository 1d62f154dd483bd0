"""Masks of domains in the live feed: as much of a name and a region as a crowd of websites shares.

The pair of mask and region is published only if it fits several counted websites. Decision record 0124.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import idna

from dashboard_api.public.cells import shortfall
from dashboard_api.public.population import CountedWebsite, Population
from foundation.domains import registrable_domain, registry_suffix
from foundation.regions import broader

HIDDEN = "•••••"  # always five, whatever the length of the name
MIN_HIDDEN = 4
MIN_CROWD = 10
# Suffixes open to anyone, in addition to those of countries. Others may name a company or a city.
OPEN_SUFFIXES = frozenset(
    (
        "com",
        "net",
        "org",
        "info",
        "biz",
        "name",
        "pro",
        "app",
        "dev",
        "shop",
        "store",
        "online",
        "site",
        "xyz",
    )
)


class Mask(NamedTuple):
    """The part of a name and a region that is published; a higher ``coarseness`` says less."""

    coarseness: int
    domain: str
    region: str


class Crowds:
    """The masks that fit enough of the counted websites."""

    def __init__(self, population: Population) -> None:
        fitting: Mapping[Mask, list[CountedWebsite]] = defaultdict(list)
        self._masks = {website.number: _masks(website) for website in population}
        for website in population:
            for mask in self._masks[website.number]:
                fitting[mask].append(website)
        self._allowed = {mask for mask, websites in fitting.items() if _is_crowd(websites)}

    def mask_of(self, website: CountedWebsite, *, at_least: int = 0) -> Mask | None:
        """Return the finest allowed mask that is no finer than ``at_least``; None if there is none."""
        masks = self._masks[website.number]
        return next((each for each in masks if each.coarseness >= at_least and each in self._allowed), None)


def _is_crowd(websites: Population) -> bool:
    """Return whether these are enough domains of enough accounts, of which none has too many.

    Hosts below one domain count once: ten of them would still name their owner.
    """
    domains = {registrable_domain(website.host) or website.host for website in websites}
    return len(domains) >= MIN_CROWD and shortfall(websites, at_least=MIN_CROWD) is None


def _masks(website: CountedWebsite) -> list[Mask]:
    """Return the masks of a website, the finest first; the region becomes coarser before the name does."""
    around = broader(website.region)
    regions = (around[0], around[max(len(around) - 2, 0)], around[-1])
    return [
        Mask(3 * level + place, domain, region)
        for level, domain in enumerate(_domains(website))
        if domain
        for place, region in enumerate(regions)
    ]


def _domains(website: CountedWebsite) -> tuple[str, str, str]:
    """Return the masks of the name: with its first letter, with its suffix, and without either."""
    suffix = registry_suffix(website.host)
    if suffix is None or suffix == website.host:  # the name itself is a suffix
        return "", "", HIDDEN
    top = suffix.rpartition(".")[2]
    shown = _unicode(suffix) if len(top) == 2 or top in OPEN_SUFFIXES else ""
    letter = _first_letter(website.host, suffix) if website.is_named else ""
    return (
        f"{letter}{HIDDEN}.{shown}" if letter and shown else "",
        f"{HIDDEN}.{shown}" if shown else "",
        HIDDEN,
    )


def _first_letter(host: str, suffix: str) -> str:
    """Return the first letter of a registered name; empty if it is short, or is below a company's suffix."""
    name = host.removesuffix(f".{suffix}").rpartition(".")[2]
    label = _unicode(name)
    if registrable_domain(host) != f"{name}.{suffix}" or len(label) <= MIN_HIDDEN:
        return ""
    return label[0] if unicodedata.category(label[0])[0] in "LN" else ""


def _unicode(name: str) -> str:
    """Return a name as people read it; empty if it cannot be decoded."""
    try:
        return idna.decode(name)
    except idna.IDNAError:
        return ""
