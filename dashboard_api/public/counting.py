"""Counted websites, and the floor and the rounding of every published number."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from foundation.addresses.domains import registrable_domain
from foundation.texts.regions import WORLD

MIN_WEBSITES = 10
MIN_ACCOUNTS = 5
MAX_SHARE_PERCENT = 40
SEVERITIES = ("High", "Medium", "Low")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedWebsite:
    """A website that is counted, and what is open on it.

    ``open`` and ``categories`` say whether there is at least one open, confirmed finding, not the number.
    """

    number: int
    host: str
    accounts: frozenset[int]
    region: str = WORLD
    is_shown: bool = False  # in the feed
    grade: str = ""  # empty: none yet
    open: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()


Population = Sequence[CountedWebsite]


def is_crowd(websites: Population) -> bool:
    """Return whether the group hides its members: enough domains, enough accounts, no large account."""
    domains = {registrable_domain(website.host) or website.host for website in websites}
    held = Counter(account for website in websites for account in website.accounts)
    return (
        len(domains) >= MIN_WEBSITES
        and len(held) >= MIN_ACCOUNTS
        and max(held.values()) * 100 <= MAX_SHARE_PERCENT * len(websites)
    )


def published_number(websites: Population, population: Population) -> int | None:
    """Return the number to publish for a part of the population, or None.

    The other websites must be a crowd too: "20 of 20 have it" would tell it of every customer.
    """
    members = {website.number for website in websites}
    others = [website for website in population if website.number not in members]
    return rounded(len(websites)) if is_crowd(websites) and is_crowd(others) else None


def rounded(count: int) -> int:
    """Round down to two leading digits, and at least to tens."""
    step: int = 10 ** max(len(str(count)) - 2, 1)
    return count // step * step
