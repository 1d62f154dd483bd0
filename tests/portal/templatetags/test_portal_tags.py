from datetime import UTC, date, datetime, timedelta, timezone

from django.utils import translation

from portal.templatetags.portal_tags import date_attributes, day, english, moment

AT = datetime(2026, 11, 3, 14, 5, 9, tzinfo=UTC)


def test_a_moment_is_written_in_utc():
    assert moment(AT) == '<time datetime="2026-11-03T14:05:09Z">3 Nov 2026, 14:05 UTC</time>'
    assert moment(AT.astimezone(timezone(timedelta(hours=13)))) == moment(AT)


def test_a_day_with_a_time_can_be_shown_in_the_readers_zone():
    assert day(AT) == '<time datetime="2026-11-03T14:05:09Z" data-day>3 Nov 2026</time>'


def test_a_day_without_a_time_stays_that_day():
    assert day(date(2026, 11, 3)) == '<time datetime="2026-11-03">3 Nov 2026</time>'


def test_an_unknown_time_is_not_written():
    assert moment(None) == day(None) == ""


def test_the_script_learns_how_days_are_written():
    assert date_attributes().startswith('data-date-format="j M Y" data-months="Jan Feb Mar Apr May Jun ')
    with translation.override("de"):
        assert date_attributes().startswith('data-date-format="d.m.Y" ')


def test_texts_of_scanners_are_marked_as_english_on_pages_in_another_language():
    assert english() == ""
    with translation.override("de"):
        assert english() == ' lang="en"'
        assert english(True) == ""
