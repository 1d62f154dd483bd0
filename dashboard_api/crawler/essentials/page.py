"""Checks of responses: headers, cookies and the page. They send no requests."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from dashboard_api.crawler.essentials import csp, end_of_life, hsts
from dashboard_api.crawler.essentials.cookies import OF_COOKIES, problems_of_cookies
from dashboard_api.crawler.essentials.markup import Markup, has_nosniff
from dashboard_api.crawler.essentials.times import time_of
from foundation.addresses.hosts import covers
from foundation.outbound.fetch import Fetched, Hop
from foundation.texts.markup import text_of_page

_PAGE_STATUSES = {200, 203}
_SIX_MONTHS = 15_552_000  # in seconds, as max-age has them
_VERSION = re.compile(r"/\s*v?\d")  # as in nginx/1.25
_WEAK_REFERRERS = {"unsafe-url", "no-referrer-when-downgrade"}
_OLD_REFERRERS = {  # in pages
    "never": "no-referrer",
    "always": "unsafe-url",
    "default": "strict-origin-when-cross-origin",
    "origin-when-crossorigin": "origin-when-cross-origin",
}
_REFERRERS = _WEAK_REFERRERS | {  # browsers ignore other values
    *("no-referrer", "same-origin", "origin", "strict-origin"),
    *("origin-when-cross-origin", "strict-origin-when-cross-origin"),
}
# Matches "RefreshHit" and "TCP_HIT", but not "whitelisted" or "stale-while-revalidate".
_CACHE_HIT = re.compile(r"(?<!w)hit|\b(stale(?!-)|updating|revalidated|prerender)\b", re.IGNORECASE)
_AKAMAI_HIT = re.compile(r"cdn-cache\s*;\s*desc=\"?hit", re.IGNORECASE)
_OF_SCRIPTS = ("csp-missing", "csp-unsafe-scripts")
_OF_THE_MARKUP = (
    *("directory-listing", "mixed-content", "script-without-integrity", "form-to-http", "password-by-http"),
    *("https-leads-to-http", "referrer-policy-weak"),
)
OF_ORIGINS = ("any-origin-with-credentials",)
# Rules about the page itself. The other rules of OF_THE_PAGE also apply to redirects.
_OF_THE_PAGE_ITSELF = (
    *(*_OF_SCRIPTS, "framing-allowed", "nosniff-missing"),
    *(*OF_ORIGINS, *_OF_THE_MARKUP),
)
OF_THE_PAGE = (
    *("hsts-missing", "hsts-off", "hsts-short", *_OF_THE_PAGE_ITSELF),
    *("version-shown", end_of_life.RULE, *OF_COOKIES),
)
OF_SECURITY_TXT = ("security-txt-missing", "security-txt-expired")
# Top-level domains on browsers' HSTS preload lists: browsers use only https for every name below.
_BY_HTTPS_ONLY = {
    *("app", "bank", "boo", "channel", "dad", "day", "dev", "esq", "foo", "gle", "google", "ing"),
    *("insurance", "meme", "mov", "new", "nexus", "page", "phd", "prof", "rsvp", "zip"),
}
_TEMPORARY_REDIRECTS = {302, 303, 307}


class Problem(NamedTuple):
    """A problem at a URL; ``matcher`` distinguishes it from other problems of its rule.

    ``severity`` replaces that of the rule, and ``cve`` lists known vulnerabilities.
    """

    rule: str
    location: str
    evidence: str = ""
    matcher: str = ""
    severity: str = ""
    cve: Sequence[str] = ()


class Checked(NamedTuple):
    """A checked URL: earlier problems of its host and port count as fixed unless they are found again."""

    location: str


class Unread(NamedTuple):
    """Rules that could not be checked at a URL, and the reason."""

    location: str
    rules: Sequence[str]
    reason: str = "not_read_to_the_end"


class Skipped(NamedTuple):
    """Rules that were left out at a URL on purpose."""

    location: str
    rules: Sequence[str]


Result = Problem | Checked | Unread | Skipped


def own_hops(page: Fetched) -> list[Hop]:
    """Return the requests that led to ``page``, except requests to other websites."""
    host = urlsplit(page.hops[0].url).hostname or ""
    return [hop for hop in page.hops if covers(host, urlsplit(hop.url).hostname or "")]


def is_page(response: Fetched) -> bool:
    """Return whether a response is a page; error pages, such as 404, have other headers and markup."""
    return response.status in _PAGE_STATUSES


def check_page(
    page: Fetched, *, without_page: str = "no_page", today: date | None = None
) -> Iterator[Problem | Unread | Skipped]:
    """Yield the problems of the home page ``page``, and of the redirects that led to it.

    If the response is not a page, its rules are unread for the reason ``without_page``. ``today`` decides
    which software is still supported.
    """
    if not is_page(page):
        yield from unread_at(page, OF_THE_PAGE, without_page)
        return
    markup = Markup(page)
    unread: list[str] = [] if markup.is_whole else [*_OF_THE_MARKUP, end_of_life.RULE]
    # An empty page may come from a crashed program; for some hosts it is normal.
    is_empty = page.is_whole and not page.body.strip()
    skipped = [*_OF_THE_MARKUP, end_of_life.RULE, *OF_COOKIES] if is_empty else []
    hops = own_hops(page)
    yield from _transport(hops)
    yield from check_headers(hops, today=today)
    for ended in end_of_life.of_page(markup.generators, today or _today()):
        yield _ended(ended, page.url)
    for rule, evidence in (*_policies(page.headers, markup), *_content(page, markup)):
        if rule in _OF_SCRIPTS and is_empty:
            skipped += _OF_SCRIPTS  # the usual page may have a policy
        elif rule in _OF_SCRIPTS and not markup.has_whole_head:
            unread += _OF_SCRIPTS  # the rest of the head may have a policy
        else:
            yield Problem(rule, page.url, evidence)
    if skipped:
        yield Skipped(page.url, skipped)
    if unread:
        yield from unread_at(page, unread, "not_read_to_the_end")
    yield from _left_temporarily(page)


def check_headers(hops: Sequence[Hop], *, today: date | None = None) -> Iterator[Problem | Skipped]:
    """Yield problems of cookies, shown versions and their support, which redirects can have as well.

    A cached response may lack cookies of the website, so the rules about cookies are skipped.
    """
    for hop in hops:
        if _is_cached(hop.headers):
            yield Skipped(urljoin(hop.url, "/"), OF_COOKIES)
        for rule, evidence, matcher in (*_versions(hop.headers), *problems_of_cookies(hop.headers)):
            yield Problem(rule, hop.url, evidence, matcher)
        for ended in end_of_life.of_headers(hop.headers, today or _today()):
            yield _ended(ended, hop.url)


def _ended(ended: end_of_life.Ended, url: str) -> Problem:
    matcher = f"{ended.product} {ended.version}"
    return Problem(end_of_life.RULE, url, ended.evidence, matcher, ended.severity)


def _today() -> date:
    return datetime.now(UTC).date()


def _is_cached(headers: Mapping[str, str]) -> bool:
    """Return whether headers such as X-Cache or Cache-Status say that a response is from a cache."""
    # Varnish sends two numbers, of this request and of the one that filled the cache.
    caches = [value for name, value in headers.items() if re.search("cache|varnish", name, re.IGNORECASE)]
    is_copy = any(_CACHE_HIT.search(value) or re.fullmatch(r"\d+ \d+", value.strip()) for value in caches)
    numbers = " ".join(headers.get(name, "") for name in ("Age", "X-Cache-Hits", "X-Cache-Hit"))
    is_counted = bool(re.search("[1-9]|true", numbers, re.IGNORECASE))
    return is_copy or is_counted or bool(_AKAMAI_HIT.search(headers.get("Server-Timing", "")))


def unread_at(page: Fetched, rules: Sequence[str], reason: str) -> Iterator[Unread]:
    """Yield the rules for each URL on the way to the page: earlier scans may have found problems there."""
    for url in dict.fromkeys(urljoin(hop.url, "/") for hop in own_hops(page)):
        yield Unread(url, rules, reason)


def _left_temporarily(page: Fetched) -> Iterator[Skipped]:
    """Skip the page at names that redirect elsewhere temporarily, as in maintenance: it may come back."""
    for hop, following in pairwise(page.hops):
        is_left = _bare_name(hop.url) not in (_bare_name(following.url), _bare_name(page.url))
        if hop.status in _TEMPORARY_REDIRECTS and is_left and hop in own_hops(page):
            yield Skipped(urljoin(hop.url, "/"), _OF_THE_PAGE_ITSELF)


def _bare_name(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


def check_plain(response: Fetched) -> Iterator[Problem]:
    """Yield a problem if a browser's request over http does not end at an https URL."""
    if not response.url.startswith("https://") and not _is_by_https_only(response.hops[0].url):
        yield Problem("https-not-enforced", response.hops[0].url, f"{response.status} without a redirect")


