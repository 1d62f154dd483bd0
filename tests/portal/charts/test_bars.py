import pytest

from portal.charts import Part, draw_bars
from portal.charts.bars import ROW_HEIGHT


def test_the_longest_row_spans_the_width_and_the_others_their_share():
    chart = draw_bars([[Part(tone="high", value=4)], [Part(tone="low", value=1)]])
    assert [bar.segments[0].width for bar in chart.bars] == ["100%", "25%"]


def test_parts_of_a_row_stand_side_by_side():
    (bar,) = draw_bars([[Part(tone="high", value=1), Part(tone="low", value=3)]]).bars
    assert [(part.tone, part.x, part.width) for part in bar.segments] == [
        ("high", "0%", "25%"),
        ("low", "25%", "75%"),
    ]


def test_a_part_of_zero_has_no_segment():
    (bar,) = draw_bars([[Part(tone="high", value=0), Part(tone="low", value=2)]]).bars
    assert [(part.tone, part.x) for part in bar.segments] == [("low", "0%")]


def test_rows_of_zeros_keep_their_place():
    chart = draw_bars([[Part(tone="high", value=0)], [Part(tone="low", value=0)]])
    assert [bar.segments for bar in chart.bars] == [(), ()]
    assert chart.height == str(2 * ROW_HEIGHT)
    assert len({bar.bar_y for bar in chart.bars}) == 2


def test_no_rows_make_an_empty_chart():
    assert draw_bars([]).height == "0"


def test_a_drawing_cannot_be_changed():
    with pytest.raises(AttributeError):
        draw_bars([]).height = "1"
