"""Numbers as strings for SVG, independent of the page's language."""


def percent(part: float, whole: float) -> str:
    """Return ``part`` of ``whole`` as an SVG percentage."""
    return f"{plain(100 * part / whole if whole else 0)}%"


def plain(number: float) -> str:
    """Return ``number`` with at most two decimals, without trailing zeros."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def ceiling(number: int) -> int:
    """Round up to 2, 4, 10, 20, 40, 100, ...: even numbers, so that half of them is whole."""
    power = 1
    while True:
        for step in (2, 4, 10):
            if step * power >= number:
                return step * power
        power *= 10
