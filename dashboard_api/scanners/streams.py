"""A report's bytes: joined, limited in size, and unpacked while they are read."""

import io
import zlib
from typing import BinaryIO

from dashboard_api import limits
from dashboard_api.scanners.report import UnreadableReport

GZIP = b"\x1f\x8b"
_PART = 64 * 1024
_GZIP_FORMAT = 16 + zlib.MAX_WBITS


class _ByteSource(io.RawIOBase):
    """A stream of the chunks that ``next_bytes`` returns."""

    def next_bytes(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        chunk = self.next_bytes(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


class _Joined(_ByteSource):
    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._parts: list[BinaryIO] = [io.BytesIO(head), rest]

    def next_bytes(self, size: int) -> bytes:
        chunk = b""
        while self._parts and not (chunk := self._parts[0].read(size)):
            del self._parts[0]
        return chunk


class _Limited(_ByteSource):
    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream, self._limit, self._length = stream, limit, 0

    def next_bytes(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        self._length += len(chunk)
        if self._length > self._limit:
            raise UnreadableReport(
                f"The report is larger than {in_megabytes(self._limit)}. "
                "Scan in parts, and import one report for each."
            )
        return chunk


class _Unpacker(_ByteSource):
    """The unpacked content of a gzip file, one member after the other."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._member = zlib.decompressobj(_GZIP_FORMAT)
        self._pending = b""  # read, but not unpacked yet
        self._bytes_in = self._bytes_out = 0

    def next_bytes(self, size: int) -> bytes:
        chunk = self._unpack(size)
        self._bytes_out += len(chunk)
        if self._bytes_out > max(limits.MAX_DOCUMENT_BYTES, self._bytes_in * limits.MAX_GZIP_RATIO):
            raise UnreadableReport(
                f"The gzip file unpacks to more than {limits.MAX_GZIP_RATIO} times its size and more than "
                f"{in_megabytes(limits.MAX_DOCUMENT_BYTES)}. If that is right, unpack it first."
            )
        return chunk

    def _unpack(self, size: int) -> bytes:
        while self._begin_member():
            is_last = not self._pending
            try:
                chunk = self._member.decompress(self._pending, size)
            except zlib.error as error:
                raise UnreadableReport("The gzip file is damaged. Compress the report again.") from error
            self._pending = self._member.unconsumed_tail
            if chunk:
                return chunk
            if is_last and not self._member.eof:
                raise UnreadableReport(
                    "The gzip file is cut off: its end is missing. Compress the report again."
                )
        return b""

    def _begin_member(self) -> bool:
        """Read ahead, and begin the next member at the end of one; return whether there is more to unpack."""
        if self._member.eof:
            self._pending = (self._member.unused_data + self._pending).lstrip(b"\0")
            while not self._pending and (part := self._read()):
                self._pending = part.lstrip(b"\0")  # files may be filled up with zeros
            if not self._pending:
                return False
            self._member = zlib.decompressobj(_GZIP_FORMAT)
        elif not self._pending:
            self._pending = self._read()
        return True

    def _read(self) -> bytes:
        part = self._packed.read(_PART)
        self._bytes_in += len(part)
        return part


def joined(head: bytes, rest: BinaryIO) -> BinaryIO:
    """Return a stream of ``head`` and then ``rest``."""
    return io.BufferedReader(_Joined(head, rest))


def limited(stream: BinaryIO, limit: int) -> BinaryIO:
    """Return ``stream`` such that reading more than ``limit`` bytes raises UnreadableReport."""
    return io.BufferedReader(_Limited(stream, limit))


def unpack(stream: BinaryIO) -> BinaryIO:
    """Return the content of ``stream``, unpacked if it is gzip; reading it may raise UnreadableReport."""
    head = stream.read(len(GZIP))
    whole = joined(head, stream)
    if head != GZIP:
        return whole
    return limited(io.BufferedReader(_Unpacker(whole)), limits.MAX_REPORT_BYTES)


def in_megabytes(size: int) -> str:
    """Return ``size`` as text in MB."""
    return f"{size // 1024**2} MB"
