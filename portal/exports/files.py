"""Streamed files with all findings that match the filters; an incomplete file never looks complete."""

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

from portal.answers import service
from portal.exports.as_csv import write_csv
from portal.exports.as_json import write_json
from portal.exports.as_sarif import write_sarif
from portal.exports.errors import TooManyFindings
from portal.exports.selection import ListChanged, Selection, all_pages
from portal.gateway.errors import TooManyCalls
from portal.models import Website
from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models import reader_of
from signed_api.errors import CallError, RateLimited
from signed_api.findings import DashboardResponse

logger = logging.getLogger(__name__)

MAX_ROWS = 10_000  # findings in a file
PAGE_ROWS = 100  # the service's limit
MAX_WAIT_SECONDS = 10  # for a free call
_PAUSE_SECONDS = 0.1
_GZIP = 16 + zlib.MAX_WBITS  # how zlib is asked for the format of gzip


class ExportInterrupted(Exception):
    """The file is incomplete; the server closes the connection, so the download fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format; ``incomplete_marker`` ends a file that was interrupted."""

    suffix: str
    content_type: str
    write: Callable[[Selection], Iterator[str]]
    incomplete_marker: str = ""  # not needed for JSON: incomplete JSON is invalid


FORMATS = {
    file_format.suffix: file_format
    for file_format in (
        Format(
            suffix="csv",
            content_type="text/csv; charset=utf-8; header=present",
            write=write_csv,
            incomplete_marker='"INCOMPLETE: the list ends here because of an error. Export it again."',
        ),
        Format(suffix="json", content_type="application/json", write=write_json),
        Format(suffix="sarif", content_type="application/sarif+json", write=write_sarif),
    )
}


def select(request: HttpRequest, website: Website, address: Address) -> Selection:
    """Fetch the first page of the findings at ``address``; raises CallError and TooManyFindings."""
    filters = replace(address.filters, page=1, page_size=PAGE_ROWS)
    unfiltered, reader = replace(address, filters=Filters()), reader_of(website.account_id, request.user)
    filters = filters.of_person(reader.me)

    def get_page(number: int) -> DashboardResponse:
        return service.get_dashboard(website, replace(filters, page=number).to_request())

    def finding_url(finding_id: str) -> str:
        path = unfiltered.of_finding(finding_id)
        return request.build_absolute_uri(path) if path else ""

    first = get_page(1)
    total = first.dashboard.total
    if total > MAX_ROWS:
        raise TooManyFindings(max_rows=MAX_ROWS)
    return Selection(
        first=first,
        total=total,
        filters=address.filters.active,
        list_url=request.build_absolute_uri(str(replace(address, filters=address.filters.without_page))),
        finding_url=finding_url,
        person_name=reader.name,
        pages=all_pages(first, partial(_get_page_patiently, get_page), total=total, page_rows=PAGE_ROWS),
    )


def _get_page_patiently(get_page: Callable[[int], DashboardResponse], number: int) -> DashboardResponse:
    """Return a further page; wait for a free call, so that a busy moment does not interrupt the file."""
    end = time.monotonic() + MAX_WAIT_SECONDS
    while time.monotonic() < end:
        with suppress(TooManyCalls, RateLimited):
            return get_page(number)
        time.sleep(_PAUSE_SECONDS)
    return get_page(number)


def stream(request: HttpRequest, file_format: Format, selection: Selection) -> HttpResponseBase:
    """Return the file as a streaming response, compressed if possible."""
    chunks = _chunks(file_format, selection)
    accepts_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    chunks = _gzip(chunks) if accepts_gzip else chunks
    response = StreamingHttpResponse(chunks, content_type=file_format.content_type)
    if accepts_gzip:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ("Accept-Encoding",))
    return as_attachment(response, f"{selection.first.host}-findings", selection.first, file_format.suffix)


def as_attachment(
    response: HttpResponseBase, name: str, dashboard: DashboardResponse, suffix: str
) -> HttpResponseBase:
    """Return ``response`` as a download; the file name ends in the day of ``dashboard``."""
    name = file_name(name)
    day = dashboard.dashboard.generated_at.date().isoformat()
    response["Content-Disposition"] = f'attachment; filename="{name}-{day}.{suffix}"'
    response["Cache-Control"] = "private, no-store"
    return response


def file_name(name: str) -> str:
    """Return ``name`` without characters that a file's name should not have."""
    return re.sub(r"[^a-z0-9.-]+", "-", name.lower()).strip(".-")


def _chunks(file_format: Format, selection: Selection) -> Generator[bytes]:
    """Yield the bytes of the file; on an error, yield the incomplete marker and raise ExportInterrupted."""
    try:
        for text in file_format.write(selection):
            yield text.encode(errors="replace")
    except (ListChanged, CallError) as error:
        logger.warning(
            "%s: an export was interrupted: %s: %s", selection.first.host, type(error).__name__, error
        )
        yield file_format.incomplete_marker.encode()
        raise ExportInterrupted(selection.first.host) from error


def _gzip(chunks: Iterable[bytes]) -> Generator[bytes]:
    """Yield ``chunks`` compressed, each flushed: otherwise the incomplete marker might not arrive."""
    compressor = zlib.compressobj(wbits=_GZIP)
    for chunk in chunks:
        yield compressor.compress(chunk) + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield compressor.flush()
