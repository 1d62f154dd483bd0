"""Numbers that may be published, and their rounding: every number is a count of websites.

A cell is a set of websites. It is published only if it is large, belongs to several accounts, and no account
holds too much of it. Decision record 0124.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple

from dashboard_api.public.population import CountedWebsite, Population

MIN_WEBSITES = 15
MIN_ACCOUNTS = 5
MAX_SHARE_PERCENT = 40
TOO_FEW = "<15"
OTHER = "other"
LEAST = 20  # the smallest number that is published

Reason = Literal["few_websites", "few_accounts", "one_account", "too_few_others"]
_BASES = ((100, 10), (1_000, 50), (10_000, 100), (100_000, 500), (1_000_000, 1_000))


class Removed(NamedTuple):
    """A number that is not published: its cell, its websites, and why."""

    cell: str
    websites: int
    reason: Reason


def shortfall(websites: Population, *, at_least: int = MIN_WEBSITES) -> Reason | None:
    """Return why a cell of these websites must not be published; None if it may."""
    if len(websites) < at_least:
        return "few_websites"
    held = Counter(account for website in websites for account in website.accounts)
    if len(held) < MIN_ACCOUNTS:
        return "few_accounts"
    if max(held.values()) * 100 > MAX_SHARE_PERCENT * len(websites):
        return "one_account"
    return None


class Rounding:
    """The rounding of one week: to a multiple of a base, up or down by a secret share of each cell.

    The share is the same all week, so that days cannot be averaged, and no reader knows at which count
    the published number changes: one website more changes it with the probability 1 / base.
    """

    def __init__(self, key: bytes, week: str) -> None:
        self._key, self._week = key, week

    def rounded(self, cell: str, count: int) -> int:
        """Return the number to publish for a cell."""
        base = _base(count)
        digest = hmac.digest(self._key, f"{self._week} {cell}".encode(), hashlib.sha256)
        share = int.from_bytes(digest[:6], "big") * base >> 48
        return max((count + share) // base * base, LEAST)


def _base(count: int) -> int:
    """Return the step of rounding: of the rules of the US Census Bureau, above a million four digits."""
    for end, base in _BASES:
        if count < end:
            return base
    return int(10 ** (len(str(count)) - 4))


class Table:
    """The numbers of one document: the websites of each published cell, and what the rules removed."""

    def __init__(self, population: Population, rounding: Rounding) -> None:
        self.population, self.removed = population, list[Removed]()
        self.published: dict[str, Population] = {}
        self._rounding = rounding

    def total(self, cell: str) -> int | None:
        """Return the number of all websites."""
        return self._published(cell, self.population)

    def subset(self, cell: str, websites: Population) -> int | None:
        """Return the number of these websites, if the other websites are enough, too.

        Without that rule, "20 of 20 websites have it" would tell it of every customer.
        """
        if shortfall(websites) is None:
            members = {website.number for website in websites}
            others = [website for website in self.population if website.number not in members]
            if shortfall(others) is not None:
                self.removed.append(Removed(cell, len(websites), "too_few_others"))
                return None
        return self._published(cell, websites)

    def partition(self, cell: str, groups: Mapping[str, list[CountedWebsite]]) -> dict[str, int]:
        """Return the numbers of groups that together are all websites, with the small ones as ``other``.

        ``other`` has the groups that fail and as many next larger ones as it needs to be published itself: so
        no group can be found by subtraction. It is always there, at least with the smallest group: else it
        would appear with the first website of a group. The group without a name is always part of it.
        """
        filled = sorted((name for name in groups if groups[name]), key=lambda name: (len(groups[name]), name))
        failed: dict[str, Reason] = {
            name: shortfall(groups[name]) or "few_websites" for name in filled if not name
        }
        failed |= {name: reason for name in filled if (reason := shortfall(groups[name]))}
        shown = [name for name in filled if name not in failed]
        while shown and shortfall([website for name in failed for website in groups[name]]):
            failed[shown.pop(0)] = "too_few_others"
        self.removed += [Removed(f"{cell} {name}", len(groups[name]), failed[name]) for name in failed]
        others = [website for name in failed for website in groups[name]]
        parts = {name: groups[name] for name in sorted(shown)}
        if shortfall(others) is None:
            parts[OTHER] = others
        return {name: self._number(f"{cell} {name}", part) for name, part in parts.items()}

    def _published(self, cell: str, websites: Population) -> int | None:
        if reason := shortfall(websites):
            self.removed.append(Removed(cell, len(websites), reason))
            return None
        return self._number(cell, websites)

    def _number(self, cell: str, websites: Population) -> int:
        self.published[cell] = websites
        return self._rounding.rounded(cell, len(websites))
