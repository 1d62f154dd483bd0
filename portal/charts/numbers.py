"""Numbers as SVG wants them: strings, whatever the language of the page."""


def percent(part: float, whole: float) -> str:
    """``part`` of ``whole`` as an SVG percentage."""
    return f"{plain(100 * part / whole if whole else 0)}%"


def plain(number: float) -> str:
    """At most two decimals, none where they are zero."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def ceiling(number: int) -> int:
    """The next round number, even, so that its half is whole: 2, 4, 10, 20, 40, 100, ..."""
    power = 1
    while True:
        for step in (2, 4, 10):
            if step * power >= number:
                return step * power
        power *= 10
