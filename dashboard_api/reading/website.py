"""The counts of a whole website, cached in the process until its data changes."""

from datetime import date
from functools import cached_property
from threading import Lock
from typing import Any

from cachetools import LRUCache

from dashboard_api import limits
from dashboard_api.backends.statements import select
from dashboard_api.models.findings import Finding
from dashboard_api.models.revisions import TAGS
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading import grading
from dashboard_api.reading.answered import NO_ANSWERS, Answered
from dashboard_api.reading.cells import Counts, read_cells, read_days, read_open_days
from dashboard_api.reading.days import recent_weeks
from dashboard_api.reading.fix_times import read_fix_times
from dashboard_api.reading.matching import EVERYTHING, NO_FILTERS, Filters
from dashboard_api.reading.problems import read_problems
from signed_api import findings as contract
from signed_api.answers import ACCEPTED, ANSWERS, UNANSWERED

OPEN = Finding.Status.OPEN.value
NOT_ACCEPTED = Filters(answer=tuple(each for each in (UNANSWERED, *ANSWERS) if each != ACCEPTED))


class Website:
    """The counts of a website that are the same for every request."""

    def __init__(self, website_id: int, today: date) -> None:
        """Read all counts; the caller must have begun a snapshot."""
        self.cells = read_cells(website_id, EVERYTHING, NO_ANSWERS)
        self.days = read_days(website_id, recent_weeks(today)[0])
        self.open_days = read_open_days(website_id)
        self.problems = read_problems(website_id, OPEN, NO_FILTERS, EVERYTHING, NO_ANSWERS)
        self.fix_times = read_fix_times(website_id, today - limits.HISTORY_PERIOD)
        self.version: Any = None  # of the data
        # The problems to solve first; filled by the first response that shows them.
        self.to_do: list[contract.Problem] | None = None
        self.size = len(self.cells.cells) + len(self.days) + len(self.open_days) + len(self.problems)

    @cached_property
    def open(self) -> Counts:
        """The counts of all open findings."""
        return self.cells.counts(NO_FILTERS, OPEN)

    @cached_property
    def duplicates(self) -> grading.Levels:
        """The numbers of open findings by level that only repeat what another source reports."""
        return grading.count_duplicates(self.problems)


class WebsiteOfAccount:
    """The counts of a website that depend on the answers of an account."""

    def __init__(self, website_id: int, website: Website, answered: Answered) -> None:
        """Read all counts; the caller must have begun a snapshot."""
        self.cells = read_cells(website_id, EVERYTHING, answered)
        # Accepted risks are no problems to solve first.
        self.problems = website.problems
        if self.cells.by("answer", NO_FILTERS, OPEN)[ACCEPTED]:
            self.problems = read_problems(website_id, OPEN, NOT_ACCEPTED, EVERYTHING, answered)
        self.to_do: list[contract.Problem] | None = None  # as of the website
        self.size = len(self.cells.cells) + len(self.problems)


# By website id: the version of its data, and its counts
_kept: LRUCache[int, tuple[Any, Website]] = LRUCache(
    limits.MAX_KEPT_CELLS,
    getsizeof=lambda entry: entry[1].size + 1,  # a website without cells counts as well
)
# By link id
_kept_of_accounts: LRUCache[int, tuple[Any, WebsiteOfAccount]] = LRUCache(
    limits.MAX_KEPT_CELLS_OF_ACCOUNTS, getsizeof=lambda entry: entry[1].size + 1
)
_lock = Lock()
_TAGS = f"SELECT {TAGS.format(website='%s')}"  # constant text


def read_website(website_id: int, today: date) -> Website:
    """Return the website in the caller's snapshot, from memory if its data has not changed."""
    (tags,) = select(Finding, _TAGS, [website_id])  # read first, so the data is never older than its version
    version = (*tags, today)
    with _lock:
        kept = _kept.get(website_id)
    if kept:
        kept_version, website = kept
        if kept_version == version:
            return website
    website = Website(website_id, today)
    website.version = version
    if website.size < limits.MAX_KEPT_CELLS:
        with _lock:
            _kept[website_id] = (version, website)
    return website


def read_of_account(website: Website, link: AccountSite, answered: Answered) -> WebsiteOfAccount:
    """Return what depends on the account's answers, from memory if neither data nor answers changed."""
    version = (website.version, link.answers, answered.due)  # ``due`` contains the day
    with _lock:
        kept = _kept_of_accounts.get(link.pk)
    if kept:
        kept_version, of_account = kept
        if kept_version == version:
            return of_account
    of_account = WebsiteOfAccount(link.website_id, website, answered)
    if of_account.size < limits.MAX_KEPT_CELLS_OF_ACCOUNTS:
        with _lock:
            _kept_of_accounts[link.pk] = (version, of_account)
    return of_account


def clear() -> None:
    """Forget all websites; for tests and benchmarks."""
    with _lock:
        _kept.clear()
        _kept_of_accounts.clear()
