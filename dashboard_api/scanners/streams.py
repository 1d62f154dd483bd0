"""A report's bytes as they come, within a limit, with a look ahead."""

import io
from typing import BinaryIO

from dashboard_api.scanners.report import UnreadableReport


class _Joined(io.RawIOBase):
    """``head``, which was read already, and then what is left of ``rest``."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._parts: list[BinaryIO] = [io.BytesIO(head), rest]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        chunk = b""
        while self._parts and not (chunk := self._parts[0].read(len(buffer))):
            del self._parts[0]
        buffer[: len(chunk)] = chunk
        return len(chunk)


class _Limited(io.RawIOBase):
    """``stream``, which raises UnreadableReport where it is longer than ``limit`` bytes."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream, self._limit, self._length = stream, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._length += len(chunk)
        if self._length > self._limit:
            raise UnreadableReport(
                f"The report is larger than {in_megabytes(self._limit)}. "
                "Scan in parts, and import one report for each."
            )
        return len(chunk)


def joined(head: bytes, rest: BinaryIO) -> BinaryIO:
    """``rest`` with ``head``, which was read from it already, in front again."""
    return io.BufferedReader(_Joined(head, rest))


def limited(stream: BinaryIO, limit: int) -> BinaryIO:
    """``stream``, refusing to be read beyond ``limit`` bytes."""
    return io.BufferedReader(_Limited(stream, limit))


def in_megabytes(size: int) -> str:
    """A limit as people read it."""
    return f"{size // 1024**2} MB"
