"""Refusals: pages that a bot protection sends in place of the website."""

import re
from collections.abc import Set

from foundation.outbound.fetch import Fetched

# 202 is a browser challenge, 451 blocks a country; 418 and 999 are made up by protections.
REFUSALS = frozenset({202, 401, 403, 405, 406, 418, 428, 429, 451, 503, 999})
MAX_BYTES = 32 * 1024  # of a page, searched for signs of a protection
# Headers that protections send only with a page of their own instead of the website's.
_REFUSAL_HEADERS = ("cf-mitigated", "x-amzn-waf-action", "sg-captcha")
# Texts that occur only in refusals and browser challenges. The scripts of Cloudflare, Imperva, Akamai and F5
# (/TSPD/) and window.awsWafCookieDomainList are no sign: the website's own pages may include them.
_CHALLENGE = re.compile(
    rb"<title>\s*(just a moment\.\.\.|attention required! \| cloudflare|ddos-guard|one moment, please\.\.\."
    rb"|request rejected|pardon our interruption|bot verification)\s*</title>"
    rb"|incapsula incident id|nofollow\">\s*<script src=\"/_incapsula_resource"
    rb"|window\[\"bobcmn\"\]|to view the page content\.<br ?/?>your support id is|/\.lsrecap/recaptcha"
    rb"|sec-cpt-if|sec-if-cpt-container|slowaes\.decrypt\(c,2,a,b\)"
    rb"|window\.gokuprops|/\.well-known/sgcaptcha/|sucuri_cloudproxy_js|setcookie\(\"acw_sc__v2\"",
    re.IGNORECASE,
)


def is_refusal(page: Fetched, statuses: Set[int] = REFUSALS) -> bool:
    """Return whether a response is a refusal or a browser challenge."""
    has_header = any(name in page.headers for name in _REFUSAL_HEADERS)
    # RFC 9110 requires the header Allow of the website itself.
    is_of_website = page.status == 405 and "Allow" in page.headers
    has_status = page.status in statuses and not is_of_website
    return has_status or has_header or bool(_CHALLENGE.search(page.body[:MAX_BYTES]))
