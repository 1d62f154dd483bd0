"""The current request: its id, for the response, log lines and records, and facts for the log.

Every request gets an id of ours. The caller's id is kept as well, but never trusted.
"""

import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

HEADER = "X-Request-Id"

_CALLER_ID = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)


@dataclass(slots=True)
class CurrentRequest:
    """A request or a command, with the facts known so far; empty means unknown.

    ``began`` is a time of ``time.perf_counter``. ``account`` is the reference of an authenticated account,
    ``secret_id`` the number of the secret that signed, and ``address`` the caller's IP address.
    """

    request_id: str
    caller_request_id: str = ""
    began: float = 0.0
    route: str = ""
    account: str = ""
    secret_id: int | None = None
    address: str = ""


_current: ContextVar[CurrentRequest | None] = ContextVar("current_request", default=None)


def current_request() -> CurrentRequest | None:
    """Return the current request or command, if there is one."""
    return _current.get()


def current_request_id() -> str:
    """Return the id of the current request or command: 16 hex digits, or empty outside of one."""
    current = _current.get()
    return current.request_id if current else ""


def current_caller_request_id() -> str:
    """Return the id that the caller sent with the current request; empty without a usable one."""
    current = _current.get()
    return current.caller_request_id if current else ""


def begin_request(callers_id: str = "") -> CurrentRequest:
    """Begin a request and make it current; ``callers_id`` is the id that the caller sent.

    It remains current until ``end_request``, because streamed responses are written after the view returns.
    """
    current = CurrentRequest(
        random.randbytes(8).hex(),  # noqa: S311  # a name, not a secret
        callers_id if _CALLER_ID.fullmatch(callers_id) else "",
        time.perf_counter(),
    )
    _current.set(current)
    return current


def end_request() -> None:
    """End the current request, so that later log lines do not carry its id."""
    _current.set(None)


def note_address(address: str) -> None:
    """Note the address of the caller of the current request."""
    if current := _current.get():
        current.address = address


def note_account(ref: str, *, secret_id: int | None = None) -> None:
    """Note the account that the current request is authenticated for, and the number of the secret."""
    if current := _current.get():
        current.account, current.secret_id = ref, secret_id


@contextmanager
def restored_request() -> Iterator[None]:
    """Restore the current request at the end, for work that begins another one."""
    token = _current.set(_current.get())
    try:
        yield
    finally:
        _current.reset(token)