def check_security_txt(response: Fetched, now: datetime) -> Iterator[Problem | Unread]:
    """Yield a problem if security.txt is missing or has expired."""
    text = text_of_page(response.body, "") or ""
    is_cut = response.status == 200 and not response.is_whole
    if is_cut:
        yield Unread(response.hops[0].url, OF_SECURITY_TXT)
    has_contact = re.search(r"^contact:", text, re.IGNORECASE | re.MULTILINE)
    if response.status != 200 or not has_contact or text.lstrip().startswith("<"):  # then it is a page
        if not is_cut:  # otherwise the contact may be in the rest
            yield Problem("security-txt-missing", response.hops[0].url, f"Status {response.status}")
        return
    expires = re.search(r"^expires:(.*)", text, re.IGNORECASE | re.MULTILINE)
    at = time_of(expires[1]) if expires else None
    if not expires or at is None:
        return
    # A time without a zone, or a day alone, has passed when it has passed in every zone.
    if at.replace(tzinfo=at.tzinfo or UTC) < (now if at.tzinfo else now - timedelta(days=2)):
        yield Problem("security-txt-expired", response.hops[0].url, expires[0].strip())


def check_way(hops: Sequence[Hop]) -> Iterator[Problem]:
    """Yield a problem for each https URL that redirects to http."""
    for hop, following in pairwise(hops):
        if hop.url.startswith("https://") and following.url.startswith("http://"):
            yield Problem("https-leads-to-http", hop.url, f"{hop.status} with Location: {following.url}")


