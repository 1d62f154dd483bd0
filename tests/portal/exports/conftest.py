"""A service with a list of any length, and a member who exports it."""

import pytest

from portal.answers import service
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_dashboard, make_page, make_threat


class StubService:
    """Returns pages of ``total`` findings; ``failures`` are errors by the number of the page."""

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
        return {"total": self.total, "page_count": -(-self.total // request.page_size)}


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
    """Return the browser of a viewer: every member may export."""
    viewer = make_user("viewer")
    make_membership(viewer, website.account, role="viewer")
    client.force_login(viewer)
    return client
