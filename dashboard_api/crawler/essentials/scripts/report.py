"""A report about the scripts of the home page: which ones there are, and what is known about them.

The page is asked for once, and at most ten of its scripts. A script that was not read is not checked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from dashboard_api.crawler.essentials.lines import lines_of
from dashboard_api.crawler.essentials.markup import Markup, Script
from dashboard_api.crawler.essentials.page import (
    Checked,
    Problem,
    Result,
    Skipped,
    Unread,
    is_page,
    own_hops,
    unread_at,
)
from dashboard_api.crawler.essentials.scripts import retirejs
from dashboard_api.crawler.essentials.scripts.libraries import TABLE, Library, Reading, readings_of
from dashboard_api.crawler.essentials.unversioned import changes_unannounced
from dashboard_api.crawler.essentials.visiting import Visit, home_page
from foundation.outbound.deadline import Deadline, DeadlinePassed
from foundation.outbound.fetch import Fetched, FetchFailed, fetch
from foundation.outbound.refusals import is_refusal

SECONDS = 50.0  # for all requests
MAX_SCRIPTS = 100  # that are listed
MAX_DOWNLOADS = 10
SCRIPT_BYTES = 1024**2  # of a script; the rest is not read
_URL_CHARACTERS = 2000
_MAX_LIBRARIES = 16  # of a script in the inventory
UNREAD = "scripts_unread"
LEFT_OUT = "too_many_scripts"  # on purpose, so the report is complete
_SCRIPT_SECONDS = 10.0  # for one script, so that a slow one leaves time for others
# A page instead of a script
_PAGE = re.compile(rb"[\s\xef\xbb\xbf]{0,200}<(!doctype|html|head|body)\b", re.IGNORECASE)
_NEVER_ASKED = {"wrong_url", "opted_out"}  # such as another port
_GONE = {404, 410}  # browsers run nothing
OF_LIBRARIES = ("library-vulnerable", "library-end-of-life")
OF_HOSTS = ("script-host-new",)
OF_PINS = ("script-changed",)


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """Hosts of scripts that the owner knows, None before the first inventory, and pinned hashes by URL."""

    hosts: list[str] | None = None
    pins: dict[str, str] = {}


class Seen(NamedTuple):
    """A script: its hash if its whole body was read, and its libraries.

    ``missing`` is why its content is unknown; empty if it was read as a whole, if the server does not have
    it, or if its vendor changes it without notice.
    """

    script: Script
    sha256: str | None = None
    size: int | None = None
    readings: Sequence[Reading] = ()
    missing: str = ""


def report(
    host: str,
    address: str,
    *,
    agent: str = "",
    never: Sequence[str] = (),
    expected: Expected | None = None,
    libraries: Sequence[Library] = TABLE.library,
    facts: dict[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the report lines for ``host`` at the resolved ``address``.

    ``facts`` receives the inventory of scripts.
    """
    visit = Visit(host, address, Deadline(SECONDS), agent, never)
    results = _results(visit, expected, libraries, {} if facts is None else facts)
    return lines_of("scripts", "Scripts", f"https://{host}/", results)


def _results(
    visit: Visit, known: Expected | None, libraries: Sequence[Library], facts: dict[str, Any]
) -> Iterator[Result]:
    """Yield what is wrong with the scripts of the home page; raise Incomplete."""
    page = home_page(visit)
    yield from (Checked(hop.url) for hop in own_hops(page))
    if not is_page(page):
        yield from unread_at(page, [*OF_LIBRARIES, *OF_HOSTS, *OF_PINS], "no_page")
        return
    expected, markup = known or Expected(), Markup(page)
    scripts = [*{script.url: script for script in markup.scripts if _host_of(script)}.values()]
    is_complete = markup.is_whole and len(scripts) <= MAX_SCRIPTS
    if not is_complete:  # the rest of the page may have more scripts
        yield from unread_at(page, [*OF_LIBRARIES, *OF_HOSTS, *OF_PINS], "not_read_to_the_end")
    seen = _read(scripts, page, markup, visit, expected.pins, libraries)
    yield from _libraries(seen, page)
    yield from _hosts(seen, page, markup, expected.hosts)
    yield from _pins(seen, page, expected.pins) if known else _skipped(page, OF_PINS)
    facts["scripts"] = {
        "page": page.url,
        "complete": is_complete,
        "found": [_fact(each) for each in seen[:MAX_SCRIPTS]],
    }


def _read(
    scripts: Sequence[Script],
    page: Fetched,
    markup: Markup,
    visit: Visit,
    pins: Mapping[str, str],
    libraries: Sequence[Library],
) -> list[Seen]:
    """Return the scripts, pinned ones first, then those of the website itself; ten of them are read."""

    def rank(script: Script) -> int:
        return 0 if script.url in pins else 1 if markup.is_own(script.url) else 2

    seen: list[Seen] = []
    downloads = 0
    for script in sorted(scripts, key=rank)[:MAX_SCRIPTS]:
        is_of_vendor = changes_unannounced(urlsplit(script.url).hostname or "") and script.url not in pins
        if is_of_vendor or downloads >= MAX_DOWNLOADS or len(script.url) > _URL_CHARACTERS:
            seen.append(_unknown(script, "" if is_of_vendor else LEFT_OUT, libraries))
            continue
        downloads += 1
        seen.append(_downloaded(script, page, visit, libraries))
    return seen


