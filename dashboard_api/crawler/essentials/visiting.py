"""The website of a scan, and requests to it."""

from collections.abc import Sequence, Set
from typing import NamedTuple
from urllib.parse import urlsplit

from dashboard_api.crawler.essentials.lines import Incomplete
from foundation.addresses.hosts import covers
from foundation.outbound.deadline import Deadline
from foundation.outbound.fetch import Fetched, FetchFailed, fetch
from foundation.outbound.refusals import REFUSALS, is_refusal
from foundation.outbound.tls import shows_another

PAGE_BYTES = 1024**2  # of a response; the rest is not read


class Visit(NamedTuple):
    """The website of a scan, and the deadline, User-Agent and opt-outs that all requests share."""

    host: str
    address: str
    deadline: Deadline
    agent: str
    never: Sequence[str]


def home_page(visit: Visit) -> Fetched:
    """Return the home page by https, or by http where https is off or shows another website."""
    plain = f"http://{visit.host}/"
    if shows_another(visit.host, visit.address, visit.deadline):
        return page_of(plain, visit)
    try:
        return page_of(f"https://{visit.host}/", visit)
    except Incomplete as error:
        if str(error) not in ("connect_failed", "tls_invalid"):
            raise
    return page_of(plain, visit)


def page_of(url: str, visit: Visit) -> Fetched:
    """Return the home page; raise Incomplete, for example if it belongs to another website."""
    page = response_to(url, visit)
    if not covers(visit.host, urlsplit(page.url).hostname or ""):
        raise Incomplete("redirected_away")
    return page


def response_to(
    url: str,
    visit: Visit,
    *,
    refusals: Set[int] = REFUSALS,
    max_bytes: int = PAGE_BYTES,
    origin: str = "",
    addresses: Sequence[str] = (),
) -> Fetched:
    """Return the response, whatever the certificate; raise Incomplete on a failure or a refusal.

    ``addresses`` are those of the host of ``url``, by default of the scanned website.
    """
    try:
        response = fetch(
            url,
            max_bytes=max_bytes,
            deadline=visit.deadline,
            verify=False,
            agent=visit.agent,
            pinned=addresses or [visit.address],
            never=visit.never,
            origin=origin,
        )
    except FetchFailed as error:
        raise Incomplete(error.reason) from error
    if is_refusal(response, refusals):
        raise Incomplete("blocked")
    if response.status >= 500:
        raise Incomplete("server_error")
    return response
