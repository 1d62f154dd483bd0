from portal.charts import bar_widths


def test_the_longest_bar_has_the_full_width_and_the_others_their_share():
    assert bar_widths([4, 1, 0]) == ("100%", "25%", "0%")


def test_bars_of_zeros_have_no_width():
    assert bar_widths([0, 0]) == ("0%", "0%")
    assert bar_widths([]) == ()