def _downloaded(script: Script, page: Fetched, visit: Visit, libraries: Sequence[Library]) -> Seen:
    """Return a script as browsers load it: those of other hosts only with a valid certificate."""
    is_at_page = urlsplit(script.url).netloc == urlsplit(page.url).netloc
    try:
        response = fetch(
            script.url,
            max_bytes=SCRIPT_BYTES,
            deadline=Deadline(min(_SCRIPT_SECONDS, visit.deadline.remaining())),
            verify=not is_at_page,
            agent=visit.agent,
            pinned=page.hops[-1].addresses if is_at_page else (),
            never=visit.never,
        )
    except DeadlinePassed:
        return _unknown(script, "timed_out", libraries)
    except FetchFailed as error:
        reason = LEFT_OUT if error.reason in _NEVER_ASKED else error.reason
        return _unknown(script, reason, libraries)
    if response.status in _GONE:
        return Seen(script)
    if response.status != 200 or is_refusal(response) or _PAGE.match(response.body):
        return _unknown(script, "not_read_to_the_end", libraries)
    body = response.body
    try:
        with retirejs.limited():
            readings = readings_of(response.url, body, libraries) or readings_of(script.url, body, libraries)
    except retirejs.TooSlow:
        return _unknown(script, "timed_out", TABLE.library)
    if not response.is_whole:
        return Seen(script, None, None, readings, "not_read_to_the_end")
    return Seen(script, sha256(body).hexdigest(), len(body), readings)


def _unknown(script: Script, reason: str, libraries: Sequence[Library]) -> Seen:
    """Return a script whose content was not read; its address may name a library."""
    try:
        with retirejs.limited():
            readings = readings_of(script.url, b"", libraries)
    except retirejs.TooSlow:
        readings = readings_of(script.url, b"", TABLE.library)
    return Seen(script, None, None, readings, reason)


def _libraries(seen: Sequence[Seen], page: Fetched) -> Iterator[Result]:
    """Yield libraries with known vulnerabilities, and those without security updates.

    The address is enough for a script that was left out, but not for one that failed: its content may have
    named another version before.
    """
    for script, _, _, readings, _ in seen:
        for library, version, is_in_content in readings:
            source = "content" if is_in_content else "address"
            lines = [f"{library.title} {version}, as the {source} of {script.url[:500]} says"]
            holes = library.holes_of(version)
            lines += dict.fromkeys(hole.shown for hole in holes)
            if ended := library.ended_on(version):
                lines.append(f"This series has had no public security update since {ended}.")
            lines.append("A patched build with the same version number looks the same.")
            matcher = f"{library.name} {version} {script.url}"
            if holes:
                cve = [*dict.fromkeys(hole.id for hole in holes if hole.id.startswith("CVE-"))]
                yield Problem(OF_LIBRARIES[0], page.url, "\n".join(lines), matcher, holes[0].severity, cve)
            elif ended:
                yield Problem(OF_LIBRARIES[1], page.url, "\n".join(lines), matcher)
    if any(each.missing not in ("", LEFT_OUT) for each in seen):
        yield from unread_at(page, OF_LIBRARIES, UNREAD)
    elif any(each.missing and not each.readings for each in seen):
        yield from _skipped(page, OF_LIBRARIES)


def _hosts(
    seen: Sequence[Seen], page: Fetched, markup: Markup, expected: Sequence[str] | None
) -> Iterator[Problem | Skipped]:
    """Yield hosts of scripts that the owner does not know; without an inventory, the rule is left out."""
    if expected is None:
        yield from _skipped(page, OF_HOSTS)
        return
    others: dict[str, list[str]] = {}
    for each in seen:
        host = _host_of(each.script)
        if host not in expected and not markup.is_own(each.script.url):
            others.setdefault(host, []).append(each.script.url[:500])
    for host, urls in others.items():
        where = "The page has fields for passwords or payment cards.\n" if markup.asks_for_secrets else ""
        evidence = f"{where}Seen on {_today()}:\n" + "\n".join(urls[:10])
        yield Problem(*OF_HOSTS, page.url, evidence, host, "high" if markup.asks_for_secrets else "medium")


def _pins(seen: Sequence[Seen], page: Fetched, pins: Mapping[str, str]) -> Iterator[Problem | Unread]:
    """Yield pinned scripts with another content; one that the page no longer loads is none."""
    for script, digest, size, _, missing in seen:
        pinned = pins.get(script.url)
        if pinned is None:
            continue
        if missing:
            yield from unread_at(page, OF_PINS, UNREAD)
        elif digest and digest != pinned.lower():
            evidence = f"{script.url[:500]}\nPinned: SHA-256 {pinned}\nSeen on {_today()}: SHA-256 {digest}, "
            yield Problem(*OF_PINS, page.url, f"{evidence}{size} bytes", script.url)


def _skipped(page: Fetched, rules: Sequence[str]) -> Iterator[Skipped]:
    """Yield rules that were left out on purpose, at each URL on the way to the page."""
    yield from (Skipped(each.location, rules) for each in unread_at(page, rules, ""))


def _fact(seen: Seen) -> dict[str, Any]:
    """Return a script of the inventory."""
    return {
        "url": seen.script.url[:_URL_CHARACTERS],
        "host": _host_of(seen.script),
        "sha256": seen.sha256,
        "bytes": seen.size,
        "integrity": seen.script.has_integrity,
        "libraries": [
            {"name": each.library.name, "version": each.version} for each in seen.readings[:_MAX_LIBRARIES]
        ],
    }


def _host_of(script: Script) -> str:
    return urlsplit(script.url).hostname or ""


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"
