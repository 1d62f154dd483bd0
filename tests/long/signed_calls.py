"""Single signed calls to a server on this machine, for runs that look at each response."""

import http.client
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import es1
from benchmarks import dataset
from benchmarks.http_load import LOOPBACK

PATH = "/v1/site/dashboard"
NO_RESPONSE = "no response"
CLIENTS = 2
Call = tuple[bytes, dict[str, str]]


def signed_call(body: dict[str, Any] | bytes, *, path: str = PATH, secret: str = dataset.SECRET) -> Call:
    """Return the bytes and headers of a call with a nonce of its own."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    nonce, now = secrets.token_urlsafe(24), int(time.time())
    signed = es1.sign(secret, method="POST", path=path, body=data, now=now, nonce=nonce)
    return data, signed | {"Content-Type": "application/json"}


def nonce_of(call: Call) -> str:
    """Return the nonce of a call."""
    _, headers = call
    return next(value for name, value in headers.items() if name.lower() == es1.NONCE_HEADER)


def send(port: int, call: Call) -> str:
    """Return the status of the response with the code of its error, or NO_RESPONSE."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
    try:
        connection.request("POST", PATH, *call)
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError):
        return NO_RESPONSE
    finally:
        connection.close()
    code = [answer["error"]["code"]] if "error" in answer else []
    return " ".join([str(response.status), *code])


class Pace:
    """Calls at an even pace in two threads: the nonces of those answered, and every other status."""

    def __init__(self, port: int, body: dict[str, Any], per_second: int) -> None:
        self.answered: list[str] = []
        self.others: list[str] = []
        self._port, self._body, self._per_second = port, body, per_second

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Send calls until the block ends."""
        done = threading.Event()
        threads = [threading.Thread(target=self._call, args=(done, number)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            done.set()
            for thread in threads:
                thread.join()

    def _call(self, done: threading.Event, number: int) -> None:
        began = time.monotonic() + number / self._per_second
        for sent in range(1, 10**9):
            call = signed_call(self._body)
            status = send(self._port, call)
            if status == "200":
                self.answered.append(nonce_of(call))
            else:
                self.others.append(status)
            if done.wait(max(0, began + CLIENTS * sent / self._per_second - time.monotonic())):
                return
