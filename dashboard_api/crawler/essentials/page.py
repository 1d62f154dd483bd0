"""Checks of responses: headers, cookies and the page. They send no requests."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from foundation.domains import registrable_domain
from foundation.markup import MarkupReader
from foundation.outbound.fetch import Fetched

_SIX_MONTHS = 15_552_000
_VERSION = re.compile(r"/\s*v?\d")
_LOADED = {"script": "src", "img": "src", "iframe": "src", "audio": "src", "video": "src", "source": "src"}
_UNSAFE = {"'unsafe-inline'", "'unsafe-eval'", "*", "http:", "https:", "data:"}
_ANYONE = {"*", "http:", "https:", "http://*", "https://*"}
_WEAK_REFERRERS = {"unsafe-url", "no-referrer-when-downgrade"}
_LISTING = re.compile(rb"<title>\s*(Index of|Directory listing for) /", re.IGNORECASE)
_OF_THE_MARKUP = ("directory-listing", "mixed-content", "script-without-integrity")


class Problem(NamedTuple):
    """A problem: its rule, what distinguishes it from others of this rule, its address and its evidence."""

    rule: str
    location: str
    evidence: str = ""
    matcher: str = ""


class Checked(NamedTuple):
    """An address that was checked: problems of its host and port that are not found are fixed."""

    location: str


class Unread(NamedTuple):
    """Rules that could not be checked at an address, and the reason; without rules, every rule."""

    location: str
    rules: Sequence[str] = ()
    reason: str = "not_read_to_the_end"


Result = Problem | Checked | Unread


def check_page(page: Fetched) -> Iterator[Problem | Unread]:
    """Yield the problems of the home page in ``page``, the last response after redirects."""
    for rule, evidence, *matcher in (
        *_transport(page.headers),
        *_policies(page.headers),
        *_cookies(page.headers),
        *_content(page),
    ):
        yield Problem(rule, page.url, evidence, *matcher)
    if not page.is_whole:
        yield Unread(page.url, _OF_THE_MARKUP)


def check_plain(response: Fetched) -> Iterator[Problem]:
    """Yield a problem if a request over http does not end at an https address."""
    if not response.url.startswith("https://"):
        yield Problem("https-not-enforced", response.hops[0].url, f"{response.status} without a redirect")


def check_security_txt(response: Fetched, now: datetime) -> Iterator[Problem | Unread]:
    """Yield a problem if there is no security.txt, or an expired one."""
    text = response.body.decode("utf-8", "replace")
    is_cut = response.status == 200 and not response.is_whole
    if is_cut:
        yield Unread(response.hops[0].url, ["security-txt-missing"])
        yield Unread(response.url, ["security-txt-expired"])
    if response.status != 200 or not re.search(r"^contact:", text, re.IGNORECASE | re.MULTILINE):
        if not is_cut:  # otherwise the contact may be in the rest
            yield Problem("security-txt-missing", response.hops[0].url, f"Status {response.status}")
        return
    expires = re.search(r"^expires:\s*(\S+)", text, re.IGNORECASE | re.MULTILINE)
    if expires and (at := _time(expires[1])) and at < now:
        yield Problem("security-txt-expired", response.url, expires[0])


def _transport(headers: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    hsts = headers.get("Strict-Transport-Security")
    if hsts is None:
        yield "hsts-missing", ""
        return
    age = re.search(r"max-age\s*=\s*\"?(\d+)", hsts, re.IGNORECASE)
    if age is None or int(age[1][:12]) < _SIX_MONTHS:
        yield "hsts-short", f"Strict-Transport-Security: {hsts}"


def _policies(headers: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    policy = headers.get("Content-Security-Policy", "")
    directives = _directives(policy)
    if not policy:
        yield "csp-missing", ""
    elif _allows_injected(directives):
        yield "csp-unsafe-scripts", f"Content-Security-Policy: {policy}"
    yield from _framing(policy, headers.get("X-Frame-Options", ""))
    if headers.get("X-Content-Type-Options", "").strip().lower() != "nosniff":
        yield "nosniff-missing", ""
    referrer = headers.get("Referrer-Policy", "").lower().rpartition(",")[2].strip()
    if referrer in _WEAK_REFERRERS:
        yield "referrer-policy-weak", f"Referrer-Policy: {referrer}"
    for name in ("Server", "X-Powered-By", "X-AspNet-Version"):
        value = headers.get(name, "")
        if _VERSION.search(value) or (name == "X-AspNet-Version" and value):
            yield "version-shown", f"{name}: {value}", name.lower()


def _framing(policy: str, options: str) -> Iterator[tuple[str, ...]]:
    """Yield a problem if any website may frame the page: browsers ignore the options if a policy decides."""
    policies = [_directives(each) for each in policy.split(",")]
    deciding = [each["frame-ancestors"] for each in policies if "frame-ancestors" in each]
    if deciding:
        if all(sources & _ANYONE for sources in deciding):
            yield "framing-allowed", f"Content-Security-Policy: {policy}"
    elif not {value.strip() for value in options.lower().split(",")} & {"deny", "sameorigin"}:
        evidence = f"X-Frame-Options: {options}" if options else "Neither frame-ancestors nor X-Frame-Options"
        yield "framing-allowed", evidence


def _directives(policy: str) -> dict[str, set[str]]:
    parts = [part.split() for part in policy.lower().split(";") if part.split()]
    return {name: set(values) for name, *values in reversed(parts)}  # the first of a name counts


def _allows_injected(directives: dict[str, set[str]]) -> bool:
    """Return whether an injected script runs: a nonce or a hash turns unsafe-inline off."""
    sources = directives.get("script-src", directives.get("default-src"))
    if sources is None:
        return True
    is_strict = any(each.startswith(("'nonce-", "'sha256-", "'sha384-", "'sha512-")) for each in sources)
    ignored = {"'unsafe-inline'"} if is_strict else set()
    if "'strict-dynamic'" in sources:
        ignored |= {"*", "http:", "https:"}
    return bool(sources & (_UNSAFE - ignored))


def _cookies(headers: Any) -> Iterator[tuple[str, ...]]:
    for line in headers.getlist("Set-Cookie"):
        name = line.partition("=")[0].strip()[:100]
        pair, *others = line.split(";")
        attributes = {part.partition("=")[0].strip().lower() for part in others}
        # Without an equals sign it is all value. A line of the header itself would be removed as a secret.
        shown = " ".join(name.split()) if "=" in pair else ""
        cookie = f'The cookie "{shown}"' if shown else "A cookie without a name"
        for attribute in ("Secure", "HttpOnly", "SameSite"):
            if attribute.lower() not in attributes:
                yield f"cookie-without-{attribute.lower()}", f"{cookie} has no {attribute}.", name


def _content(page: Fetched) -> Iterator[tuple[str, ...]]:
    headers = page.headers
    origin = headers.get("Access-Control-Allow-Origin", "")
    if origin == "null" and headers.get("Access-Control-Allow-Credentials", "").lower() == "true":
        yield "any-origin-with-credentials", f"Access-Control-Allow-Origin: {origin}"
    if _LISTING.search(page.body):
        yield "directory-listing", ""
    if "html" not in headers.get("Content-Type", "").lower():
        return
    found = _Loaded(page.url)
    found.feed(page.body.decode("utf-8", "replace"))
    if found.plain:
        yield "mixed-content", "\n".join(found.plain[:10])
    if found.foreign:
        yield "script-without-integrity", "\n".join(found.foreign[:10])


class _Loaded(MarkupReader):
    """The files that a page loads over http, and the scripts of other websites without integrity."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.plain: list[str] = []
        self.foreign: list[str] = []
        self._url, self._owner = url, _owner(url)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read a tag that loads a file."""
        values = dict(attrs)
        is_style = tag == "link" and "stylesheet" in (values.get("rel") or "").lower().split()
        address = values.get("href" if is_style else _LOADED.get(tag, ""))
        if not address:
            return
        try:
            whole = urljoin(self._url, address.strip())
            owner = _owner(whole)
        except ValueError:  # no address
            return
        if urlsplit(whole).scheme == "http":
            self.plain.append(whole[:300])
        if tag == "script" and owner != self._owner and "integrity" not in values:
            self.foreign.append(whole[:300])


def _owner(url: str) -> str:
    host = urlsplit(url).hostname or ""
    return registrable_domain(host) or host


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else None
