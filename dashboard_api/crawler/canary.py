"""The canary: a look at the home page before, between and after engines.

It distinguishes a website that refuses a scan from a clean one. Decision record 0117.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from foundation.deadline import Deadline
from foundation.hosts import covers
from foundation.outbound.fetch import Fetched, FetchFailed, fetch
from foundation.outbound.names import localhost_port, origin_of
from foundation.outbound.refusals import MAX_BYTES, is_refusal

_SECONDS = 6.0  # shorter than a cancellation may take


def look(host: str, address: str, agent: str = "", *, never: Sequence[str] = ()) -> str:
    """Return an empty text if the website answers as itself, else the reason why it cannot be scanned.

    ``address`` is the checked one at which it is scanned, and ``never`` those of ``policy.never_scanned``.
    """
    deadline = Deadline(_SECONDS)
    try:
        return _judged(host, _fetch(f"{origin_of(host)}/", address, deadline, agent, never))
    except FetchFailed as error:
        if error.reason not in ("connect_failed", "tls_invalid") or localhost_port(host):
            return error.reason
    try:  # a website without https
        return _judged(host, _fetch(f"http://{host}/", address, deadline, agent, never))
    except FetchFailed as error:
        return error.reason


def _fetch(url: str, address: str, deadline: Deadline, agent: str, never: Sequence[str]) -> Fetched:
    return fetch(
        url, max_bytes=MAX_BYTES, deadline=deadline, verify=False, agent=agent, pinned=[address], never=never
    )


def _judged(host: str, page: Fetched) -> str:
    if is_refusal(page):
        return "blocked"
    return "" if covers(host, urlsplit(page.url).hostname or "") else "redirected_away"
