"""JSON that may be anything: decoded strictly, or the reason why it cannot be."""

import codecs
import json
from typing import BinaryIO

from dashboard_api import policy
from dashboard_api.scanners.report import BadRow, UnreadableReport
from dashboard_api.scanners.streams import in_megabytes


def decoded(data: bytes) -> object:
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


def read_document(stream: BinaryIO) -> object:
    """The one JSON value that the whole file is; raises UnreadableReport."""
    document = decoded(whole_file(stream))
    if isinstance(document, BadRow):
        raise UnreadableReport(f"The file {document}.")
    return document


def whole_file(stream: BinaryIO) -> bytes:
    """Everything in ``stream``, without a byte order mark; raises UnreadableReport where it is too much."""
    data = stream.read(policy.MAX_DOCUMENT_BYTES + 1).removeprefix(codecs.BOM_UTF8)
    if len(data) > policy.MAX_DOCUMENT_BYTES:
        raise UnreadableReport(f"The file {oversized()}.")
    return data


def oversized() -> BadRow:
    """What is said of a document that is too large to be read as one."""
    return BadRow(f"is one document of more than {in_megabytes(policy.MAX_DOCUMENT_BYTES)}")


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def as_text(value: object) -> str:
    """Any JSON value as people read it: a text as it is, everything else laid out."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
