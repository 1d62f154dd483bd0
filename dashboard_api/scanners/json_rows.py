"""JSON in the three layouts that scanners write: a row per line, an array of rows, one row alone."""

import codecs
import io
import json
from collections.abc import Iterator
from typing import Any

from dashboard_api.scanners.report import BadRow, UnreadableReport

Row = dict[str, Any]


def read_rows(data: bytes) -> Iterator[tuple[int, Row | BadRow]]:
    """The rows with their numbers; in place of one that is no JSON object, why.

    Rows of JSON lines carry the number of their line. Raises UnreadableReport, at the end, when nothing
    was a row.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        return
    _, first = next(_lines(data))
    # Where the first line alone is no row, the file may be one document, spread over lines.
    document = _decoded(data) if isinstance(first, BadRow) else None
    if isinstance(document, list):
        yield from ((number, _row(value)) for number, value in enumerate(document, start=1))
        return
    if isinstance(document, dict):
        yield 1, document
        return
    has_rows = False
    for number, row in _lines(data):
        has_rows = has_rows or not isinstance(row, BadRow)
        yield number, row
    if not has_rows:
        raise UnreadableReport(f"The file is neither JSON nor JSON lines: {_why(document)}.")


def _lines(data: bytes) -> Iterator[tuple[int, Row | BadRow]]:
    lines = enumerate(io.BytesIO(data), start=1)
    return ((number, _row(_decoded(line.rstrip()))) for number, line in lines if line.strip())


def _row(value: object) -> Row | BadRow:
    if isinstance(value, dict | BadRow):
        return value
    return BadRow("is not a JSON object")


def _decoded(data: bytes) -> object:
    """The JSON value, or the BadRow that says why there is none."""
    try:
        return json.loads(data.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        return BadRow("is not UTF-8 text")
    except json.JSONDecodeError as error:
        return BadRow(f"is not JSON: {error.msg} at character {error.pos + 1}")
    except RecursionError:
        return BadRow("is nested too deeply")
    except ValueError:
        # Beside NaN and Infinity, a number of thousands of digits, which Python will not convert.
        return BadRow("holds a number that is none in JSON, or is too long")


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _why(document: object) -> str:
    return f"it {document}" if isinstance(document, BadRow) else "it holds no object"
