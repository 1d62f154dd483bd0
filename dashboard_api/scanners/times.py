"""Times as scanners write them, converted to UTC. An unknown or ambiguous text becomes an ``UnreadTime``.

Dropping such a text would date the scan now, and an old scan would then fix the findings of newer ones.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
# Offsets in hours of zone names that are unambiguous in practice. Any other name is read as UTC.
_ZONES = {
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "CET": 1,
    "CEST": 2,
    "EET": 2,
    "EEST": 3,
    "MSK": 3,
    "JST": 9,
}
_YEARS = range(1971, 3000)  # other years are placeholders for "not yet"
_SECONDS = re.compile(r"\d{9,11}(?:\.\d{1,9})?", re.ASCII)  # since 1970
# Groups: 1 hour, 2 minute, 3 second, 4 "A" or "P" (AM, PM), 5 to 7 sign, hours and minutes of the offset.
_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:\s?([AP])\.?M\b\.?)?"
    r"(?:\s?\(?(?:UTC|GMT)?([+-])(\d\d)(?::?(\d\d))?\b)?",
    re.ASCII | re.IGNORECASE,
)
_WORD = r"[^\W\d_]{1,20}"
# With a day of the week before the date, and a zone after it. \2 is the separator between day and month.
_DATES = [
    re.compile(rf"(?:{_WORD}\.? )?{date}(?: (?P<zone>[A-Z]{{1,5}}))?")
    for date in (
        r"(?P<year>\d{4})([-/.])(?P<month>\d\d?)\2(?P<day>\d\d?)",
        r"(?P<first>\d\d?)([-/.])(?P<second>\d\d?)\2(?P<year>\d{4})",
        rf"(?P<day>\d\d?)[ -](?P<month>{_WORD})\.?[ -](?P<year>\d{{4}})",
        rf"(?P<month>{_WORD})\.? (?P<day>\d\d?)(?: (?P<own_zone>[A-Z]{{1,5}}))? (?P<year>\d{{4}})",
    )
]
_DATE_HEADER = re.compile(r"^Date:[ \t]*([^\r\n]{1,100})", re.IGNORECASE | re.MULTILINE)
_MAX_HEADERS = 8_000  # characters of a response that are searched for the header
_DAY = timedelta(days=1)  # the tolerance of comparisons: clocks and zones differ by less


class UnreadTime(str):
    """Text of a time that is unknown or ambiguous."""

    __slots__ = ()


Time = datetime | UnreadTime | None  # not set if there is no text


class DateOrder:
    """Order of day and month in a file: other dates show whether 03/02/2026 is in February or March."""

    def __init__(self) -> None:
        self._possible_day_first = {True, False}  # the values of "the day is first" that are still possible

    def see(self, *texts: str) -> None:
        """Rule out orders in which ``texts`` are not ascending or not in the past."""
        if len(self._possible_day_first) < 2:
            return
        readings = [each for each in map(_readings, texts) if any(each)]
        possible = set()
        for day_first in self._possible_day_first:
            times = [each[day_first] for each in readings] + [datetime.now(UTC)]
            known = [time for time in times if time]
            if len(known) == len(times) and all(first < second + _DAY for first, second in pairwise(known)):
                possible.add(day_first)
        self._possible_day_first = possible or self._possible_day_first

    def see_response(self, text: str, response: str) -> None:
        """Rule out orders in which ``text`` is days away from the Date header of a scanned response."""
        header = _DATE_HEADER.search(response[:_MAX_HEADERS]) if len(self._possible_day_first) > 1 else None
        at = read_time(header[1].strip()) if header else None
        if isinstance(at, datetime):
            readings = enumerate(_readings(text))
            near = {bool(day_first) for day_first, time in readings if time and abs(time - at) < 2 * _DAY}
            self._possible_day_first &= near or self._possible_day_first

    def read(self, text: str) -> Time:
        """Return the time in ``text``, in UTC unless it has a zone."""
        if not text:
            return None
        readings = _readings(text)
        possible = set(readings)
        if len(possible) > 1:
            # A reading that is no date is None.
            possible = {readings[day_first] for day_first in self._possible_day_first} - {None}
        return (possible.pop() if len(possible) == 1 else None) or UnreadTime(text[:100])


def read_time(text: str) -> Time:
    """Return the time in ``text``; 02/03/2026 is read only if one of both dates is in the future."""
    if not text:
        return None
    month_first, day_first = _readings(text)
    if month_first == day_first:
        return day_first or UnreadTime(text[:100])
    order = DateOrder()
    order.see(text)
    return order.read(text)


def newest(times: Iterable[Time]) -> Time:
    """Return the newest known time, or else the first UnreadTime."""
    times = list(times)
    known = [time for time in times if isinstance(time, datetime)]
    return max(known) if known else next((time for time in times if time), None)


def parse_time(text: str) -> datetime | None:
    """Return an ISO 8601 time in UTC, or ``None`` for any other text."""
    try:
        return as_utc(datetime.fromisoformat(text))
    except ValueError:
        return None


def as_utc(time: datetime) -> datetime | None:
    """Return ``time`` in UTC, the default zone, unless it is out of range or Go's zero time."""
    try:
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if time.year > 1 else None


def _readings(text: str) -> tuple[datetime | None, datetime | None]:
    """Return the time in ``text`` read with the month first (index 0), and with the day first (index 1)."""
    try:
        if _SECONDS.fullmatch(text):
            time = as_utc(datetime.fromtimestamp(float(text), tz=UTC))
        else:
            time = as_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return _parse_date(text[:100], day_first=False), _parse_date(text[:100], day_first=True)
    time = time if time and time.year in _YEARS else None
    return time, time


def _parse_date(text: str, *, day_first: bool) -> datetime | None:
    """Return a time such as "Wed Jan 27 22:43:35 CET 2021" or "27/01/2021 10:43 PM (UTC+01:00)"."""
    clock = _CLOCK.search(text)
    date_text = f"{text[: clock.start()]} {text[clock.end() :]}" if clock else text
    date_text = " ".join(re.sub(r"[,()]", " ", date_text).split())
    parts = next((found.groupdict() for date in _DATES if (found := date.fullmatch(date_text))), None)
    if parts is None:
        return None
    if "first" in parts:
        names = ("day", "month") if day_first else ("month", "day")
        parts |= dict(zip(names, (parts["first"], parts["second"]), strict=True))
    hours_of_zone = _ZONES.get(parts["zone"] or parts.get("own_zone") or "", 0)
    try:
        date = datetime(int(parts["year"]), _month(parts["month"]), int(parts["day"]), tzinfo=UTC)
        has_offset = clock and clock[5]
        local = _at(date, clock)
        time = as_utc(local if has_offset else local - timedelta(hours=hours_of_zone))
    except (ValueError, OverflowError):
        return None
    return time if time and time.year in _YEARS else None


def _month(text: str) -> int:
    if text.isdecimal():
        return int(text)
    word = text.lower()
    # 0 is no month, so the date is refused.
    return next((n for n, name in enumerate(_MONTHS, 1) if len(word) > 2 and name.startswith(word)), 0)


def _at(date: datetime, clock: re.Match[str] | None) -> datetime:
    """Return ``date`` at the time of ``clock``; raises ValueError for an impossible time."""
    if clock is None:
        return date
    hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
    if clock[4] and hour <= 12:
        hour = hour % 12 + (12 if clock[4] in "pP" else 0)
    offset = timedelta(hours=int(clock[6] or 0), minutes=int(clock[7] or 0))
    zone = timezone(-offset if clock[5] == "-" else offset)
    return date.replace(hour=hour, minute=minute, second=second, tzinfo=zone)
