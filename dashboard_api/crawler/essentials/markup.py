"""Reader of the home page: the files that it loads, and the Content-Security-Policy in its head."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from dashboard_api.crawler.essentials.unversioned import changes_unannounced
from foundation.addresses.domains import registrable_domain
from foundation.addresses.hosts import InvalidHost, normalise_host
from foundation.outbound.fetch import Fetched
from foundation.texts.markup import HeadReader, text_of_page

# Attributes with the address of a file that browsers load.
_LOADING = {
    **dict.fromkeys(("script", "iframe", "frame", "audio", "embed", "track"), ("src",)),
    **dict.fromkeys(("body", "table", "td", "th"), ("background",)),
    **dict.fromkeys(("img", "source"), ("src", "srcset")),
    "video": ("src", "poster"),
    "object": ("data",),
    "image": ("href", "xlink:href"),
}
# Relations of a link whose file browsers load.
_LOADED_LINKS = {
    *("stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest"),
    *("preload", "modulepreload", "prefetch"),
}
_IN_STYLES = re.compile(
    r"(?:url\(\s{0,9}|@import\s{0,9})[\"']?\s{0,9}(http://[^\"')\s]{1,300})", re.IGNORECASE
)
_NAMESPACE = re.compile(r"@namespace[^;]{0,300};", re.IGNORECASE)  # a name that looks like an address
_SRCSET_CHARACTERS = 10_000  # that are read
# Apache, nginx, lighttpd and Python; Jetty; Node; Tomcat; IIS; storage of Amazon and others, as XML.
_LISTING = re.compile(
    r"<title>\s*((Index of|Directory listing for|Directory:|listing directory) /|Directory Listing For \[/)"
    r"|<title>[^<]{1,300} - /[^<]{0,300}</title></head><body><H1>[^<]{1,300} - /[^<]{0,300}</H1><hr>\s{0,9}"
    r"<pre>"
    r"|<ListBucketResult[ >]",
    re.IGNORECASE,
)
_WEB_SCHEMES = ("http", "https")  # a script with another scheme, such as data:, is not loaded from a website
# Ends of script types that browsers run, or that tools like Cloudflare's Rocket Loader run for every visitor.
# Scripts of other types are data, or wait for consent (text/plain).
_RUN_TYPES = re.compile(
    r"(java|ecma|j|live)script[0-9.]*$|(module|partytown|pmdelayedscript|babel)$", re.IGNORECASE
)
_REFRESH = re.compile(r"[\s0-9.;,]*(?:url\s*=\s*)?[\"']?(http://[^\"'\s]{1,300})", re.IGNORECASE)
_DIGEST = re.compile(r"\bsha(256|384|512)-", re.IGNORECASE)  # browsers ignore other hashes
# Names of fields for payment cards: their autocomplete, or what shops call them.
_CARD = re.compile(
    r"\bcc-(number|csc|exp)|card[-_]?(number|no\b|num\b)|\bcc[-_]?num|\bcv[cv]\b", re.IGNORECASE
)
# With one of these types, browsers look at the start of the body to see whether it is a page.
_NO_TYPE = {"", "unknown/unknown", "application/unknown", "*/*"}
# Browsers take a body for HTML that begins, after blanks, with a comment or one of these tags.
_TAGS = rb"!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p"
_PAGE = re.compile(rb"[\t\n\f\r ]*(<!--|<(%s)[ >])" % _TAGS, re.IGNORECASE)


class Script(NamedTuple):
    """A script with an address, and whether the page pins its content."""

    url: str
    has_integrity: bool


class _Form:
    """A form: where it is sent, and whether it asks for a password."""

    def __init__(self, url: str, identifier: str) -> None:
        self.urls, self.id = [url], identifier
        self.has_password = False


class Markup(HeadReader):
    """Markup of a page.

    ``plain`` lists files loaded over http, ``scripts`` those with an address, ``foreign`` scripts of other
    websites without integrity, ``generators`` what the page says it was made with, and ``policies`` the
    policies in the head, all of them if ``has_whole_head``. ``refreshes`` lists addresses over http to which
    the page sends visitors, and ``referrers`` its policies about the Referer. ``asks_for_secrets`` means
    fields for passwords or payment cards. Unless ``is_whole``, the body was cut or cannot be decoded.
    """

    def __init__(self, page: Fetched) -> None:
        super().__init__()
        self.plain: list[str] = []
        self.foreign: list[str] = []
        self.policies: list[str] = []
        self.refreshes: list[str] = []
        self.referrers: list[str] = []
        self.scripts: list[Script] = []
        self.generators: list[str] = []
        self.asks_for_secrets = False
        self._forms: list[_Form] = []
        self._form: _Form | None = None  # the open one
        self._has_password = False
        # Of forms elsewhere in the page, by id: those with a password, and where buttons send them.
        self._ids_of_forms: set[str] = set()
        self._ids_of_passwords: set[str] = set()
        self._actions: dict[str, list[str]] = defaultdict(list)
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
        equivalent = (values.get("http-equiv") or "").strip().lower() if tag == "meta" else ""
        content = values.get("content") or ""
        if equivalent == "content-security-policy" and self.is_head and not self.inert:
            self.policies.append(content)
        elif equivalent == "refresh" and (refresh := _REFRESH.match(content[:400])):
            self.refreshes.append(refresh[1])
        if tag == "meta" and (values.get("name") or "").strip().lower() == "referrer":
            self.referrers.append(content.strip().lower())
        if tag == "meta" and (values.get("name") or "").strip().lower() == "generator":
            self.generators.append(content[:300])
        script_type = (values.get("type") or "").strip()
        if tag == "script" and script_type and not _RUN_TYPES.search(script_type):
            return  # neither loaded nor run
        for url in map(self._joined, _addresses(tag, values)):
            if urlsplit(url).scheme == "http":
                self.plain.append(url[:300])
        self.plain += _addresses_in_style(values.get("style") or "")
        if tag == "script":
            self._read_script(self._joined(values.get("src")), values.get("integrity") or "")
        self._read_form(tag, values)

    def handle_endtag(self, tag: str) -> None:
        """Close a form."""
        is_inert = bool(self.inert)
        super().handle_endtag(tag)
        if tag == "form" and not is_inert:
            self._form = None

    def handle_data(self, data: str) -> None:
        """Record files that a style loads."""
        super().handle_data(data)
        if self.cdata_elem == "style" and not self.inert:
            self.plain += _addresses_in_style(data)

    def forms_to_http(self, *, is_encrypted: bool) -> list[str]:
        """Return where forms without a password are sent over http, on a page over https."""
        forms = [form for form in self._forms if is_encrypted and not self._asks_for_password(form)]
        return list(dict.fromkeys(url for form in forms for url in self._plain_of(form)))

    def passwords_by_http(self, *, is_encrypted: bool) -> list[str]:
        """Return in one sentence each how passwords travel over http."""
        if not is_encrypted and self._has_password:
            return [f"A password field is on {self._url[:300]}"]
        forms = [form for form in self._forms if self._asks_for_password(form)]
        return list(
            dict.fromkeys(f"A password is sent to {url}" for form in forms for url in self._plain_of(form))
        )

    def _plain_of(self, form: _Form) -> list[str]:
        """Return the addresses over http to which a form is sent."""
        urls = [*form.urls, *self._actions.get(form.id, [])] if form.id else form.urls
        return [url[:300] for url in urls if urlsplit(url).scheme == "http"]

    def _asks_for_password(self, form: _Form) -> bool:
        return form.has_password or form.id in self._ids_of_passwords

    def is_own(self, url: str) -> bool:
        """Return whether a file is of the website's own domain."""
        return _domain_of(url) == self._own_domain

    def _joined(self, address: str | None) -> str:
        return _joined(self._base or self._url, address or "")

    def _read_script(self, url: str, integrity: str) -> None:
        parts = urlsplit(url)
        has_integrity = bool(_DIGEST.search(integrity))
        if parts.scheme in _WEB_SCHEMES:
            self.scripts.append(Script(url, has_integrity))
        is_foreign = parts.scheme in _WEB_SCHEMES and not self.is_own(url)
        if is_foreign and not has_integrity and not changes_unannounced(parts.hostname or ""):
            self.foreign.append(url[:300])

    def _read_form(self, tag: str, values: Mapping[str, str | None]) -> None:
        kind = (values.get("type") or "").lower()
        form_id = values.get("form")
        if tag == "form" and self._form is None:  # browsers ignore a form in another
            own_id = values.get("id") or ""
            is_first = own_id not in self._ids_of_forms  # others with its id cannot be named
            self._form = _Form(self._joined(values.get("action")) or self._url, own_id if is_first else "")
            self._ids_of_forms.add(own_id)
            if (values.get("method") or "").lower() == "dialog":
                self._form.urls.clear()  # it sends nothing
            self._forms.append(self._form)
        elif tag in ("button", "input") and values.get("formaction"):
            url = self._joined(values.get("formaction"))
            if form_id:
                self._actions[form_id].append(url)
            elif self._form:
                self._form.urls.append(url)
        if tag == "input" and (kind == "password" or _CARD.search(_names_of(values))):
            self.asks_for_secrets = True
        if tag == "input" and kind == "password":
            self._has_password = True
            if form_id:
                self._ids_of_passwords.add(form_id)
            elif self._form:
                self._form.has_password = True


