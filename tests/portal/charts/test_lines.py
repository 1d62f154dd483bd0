from portal.charts import Line, draw_layers, draw_lines
from portal.charts.lines import PLOT_HEIGHT, PLOT_TOP


def render_pdf(*values):
    return draw_lines([Line(tone="new", values=values)])


def test_a_line_runs_from_edge_to_edge_with_its_top_at_the_ceiling():
    (stroke,) = render_pdf(0, 1, 2).strokes
    assert stroke.points == "0,100 50,50 100,0"
    assert stroke.area == "0,100 0,100 50,50 100,0 100,100"
    assert (stroke.end_x, stroke.end_y) == ("100%", str(PLOT_TOP))


def test_a_last_value_that_may_grow_is_drawn_apart():
    (stroke,) = draw_lines([Line(tone="new", values=[0, 1, 2])], is_running=True).strokes
    assert stroke.points == "0,100 50,50"
    assert stroke.area == "0,100 0,100 50,50 50,100"
    assert stroke.tail == "50,50 100,0"
    assert render_pdf(0, 1, 2).strokes[0].tail == ""
    (alone,) = draw_lines([Line(tone="new", values=[2])], is_running=True).strokes
    assert (alone.points, alone.tail, alone.end_x) == ("", "50,0", "50%")


def test_lines_share_one_scale():
    chart = draw_lines([Line(tone="new", values=[4, 4]), Line(tone="fixed", values=[2, 2])])
    assert [stroke.points for stroke in chart.strokes] == ["0,0 100,0", "0,50 100,50"]


def test_rules_stand_at_the_top_the_middle_and_zero():
    chart = render_pdf(3, 7)
    assert [rule.amount for rule in chart.rules] == [10, 5, 0]
    assert [rule.y for rule in chart.rules] == [
        str(PLOT_TOP),
        str(PLOT_TOP + PLOT_HEIGHT // 2),
        str(PLOT_TOP + PLOT_HEIGHT),
    ]


def test_a_line_of_zeros_is_at_the_bottom():
    assert render_pdf(0, 0).strokes[0].points == "0,100 100,100"


def test_a_single_value_is_in_the_middle():
    chart = render_pdf(2)
    assert chart.strokes[0].points == "50,0"
    assert [(tick.index, tick.x, tick.anchor) for tick in chart.ticks] == [(0, "50%", "middle")]


def test_first_middle_and_last_are_labelled():
    assert [(tick.index, tick.anchor) for tick in render_pdf(*range(13)).ticks] == [
        (0, "start"),
        (6, "middle"),
        (12, "end"),
    ]


def test_no_values_make_no_stroke_and_no_tick():
    chart = draw_lines([Line(tone="new", values=[])])
    assert (chart.strokes, chart.ticks) == ((), ())


def test_layers_lie_on_each_other_up_to_the_sum():
    chart = draw_layers([Line(tone="critical", values=[1, 3]), Line(tone="low", values=[3, 7])])
    bottom, upper = chart.strokes
    assert chart.rules[0].amount == 10
    assert (bottom.points, bottom.area) == ("0,90 100,70", "0,90 100,70 100,100 0,100")
    assert (upper.points, upper.area) == ("0,60 100,0", "0,60 100,0 100,70 0,90")


def test_a_layer_of_zeros_is_not_drawn():
    chart = draw_layers([Line(tone="critical", values=[0, 0]), Line(tone="low", values=[1, 2])])
    assert [stroke.tone for stroke in chart.strokes] == ["low"]
    assert draw_layers([]).strokes == ()
