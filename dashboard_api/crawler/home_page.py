"""Facts about a home page: scans compare them to see whether the website itself answered."""

from urllib.parse import urljoin, urlsplit

import msgspec

from dashboard_api.crawler.essentials.cookies import names_of_cookies
from dashboard_api.crawler.essentials.page import own_hops
from foundation.addresses.hosts import covers
from foundation.outbound.fetch import Fetched
from foundation.texts.markup import HeadReader, text_of_page

MAX_BYTES = 256 * 1024  # of a page; the rest is not read
# Characters of a title and of a name, and the number of names, that are stored.
_MAX_TITLE, _MAX_NAME, _MAX_NAMES = 100, 60, 20
_MAX_LINKS = 9_999
_MAX_LANGUAGE = 3  # characters, without the country
# More than placeholders, protections and cookie walls have: a sentence and a few legal links.
_CONTENT_LINKS, _CONTENT_CHARACTERS = 5, 200
# What each fact counts when two pages are compared.
_WEIGHTS = {"title": 2, "links": 3, "script_hosts": 1, "cookies": 1, "size": 1}
_LEAST_TEXT = 1 / 2  # of the known page's text; walls of consent and pages of errors have less
_SAME_SHARE = 0.6  # of the weights: a new title, or new scripts and cookies, still count as the same website


class HomePage(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a home page.

    ``links`` counts links to other pages of the website. ``size`` is a class: the page has less than
    2**size bytes. ``has_content`` means links and text, no password field and no ``noindex``. ``language``
    is the ``lang`` of the page, ``characters`` the length of its visible text, and ``prose`` the length
    without the texts of links.
    """

    title: str = ""
    links: int = 0
    script_hosts: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    size: int = 0
    has_content: bool = False
    language: str = ""
    characters: int = 0
    prose: int = 0

    def can_replace(self, known: "HomePage") -> bool:
        """Return whether this page, which looks different, may be a redesign of the known one.

        It needs content: text outside of links, which parked pages do not have, and half of the known text.
        """
        return self.has_content and self.prose >= _CONTENT_CHARACTERS and _has_text_of(known, self)

    def looks_like(self, other: "HomePage") -> bool:
        """Return whether most facts of ``other`` match this page.

        If this page has content, ``other`` needs content and half of the text: error and queue pages
        often show the navigation of the website, but not its text. Facts that both pages lack are ignored.
        """
        if self.has_content and not (other.has_content and _has_text_of(self, other)):
            return False
        if self.language and other.language and self.language != other.language:
            return False
        scores = {
            "title": _shared(set(self.title.lower().split()), set(other.title.lower().split())),
            "links": _ratio(self.links, other.links),
            "script_hosts": _shared(set(self.script_hosts), set(other.script_hosts)),
            "cookies": _shared(set(self.cookies), set(other.cookies)),
            "size": max(0.0, 1 - abs(self.size - other.size) / 2),
        }
        counted = {name: score for name, score in scores.items() if score is not None}
        total = sum(_WEIGHTS[name] for name in counted)
        return sum(_WEIGHTS[name] * score for name, score in counted.items()) >= _SAME_SHARE * total


def _has_text_of(known: HomePage, page: HomePage) -> bool:
    return page.characters >= _LEAST_TEXT * known.characters


def home_page_of(page: Fetched, host: str) -> HomePage:
    """Return the facts about ``page``, the home page of ``host``."""
    reader = _Reader(page.url, host)
    reader.feed(text_of_page(page.body, page.headers.get("Content-Type", "")) or "")
    cookies = {name for hop in own_hops(page) for name in names_of_cookies(hop.headers)}
    has_content = len(reader.links) >= _CONTENT_LINKS and reader.characters >= _CONTENT_CHARACTERS
    return HomePage(
        title=_clean(reader.title)[:_MAX_TITLE],
        links=min(len(reader.links), _MAX_LINKS),
        script_hosts=_names(reader.script_hosts),
        cookies=_names(cookies),
        size=len(page.body).bit_length(),
        has_content=has_content and not reader.is_hidden,
        language=reader.language,
        characters=reader.characters,
        prose=reader.prose,
    )


def _names(found: set[str]) -> tuple[str, ...]:
    return tuple(sorted(_clean(name)[:_MAX_NAME] for name in found)[:_MAX_NAMES])


def _clean(text: str) -> str:
    """Return untrusted text on one line, without unprintable characters."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _shared(one: set[str], other: set[str]) -> float | None:
    """Return the share of the words or names that both have, unless both are empty."""
    return len(one & other) / len(one | other) if one or other else None


def _ratio(one: int, other: int) -> float | None:
    """Return the smaller number as a share of the larger one, unless both are zero."""
    return min(one, other) / max(one, other) if one or other else None


class _Reader(HeadReader):
    """Collects the title, the amount of text, the links and the script hosts of a page."""

    def __init__(self, url: str, host: str) -> None:
        super().__init__()
        self._url, self._host = url, host
        self.title, self._title_ended = "", False
        self.links: set[str] = set()
        self.script_hosts: set[str] = set()
        self.characters, self.prose, self._is_link = 0, 0, False
        self.language = ""
        self.is_hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the language, links, script hosts, and signs that the page is not public."""
        is_ignored = bool(self.inert)  # before this tag, which may itself begin an ignored element
        super().handle_starttag(tag, attrs)
        if is_ignored:
            return
        values = {name: value or "" for name, value in reversed(attrs)}  # the first of duplicates counts
        if tag == "html":
            self.language = _clean(values.get("lang", "")).lower().partition("-")[0][:_MAX_LANGUAGE]
        elif tag in ("a", "area"):
            self._add_link(values.get("href", ""))
            self._is_link = tag == "a"
        elif tag == "script" and (host := self._host_of(values.get("src", ""))):
            self.script_hosts.add(host)
        elif tag == "meta" and values.get("name", "").strip().lower() == "robots":
            self.is_hidden |= "noindex" in values.get("content", "").lower()
        elif tag == "input":
            self.is_hidden |= values.get("type", "").strip().lower() == "password"

    def handle_endtag(self, tag: str) -> None:
        """Stop collecting the title, or the text of a link."""
        if tag == self.inert == "title":
            self._title_ended = True  # later titles, as of SVG images, do not count
        self._is_link = self._is_link and tag != "a"
        super().handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        """Collect the title and count visible characters."""
        super().handle_data(data)
        if self.inert == "title" and not self._title_ended:
            self.title += data
        elif not self.inert and self.cdata_elem is None:
            characters = len("".join(data.split()))
            self.characters += characters
            self.prose += characters * (not self._is_link)

    def _add_link(self, href: str) -> None:
        """Add the path of another page of the website, without the query."""
        if self._host_of(href) == self._host:
            path = urlsplit(urljoin(self._url, href.strip())).path.rstrip("/")
            if path != urlsplit(self._url).path.rstrip("/"):
                self.links.add(path)

    def _host_of(self, href: str) -> str:
        """Return the host of a web link: the website's own for names below it, empty for other links."""
        try:
            parts = urlsplit(urljoin(self._url, href.strip()) if href.strip() else "")
            host = (parts.hostname or "") if parts.scheme in ("http", "https") else ""
        except ValueError:
            return ""
        return self._host if covers(self._host, host) else host
