"""The canary: a look at the home page before, between and after engines.

It distinguishes a website that refuses a scan from a clean one. Decision record 0117.
"""

import re
from collections.abc import Sequence, Set
from urllib.parse import urlsplit

from foundation.deadline import Deadline
from foundation.hosts import covers
from foundation.outbound.fetch import Fetched, FetchFailed, fetch
from foundation.outbound.names import localhost_port, origin_of

_SECONDS = 6.0  # shorter than a cancellation may take
_BYTES = 32 * 1024
REFUSALS = frozenset({401, 403, 406, 428, 429, 503})
# Headers that protections send only with a page of their own instead of the website's.
_INSTEAD = ("cf-mitigated", "x-amzn-waf-action", "sg-captcha")
# Texts that only pages have that refuse, or that test for a browser. Pages of the website itself may have the
# scripts of Imperva and Akamai, or window.awsWafCookieDomainList.
_CHALLENGE = re.compile(
    rb"<title>\s*(just a moment\.\.\.|attention required! \| cloudflare|ddos-guard|one moment, please\.\.\."
    rb"|request rejected|pardon our interruption)\s*</title>"
    rb"|incapsula incident id|nofollow\">\s*<script src=\"/_incapsula_resource"
    rb"|sec-cpt-if|sec-if-cpt-container|slowaes\.decrypt\(c,2,a,b\)"
    rb"|window\.gokuprops|/\.well-known/sgcaptcha/|sucuri_cloudproxy_js|setcookie\(\"acw_sc__v2\"",
    re.IGNORECASE,
)


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
        url, max_bytes=_BYTES, deadline=deadline, verify=False, agent=agent, pinned=[address], never=never
    )


def is_refusal(page: Fetched, statuses: Set[int] = REFUSALS) -> bool:
    """Return whether a response refuses the scan, or tests for a browser."""
    is_instead = any(name in page.headers for name in _INSTEAD)
    return page.status in statuses or is_instead or bool(_CHALLENGE.search(page.body[:_BYTES]))


def _judged(host: str, page: Fetched) -> str:
    if is_refusal(page):
        return "blocked"
    return "" if covers(host, urlsplit(page.url).hostname or "") else "redirected_away"
