"""Log lines, as JSON or as text: one line for each event, with the id of its request. docs/logging.md.

No line contains a token of a link, which would open a page for readers of the log.
"""

import itertools
import logging
import re
import time
from datetime import UTC, datetime
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from foundation.operations.request_ids import current_request

_TOKEN = re.compile(
    r"(/(?:s|badge|invitations|prove|sign-up|notifications/unsubscribe|news/stop|accounts/password/reset/key)/)"
    r"[^/\s]+"
)
# Control characters, and those that change the order or the lines of a text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class OneInAHundred(logging.Filter):
    """The first and then every hundredth record, with their number and without a traceback.

    For what anyone can cause by a request: a line for each could fill the disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count(1)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        number = next(self._numbers)
        record.msg, record.args = f"{record.getMessage()} ({number} since the start)", ()
        record.exc_info = record.exc_text = None
        return number % 100 == 1


class JsonLines(JsonFormatter):
    """One JSON object on a line, in ASCII. Only these members, whatever a caller attaches to the record."""

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """Add the members that are known."""
        at = datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="microseconds")
        members = {
            "at": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": without_tokens(record.message),
            **_of_request(record),
            "exception": without_tokens(message_dict.get("exc_info", "")),
        }
        log_data.update({name: value for name, value in members.items() if value not in ("", None)})


class TextLines(logging.Formatter):
    """A line for people; the traceback of an exception follows it."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}{reference}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        """Return the line, with the id of the request at its end."""
        current = current_request()
        record.reference = f" [{current.request_id}]" if current else ""
        record.message = _UNSAFE.sub(_escaped, without_tokens(record.message))
        return super().formatMessage(record)


def without_tokens(text: str) -> str:
    """Return ``text`` with dots in place of the tokens of links."""
    return _TOKEN.sub(r"\1...", text)


def _of_request(record: logging.LogRecord) -> dict[str, Any]:
    """Return the members about the request; ``extra`` of the log call wins."""
    status = getattr(record, "status", getattr(record, "status_code", None))
    account = getattr(record, "account", "")
    if (current := current_request()) is None:
        return {"account": account, "status": status}
    return {
        "request_id": current.request_id,
        "caller_request_id": current.caller_request_id,
        "account": account or current.account,
        "secret_id": current.secret_id,
        "address": current.address,
        "route": current.route,
        "status": status,
        "ms": round((time.perf_counter() - current.began) * 1000, 1),
    }


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
