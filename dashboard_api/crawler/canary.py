"""The canary: a look at the home page before, between and after engines.

It distinguishes a website that refuses a scan from a clean one. Decision record 0117.
"""

from collections.abc import Set
from urllib.parse import urlsplit

from foundation.deadline import Deadline
from foundation.hosts import covers
from foundation.outbound.fetch import Fetched, FetchFailed, fetch
from foundation.outbound.names import localhost_port, origin_of

_SECONDS = 6.0  # shorter than a cancellation may take
_BYTES = 32 * 1024
REFUSALS = frozenset({401, 403, 406, 429, 503})
# The beginnings of pages that test whether a browser asks, in lower case.
_CHALLENGES = (
    b"<title>just a moment...</title>",
    b"<title>attention required! | cloudflare</title>",
    b"<title>ddos-guard</title>",
    b"/_incapsula_resource",
    b"_sec/cp_challenge",
    b"window.awswafcookiedomainlist",
)


def look(host: str, address: str, agent: str = "") -> str:
    """Return an empty text if the website answers as itself, else the reason why it cannot be scanned.

    ``address`` is the checked one at which it is scanned.
    """
    deadline = Deadline(_SECONDS)
    try:
        return _judged(host, _fetch(f"{origin_of(host)}/", address, deadline, agent))
    except FetchFailed as error:
        if error.reason not in ("connect_failed", "tls_invalid") or localhost_port(host):
            return error.reason
    try:  # a website without https
        return _judged(host, _fetch(f"http://{host}/", address, deadline, agent))
    except FetchFailed as error:
        return error.reason


def _fetch(url: str, address: str, deadline: Deadline, agent: str) -> Fetched:
    return fetch(url, max_bytes=_BYTES, deadline=deadline, verify=False, agent=agent, pinned=[address])


def is_refusal(page: Fetched, statuses: Set[int] = REFUSALS) -> bool:
    """Return whether a response refuses the scan, or tests for a browser."""
    if page.status in statuses or "cf-mitigated" in page.headers:
        return True
    start = page.body[:_BYTES].lower()
    return any(challenge in start for challenge in _CHALLENGES)


def _judged(host: str, page: Fetched) -> str:
    if is_refusal(page):
        return "blocked"
    return "" if covers(host, urlsplit(page.url).hostname or "") else "redirected_away"
