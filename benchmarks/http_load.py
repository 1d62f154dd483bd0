"""A separate process that sends bursts of signed calls over a few open connections.

It reads one burst a line from standard input and writes one line of results. Every call has its own nonce and
is signed before the first one is sent. It only connects to this machine.
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
UNCACHED = "X-Uncached"  # read by benchmarks/urls.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """Calls to send: ``bodies`` in turn, signed with ``secret`` if given, until ``count`` or ``seconds``."""

    port: int
    path: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    secret: str | None = None
    uncached: bool = False
    count: int = 300
    seconds: float = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """Responses to a burst: the number of each status, and the response times."""

    statuses: dict[str, int]
    p50_ms: float
    p95_ms: float
    p99_ms: float
    seconds: float

    @property
    def count(self) -> int:
        """The number of all responses."""
        return sum(self.statuses.values())


class LoadProcess:
    """The client side of the process."""

    def __enter__(self) -> Self:
        self._process = Popen(
            [sys.executable, "-m", "benchmarks.http_load"], stdin=PIPE, stdout=PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def send(self, burst: Burst) -> Responses:
        """Send a burst and wait for its responses."""
        print(json.dumps(asdict(burst)), file=self._process.stdin, flush=True)
        return Responses(**json.loads(self._process.stdout.readline()))


def messages(burst: Burst, *, now: int) -> list[bytes]:
    """Return the requests of a burst as bytes, each signed one with its own nonce."""
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
    """The statuses and response times of all connections."""

    statuses: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)

    def add(self, status: str, seconds: float) -> None:
        self.statuses[status] += 1
        self.times.append(seconds)


class _Connection(asyncio.Protocol):
    """A connection that sends the next message after the complete response to the last."""

    def __init__(self, messages: Iterator[bytes], deadline: float, results: _Results) -> None:
        self._messages, self._deadline, self._results = messages, deadline, results
        self._buffer, self._expected = bytearray(), -1
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        message = None if time.perf_counter() > self._deadline else next(self._messages, None)
        if message is None:
            self._transport.close()
            return
        self._sent_at = time.perf_counter()
        self._transport.write(message)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._expected < 0 and (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            self._expected = end + 4 + int(head.partition(b"content-length:")[2].split(None, 1)[0])
        if 0 <= self._expected <= len(self._buffer):
            status = self._buffer[9:12].decode()
            self._results.add(status, time.perf_counter() - self._sent_at)
            self._buffer, self._expected = bytearray(), -1
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if error is None and not self._buffer:
            self.done.set_result(None)
        else:
            self.done.set_exception(error or ConnectionError("the server cut a response short"))


async def send(burst: Burst) -> Responses:
    """Send a burst from this process and return its responses."""
    queue, results = iter(messages(burst, now=int(time.time()))), _Results()
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    deadline = began + burst.seconds

    def connection() -> _Connection:
        return _Connection(queue, deadline, results)

    connections = [await loop.create_connection(connection, LOOPBACK, burst.port) for _ in range(CONNECTIONS)]
    await asyncio.gather(*(protocol.done for _, protocol in connections))
    percentiles = quantiles(results.times, n=100, method="inclusive")
    return Responses(
        statuses=dict(results.statuses),
        p50_ms=percentiles[49] * 1e3,
        p95_ms=percentiles[94] * 1e3,
        p99_ms=percentiles[98] * 1e3,
        seconds=time.perf_counter() - began,
    )


def main() -> None:
    """Send bursts until standard input ends."""
    for line in sys.stdin:
        print(json.dumps(asdict(asyncio.run(send(Burst(**json.loads(line)))))), flush=True)


if __name__ == "__main__":
    main()