def check_origins(response: Fetched, origin: str) -> Iterator[Problem]:
    """Yield a problem if the response to a request with a foreign ``origin`` allows it, with credentials."""
    headers = response.headers
    if headers.get("Access-Control-Allow-Origin", "") == origin and _allows_credentials(headers):
        evidence = f"Origin: {origin}\nAccess-Control-Allow-Origin: {origin}"
        evidence += "\nAccess-Control-Allow-Credentials: true"
        yield Problem(*OF_ORIGINS, response.hops[0].url, evidence)


def _allows_credentials(headers: Mapping[str, str]) -> bool:
    return headers.get("Access-Control-Allow-Credentials", "").strip() == "true"


def _transport(hops: Sequence[Hop]) -> Iterator[Problem]:
    """Yield a problem for each name whose HSTS is missing, off or short; its last valid header counts."""
    headers: dict[str, str | None] = {}
    urls: dict[str, str] = {}
    for hop in hops:
        if hop.url.startswith("https://") and not _is_by_https_only(hop.url):
            name = urlsplit(hop.url).netloc
            sent, known = _first(hop.headers, "Strict-Transport-Security"), headers.get(name)
            is_ignored = sent is None or (known is not None and hsts.is_ignored(sent))
            headers[name] = known if is_ignored else sent
            urls[name] = hop.url
    for name, header in headers.items():
        if header is None:
            yield Problem("hsts-missing", urls[name])
            continue
        seconds, reason = hsts.age_of(header)
        if reason:
            yield Problem("hsts-off", urls[name], f"Strict-Transport-Security: {header}\n{reason}")
        elif seconds < _SIX_MONTHS:
            yield Problem("hsts-short", urls[name], f"Strict-Transport-Security: {header}")


