"""Reader of the home page: the files that it loads, and the Content-Security-Policy in its head."""

import re
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urljoin, urlsplit

from foundation.addresses.domains import registrable_domain
from foundation.addresses.hosts import InvalidHost, normalise_host
from foundation.outbound.fetch import Fetched
from foundation.texts.markup import HeadReader, text_of_page

_LOADING_TAGS = {"script", "img", "iframe", "audio", "video", "source"}  # of the file at their "src"
_LISTING = re.compile(r"<title>\s*(Index of|Directory listing for) /", re.IGNORECASE)
_WEB_SCHEMES = ("http", "https")  # a script with another scheme, such as data:, is not loaded from a website
# Ends of script types that browsers run, or that tools like Cloudflare's Rocket Loader run for every visitor.
# Scripts of other types are data, or wait for consent (text/plain).
_RUN_TYPES = re.compile(
    r"(java|ecma|j|live)script[0-9.]*$|(module|partytown|pmdelayedscript|babel)$", re.IGNORECASE
)
_DIGEST = re.compile(r"\bsha(256|384|512)-", re.IGNORECASE)  # browsers ignore other hashes
# With one of these types, browsers look at the start of the body to see whether it is a page.
_NO_TYPE = {"", "unknown/unknown", "application/unknown", "*/*"}
# Browsers take a body for HTML that begins, after blanks, with a comment or one of these tags.
_TAGS = rb"!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p"
_PAGE = re.compile(rb"[\t\n\f\r ]*(<!--|<(%s)[ >])" % _TAGS, re.IGNORECASE)


class Markup(HeadReader):
    """Markup of a page.

    ``plain`` lists files loaded over http, ``foreign`` scripts of other websites without integrity, and
    ``policies`` the policies in the head, all of them if ``has_whole_head``. Unless ``is_whole``, the body
    was cut or cannot be decoded.
    """

    def __init__(self, page: Fetched) -> None:
        super().__init__()
        self.plain: list[str] = []
        self.foreign: list[str] = []
        self.policies: list[str] = []
        self._url, self._own_domain, self._base = page.url, _domain_of(page.url), ""
        content_type = page.headers.get("Content-Type", "").lower()
        is_html = "html" in content_type or (content_type in _NO_TYPE and _is_taken_for_html(page))
        text = text_of_page(page.body, content_type)
        self.is_whole = page.is_whole and not (is_html and text is None)
        self.is_listing = bool(_LISTING.search(text or ""))
        if is_html:
            self.feed(text or "")  # never closed: text of an unfinished comment would become tags
        self.has_whole_head = self.is_whole or not (is_html and self.is_head)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the base URL, policies of the head and loaded files."""
        enclosing = self.inert  # the element around this tag with ignored contents, if any
        super().handle_starttag(tag, attrs)
        if enclosing and (enclosing != "noscript" or tag == "script"):
            return  # browsers load no file for it
        values = dict(reversed(attrs))  # the first of two equal attributes counts
        if tag == "base" and not self._base:
            base = _joined(self._url, values.get("href") or "")
            self._base = base if urlsplit(base).scheme in _WEB_SCHEMES else ""
        is_policy = (values.get("http-equiv") or "").strip().lower() == "content-security-policy"
        if tag == "meta" and is_policy and self.is_head and not self.inert:
            self.policies.append(values.get("content") or "")
        is_style = tag == "link" and "stylesheet" in (values.get("rel") or "").lower().split()
        script_type = (values.get("type") or "").strip()
        if tag == "script" and script_type and not _RUN_TYPES.search(script_type):
            return  # neither loaded nor run
        address = values.get("href") if is_style else values.get("src") if tag in _LOADING_TAGS else None
        url = _joined(self._base or self._url, address or "")
        scheme = urlsplit(url).scheme
        if scheme == "http":
            self.plain.append(url[:300])
        is_protected = _DIGEST.search(values.get("integrity") or "")
        is_foreign = _domain_of(url) != self._own_domain
        if scheme in _WEB_SCHEMES and tag == "script" and is_foreign and not is_protected:
            self.foreign.append(url[:300])


def _is_taken_for_html(page: Fetched) -> bool:
    """Return whether browsers treat a response without a type as HTML; an empty body may be packed HTML."""
    return not has_nosniff(page.headers) and (not page.body or bool(_PAGE.match(page.body)))


def has_nosniff(headers: Mapping[str, str]) -> bool:
    """Return whether browsers must trust the Content-Type of a response."""
    return headers.get("X-Content-Type-Options", "").partition(",")[0].strip().lower() == "nosniff"


def _joined(base: str, address: str) -> str:
    """Return the absolute URL of a file; empty if its address is missing or invalid."""
    try:
        url = urljoin(base, address.strip()) if address else ""
        _domain_of(url)  # raises ValueError as well
    except ValueError:
        return ""
    return url


def _domain_of(url: str) -> str:
    """Return the registrable domain of a URL, or else its host."""
    host = urlsplit(url).hostname or ""
    with suppress(InvalidHost):
        host = normalise_host(host)
    return registrable_domain(host) or host
