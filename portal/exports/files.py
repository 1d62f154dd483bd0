"""One file: everything that an address finds, streamed; a part of it never seems to be the whole."""

import logging
import re
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from portal import service
from portal.exports.as_csv import write_csv
from portal.exports.as_json import write_json
from portal.exports.as_sarif import write_sarif
from portal.exports.errors import TooMany
from portal.exports.selection import Changed, Selected, pages_after
from portal.exports.slots import Held, Place
from portal.forms import Address, Filters
from portal.gateway import Dashboard, GatewayError, TooManyCalls
from portal.models import Website

logger = logging.getLogger(__name__)

MAX_ROWS = 10_000
PAGE_ROWS = 100  # the service's bound
BUSY_SECONDS = 10  # for so long a page waits for its turn
_PAUSE_SECONDS = 0.1
_GZIP = 16 + zlib.MAX_WBITS


class Torn(Exception):
    """The file ends here, and whoever receives it must see that it is not whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """``other_lines`` are those beside one for each finding; ``torn`` is the end of what broke off."""

    suffix: str
    content_type: str
    write: Callable[[Selected], Iterator[str]]
    other_lines: int
    torn: str = ""  # JSON that is not closed says it by itself


FORMATS = {
    known.suffix: known
    for known in (
        Format(
            suffix="csv",
            content_type="text/csv; charset=utf-8; header=present",
            write=write_csv,
            other_lines=1,
            torn='"INCOMPLETE: the list stops here because something went wrong. Download it again."',
        ),
        Format(suffix="json", content_type="application/json", write=write_json, other_lines=2),
        Format(suffix="sarif", content_type="application/sarif+json", write=write_sarif, other_lines=2),
    )
}


def select(request: HttpRequest, website: Website, address: Address) -> Selected:
    """Return the findings of ``address``, with the first page read; raise GatewayError or TooMany."""

    def ask(number: int) -> Dashboard:
        return service.ask(website, replace(filters, page=number).question())

    filters = replace(address.filters, page=1, page_size=PAGE_ROWS)
    first = ask(1)
    total, bare = _total(first, ask), replace(address, filters=Filters())
    if total > MAX_ROWS:
        raise TooMany(at_most=MAX_ROWS)
    return Selected(
        first=first,
        total=total,
        filters=address.filters.active,
        list_url=request.build_absolute_uri(str(replace(address, filters=address.filters.whole))),
        finding_url=lambda id_: request.build_absolute_uri(url) if (url := bare.of_finding(id_)) else "",
        pages=pages_after(first, partial(_in_turn, ask), total=total, page_rows=PAGE_ROWS),
    )


def _in_turn(ask: Callable[[int], Dashboard], number: int) -> Dashboard:
    """Ask for a page of a file that has begun: one busy moment is no reason to break it off."""
    end = time.monotonic() + BUSY_SECONDS
    while time.monotonic() < end:
        with suppress(TooManyCalls):
            return ask(number)
        time.sleep(_PAUSE_SECONDS)
    return ask(number)


def _total(first: Dashboard, ask: Callable[[int], Dashboard]) -> int:
    """Return the number of findings, or a number above MAX_ROWS where a file cannot hold them.

    A search does not count past 1,000 matches: the deepest page that a file may need has the number of pages.
    """
    if first.dashboard.total_relation == "exact":
        return first.dashboard.total
    pages = ask(MAX_ROWS // PAGE_ROWS).dashboard.page_count
    if pages * PAGE_ROWS > MAX_ROWS:
        return MAX_ROWS + 1
    return (pages - 1) * PAGE_ROWS + len(ask(pages).threats)


def streamed(request: HttpRequest, known: Format, selected: Selected, place: Place) -> HttpResponseBase:
    """The file, packed if the browser unpacks it; ``place`` is given back when it has all, or has gone."""
    chunks, takes_gzip = _chunks(known, selected), "gzip" in request.headers.get("Accept-Encoding", "")
    chunks = _packed(chunks) if takes_gzip else chunks
    response = StreamingHttpResponse(Held(chunks, place), content_type=known.content_type)
    if takes_gzip:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ("Accept-Encoding",))
    response["X-Lines"] = str(selected.total + known.other_lines)
    return attached(response, f"{selected.first.host}-findings", selected.first, known.suffix)


def attached(response: HttpResponseBase, name: str, told: Dashboard, suffix: str) -> HttpResponseBase:
    """``response`` as a file to be saved under ``name`` and the day that ``told`` is of."""
    name = re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip(".-")
    day = told.dashboard.generated_at.date().isoformat()
    response["Content-Disposition"] = f'attachment; filename="{name}-{day}.{suffix}"'
    response["Cache-Control"] = "private, no-store"
    return response


def _chunks(known: Format, selected: Selected) -> Generator[bytes]:
    """The bytes; raises Torn, at which the server breaks the connection, after the mark of a part."""
    try:
        for text in known.write(selected):
            yield text.encode(errors="replace")
    except (Changed, GatewayError) as error:
        logger.warning("%s: a file broke off: %s: %s", selected.first.host, type(error).__name__, error)
        yield known.torn.encode()
        raise Torn(selected.first.host) from error


def _packed(chunks: Iterable[bytes]) -> Generator[bytes]:
    """``chunks`` as gzip, each whole as soon as it is sent: the mark of a part arrives, too."""
    packer = zlib.compressobj(wbits=_GZIP)
    for chunk in chunks:
        yield packer.compress(chunk) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()
