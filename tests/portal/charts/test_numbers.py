import pytest

from portal.charts.numbers import ceiling, percent, plain


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (100, "100"), (33.3333, "33.33"), (2.5, "2.5"), (0.004, "0"), (1000, "1000")],
)
def test_plain_numbers_have_no_needless_decimals_and_no_separators(number, text):
    assert plain(number) == text


def test_a_part_of_nothing_is_nothing():
    assert percent(3, 0) == "0%"


@pytest.mark.parametrize(
    ("number", "top"),
    [(0, 2), (1, 2), (2, 2), (3, 4), (5, 10), (11, 20), (41, 100), (100, 100), (1001, 2000)],
)
def test_the_ceiling_is_the_next_round_even_number(number, top):
    assert ceiling(number) == top
