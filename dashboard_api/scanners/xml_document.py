"""Reader of untrusted XML. It refuses entities, which could include files or expand without limit.

The standard library's expat reads the file in parts. ``XmlRows`` drops each row after its use. ``read_xml``
returns a whole document and keeps numerous elements encoded, which saves memory.
"""

import base64
import codecs
import re
import sys
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple
from xml.parsers import expat

import msgspec

from dashboard_api import limits
from dashboard_api.scanners.lazy_list import LazyList
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import in_megabytes, joined

MAX_DEPTH = 50
_MAX_ELEMENTS = 200_000  # elements and attributes, except in rows and encoded elements
_MAX_ENCODED = 1_000_000  # elements
_MAX_NAMES = 2_000  # of elements and attributes
_MAX_DECLARATIONS = 1_000  # of attributes in a document type
_MAX_DOCTYPE_END = 256 * 1024  # bytes of the file
_MAX_TAG_BYTES = 2 * 1024**2  # of a tag or a comment
_MAX_TEXT = 1024**2  # characters of one element, more than any stored text has
_PART = 64 * 1024  # bytes read at once
# The start or end of CDATA, in which references do not count, or a numeric character reference.
_REFERENCE = re.compile(rb"<!\[CDATA\[|\]\]>|&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,10}));")
_UNFINISHED = re.compile(rb"[&<\]][^>;]{0,11}\Z")  # a _REFERENCE may continue in the next part
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML
_CUT_OFF = {
    expat.errors.codes[text]
    for text in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}

# Lists of children by name (bytes if encoded), attribute values by "@name", parts of the text by "".
Element = dict[str, list[Any]]
_decode = msgspec.msgpack.Decoder(Element).decode


class XmlRow(NamedTuple):
    """Row with its enclosing elements, from the root on, as far as they are read."""

    path: tuple[str, ...]  # the names of the elements from the root to the row
    element: Element
    parents: tuple[Element, ...]

    @property
    def name(self) -> str:
        """The name of the row's element."""
        return self.path[-1]

    def parent(self, name: str) -> Element:
        """Return the nearest enclosing element of this name, or an empty one."""
        names = reversed(self.path[:-1])
        enclosing = zip(names, reversed(self.parents), strict=True)
        return next((element for each, element in enclosing if each == name), {})


def head_pattern(*roots: str) -> re.Pattern[bytes]:
    """Return a pattern for documents with one of these root elements. ``roots`` are patterns.

    Possessive repetitions never go back, so no input is slow.
    """
    # Blanks, instructions, comments and a document type may come before the root.
    prolog = r"(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+"
    pattern = rf"(?s:\A(?:\xef\xbb\xbf)?{prolog}<(?:{'|'.join(roots)})(?=[\s/>]))"
    return re.compile(pattern.encode("latin-1"))


class _Builder:
    """Open elements, and the rows that wait for their use."""

    def __init__(self, *, kept_encoded: Collection[str] = (), row_names: Collection[str] = ()) -> None:
        self.rows: deque[XmlRow] = deque()
        self._open: list[Element] = [{}]  # from an element around the root to the innermost
        self._path: list[str] = []
        self._kept_encoded, self._row_names = kept_encoded, row_names
        self._counts = [0]  # elements and attributes in each of self._open, without encoded ones
        self._lengths = [0]  # of the text of each of self._open
        self._total = self._encoded_total = self._declarations = 0  # in memory, encoded, of attributes
        self._names: set[str] = set()
        self.is_in_doctype = False

    @property
    def root(self) -> Element:
        return self._open[0]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > MAX_DEPTH:
            raise UnreadableReport("The file is nested too deeply.")
        self._names.update(attributes)
        self._names.add(name)
        if len(self._names) > _MAX_NAMES:
            raise UnreadableReport(f"The file has more than {_MAX_NAMES:,} names of elements and attributes.")
        count = 1 + len(attributes)
        self._total += count
        if self._total > _MAX_ELEMENTS:
            raise UnreadableReport(f"The file holds more than {_MAX_ELEMENTS:,} elements outside rows.")
        element: Element = {f"@{attribute}": [value] for attribute, value in attributes.items()}
        self._open[-1].setdefault(name, []).append(element)
        self._open.append(element)
        self._path.append(name)
        self._counts.append(count)
        self._lengths.append(0)

    def end(self, name: str) -> None:
        element, count = self._open.pop(), self._counts.pop()
        self._lengths.pop()
        if name in self._row_names:  # move the element from its parent to the rows
            siblings = self._open[-1][name]
            siblings.pop()
            if not siblings:
                del self._open[-1][name]
            self.rows.append(XmlRow(tuple(self._path), element, tuple(self._open[1:])))
            self._total -= count
        elif name in self._kept_encoded:
            self._open[-1][name][-1] = msgspec.msgpack.encode(element)
            self._total -= count
            self._encoded_total += 1
            if self._encoded_total > _MAX_ENCODED:
                raise UnreadableReport(f"The file holds more than {_MAX_ENCODED:,} rows.")
        else:
            self._counts[-1] += count
        self._path.pop()

    def text(self, text: str) -> None:
        if self._lengths[-1] < _MAX_TEXT:
            self._open[-1].setdefault("", []).append(text)
            self._lengths[-1] += len(text) + 50  # overhead of a Python string

    def start_doctype(self, *_declaration: object) -> None:
        self.is_in_doctype = True

    def end_doctype(self) -> None:
        self.is_in_doctype = False

    def declare_attribute(self, *_declaration: object) -> None:
        self._declarations += 1
        if self._declarations > _MAX_DECLARATIONS:
            raise UnreadableReport("The file's document type is too long.")


