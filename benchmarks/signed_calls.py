"""Single signed calls to a server on this machine, for runs that look at each response."""

import http.client
import json
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import es1
from benchmarks import rows
from benchmarks.http_load import LOOPBACK

PATH = "/v1/site/dashboard"
NO_RESPONSE = "no response"
Call = tuple[bytes, dict[str, str]]


def signed_call(body: dict[str, Any] | bytes, *, path: str = PATH, secret: str = rows.SECRET) -> Call:
    """Return the bytes and headers of a call with a nonce of its own."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    nonce, now = secrets.token_urlsafe(24), int(time.time())
    signed = es1.sign(secret, method="POST", path=path, body=data, now=now, nonce=nonce)
    return data, signed | {"Content-Type": "application/json"}


def nonce_of(call: Call) -> str:
    """Return the nonce of a call."""
    _, headers = call
    return next(value for name, value in headers.items() if name.lower() == es1.NONCE_HEADER)


class Response(NamedTuple):
    """A response: its status with the code of its error, or NO_RESPONSE, and its request id."""

    status: str
    request_id: str = ""


def send(port: int, call: Call) -> str:
    """Return the status of the response with the code of its error, or NO_RESPONSE."""
    return exchange(port, call).status


def exchange(port: int, call: Call, *, path: str = PATH) -> Response:
    """Send a call, and return its response."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
    try:
        connection.request("POST", path, *call)
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError):
        return Response(NO_RESPONSE)
    finally:
        connection.close()
    code = [answer["error"]["code"]] if "error" in answer else []
    return Response(" ".join([str(response.status), *code]), response.headers["X-Request-Id"])


@contextmanager
def in_threads(work: Callable[[threading.Event, Any], None], values: Iterable[Any]) -> Iterator[None]:
    """Do ``work`` with each value in a thread of its own until the block ends, which sets the event."""
    done = threading.Event()
    threads = [threading.Thread(target=work, args=(done, value)) for value in values]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


class Pace:
    """Calls at an even pace in threads: the nonces of those answered, and every other status."""

    def __init__(self, port: int, bodies: list[dict[str, Any]], per_second: int, *, clients: int = 2) -> None:
        """Each call has a random one of the bodies. ``secret`` signs those that follow."""
        self.answered: list[str] = []
        self.others: list[str] = []
        self.slowest = 0.0  # seconds
        self.secret = rows.SECRET
        self._port, self._bodies, self._per_second, self._clients = port, bodies, per_second, clients

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Send calls until the block ends."""
        with in_threads(self._call, range(self._clients)):
            yield

    def _call(self, done: threading.Event, number: int) -> None:
        began = time.monotonic() + number / self._per_second
        for sent in range(1, 10**9):
            call = signed_call(random.choice(self._bodies), secret=self.secret)
            sent_at = time.monotonic()
            status = send(self._port, call)
            self.slowest = max(self.slowest, time.monotonic() - sent_at)
            (self.answered if status == "200" else self.others).append(
                nonce_of(call) if status == "200" else status
            )
            if done.wait(max(0, began + self._clients * sent / self._per_second - time.monotonic())):
                return
