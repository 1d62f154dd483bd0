"""Reader of the file of RetireJS, which has more libraries than our table.

Its patterns are not ours, and some are slow: each search of a script has a time limit, and a script that
reaches it counts as not read.
"""

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from dashboard_api.crawler.essentials.scripts.libraries import SEVERITIES, TABLE, Hole, Library

SECONDS = 2.0  # of the processor, for all patterns on one script
_MAX_BYTES = 8 * 1024**2
_VERSION = "[0-9][0-9.a-z_-]{0,30}"
_MARK = "§§version§§"
_MAX_PATTERN = 500  # characters
_IDENTIFIER = re.compile(r"(CVE-\d{4}-\d{4,10})|(GHSA(?:-[0-9a-z]{4}){3})")


class WrongFile(ValueError):
    """The file cannot be used; the message says why."""


class TooSlow(Exception):
    """The patterns took too long on a script."""


class _Range(msgspec.Struct):
    below: str = ""
    atOrAbove: str = ""  # noqa: N815 - as in the file


class _Vulnerability(msgspec.Struct):
    identifiers: dict[str, Any] = {}
    severity: str = "medium"
    below: str = ""
    atOrAbove: str = ""  # noqa: N815 - as in the file
    ranges: list[_Range] = []

    def holes(self) -> Iterator[Hole]:
        """Yield a hole for each identifier and range; one without an identifier says too little."""
        ranges = self.ranges or [_Range(self.below, self.atOrAbove)]
        names = [self.identifiers.get("CVE") or [], self.identifiers.get("githubID") or ""]
        found = _IDENTIFIER.findall(" ".join(map(str, names)))
        cves, others = [cve for cve, _ in found if cve], [other for _, other in found if other]
        severity = self.severity.lower()
        for name in cves or others:
            for each in ranges:
                yield Hole(name, each.atOrAbove, each.below, severity if severity in SEVERITIES else "medium")


class _Entry(msgspec.Struct):
    vulnerabilities: list[_Vulnerability] = []
    extractors: dict[str, Any] = {}

    def patterns(self, kind: str) -> list[str]:
        """Return the patterns that Python can read; they are of JavaScript."""
        found = self.extractors.get(kind) or []
        texts = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
        return [text for text in texts if _MARK in text and len(text) <= _MAX_PATTERN and _is_readable(text)]


def read(file: Path) -> list[Library]:
    """Return the libraries of our table and of a file, whose holes are added; raise WrongFile."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise WrongFile(f"{file} has more than 8 MB.")
        entries = msgspec.json.decode(file.read_bytes(), type=dict[str, msgspec.Raw])
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        raise WrongFile(f"{file} cannot be read as RetireJS's JSON: {error}") from error
    libraries = {library.name: library for library in TABLE.library}
    found = 0
    for name, raw in entries.items():
        try:
            library = _library(name[:60], msgspec.json.decode(raw, type=_Entry))
        except (msgspec.MsgspecError, UnicodeError, re.error):
            continue  # newer versions of the format may describe single libraries otherwise
        if library.holes and (library.banners or library.urls):
            libraries[library.name] = library
            found += 1
    if not found:
        raise WrongFile(
            f"{file} has no library with a vulnerability and a pattern, as RetireJS's JSON has them."
        )
    return [*libraries.values()]


def _library(name: str, entry: _Entry) -> Library:
    holes = [hole for each in entry.vulnerabilities for hole in each.holes()]
    ours = next((each for each in TABLE.library if name in (each.retirejs, each.name)), None)
    if ours:
        known = {hole.id for hole in ours.holes}
        more = [hole for hole in holes if hole.id not in known]
        return msgspec.structs.replace(ours, holes=[*ours.holes, *more])
    names = [f"/{pattern}" for pattern in entry.patterns("filename")]
    return _Foreign(
        name=name,
        title=name,
        urls=[_named(each) for each in (*names, *entry.patterns("uri"))],
        banners=[_named(each) for each in entry.patterns("filecontent")],
        holes=holes,
    )


class _Foreign(Library, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A library with patterns of others."""

    def versions_in_url(self, url: str) -> Iterator[str]:
        """Yield the version that an address names."""
        yield from _first(self.urls, url[:1000])

    def versions_in_content(self, body: bytes) -> Iterator[str]:
        """Yield the version that a script names."""
        yield from _first(self.banners, body.decode("latin-1"))


def _first(patterns: list[str], text: str) -> list[str]:
    found = (match["version"].rstrip("._-") for each in patterns if (match := re.search(each, text)))
    return next(([version] for version in found), [])


def _named(pattern: str) -> str:
    """Return a pattern with a group for the version."""
    group = f"(?P<version>{_VERSION})"
    return pattern.replace(f"({_MARK})", group).replace(_MARK, group)


def _is_readable(pattern: str) -> bool:
    try:
        return bool(re.compile(_named(pattern)))
    except (re.error, OverflowError, RecursionError):
        return False


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raise TooSlow if the block takes longer; only the main thread, as of an engine, can be stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
