"""The canary: a look at the home page before, between and after engines.

It distinguishes a website that refuses a scan from a clean one.
"""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from dashboard_api.crawler.home_page import MAX_BYTES, HomePage, home_page_of
from foundation.addresses.hosts import covers
from foundation.outbound.deadline import Deadline
from foundation.outbound.fetch import FetchFailed, fetch
from foundation.outbound.names import localhost_port, origin_of
from foundation.outbound.protections import protection_of
from foundation.outbound.refusals import is_refusal
from foundation.outbound.tls import shows_another

_SECONDS = 20.0  # enough for a redirect and a page of a slow website
_WITHOUT_HTTPS = {"connect_failed", "tls_invalid"}  # reasons to try the next way


class Look(NamedTuple):
    """The facts about the home page, or the reason why the website cannot be scanned.

    ``protection`` is what seems to have sent a refusal; empty if that is unknown.
    """

    reason: str
    page: HomePage | None = None
    protection: str = ""


def look(host: str, address: str, agent: str = "", *, never: Sequence[str] = ()) -> Look:
    """Look at the home page: over https, else over https without a valid certificate, or over http.

    ``address`` is the resolved address of the scan; ``never`` lists
    opted-out hosts and address prefixes, to which redirects are not followed.
    """
    deadline = Deadline(_SECONDS)
    encrypted, plain = f"{origin_of(host)}/", f"http://{host}/"

    def look_at(url: str, *, verify: bool) -> Look:
        page = fetch(
            url,
            max_bytes=MAX_BYTES,
            deadline=deadline,
            verify=verify,
            agent=agent,
            pinned=[address],
            never=never,
        )
        if is_refusal(page):
            return Look("blocked", protection=protection_of(page))
        is_own = covers(host, urlsplit(page.url).hostname or "")
        return Look("", home_page_of(page, host)) if is_own else Look("redirected_away")

    try:
        return look_at(encrypted, verify=True)
    except FetchFailed as error:
        reason = error.reason
    if localhost_port(host) or reason not in _WITHOUT_HTTPS:
        return Look(reason)
    urls = [encrypted, plain] if reason == "tls_invalid" else [plain]
    if len(urls) > 1 and shows_another(host, address, deadline):
        urls.reverse()  # https shows another website, so http comes first
    for url in urls:
        try:
            return look_at(url, verify=False)
        except FetchFailed as error:
            if error.reason not in _WITHOUT_HTTPS:
                return Look(error.reason)
            if reason == "connect_failed":  # else https answered, and its reason counts
                reason = error.reason
    return Look(reason)
