"""gzip, unpacked as it is read: in little memory, within a limit, whole or refused."""

import io
import zlib
from typing import BinaryIO

from dashboard_api import policy
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.streams import in_megabytes, joined, limited

GZIP = b"\x1f\x8b"
_PART = 64 * 1024
_GZIP_FORMAT = 16 + zlib.MAX_WBITS


def unpacked(stream: BinaryIO) -> BinaryIO:
    """``stream``, or what is in it where it is gzip; raises UnreadableReport while it is read."""
    head = stream.read(len(GZIP))
    whole = joined(head, stream)
    if head != GZIP:
        return whole
    return limited(io.BufferedReader(_Unpacked(whole)), policy.MAX_REPORT_BYTES)


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, of one member after the other."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._member = zlib.decompressobj(_GZIP_FORMAT)
        self._waiting = b""  # was read, and is not unpacked yet
        self._bytes_in = self._bytes_out = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        chunk = self._next(len(buffer))
        buffer[: len(chunk)] = chunk
        self._bytes_out += len(chunk)
        if self._bytes_out > max(policy.MAX_DOCUMENT_BYTES, self._bytes_in * policy.MAX_GZIP_RATIO):
            raise UnreadableReport(
                f"The gzip file unpacks to more than {policy.MAX_GZIP_RATIO} times its size and more than "
                f"{in_megabytes(policy.MAX_DOCUMENT_BYTES)}. Unpack it first if it is meant so."
            )
        return len(chunk)

    def _next(self, size: int) -> bytes:
        """At most ``size`` bytes; none at the end."""
        while self._begin_member():
            is_last = not self._waiting
            try:
                chunk = self._member.decompress(self._waiting, size)
            except zlib.error as error:
                raise UnreadableReport("The gzip file is damaged. Make it again.") from error
            self._waiting = self._member.unconsumed_tail
            if chunk:
                return chunk
            if is_last and not self._member.eof:
                raise UnreadableReport("The gzip file is cut off: its end is missing. Make it again.")
        return b""

    def _begin_member(self) -> bool:
        """Whether there is more to unpack; reads what comes next."""
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
