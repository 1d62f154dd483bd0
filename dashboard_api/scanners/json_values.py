"""JSON that may be anything: decoded strictly, or the reason why it cannot be.

A decoded document takes about ten times its size. Where its rows are used one after the other, it stays the
bytes that it is, and its long lists are ``Items`` (decision record 0028).
"""

import codecs
import json
import re
from functools import partial
from typing import Any, BinaryIO

import msgspec

from dashboard_api import policy
from dashboard_api.scanners.items import Items
from dashboard_api.scanners.report import BadRow, UnreadableReport
from dashboard_api.scanners.streams import in_megabytes

Bytes = bytes | bytearray | msgspec.Raw

_AT_ONCE = 64 * 1024  # bytes; a longer value is decoded by parts
_COUNTED = 1024**2  # bytes; what is shorter holds few values
_PART = 64 * 1024
_BLANK = re.compile(rb"[ \t\r\n]*")
# Escapes, of which the group is half of a character: Python's JSON knows them, msgspec does not.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decoded(data: bytes | bytearray) -> object:
    """The JSON value, or the BadRow that says why there is none."""
    try:
        return _decoded(data)
    except BadRow as error:
        return error


def opened(data: bytearray, *, at_once: int | None = None) -> object:
    """The same, of a document: lists of more bytes than ``at_once`` are Items, with BadRows in them."""
    at_once = _AT_ONCE if at_once is None else at_once
    try:
        _check_values(data)
        if b"\\ud" in data or b"\\uD" in data:
            _replace_halves(data)
        return _opened(data, at_once)
    except BadRow as error:
        return error
    except RecursionError:
        return BadRow("is nested too deeply")
    except UnicodeDecodeError:
        return BadRow("is not UTF-8 text")
    except msgspec.DecodeError as error:
        return BadRow(f"is not JSON: {str(error).removeprefix('JSON is malformed: ')}")


def read_document(stream: BinaryIO) -> object:
    """The one JSON value that the whole file is, decoded at once; raises UnreadableReport."""
    return _usable(decoded(whole_file(stream, policy.MAX_DECODED_BYTES)))


def open_document(stream: BinaryIO) -> object:
    """The one JSON value that the whole file is, with its long lists as Items; raises UnreadableReport."""
    return _usable(opened(whole_file(stream)))


def whole_file(stream: BinaryIO, limit: int | None = None) -> bytearray:
    """Everything in ``stream``, without a byte order mark; raises UnreadableReport where it is too much."""
    limit = policy.MAX_DOCUMENT_BYTES if limit is None else limit
    data = as_much(stream, limit)
    if len(data) > limit:
        raise UnreadableReport(f"The file {oversized(limit)}.")
    if data.startswith(codecs.BOM_UTF8):
        del data[: len(codecs.BOM_UTF8)]
    return data


def as_much(stream: BinaryIO, limit: int) -> bytearray:
    """Everything in ``stream``; of what is longer than ``limit`` bytes, so much that this shows."""
    data = bytearray()
    while len(data) <= limit and (part := stream.read(_PART)):
        data += part
    return data


def oversized(limit: int) -> BadRow:
    """What is said of a document that is too large to be read as one."""
    return BadRow(f"is one document of more than {in_megabytes(limit)}")


def as_text(value: object) -> str:
    """Any JSON value as people read it: a text as it is, everything else laid out."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=list)


def _usable(document: object) -> object:
    if isinstance(document, BadRow):
        raise UnreadableReport(f"The file {document}.")
    return document


def _decoded(data: bytes | bytearray) -> object:
    try:
        _check_values(data)
        return json.loads(data.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise BadRow("is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise BadRow(f"is not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise BadRow("is nested too deeply") from error
    except BadRow:
        raise
    except ValueError as error:
        # Beside NaN and Infinity, a number of thousands of digits, which Python will not convert.
        raise BadRow("holds a number that is none in JSON, or is too long") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _opened(data: Bytes, at_once: int) -> Any:
    view = memoryview(data)
    if len(view) <= at_once:
        return _decoded(bytes(view))
    blank = _BLANK.match(view)
    first = bytes(view[blank.end() :][:1]) if blank else b""
    if first == b"[":
        return Items(_decode_list(data), partial(_item, at_once=at_once))
    if first == b"{":
        return {name: _opened(value, at_once) for name, value in _decode_object(data).items()}
    return _decoded(bytes(view))


def _item(data: msgspec.Raw, *, at_once: int) -> object:
    """One of Items: what cannot be decoded costs itself only."""
    try:
        return _opened(data, at_once)
    except BadRow as error:
        return error


def _check_values(data: bytes | bytearray) -> None:
    """Refuse what takes a hundred times its size once it is decoded, such as a million empty lists."""
    if len(data) > _COUNTED and sum(map(data.count, (b",", b"[", b"{"))) > policy.MAX_DOCUMENT_VALUES:
        raise BadRow(f"holds more than {policy.MAX_DOCUMENT_VALUES:,} values")


def _replace_halves(data: bytearray) -> None:
    """Escapes of half a character become those of the replacement character, of the same length."""
    for escape in _ESCAPE.finditer(data):
        if escape[1]:
            data[slice(*escape.span(1))] = b"ufffd"
