"""A service with a list as long as a test wants it, and an owner who takes it out."""

import pytest

from portal import service
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_dashboard, make_page, make_threat


class StubService:
    """Answers with pages of ``total`` findings; ``failures`` are errors by the number of the page.

    Like the service, a search counts ``counted`` findings, and knows of one more than those up to its page.
    """

    counted = 1_000

    def __init__(self):
        self.total = 3
        self.fields = {}
        self.page = {}
        self.failures = {}
        self.requests = []

    def get_dashboard(self, website, request):
        self.requests.append(request)
        if failure := self.failures.get(request.page):
            raise failure
        begin = (request.page - 1) * request.page_size
        ids = range(begin, min(begin + request.page_size, self.total))
        page = make_page(**self._totals(request) | self.page)
        return make_dashboard(
            **{"dashboard": page, "threats": [make_threat(id_) for id_ in ids]} | self.fields
        )

    def _totals(self, request):
        if not request.query or self.total <= self.counted:
            return {"total": self.total, "page_count": -(-self.total // request.page_size)}
        known = min(self.total, max(self.counted, request.page * request.page_size) + 1)
        page_count = -(-known // request.page_size)
        return {"total": self.counted, "total_relation": "at_least", "page_count": page_count}


@pytest.fixture
def stub(monkeypatch):
    stub = StubService()
    monkeypatch.setattr(service, "get_dashboard", stub.get_dashboard)
    return stub


@pytest.fixture
def website(db):
    return make_portal_website(make_portal_account("acct_0001", name="Example Shops"), "shop.example.com")


@pytest.fixture
def browser(client, website):
    """A viewer's: every member who reads may export."""
    viewer = make_user("viewer")
    make_membership(viewer, website.account, role="viewer")
    client.force_login(viewer)
    return client
