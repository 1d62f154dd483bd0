from datetime import date

from django.utils import translation

from portal.texts import labels


def test_a_day_is_written_in_the_language_of_each_reader():
    at = date(2026, 3, 5)
    texts = []
    for language in ("en", "de", "en"):
        with translation.override(language):
            texts.append((labels.day(at), labels.day_and_month(at)))
    assert texts == [("5 Mar 2026", "5 Mar"), ("05.03.2026", "05.03."), ("5 Mar 2026", "5 Mar")]