def _names_of(values: Mapping[str, str | None]) -> str:
    return " ".join(values.get(name) or "" for name in ("autocomplete", "name", "id"))[:500]


def _addresses(tag: str, values: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the addresses of files that browsers load for a tag."""
    names = _LOADING.get(tag, ())
    if tag == "link" and not _LOADED_LINKS.isdisjoint((values.get("rel") or "").lower().split()):
        names = ("href", "imagesrcset")
    elif tag == "input" and (values.get("type") or "").lower() == "image":
        names = ("src",)
    for name in names:
        address = values.get(name) or ""
        if name.endswith("srcset"):
            yield from _candidates(address[:_SRCSET_CHARACTERS])
        elif address:
            yield address


def _addresses_in_style(style: str) -> list[str]:
    """Return the addresses over http of files that a style loads, outside of comments."""
    first, *others = style.split("/*")
    text = _NAMESPACE.sub("", "".join([first, *(each.partition("*/")[2] for each in others)]))
    return _IN_STYLES.findall(text)


def _candidates(srcset: str) -> Iterator[str]:
    """Yield the addresses of a srcset: each ends at a blank, and its description at a comma."""
    while srcset := srcset.lstrip(" \t\n\f\r,"):
        address, *others = srcset.split(maxsplit=1)
        srcset = others[0] if others else ""
        if not address.endswith(","):
            srcset = srcset.partition(",")[2]
        yield address.rstrip(",")


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
