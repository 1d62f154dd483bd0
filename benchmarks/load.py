"""Signed load from a process of its own, over a few connections that stay open, bounded in count and time.

It reads one burst a line on standard input and answers with one line of what came back; every call has its
own nonce and is signed before the first one is sent. It speaks to this machine only.
"""

import asyncio
import json
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice
from statistics import quantiles
from subprocess import PIPE, Popen
from typing import Any, Self

import es1

LOOPBACK = "127.0.0.1"
CONNECTIONS = 8
UNCACHED = "X-Uncached"  # read by benchmarks/uncached.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """What to send: ``bodies`` by turns, signed if there is a ``secret``, until count or seconds run out."""

    port: int
    path: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    secret: str | None = None
    uncached: bool = False
    count: int = 300
    seconds: float = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What came back: how many of each status, and how long they took."""

    statuses: dict[str, int]
    seconds: float
    p50_ms: float
    p99_ms: float

    @property
    def count(self) -> int:
        """All of them."""
        return sum(self.statuses.values())


class Loader:
    """The other process, as this one sees it."""

    def __enter__(self) -> Self:
        self._process = Popen([sys.executable, "-m", "benchmarks.load"], stdin=PIPE, stdout=PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def send(self, burst: Burst) -> Answers:
        """Send ``burst``, wait for its answers."""
        self.start(burst)
        return self.finish()

    def start(self, burst: Burst) -> None:
        """Begin to send, and return at once."""
        print(json.dumps(asdict(burst)), file=self._process.stdin, flush=True)

    def finish(self) -> Answers:
        """Wait for the answers."""
        return Answers(**json.loads(self._process.stdout.readline()))


def messages(burst: Burst, *, now: int) -> list[bytes]:
    """Return the burst's requests as they are sent, each with its own nonce."""
    bodies = [json.dumps(body, separators=(",", ":")).encode() for body in burst.bodies] or [b""]
    return [
        _message(burst, body, now=now, nonce=secrets.token_urlsafe(24))
        for body in islice(cycle(bodies), burst.count)
    ]


def _message(burst: Burst, body: bytes, *, now: int, nonce: str) -> bytes:
    headers = {"Host": LOOPBACK, "Content-Type": "application/json", "Content-Length": str(len(body))}
    if burst.secret:
        headers |= es1.sign(burst.secret, method="POST", path=burst.path, body=body, now=now, nonce=nonce)
    if burst.uncached:
        headers[UNCACHED] = "1"
    lines = [f"POST {burst.path} HTTP/1.1", *(f"{key}: {value}" for key, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass(slots=True)
class _Results:
    """The statuses and delays of all connections."""

    statuses: Counter[str] = field(default_factory=Counter)
    delays: list[float] = field(default_factory=list)

    def add(self, status: str, delay: float) -> None:
        self.statuses[status] += 1
        self.delays.append(delay)


class _Connection(asyncio.Protocol):
    """Sends the next message when the answer to the last one is whole."""

    def __init__(self, left: Iterator[bytes], deadline: float, results: _Results) -> None:
        self._left, self._deadline, self._results = left, deadline, results
        self._buffer, self._expected = bytearray(), -1
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        message = None if time.perf_counter() > self._deadline else next(self._left, None)
        if message is None:
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(message)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._expected < 0 and (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            self._expected = end + 4 + int(head.partition(b"content-length:")[2].split(None, 1)[0])
        if 0 <= self._expected <= len(self._buffer):
            status = self._buffer[9:12].decode()
            self._results.add(status, time.perf_counter() - self._sent)
            self._buffer, self._expected = bytearray(), -1
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if error is None and not self._buffer:
            self.done.set_result(None)
        else:
            self.done.set_exception(error or ConnectionError("the server hung up in the middle of an answer"))


async def send(burst: Burst) -> Answers:
    """All of ``burst`` from this process."""
    left, results = iter(messages(burst, now=int(time.time()))), _Results()
    loop = asyncio.get_running_loop()
    started = time.perf_counter()

    def connection() -> _Connection:
        return _Connection(left, started + burst.seconds, results)

    opened = [await loop.create_connection(connection, LOOPBACK, burst.port) for _ in range(CONNECTIONS)]
    await asyncio.gather(*(protocol.done for _, protocol in opened))
    percentiles = quantiles(results.delays, n=100, method="inclusive")
    return Answers(
        statuses=dict(results.statuses),
        seconds=time.perf_counter() - started,
        p50_ms=percentiles[49] * 1e3,
        p99_ms=percentiles[98] * 1e3,
    )


def main() -> None:
    """Serve bursts until standard input ends."""
    for line in sys.stdin:
        print(json.dumps(asdict(asyncio.run(send(Burst(**json.loads(line)))))), flush=True)


if __name__ == "__main__":
    main()
