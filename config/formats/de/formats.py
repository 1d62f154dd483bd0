"""German formats, such as 03.11.2026, 14:05."""

DATE_FORMAT = "d.m.Y"
DATETIME_FORMAT = "d.m.Y, H:i"
MONTH_DAY_FORMAT = "d.m."
