"""Log lines as JSON or text, one for each event, with the id of its request (docs/logging.md).

Tokens of links are left out: readers of the log could open pages with them.
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
# Control characters, and characters that change the direction or the lines of a text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class OneInAHundred(logging.Filter):
    """Filter that logs the first and every hundredth record, numbered and without traceback.

    It is for records that anyone can cause by a request: a line for each could fill the disk.
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
    """Formatter for one JSON object a line, in ASCII, with fixed members whatever a caller attaches."""

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """Add the members that have a value."""
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
    """Formatter for lines that people read; a traceback follows its line."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}{reference}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        """Return the line, with the id of the request at its end."""
        current = current_request()
        record.reference = f" [{current.request_id}]" if current else ""
        record.message = _UNSAFE.sub(
            lambda match: match[0].encode("unicode_escape").decode(), without_tokens(record.message)
        )
        return super().formatMessage(record)


def without_tokens(text: str) -> str:
    """Replace the tokens of links in ``text`` by dots."""
    return _TOKEN.sub(r"\1...", text)


def _of_request(record: logging.LogRecord) -> dict[str, Any]:
    """Return the members about the request; ``extra`` of the log call overrides them."""
    status = getattr(record, "status", getattr(record, "status_code", None))  # ours, or Django's name
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
