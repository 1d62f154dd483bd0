"""Reader of JSON rows: one row a line, one or several arrays of rows, or a single row."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from dashboard_api import limits
from dashboard_api.scanners.json_values import decode, decode_lazily, decode_values, read_up_to, too_large
from dashboard_api.scanners.lazy_list import is_list
from dashboard_api.scanners.members import JsonObject, as_object
from dashboard_api.scanners.report import BadRow, UnreadableReport
from dashboard_api.scanners.streams import in_megabytes, joined


def read_rows(stream: BinaryIO) -> Iterator[tuple[int, JsonObject | BadRow]]:
    """Yield numbered rows; a BadRow for a row that is no JSON object.

    A row of JSON lines has the number of its line; only one line is in memory. Raises UnreadableReport at the
    end if every row was bad.
    """
    blank_lines = 0
    while (line := _line(stream)) and not line.strip(codecs.BOM_UTF8 + b" \t\r\n"):
        blank_lines += 1
    line = line.removeprefix(codecs.BOM_UTF8)
    if not line:
        return
    if isinstance(decode(line), dict):
        yield from _numbered_lines(joined(line, stream), first=blank_lines + 1)
        return
    # If the first line is no row, the file may be one document over several lines.
    data = read_up_to(joined(line, stream), limits.MAX_DOCUMENT_BYTES)
    if len(data) > limits.MAX_DOCUMENT_BYTES:
        document: object = too_large(limits.MAX_DOCUMENT_BYTES)
    else:
        document = decode_lazily(data, at_once=limits.MAX_LINE_BYTES)
        if isinstance(document, BadRow) and len(data) <= limits.MAX_DECODED_BYTES:
            document = decode_values(data) or document  # several documents, one after the other
    if is_list(document):
        yield from ((number, as_object(value)) for number, value in enumerate(document, start=1))
    elif isinstance(document, dict):
        yield 1, document
    else:
        why_no_document = f"it {document}" if isinstance(document, BadRow) else "it holds no object"
        lines = _numbered_lines(joined(bytes(data), stream), first=blank_lines + 1)
        yield from _refuse_if_all_bad(lines, why_no_document)


def _numbered_lines(stream: BinaryIO, *, first: int) -> Iterator[tuple[int, JsonObject | BadRow]]:
    number = first
    while line := _line(stream):
        if len(line) > limits.MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):  # skip the rest of the line
                line = _line(stream)
            yield number, BadRow(f"is longer than {in_megabytes(limits.MAX_LINE_BYTES)}")
        elif line.strip():
            yield number, as_object(decode(line.rstrip()))
        number += 1


def _refuse_if_all_bad(
    rows: Iterator[tuple[int, JsonObject | BadRow]], why_no_document: str
) -> Iterator[tuple[int, JsonObject | BadRow]]:
    has_rows = False
    for number, row in rows:
        has_rows = has_rows or not isinstance(row, BadRow)
        yield number, row
    if not has_rows:
        raise UnreadableReport(
            f"The file is neither JSON nor JSON lines: {why_no_document}. Let the scanner write it again."
        )


def _line(stream: BinaryIO) -> bytes:
    """Return the next line; of a line above the limit, one byte more than the limit."""
    return stream.readline(limits.MAX_LINE_BYTES + 1)
