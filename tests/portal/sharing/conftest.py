"""A website with a member of each role, and a service that knows a finding and a list."""

import pytest
from django.test import Client

from portal.answers import service
from portal.models import Membership
from signed_api.scans import ScansResponse
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_dashboard, make_finding_response
from tests.structs import build

OWNER, MANAGER, CONTRIBUTOR, VIEWER = Membership.Role.values


class StubService:
    """Returns or raises ``response`` for a finding, ``dashboard`` for a list, and records requests.

    ``answers`` has each answer, unless ``refusal`` refuses it.
    """

    def __init__(self):
        self.response = make_finding_response()
        self.dashboard = make_dashboard()
        self.requests, self.scans, self.answers = [], [], []
        self.refusal = None

    def get_dashboard(self, website, request, *, stores_summary=True):
        self.requests.append((website, request))
        if isinstance(self.dashboard, Exception):
            raise self.dashboard
        return self.dashboard

    def get_scans(self, website, request):
        self.requests.append((website, request))
        return build(ScansResponse, ok=True, host=website.host, jobs=self.scans, total=len(self.scans))

    def answer(self, website, request):
        if isinstance(self.refusal, Exception):
            raise self.refusal
        self.answers.append(request)

    def get_finding(self, website, finding_id):
        self.requests.append((website, finding_id))
        if isinstance(self.response, Exception):
            raise self.response
        return self.response


@pytest.fixture
def stub(monkeypatch):
    stub = StubService()
    monkeypatch.setattr(service, "get_finding", stub.get_finding)
    monkeypatch.setattr(service, "get_dashboard", stub.get_dashboard)
    monkeypatch.setattr(service, "get_scans", stub.get_scans)
    monkeypatch.setattr(service, "answer", stub.answer)
    return stub


@pytest.fixture
def website():
    return make_portal_website(make_portal_account(name="Example Shops Holding"))


@pytest.fixture
def members(website):
    """Return one member of each role, and the owner of another account."""
    other = make_portal_account("acct_0002", name="Another shop")
    people = {
        role: make_membership(make_user(role), website.account, role) for role in Membership.Role.values
    }
    return people | {"stranger": make_membership(make_user("stranger"), other, OWNER)}


@pytest.fixture
def browser(members):
    """Return a browser for a member, or for a visitor."""

    def browser(name="visitor"):
        client = Client()
        if name in members:
            client.force_login(members[name].user)
        return client

    return browser
