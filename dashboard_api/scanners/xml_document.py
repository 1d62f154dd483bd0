"""Untrusted XML: a document type is refused, and with it entities, other files and expansion.

The standard library's expat reads the file in parts (decision record 0029). Elements that may be very many
stay encoded in memory.
"""

from collections.abc import Collection, Sequence
from typing import Any, BinaryIO
from xml.parsers import expat

import msgspec

from dashboard_api import limits
from dashboard_api.scanners.lazy_list import LazyList
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import in_megabytes

MAX_DEPTH = 50
_MAX_ELEMENTS = 200_000  # without encoded ones
_PART = 64 * 1024

# Children by their names (as bytes if encoded), attributes ("@name") and texts ("").
Element = dict[str, list[Any]]
_decode = msgspec.msgpack.Decoder(Element).decode


class _Builder:
    def __init__(self, encoded: Collection[str]) -> None:
        self._open: list[Element] = [{}]
        self._encoded = encoded
        self._counts = [0]  # of elements that are not encoded, in each open one
        self._total = 0

    @property
    def root(self) -> Element:
        return self._open[0]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > MAX_DEPTH:
            raise UnreadableReport("The file is nested too deeply.")
        self._total += 1
        if self._total > _MAX_ELEMENTS:
            raise UnreadableReport(f"The file holds more than {_MAX_ELEMENTS:,} elements that are no rows.")
        element: Element = {f"@{attribute}": [value] for attribute, value in attributes.items()}
        self._open[-1].setdefault(name, []).append(element)
        self._open.append(element)
        self._counts.append(1)

    def end(self, name: str) -> None:
        element, count = self._open.pop(), self._counts.pop()
        if name in self._encoded:
            self._open[-1][name][-1] = msgspec.msgpack.encode(element)
            self._total -= count
        else:
            self._counts[-1] += count

    def text(self, text: str) -> None:
        self._open[-1].setdefault("", []).append(text)


def read_xml(stream: BinaryIO, *, encoded: Collection[str] = ()) -> Element:
    """Return an element that holds the document's root; raises UnreadableReport.

    ``encoded`` names elements that may be very many.
    """
    builder = _Builder(encoded)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        _feed(parser, stream)
    except expat.ExpatError as error:
        raise UnreadableReport(f"The file is not XML: {error}.") from error
    except (LookupError, ValueError) as error:
        if isinstance(error, UnreadableReport):
            raise
        raise UnreadableReport("The file names an encoding that is not read: save it as UTF-8.") from error
    return builder.root


def _feed(parser: expat.XMLParserType, stream: BinaryIO) -> None:
    length = 0
    while part := stream.read(_PART):
        length += len(part)
        if length > limits.MAX_DOCUMENT_BYTES:
            raise UnreadableReport(
                f"The file is one document of more than {in_megabytes(limits.MAX_DOCUMENT_BYTES)}."
            )
        parser.Parse(part, False)
    parser.Parse(b"", True)


def children(element: Element, name: str) -> Sequence[Element]:
    """Return the child elements of this name."""
    return LazyList(
        element.get(name, []), lambda child: _decode(child) if isinstance(child, bytes) else child
    )


def text_at(element: Element, name: str) -> str:
    """Return the text of the attribute or first child of this name."""
    for value in element.get(name, []):
        return value if isinstance(value, str) else "".join(map(str, value.get("", [])))
    return ""


def _refuse_doctype(*_declaration: object) -> None:
    raise UnreadableReport("The file has a DOCTYPE, which no report needs and which is not read.")
