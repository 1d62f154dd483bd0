"""XML from strangers: no document type, and with it no entities, no other files, no expansion.

The standard library's expat reads it; what it can be talked into needs a DOCTYPE, which is refused
(decision record 0029).
"""

from typing import BinaryIO
from xml.parsers import expat

from dashboard_api import policy
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import in_megabytes

MAX_DEPTH = 50

Element = dict[str, list["Element | str"]]


class _Builder:
    """An element is the lists of its children by their names, its attributes ("@name") and its text ("")."""

    def __init__(self) -> None:
        self.name = ""
        self._open: list[Element] = [{}]

    @property
    def root(self) -> Element:
        return self._open[0]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > MAX_DEPTH:
            raise UnreadableReport("The file is nested too deeply.")
        element: Element = {f"@{attribute}": [value] for attribute, value in attributes.items()}
        self._open[-1].setdefault(name, []).append(element)
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop()

    def text(self, text: str) -> None:
        self._open[-1].setdefault("", []).append(text)


def read_xml(stream: BinaryIO) -> Element:
    """The document as an element that holds its root; raises UnreadableReport."""
    data = stream.read(policy.MAX_DOCUMENT_BYTES + 1)
    if len(data) > policy.MAX_DOCUMENT_BYTES:
        raise UnreadableReport(
            f"The file is one document of more than {in_megabytes(policy.MAX_DOCUMENT_BYTES)}."
        )
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise UnreadableReport(f"The file is not XML: {error}.") from error
    except (LookupError, ValueError) as error:
        if isinstance(error, UnreadableReport):
            raise
        raise UnreadableReport("The file names an encoding that is not read: save it as UTF-8.") from error
    return builder.root


def children(element: Element, name: str) -> list[Element]:
    """The child elements of this name."""
    return [child for child in element.get(name, []) if isinstance(child, dict)]


def text_at(element: Element, name: str) -> str:
    """The text of the first child of this name, or of the attribute."""
    for value in element.get(name, []):
        return value if isinstance(value, str) else "".join(map(str, value.get("", [])))
    return ""


def _refuse_doctype(*_declaration: object) -> None:
    raise UnreadableReport("The file has a DOCTYPE, which no report needs and which is not read.")
