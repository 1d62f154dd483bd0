"""The portal and the service in one process, over real HTTP."""

import pytest
from django.utils import timezone

from dashboard_api.models import Severity
from tests.factories import (
    make_account,
    make_coverage,
    make_finding,
    make_link,
    make_membership,
    make_note,
    make_portal_account,
    make_portal_website,
    make_user,
)


@pytest.fixture
def service(live_server, settings):
    """A running service, which the portal calls."""
    settings.DASHBOARD_BASE_URL = live_server.url
    return live_server


@pytest.fixture
def link(service):
    """A linked website with findings, notes and coverage of every kind."""
    link = make_link(make_account())
    for severity in Severity:
        for _ in range(6):
            finding = make_finding(link.website, severity=severity, references=["https://example.com/advice"])
    make_finding(link.website, title="Café login", severity=Severity.HIGH, cwe=[89], cve=["CVE-2024-12345"])
    make_finding(link.website, status="fixed", fixed_at=timezone.now())
    make_note(link.website, body="Update **soon**.")
    make_note(link.website, finding=finding, body="On one finding.")
    make_note(link.website, body="Only for us.", is_internal=True)
    make_coverage(link.website, urls_checked=12, version="3.1")
    return link


@pytest.fixture
def website(link):
    """The same website in its owner's portal."""
    return make_portal_website(make_portal_account(link.account.ref), link.website.host, link.link_id)


@pytest.fixture
def owner(website, client):
    """The signed-in owner's browser, without JavaScript."""
    user = make_user()
    make_membership(user, website.account)
    client.force_login(user)
    return client
