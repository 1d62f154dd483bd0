import pytest

from portal.charts import draw_bars
from portal.charts.bars import ROW_HEIGHT


def test_the_longest_row_spans_the_width_and_the_others_their_share():
    assert [bar.width for bar in draw_bars([4, 1, 0]).bars] == ["100%", "25%", "0%"]


def test_rows_of_zeros_keep_their_place():
    chart = draw_bars([0, 0])
    assert [bar.width for bar in chart.bars] == ["0%", "0%"]
    assert chart.height == str(2 * ROW_HEIGHT)
    assert len({bar.bar_y for bar in chart.bars}) == 2


def test_no_rows_make_an_empty_chart():
    assert draw_bars([]).height == "0"


def test_a_drawing_cannot_be_changed():
    with pytest.raises(AttributeError):
        draw_bars([]).height = "1"
