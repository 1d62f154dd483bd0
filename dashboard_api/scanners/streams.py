"""Streams that limit, count, unpack and decode a report while it is read."""

import codecs
import gzip
import io
import re
import zlib
from typing import BinaryIO

from dashboard_api import limits
from dashboard_api.scanners.report import Budget, UnreadableReport

GZIP = b"\x1f\x8b"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PART = 64 * 1024  # bytes read at once
_CONTROLS = bytes({*range(32)} - set(b"\t\n\r"))  # XML and JSON forbid them
# XML that names an encoding other than UTF-8; the XML parser decodes it.
_OTHER_ENCODING = re.compile(rb"""(?i)\A\s*<\?xml[^>]{0,200}\sencoding\s*=\s*["'](?!utf-?8["'])""")


class ByteSource(io.RawIOBase):
    """Stream of the chunks that ``next_bytes`` returns."""

    def next_bytes(self, size: int) -> bytes:
        """Return up to ``size`` bytes; empty at the end."""
        raise NotImplementedError

    def readable(self) -> bool:
        """Return True, as io.BufferedReader requires."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill ``buffer`` with the next bytes and return their number."""
        chunk = self.next_bytes(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


class _Joined(ByteSource):
    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._parts: list[BinaryIO] = [io.BytesIO(head), rest]

    def next_bytes(self, size: int) -> bytes:
        chunk = b""
        while self._parts and not (chunk := self._parts[0].read(size)):
            del self._parts[0]
        return chunk


class _Limited(ByteSource):
    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream, self._limit, self.length = stream, limit, 0

    def next_bytes(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        self.length += len(chunk)
        if self.length > self._limit:
            raise UnreadableReport(
                f"The report is larger than {in_megabytes(self._limit)}. "
                "Scan in parts, and import one report for each."
            )
        return chunk


class _Counted(ByteSource):
    def __init__(self, stream: BinaryIO, budget: Budget) -> None:
        self._stream, self._budget = stream, budget

    def next_bytes(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        self._budget.length += len(chunk)
        return chunk


class _Unpacked(ByteSource):
    def __init__(self, packed: BinaryIO) -> None:
        self._packed = _Limited(packed, limits.MAX_REPORT_BYTES)
        self._file = gzip.GzipFile(fileobj=io.BufferedReader(self._packed), mode="rb")
        self._length = 0

    def next_bytes(self, size: int) -> bytes:
        try:
            chunk = self._file.read1(size)
        except EOFError as error:
            raise UnreadableReport(
                "The gzip file is cut off: its end is missing. Compress the report again."
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise UnreadableReport("The gzip file is damaged. Compress the report again.") from error
        self._length += len(chunk)
        if self._length > max(limits.MAX_DOCUMENT_BYTES, self._packed.length * limits.MAX_GZIP_RATIO):
            raise UnreadableReport(
                f"The gzip file unpacks to more than {limits.MAX_GZIP_RATIO} times its size and more than "
                f"{in_megabytes(limits.MAX_DOCUMENT_BYTES)}. If that is right, unpack it first."
            )
        return chunk


class _Text(ByteSource):
    """Text with broken characters replaced and forbidden characters dropped."""

    def __init__(self, stream: BinaryIO, encoding: str, *, to: str) -> None:
        self._stream, self._to = stream, to
        # The mark overrides the encoding that an XML document declares.
        self._rest = codecs.BOM_UTF8 if encoding != to else b""
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")

    def next_bytes(self, size: int) -> bytes:
        while not self._rest:
            part = self._stream.read(_PART)
            text = self._decoder.decode(part, final=not part)
            if not text.isascii():
                text = text.replace("\ufffe", "").replace("\uffff", "")  # XML forbids both
            self._rest = text.encode(self._to).translate(None, _CONTROLS)
            if not part:
                break
        chunk, self._rest = self._rest[:size], self._rest[size:]
        return chunk


def as_text(head: bytes, rest: BinaryIO) -> BinaryIO:
    """Return a stream of ``head`` and ``rest`` in UTF-8; XML in another encoding keeps its bytes.

    A byte order mark marks UTF-16. A broken character is replaced; the file is still read.
    """
    encoding = to = "latin-1" if _OTHER_ENCODING.match(head) else "utf-8"  # Latin-1 keeps every byte
    if head.startswith(UTF_16):
        encoding = "utf-16"
    return io.BufferedReader(_Text(joined(head, rest), encoding, to=to))


def joined(head: bytes, rest: BinaryIO) -> BinaryIO:
    """Return a stream of ``head`` followed by ``rest``."""
    return io.BufferedReader(_Joined(head, rest))


def counted(stream: BinaryIO, budget: Budget) -> BinaryIO:
    """Return ``stream``; every byte read from it adds to the length of ``budget``."""
    return io.BufferedReader(_Counted(stream, budget))


def limited(stream: BinaryIO, limit: int) -> BinaryIO:
    """Return ``stream``; reading more than ``limit`` bytes raises UnreadableReport."""
    return io.BufferedReader(_Limited(stream, limit))


def unpack(stream: BinaryIO, max_bytes: int | None = None) -> BinaryIO:
    """Return the content of ``stream``, unpacked if it is gzip; reading it may raise UnreadableReport."""
    head = stream.read(len(GZIP))
    whole = joined(head, stream)
    if head != GZIP:
        return whole
    return limited(io.BufferedReader(_Unpacked(whole)), max_bytes or limits.MAX_REPORT_BYTES)


def in_megabytes(size: int) -> str:
    """Return ``size`` as text in MB."""
    return f"{size // 1024**2} MB"
