"""The baseline by plain ORM queries must be the same answer, or beating it says nothing."""

from datetime import timedelta

import msgspec
import pytest
from django.utils import timezone

from benchmarks import plain
from dashboard_api.contract import read_question
from dashboard_api.dashboard import build_dashboard
from dashboard_api.models import Finding, Kind, Severity
from tests.dashboard_api.calls import seen
from tests.factories import make_coverage, make_finding, make_link, make_note, make_source

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def link():
    link = make_link()
    sources = [make_source("nuclei"), make_source("zap")]
    for source in sources:
        make_coverage(link.website, source=source)
    make_note(link.website)
    for number in range(60):
        fixed = number % 7 == 0
        make_finding(
            link.website,
            source=sources[number % 2],
            severity=Severity(number % 5),
            kind=Kind.values[number % 3],
            status=Finding.Status.FIXED if fixed else Finding.Status.OPEN,
            fixed_at=NOW - timedelta(days=number / 10) if fixed else None,
            first_seen=NOW - timedelta(days=number + 1),
            last_seen=NOW,
        )
    return link


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"page": 2},
        {"severity": "High"},
        {"kind": "suspected", "source": "zap"},
        {"status": "all"},
        {"status": "fixed"},
    ],
)
def test_plain_queries_give_the_products_answer(link, fields):
    whose = {"host": link.website.host, "link_id": link.link_id, "portal_account_ref": link.account.ref}
    question = read_question(whose | fields)
    product, baseline = (make(seen(link), question, NOW) for make in (build_dashboard, plain.answer))
    assert msgspec.to_builtins(baseline) == msgspec.to_builtins(product)
