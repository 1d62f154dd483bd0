"""All pages of one list, or an error: never a mixture of two."""

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


class Answers:
    """A list of ``total`` findings; ``changes`` are members of the answer by the number of its page."""

    def __init__(self, total, changes=None):
        self.total, self.changes, self.asked = total, changes or {}, []

    def ask(self, number):
        self.asked.append(number)
        ids = range((number - 1) * ROWS, min(number * ROWS, self.total))
        answer = make_dashboard(
            dashboard=make_page(total=self.total, generated_at=NOW + timedelta(seconds=number), page=number),
            threats=[make_threat(id_) for id_ in ids],
        )
        return msgspec.structs.replace(answer, **self.changes.get(number, {}))

    def taken(self):
        return all_pages(self.ask(1), self.ask, total=self.total, page_rows=ROWS)


@pytest.mark.parametrize(("total", "pages"), [(0, [1]), (1, [1]), (2, [1]), (3, [1, 2]), (5, [1, 2, 3])])
def test_every_page_is_requested_once_and_in_order(total, pages):
    answers = Answers(total)
    taken = [threat.id for page in answers.taken() for threat in page]
    assert taken == [str(number) for number in range(total)]
    assert answers.asked == pages


def test_a_page_is_requested_when_it_is_needed():
    answers = Answers(5)
    next(iter(answers.taken()))
    assert answers.asked == [1]


@pytest.mark.parametrize(
    "change",
    [
        {"dashboard": make_page(total=5, revision="2.1")},
        {"dashboard": make_page(total=4)},
        {"dashboard": make_page(total=5, total_relation="at_least")},
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
        "uncounted",
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
    taken = Answers(5, {2: change}).taken()
    next(taken)
    with pytest.raises(ListChanged):
        next(taken)


def test_a_new_day_changes_nothing():
    later = make_summary(oldest_open_days=20, new_7d=9, fixed_7d=0)
    assert len(list(Answers(5, {3: {"summary": later}}).taken())) == 3
