"""Selections for tests of file formats."""

from portal.exports.selection import Selection
from tests.portal.dashboards import make_dashboard, make_page, make_threat


def make_selection(*pages, **fields):
    """Return a selection of ``pages``, lists of threats; by default one page of two."""
    pages = pages or ([make_threat(1), make_threat(2)],)
    total = sum(len(page) for page in pages)
    defaults = {
        "first": make_dashboard(dashboard=make_page(total=total), threats=pages[0]),
        "total": total,
        "filters": {"severity": "High"},
        "list_url": "https://portal.example.com/sites/shop.example.com/?severity=High",
        "finding_url": lambda id_: f"https://portal.example.com/sites/shop.example.com/findings/{id_}/",
        "person_name": {"": "", "user-7": "grace"}.__getitem__,
        "pages": pages,
    }
    return Selection(**(defaults | fields))
