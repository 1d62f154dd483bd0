"""Exposed files: paths that leak where they can be fetched, listed in exposed.toml with a proof of each.

A file is found only if its content proves what it is, and if a random name in its folder does not show the
same. Nothing of its content is stored: it holds secrets.
"""

import re
import secrets
import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec

from dashboard_api.crawler.essentials.lines import Incomplete, lines_of
from dashboard_api.crawler.essentials.page import Checked, Problem, Result, Unread, own_hops
from dashboard_api.crawler.essentials.visiting import Visit, home_page, response_to
from foundation.outbound.deadline import Deadline
from foundation.outbound.fetch import Fetched
from foundation.outbound.refusals import REFUSALS

SECONDS = 110.0  # for all requests
_BYTES = 65_536  # of a file
_MAX_FAILURES = 3  # in a row; after these, no more requests
# A server may refuse single files; other refusals concern every visitor.
_OF_EVERYTHING = REFUSALS - {401, 403, 405, 406}
_TAG = re.compile(rb"\A[\s\xef\xbb\xbf]{0,200}<[!a-z]", re.IGNORECASE)


class Leak(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Paths that leak, and the proof of their content."""

    rule: str
    paths: list[str]
    says: str
    pattern: str
    page: bool = False

    def proves(self, body: bytes) -> bool:
        """Return whether the content is what leaks; a page that is shown instead of it proves nothing."""
        is_page = bool(_TAG.match(body))
        return is_page == self.page and bool(re.search(self.pattern.encode(), body, re.MULTILINE))


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LEAKS = msgspec.convert(_FILE["file"], list[Leak])
REVIEWED = msgspec.convert(_FILE["reviewed"], date)


def report(
    host: str, address: str, *, agent: str = "", never: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the report lines for ``host`` at the resolved ``address``."""
    visit = Visit(host, address, Deadline(SECONDS), agent, never)
    return lines_of("exposed-files", "Exposed files", f"https://{host}/", _results(visit))


def _results(visit: Visit) -> Iterator[Result]:
    """Yield the exposed files next to the home page; raise Incomplete."""
    page = home_page(visit)
    yield from (Checked(hop.url) for hop in own_hops(page))
    files = _Files(page, visit)
    failures: list[str] = []  # in a row
    for leak, path in ((each, path) for each in LEAKS for path in each.paths):
        if len(failures) < _MAX_FAILURES:
            try:
                if files.leaks(path, leak):
                    evidence = f"Everyone can fetch it. {leak.says} Its content is not stored here."
                    yield Problem(leak.rule, files.url_of(path), evidence)
                failures.clear()
                continue
            except Incomplete as error:
                failures.append(str(error))
        yield Unread(files.url_of(path), [leak.rule], failures[-1])


class _Files:
    """Files of a website, at the name of its home page."""

    def __init__(self, page: Fetched, visit: Visit) -> None:
        self._page, self._visit = page, visit
        self._controls: dict[tuple[str, str], bytes] = {}  # by folder and ending

    def url_of(self, path: str) -> str:
        """Return the address of a file."""
        return urljoin(self._page.url, path)

    def leaks(self, path: str, leak: Leak) -> bool:
        """Return whether a file leaks, and a file with a random name does not look the same."""
        return leak.proves(self._body_of(path)) and not leak.proves(self._control_of(path))

    def _control_of(self, path: str) -> bytes:
        """Return the content of a random name in the same folder, with the same ending."""
        folder, _, name = path.rpartition("/")
        stem, dot, ending = name.partition(".")
        kind = folder, dot + ending if stem else ""
        if kind not in self._controls:
            self._controls[kind] = self._body_of(f"{folder}/{secrets.token_hex(8)}{kind[1]}")
        return self._controls[kind]

    def _body_of(self, path: str) -> bytes:
        """Return the beginning of a file; empty if there is none."""
        url = self.url_of(path)
        try:
            response = response_to(
                url,
                self._visit,
                refusals=_OF_EVERYTHING,
                max_bytes=_BYTES,
                addresses=self._page.hops[-1].addresses,
            )
        except Incomplete as error:
            if str(error) == "redirected_away":
                return b""
            raise
        is_there = response.status == 200 and urlsplit(response.url).path == path
        return response.body if is_there else b""
