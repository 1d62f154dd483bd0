"""All pages of one version of a list, or an error."""

from datetime import timedelta

import msgspec
import pytest

from portal.exports.selection import ListChanged, all_pages
from tests.portal.dashboards import (
    NOW,
    make_coverage,
    make_dashboard,
    make_facets,
    make_page,
    make_summary,
    make_threat,
)

ROWS = 2


class Stub:
    """A list of ``total`` findings; ``changes`` replace members of the response to a page."""

    def __init__(self, total, changes=None):
        self.total, self.changes, self.requested = total, changes or {}, []

    def get_page(self, number):
        self.requested.append(number)
        ids = range((number - 1) * ROWS, min(number * ROWS, self.total))
        dashboard = make_dashboard(
            dashboard=make_page(total=self.total, generated_at=NOW + timedelta(seconds=number), page=number),
            threats=[make_threat(id_) for id_ in ids],
        )
        return msgspec.structs.replace(dashboard, **self.changes.get(number, {}))

    def all_pages(self):
        return all_pages(self.get_page(1), self.get_page, total=self.total, page_rows=ROWS)


@pytest.mark.parametrize(("total", "pages"), [(0, [1]), (1, [1]), (2, [1]), (3, [1, 2]), (5, [1, 2, 3])])
def test_every_page_is_requested_once_and_in_order(total, pages):
    stub = Stub(total)
    ids = [threat.id for page in stub.all_pages() for threat in page]
    assert ids == [str(number) for number in range(total)]
    assert stub.requested == pages


def test_a_page_is_requested_when_it_is_needed():
    stub = Stub(5)
    next(iter(stub.all_pages()))
    assert stub.requested == [1]


@pytest.mark.parametrize(
    "change",
    [
        {"dashboard": make_page(total=5, revision="2.1")},
        {"dashboard": make_page(total=4)},
        {"dashboard": make_page(total=5, facets=make_facets(severity={"High": 1, "Low": 4}))},
        {"summary": make_summary(by_severity={"High": 3})},
        {"summary": make_summary(last_scan_at=NOW)},
        {"coverage": [make_coverage("partial")]},
        {"threats": [make_threat(1), make_threat(9)]},
        {"threats": [make_threat(7)]},
        {"threats": []},
    ],
    ids=[
        "another revision",
        "fewer",
        "other values",
        "other severities",
        "a check",
        "coverage",
        "moved",
        "short",
        "none",
    ],
)
def test_a_page_of_another_list_is_refused(change):
    pages = iter(Stub(5, {2: change}).all_pages())
    next(pages)
    with pytest.raises(ListChanged):
        next(pages)


def test_a_new_day_changes_nothing():
    later = make_summary(oldest_open_days=20, new_7d=9, fixed_7d=0)
    assert len(list(Stub(5, {3: {"summary": later}}).all_pages())) == 3
