"""gzip that is unpacked as it is read: in little memory, within a limit, whole or refused."""

import io
import zlib
from typing import BinaryIO

from dashboard_api import limits
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import in_megabytes, joined, limited

GZIP = b"\x1f\x8b"
_PART = 64 * 1024
_GZIP_FORMAT = 16 + zlib.MAX_WBITS


def unpacked(stream: BinaryIO) -> BinaryIO:
    """Return ``stream``, unpacked if it is gzip; reading it may raise UnreadableReport."""
    head = stream.read(len(GZIP))
    whole = joined(head, stream)
    if head != GZIP:
        return whole
    return limited(io.BufferedReader(_Unpacked(whole)), limits.MAX_REPORT_BYTES)


class _Unpacked(io.RawIOBase):
    """The unpacked content of a gzip file, one member after the other."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._member = zlib.decompressobj(_GZIP_FORMAT)
        self._waiting = b""  # read, but not unpacked yet
        self._bytes_in = self._bytes_out = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        chunk = self._next(len(buffer))
        buffer[: len(chunk)] = chunk
        self._bytes_out += len(chunk)
        if self._bytes_out > max(limits.MAX_DOCUMENT_BYTES, self._bytes_in * limits.MAX_GZIP_RATIO):
            raise UnreadableReport(
                f"The gzip file unpacks to more than {limits.MAX_GZIP_RATIO} times its size and more than "
                f"{in_megabytes(limits.MAX_DOCUMENT_BYTES)}. If that is right, unpack it first."
            )
        return len(chunk)

    def _next(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        while self._begin_member():
            is_last = not self._waiting
            try:
                chunk = self._member.decompress(self._waiting, size)
            except zlib.error as error:
                raise UnreadableReport("The gzip file is damaged. Compress the report again.") from error
            self._waiting = self._member.unconsumed_tail
            if chunk:
                return chunk
            if is_last and not self._member.eof:
                raise UnreadableReport(
                    "The gzip file is cut off: its end is missing. Compress the report again."
                )
        return b""

    def _begin_member(self) -> bool:
        """Read ahead, and begin the next member where one ended; return whether there is more to unpack."""
        if self._member.eof:
            self._waiting = (self._member.unused_data + self._waiting).lstrip(b"\0")
            while not self._waiting and (part := self._read()):
                self._waiting = part.lstrip(b"\0")  # files may be filled up with zeros
            if not self._waiting:
                return False
            self._member = zlib.decompressobj(_GZIP_FORMAT)
        elif not self._waiting:
            self._waiting = self._read()
        return True

    def _read(self) -> bytes:
        part = self._packed.read(_PART)
        self._bytes_in += len(part)
        return part
