"""What goes into a file, made by hand."""

from portal.exports.selection import Selected
from tests.portal.dashboards import make_dashboard, make_page, make_threat


def make_selected(*pages, **fields):
    """``pages`` are lists of threats; without any, one of two threats."""
    pages = pages or ([make_threat(1), make_threat(2)],)
    total = sum(len(page) for page in pages)
    defaults = {
        "first": make_dashboard(dashboard=make_page(total=total), threats=pages[0]),
        "total": total,
        "filters": {"severity": "High"},
        "list_url": "https://portal.example.com/sites/shop.example.com/?severity=High",
        "finding_url": lambda id_: f"https://portal.example.com/sites/shop.example.com/findings/{id_}/",
        "pages": pages,
    }
    return Selected(**(defaults | fields))


def lines(text):
    """How many lines end as those of a file do."""
    return text.count("\r")
