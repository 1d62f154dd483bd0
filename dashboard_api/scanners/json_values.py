"""Strict decoding of untrusted JSON; ``decode`` and ``decode_lazily`` return a BadRow for broken data.

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
_MAX_UNCHECKED = 1024**2  # bytes of a document that is too short to hold too many values
_PART = 64 * 1024  # bytes read at once
_START_OF_VALUE = re.compile(r"[^ \t\r\n,]")
_BLANK = re.compile(rb"[ \t\r\n]*")
# An escape: a surrogate pair, half a pair (the group), or any other one, such as an escaped backslash.
# Python's json accepts half a pair, and msgspec rejects it.
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
        while start := _START_OF_VALUE.search(text, position):
            value, position = _DECODER.raw_decode(text, start.start())
            values += value if isinstance(value, list) else [value]
    except (ValueError, RecursionError):
        return []
    return values


def read_document(stream: BinaryIO) -> object:
    """Return the decoded JSON value in the file; raises UnreadableReport."""
    return _raise_if_bad(decode(read_all(stream, limits.MAX_DECODED_BYTES)))


def open_document(stream: BinaryIO) -> object:
    """Return the JSON value in the file; long lists are LazyLists; raises UnreadableReport."""
    return _raise_if_bad(decode_lazily(read_all(stream)))


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
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, ensure_ascii=False, default=list)  # a LazyList as a list


def _raise_if_bad(document: object) -> object:
    """Return ``document``; a BadRow becomes an UnreadableReport."""
    if isinstance(document, BadRow):
        raise UnreadableReport(
            f"The file {document}. Let the scan run to its end."
            if str(document) == _CUT_OFF
            else f"The file {document}. Let the scanner write it again."
        )
    return document


def _decode(data: bytes | bytearray) -> object:
    """Return the JSON value; raises BadRow."""
    try:
        _check_values(data)
        return _DECODER.decode(data.decode(errors="replace"))
    except json.JSONDecodeError as error:
        # The decoder wanted more at the end of a text that is not blank.
        ends_early = 0 < len(error.doc.rstrip()) <= error.pos
        is_cut_off = ends_early or error.msg.startswith("Unterminated")
        reason = f"is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
        raise BadRow(_CUT_OFF if is_cut_off else reason) from error
    except RecursionError as error:
        raise BadRow("is nested too deeply") from error
    except BadRow:  # from _check_values; it is a ValueError as well
        raise
    except ValueError as error:
        # NaN, Infinity, or a number with thousands of digits, which int() rejects.
        raise BadRow("holds a number that JSON does not allow, or that is too long") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


# Not strict, because some tools write raw line breaks. The constants are NaN and Infinity.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, strict=False)


def _decode_lazily(data: Bytes, at_once: int) -> Any:
    view = memoryview(data)  # without a copy
    if len(view) <= at_once:
        return _decode(bytes(view))
    blank = _BLANK.match(view)
    first_character = bytes(view[blank.end() :][:1]) if blank else b""
    if first_character == b"[":
        return LazyList(_decode_list(data), partial(_decode_item, at_once=at_once))
    if first_character == b"{":
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
    if len(data) <= _MAX_UNCHECKED:
        return
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > limits.MAX_DOCUMENT_VALUES:
        raise BadRow(f"holds more than {limits.MAX_DOCUMENT_VALUES:,} values")


def _replace_halves(data: bytearray) -> None:
    """Overwrite escapes of half a surrogate pair with the replacement character, in the same length."""
    for escape in _ESCAPE.finditer(data):
        if escape[1]:
            data[escape.start(1) : escape.end(1)] = b"ufffd"