def _first(headers: Any, name: str) -> str | None:
    """Return the first header with this name: browsers ignore the others."""
    return next(iter(headers.getlist(name)), None)


def _is_by_https_only(url: str) -> bool:
    return (urlsplit(url).hostname or "").rpartition(".")[2] in _BY_HTTPS_ONLY


def _policies(headers: Mapping[str, str], markup: Markup) -> Iterator[tuple[str, str]]:
    sent = headers.get("Content-Security-Policy", "")
    policies = csp.policies_of(sent, markup.policies)
    if not policies:
        yield "csp-missing", ""
    elif reason := csp.why_scripts_run(policies):
        shown = ", ".join(filter(None, (sent, *markup.policies)))
        yield "csp-unsafe-scripts", f"Content-Security-Policy: {shown}\n{reason}"
    yield from _framing(sent, headers.get("X-Frame-Options", ""))
    if not has_nosniff(headers):
        yield "nosniff-missing", ""
    referrers = [each.strip() for each in headers.get("Referrer-Policy", "").lower().split(",")]
    referrers += [_OLD_REFERRERS.get(each, each) for each in markup.referrers]
    referrer = next((each for each in reversed(referrers) if each in _REFERRERS), "")
    if referrer in _WEAK_REFERRERS:
        yield "referrer-policy-weak", f"Referrer-Policy: {referrer}"


def _versions(headers: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the rule, the evidence and the matcher of each header with a version."""
    for name in ("Server", "X-Powered-By", "X-AspNet-Version"):
        value = headers.get(name, "")
        if _VERSION.search(value) or (name == "X-AspNet-Version" and value):
            yield "version-shown", f"{name}: {value}", name.lower()


def _framing(policy: str, options: str) -> Iterator[tuple[str, str]]:
    """Yield a problem if any website may frame the page; frame-ancestors overrides X-Frame-Options."""
    is_allowed = csp.allows_framing(csp.policies_of(policy))
    if is_allowed:
        yield "framing-allowed", f"Content-Security-Policy: {policy}"
    known_options = {value.strip() for value in options.lower().split(",")} & {"deny", "sameorigin"}
    if is_allowed is None and not known_options:
        evidence = f"X-Frame-Options: {options}" if options else "Neither frame-ancestors nor X-Frame-Options"
        yield "framing-allowed", evidence


def _content(page: Fetched, markup: Markup) -> Iterator[tuple[str, str]]:
    headers = page.headers
    if markup.is_listing:
        yield "directory-listing", ""
    policies = csp.policies_of(headers.get("Content-Security-Policy", ""), markup.policies)
    is_encrypted = page.url.startswith("https://")
    is_upgraded = is_encrypted and any("upgrade-insecure-requests" in policy for policy in policies)
    if markup.plain and is_encrypted and not is_upgraded:
        yield "mixed-content", "\n".join(markup.plain[:10])
    if markup.foreign:
        yield "script-without-integrity", "\n".join(markup.foreign[:10])
    if markup.refreshes and is_encrypted and not is_upgraded:
        yield "https-leads-to-http", "\n".join(f"The page has a refresh to {url}" for url in markup.refreshes)
    if is_upgraded or (not is_encrypted and _is_by_https_only(page.url)):
        return
    if forms := markup.forms_to_http(is_encrypted=is_encrypted):
        yield "form-to-http", "\n".join(f"A form is sent to {url}" for url in forms[:10])
    if passwords := markup.passwords_by_http(is_encrypted=is_encrypted):
        yield "password-by-http", "\n".join(passwords[:10])
