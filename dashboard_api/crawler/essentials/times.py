"""Times in headers and files of websites."""

from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime


def time_of(text: str) -> datetime | None:
    """Return the time of a text in ISO 8601, also with a space, or in the format of HTTP."""
    at = None
    words = text.upper().split()
    with suppress(ValueError, TypeError, OverflowError):
        at = parsedate_to_datetime(text)
    for first_words in (words[:1], words[:2]):  # a day, then a day and a time
        with suppress(ValueError):
            at = datetime.fromisoformat(" ".join(first_words))
    return at
