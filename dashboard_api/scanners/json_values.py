"""Strict decoding of untrusted JSON; a BadRow says why decoding failed.

A decoded document needs about ten times its size in memory. Readers that use rows one by one therefore
decode long lists lazily, item by item.
"""

import codecs
import json
import re
from functools import partial
from typing import Any, BinaryIO

import msgspec

from dashboard_api import limits
from dashboard_api.scanners.lazy_list import LazyList
from dashboard_api.scanners.report import BadRow, UnreadableReport
from dashboard_api.scanners.streams import in_megabytes

Bytes = bytes | bytearray | msgspec.Raw

_AT_ONCE = 64 * 1024  # bytes; a longer value is decoded lazily
_COUNTED = 1024**2  # bytes; a shorter document is not counted
_PART = 64 * 1024
_VALUE = re.compile(r"[^ \t\r\n,]")  # the first character of the next value
_BLANK = re.compile(rb"[ \t\r\n]*")
# Escapes; the group is half a surrogate pair, which Python's json accepts and msgspec rejects.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_CUT_OFF = "is cut off: the end of its JSON is missing"
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decode(data: bytes | bytearray) -> object:
    """Return the JSON value, or a BadRow if the data is not JSON."""
    try:
        return _decode(data)
    except BadRow as error:
        return error


def decode_lazily(data: bytearray, *, at_once: int | None = None) -> object:
    """Decode a document; a list above ``at_once`` bytes becomes a LazyList with a BadRow for a bad item."""
    at_once = _AT_ONCE if at_once is None else at_once
    try:
        _check_values(data)
        if b"\\ud" in data or b"\\uD" in data:
            _replace_halves(data)
        return _decode_lazily(data, at_once)
    except BadRow as error:
        return error
    except RecursionError:
        return BadRow("is nested too deeply")
    except msgspec.DecodeError as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        return BadRow(_CUT_OFF if "truncated" in reason else f"is not JSON: {reason}")


def decode_values(data: bytearray) -> list[Any]:
    """Return the values of a file that a tool appended to, with or without commas; lists are flattened.

    Return an empty list if the file holds anything else.
    """
    values: list[Any] = []
    position, text = 0, data.decode(errors="replace")
    try:
        _check_values(data)
        while start := _VALUE.search(text, position):
            value, position = _DECODER.raw_decode(text, start.start())
            values += value if isinstance(value, list) else [value]
    except (ValueError, RecursionError):
        return []
    return values


def read_document(stream: BinaryIO) -> object:
    """Return the decoded JSON value in the file; raises UnreadableReport."""
    return _usable(decode(read_all(stream, limits.MAX_DECODED_BYTES)))


def open_document(stream: BinaryIO) -> object:
    """Return the JSON value in the file; long lists are LazyLists; raises UnreadableReport."""
    return _usable(decode_lazily(read_all(stream)))


def read_all(stream: BinaryIO, limit: int | None = None) -> bytearray:
    """Return the bytes in ``stream`` without a byte order mark; raises UnreadableReport above ``limit``."""
    limit = limits.MAX_DOCUMENT_BYTES if limit is None else limit
    data = read_up_to(stream, limit)
    if len(data) > limit:
        raise UnreadableReport(f"The file {too_large(limit)}.")
    if data.startswith(codecs.BOM_UTF8):
        del data[: len(codecs.BOM_UTF8)]
    return data


def read_up_to(stream: BinaryIO, limit: int) -> bytearray:
    """Read ``stream`` until the bytes exceed ``limit`` or end."""
    data = bytearray()
    while len(data) <= limit and (part := stream.read(_PART)):
        data += part
    return data


def too_large(limit: int) -> BadRow:
    """Return the refusal of a document above ``limit`` bytes."""
    return BadRow(f"is one document of more than {in_megabytes(limit)}")


def to_text(value: object) -> str:
    """Return a readable JSON value: a string unchanged, anything else indented."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=list)


def _usable(document: object) -> object:
    if isinstance(document, BadRow):
        raise UnreadableReport(
            f"The file {document}. Let the scan run to its end."
            if str(document) == _CUT_OFF
            else f"The file {document}. Let the scanner write it again."
        )
    return document


def _decode(data: bytes | bytearray) -> object:
    try:
        _check_values(data)
        return _DECODER.decode(data.decode(errors="replace"))
    except json.JSONDecodeError as error:
        is_cut_off = error.msg.startswith("Unterminated") or 0 < len(error.doc.rstrip()) <= error.pos
        reason = f"is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
        raise BadRow(_CUT_OFF if is_cut_off else reason) from error
    except RecursionError as error:
        raise BadRow("is nested too deeply") from error
    except BadRow:
        raise
    except ValueError as error:
        # NaN, Infinity, or a number with thousands of digits, which int() rejects.
        raise BadRow("holds a number that JSON does not allow, or that is too long") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, strict=False)  # some tools write raw line breaks


def _decode_lazily(data: Bytes, at_once: int) -> Any:
    view = memoryview(data)
    if len(view) <= at_once:
        return _decode(bytes(view))
    blank = _BLANK.match(view)
    first = bytes(view[blank.end() :][:1]) if blank else b""
    if first == b"[":
        return LazyList(_decode_list(data), partial(_decode_item, at_once=at_once))
    if first == b"{":
        return {name: _decode_lazily(value, at_once) for name, value in _decode_object(data).items()}
    return _decode(bytes(view))


def _decode_item(data: msgspec.Raw, *, at_once: int) -> object:
    """Decode an item of a LazyList; return a BadRow for a bad item so that the others can be read."""
    try:
        return _decode_lazily(data, at_once)
    except BadRow as error:
        return error


def _check_values(data: bytes | bytearray) -> None:
    """Raise BadRow for data that would grow a hundredfold in memory, such as millions of empty lists."""
    if len(data) > _COUNTED and sum(map(data.count, (b",", b"[", b"{"))) > limits.MAX_DOCUMENT_VALUES:
        raise BadRow(f"holds more than {limits.MAX_DOCUMENT_VALUES:,} values")


def _replace_halves(data: bytearray) -> None:
    """Overwrite escapes of half a surrogate pair with the replacement character, in the same length."""
    for escape in _ESCAPE.finditer(data):
        if escape[1]:
            data[slice(*escape.span(1))] = b"ufffd"
