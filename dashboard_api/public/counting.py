"""Counted websites, and the rules for published numbers: their minimum and their rounding."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from foundation.addresses.domains import registrable_domain
from foundation.texts.regions import WORLD

# A crowd, see ``is_crowd``
MIN_WEBSITES = 10  # each of another domain
MIN_ACCOUNTS = 5
MAX_SHARE_PERCENT = 40  # of one account
SEVERITIES = ("High", "Medium", "Low")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedWebsite:
    """A counted website with the severities and categories of its open, confirmed findings."""

    number: int  # the id of the website; made up in the demo
    host: str
    accounts: frozenset[int]
    region: str = WORLD
    is_shown: bool = False  # in the feed
    grade: str = ""  # empty until the website has one
    open: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()


Population = Sequence[CountedWebsite]


def is_crowd(websites: Population) -> bool:
    """Return whether the group is large enough to hide its members.

    It needs enough domains and accounts, and no account may have a large share of it.
    """
    domains = {registrable_domain(website.host) or website.host for website in websites}
    websites_of = Counter(account for website in websites for account in website.accounts)
    return (
        len(domains) >= MIN_WEBSITES
        and len(websites_of) >= MIN_ACCOUNTS
        and max(websites_of.values()) * 100 <= MAX_SHARE_PERCENT * len(websites)
    )


def published_number(websites: Population, population: Population) -> int | None:
    """Return the number to publish for a part of the population, unless it would reveal a website.

    The other websites must be a crowd as well: "20 of 20 have it" would reveal it for each of them.
    """
    members = {website.number for website in websites}
    others = [website for website in population if website.number not in members]
    return rounded(len(websites)) if is_crowd(websites) and is_crowd(others) else None


def rounded(count: int) -> int:
    """Round down to two significant digits, and to a multiple of ten."""
    step: int = 10 ** max(len(str(count)) - 2, 1)
    return count // step * step