class XmlRows:
    """Rows of a document, read and dropped one by one.

    ``row_names`` are the names of the elements that are rows. ``root`` has everything before the first row
    from the start.
    The constructor and iteration raise UnreadableReport.
    """

    def __init__(self, stream: BinaryIO, *, row_names: Collection[str]) -> None:
        self._builder = _Builder(row_names=row_names)
        self._parts = _parse(stream, self._builder)
        self._read_on()

    @property
    def root(self) -> Element:
        """An element around the document's root, as far as it is read."""
        return self._builder.root

    @property
    def are_left(self) -> bool:
        """Whether there is another row."""
        return bool(self._builder.rows)

    def __iter__(self) -> Iterator[XmlRow]:
        while self._builder.rows:
            yield self._builder.rows.popleft()
            self._read_on()

    def _read_on(self) -> None:
        """Parse until there is a row to use, or the file ends."""
        while not self._builder.rows and next(self._parts, None):
            pass


def read_xml(stream: BinaryIO, *, kept_encoded: Collection[str] = ()) -> Element:
    """Return an element around the document's root; raises UnreadableReport.

    ``kept_encoded`` are the names of elements that may be numerous: they take less memory encoded.
    """
    builder = _Builder(kept_encoded=kept_encoded)
    for _ in _parse(stream, builder):  # to the end
        pass
    return builder.root


def _parse(stream: BinaryIO, builder: _Builder) -> Iterator[int]:
    """Parse the file part by part; yield the number of bytes read so far."""
    start = stream.read(len(codecs.BOM_UTF8))
    parser = _parser(builder, is_utf_8=start == codecs.BOM_UTF8)
    length = 0
    try:
        for part in _parts(joined(start, stream)):
            length += len(part)
            parser.Parse(part, False)
            if builder.is_in_doctype and length > _MAX_DOCTYPE_END:
                raise UnreadableReport("The file's document type is too long.")
            # expat waits at the start of an unfinished tag.
            if length - max(parser.CurrentByteIndex, 0) > _MAX_TAG_BYTES:
                raise UnreadableReport(f"The file has a tag of more than {in_megabytes(_MAX_TAG_BYTES)}.")
            yield length
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        if error.code in _CUT_OFF:
            raise UnreadableReport(
                "The file is cut off: the end of its XML is missing. Let the scan run to its end."
            ) from error
        raise UnreadableReport(f"The file is not XML: {error}. Let the scanner write it again.") from error
    except (LookupError, ValueError) as error:
        if isinstance(error, UnreadableReport):  # it is a ValueError as well
            raise
        raise UnreadableReport("The file names an encoding that is not read: save it as UTF-8.") from error
    yield length


def _parts(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the file without references to forbidden characters, at which expat would give up."""
    length, rest = 0, b""
    is_in_cdata = False

    def without_forbidden(match: re.Match[bytes]) -> bytes:
        nonlocal is_in_cdata
        if match.lastindex is None:  # no number: the start or end of CDATA
            is_in_cdata = match[0] != b"]]>"
        elif not is_in_cdata:
            code = int(match[1], 16) if match[1] else int(match[2])
            if code > sys.maxunicode or _FORBIDDEN.match(chr(code)):
                return b""
        return match[0]

    while part := stream.read(_PART):
        length += len(part)
        if length > limits.MAX_DOCUMENT_BYTES:
            size = in_megabytes(limits.MAX_DOCUMENT_BYTES)
            raise UnreadableReport(f"The file is one document of more than {size}.")
        part = rest + part
        unfinished = _UNFINISHED.search(part, max(len(part) - 12, 0))
        end = unfinished.start() if unfinished else len(part)
        yield _REFERENCE.sub(without_forbidden, part[:end])
        rest = part[end:]
    if rest:
        yield rest


def _parser(builder: _Builder, *, is_utf_8: bool) -> expat.XMLParserType:
    """Return a parser that refuses entities, opens no other file, and adds no default attributes.

    A UTF-8 byte order mark overrides the encoding that the document declares.
    """
    parser = expat.ParserCreate("utf-8" if is_utf_8 else None)
    parser.buffer_text = True
    parser.specified_attributes = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = builder.start_doctype
    parser.EndDoctypeDeclHandler = builder.end_doctype
    parser.AttlistDeclHandler = builder.declare_attribute
    parser.EntityDeclHandler = _refuse_entity
    parser.SkippedEntityHandler = _refuse_entity
    return parser


def children(element: Element, name: str) -> Sequence[Element]:
    """Return the child elements of this name."""
    return LazyList(
        element.get(name, []), lambda child: _decode(child) if isinstance(child, bytes) else child
    )


def child(element: Element, *names: str) -> Element:
    """Return the element at the path ``names``, through first children; empty if one is missing."""
    for name in names:
        element = next(iter(children(element, name)), {})
    return element


def text_at(element: Element, name: str) -> str:
    """Return the text of the attribute ("@name") or first child of this name."""
    first = next(iter(element.get(name, [])), "")
    if isinstance(first, str):
        return first
    return text_in(_decode(first) if isinstance(first, bytes) else first)


def text_in(element: Element) -> str:
    """Return the text of the element itself."""
    return "".join(map(str, element.get("", [])))


def decoded(element: Element) -> str:
    """Return the element's text; if its attribute base64 is "true", decode as much as can be stored."""
    text = text_in(element)
    if text_at(element, "@base64") != "true":
        return text
    start = "".join(
        text[: 2 * limits.MAX_STORED_EVIDENCE_BYTES].split()
    )  # base64 needs 4 letters for 3 bytes
    try:
        return base64.b64decode(start[: len(start) // 4 * 4]).decode(errors="replace")
    except ValueError:  # binascii.Error is one
        return ""


def _refuse_entity(*_declaration: object) -> None:
    raise UnreadableReport("The file contains an XML entity. Entities are not supported.")
