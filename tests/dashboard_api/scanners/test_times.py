from datetime import UTC, datetime, timedelta

import pytest

from dashboard_api.scanners.times import DateOrder, UnreadTime, newest, read_time

MARCH_1 = datetime(2026, 3, 1, 10, tzinfo=UTC)
JUST_NOW = datetime.now(UTC) - timedelta(hours=1)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T10:00:00Z",
        "2026-03-01T11:00:00.123456789+01:00",
        "2026-03-01 10:00:00",
        "2026-03-01 10:00:00 +0000",
        "2026-03-01 05:00 AM (UTC-05:00)",
        "2026/3/1 10:00",
        "1772359200",
        "1772359200.5",
        "Sun, 1 Mar 2026 10:00:00",
        "Sun, 01 Mar 2026 11:00:00 +0100",
        "Sun, 01 Mar 2026 10:00:00 GMT",
        "Sun Mar  1 10:00:00 2026",
        "Sun Mar 01 10:00:00 UTC 2026",
        "Sun Mar 01 05:00:00 EST 2026",
        "Sun Mar 01 11:00:00 CET 2026",
        "Sun Mar 01 15:30:00 GMT+05:30 2026",
        "01 Mar 2026 06:00AM GMT-0400",
        "1-Mar-2026 10:00",
        "March 1, 2026 10:00 AM",
    ],
)
def test_a_time_is_read_as_scanners_write_it_and_is_in_utc(text):
    assert read_time(text).replace(microsecond=0) == MARCH_1


@pytest.mark.parametrize(
    "text",
    [
        *("soon", "-1", "10:00", "1", "9" * 30, "Mo, 2 März 2026 10:00:00", "2 marras 2026 10:00:00"),
        *("0001-01-01T00:00:00Z", "01/01/0001 00:00:00", "1970-01-01 01:00:00", "9999-12-31T23:59:59-05:00"),
        *("2026-02-30 10:00", "13/13/2026", "01/03/26 10:00", "2026-03-01 25:00 PM", "Sun Mar 01 now 2026"),
    ],
)
def test_a_text_that_is_no_time_of_a_scan_is_kept_as_it_is(text):
    assert isinstance(read_time(text), UnreadTime)
    assert read_time(text) == text


def test_no_text_is_no_time():
    assert read_time("") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12/25/2023, 10:00:00", datetime(2023, 12, 25, 10, tzinfo=UTC)),
        ("25/12/2023, 10:00:00", datetime(2023, 12, 25, 10, tzinfo=UTC)),
        ("20-1-2014 14:16:42", datetime(2014, 1, 20, 14, 16, 42, tzinfo=UTC)),
        ("20.01.2014", datetime(2014, 1, 20, tzinfo=UTC)),
        ("03/03/2024 04:29 PM", datetime(2024, 3, 3, 16, 29, tzinfo=UTC)),
        ("02/03/2024 10:00", UnreadTime("02/03/2024 10:00")),
        ("25/12/2999", datetime(2999, 12, 25, tzinfo=UTC)),
    ],
)
def test_a_date_of_numbers_is_read_if_it_can_be_one_day_only(text, expected):
    assert read_time(text) == expected


def test_a_date_that_would_be_in_the_future_is_read_in_the_other_order(monkeypatch):
    class November(datetime):
        @classmethod
        def now(cls, tz):
            return cls(2026, 11, 29, tzinfo=tz)

    monkeypatch.setattr("dashboard_api.scanners.times.datetime", November)
    assert read_time("12/11/2026 10:00") == datetime(2026, 11, 12, 10, tzinfo=UTC)
    assert read_time("11/12/2026 10:00") == datetime(2026, 11, 12, 10, tzinfo=UTC)
    assert isinstance(read_time("10/11/2026 10:00"), UnreadTime)


@pytest.mark.parametrize(
    ("date", "month"),
    [
        ("Mon, 12 Feb 2024 23:00:00 GMT", 2),
        ("Mon, 02 Dec 2024 09:00:00 GMT", 12),
        ("Mon, 01 Apr 2024 09:00:00 GMT", None),
        ("soon", None),
    ],
)
def test_the_date_of_a_response_says_what_comes_first(date, month):
    dates = DateOrder()
    dates.see_response("12/02/2024 10:00", f"HTTP/1.1 200 OK\r\nServer: a\r\nDate: {date}\r\n\r\na")
    assert getattr(dates.read("12/02/2024 10:00"), "month", None) == month


def test_the_newest_time_counts_and_else_the_first_that_is_not_understood():
    assert newest([None, UnreadTime("soon"), MARCH_1, JUST_NOW]) == JUST_NOW
    assert newest([None, UnreadTime("soon"), UnreadTime("later")]) == "soon"
    assert newest([None]) is None
