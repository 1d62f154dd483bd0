"""The service as the portal of the same process calls it."""

import pytest
from django.core import signals
from django.db import OperationalError, connection
from django.urls import get_script_prefix
from django.utils import translation

from config.web import in_process
from dashboard_api.api import signed
from dashboard_api.models import Nonce, Usage
from portal.answers import service
from signed_api.errors import Unreachable
from signed_api.findings import DashboardRequest
from tests.factories import make_account, make_link, make_portal_account, make_portal_website

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def website(settings):
    settings.DASHBOARD_BASE_URL = ""
    link = make_link(make_account())
    return make_portal_website(make_portal_account(link.account.ref), link.website.host, link.link_id)


def test_no_signal_of_a_request_reaches_the_one_around_it(website):
    heard = []

    def hear(**_):
        heard.append("a signal")

    signals.request_started.connect(hear)
    signals.request_finished.connect(hear)
    try:
        assert service.get_dashboard(website, DashboardRequest()).ok
    finally:
        signals.request_started.disconnect(hear)
        signals.request_finished.disconnect(hear)
    assert heard == []


def test_the_portal_is_never_limited_and_its_calls_do_not_count(website, settings):
    settings.CALLS_PER_SECOND, settings.CALLS_BURST = 1, 1
    for _ in range(3):
        assert service.get_dashboard(website, DashboardRequest()).ok
    assert Nonce.objects.count() == 3
    assert not Usage.objects.exists()


def test_the_thread_keeps_its_connection_its_language_and_its_prefix(website):
    connection.ensure_connection()
    before, prefix = connection.connection, get_script_prefix()
    with translation.override("de"):
        service.get_dashboard(website, DashboardRequest())
        assert translation.get_language() == "de"
    assert connection.connection is before
    assert get_script_prefix() == prefix


@pytest.mark.parametrize("names", [["portal.example.com"], [".example.com"], ["*"]])
def test_a_deployment_under_any_name_that_requires_https_answers_its_own_portal(settings, website, names):
    settings.ALLOWED_HOSTS, settings.HTTPS, settings.SECURE_SSL_REDIRECT = names, True, True
    assert service.get_dashboard(website, DashboardRequest()).ok


def test_a_fault_of_the_service_is_an_answer_and_not_the_portals_fault(website, monkeypatch):
    def fail(*_):
        raise RuntimeError

    monkeypatch.setattr(signed, "authenticated", fail)
    with pytest.raises(Unreachable, match="500"):
        service.get_dashboard(website, DashboardRequest())


@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL only: files do not break off")
def test_a_connection_that_broke_in_the_call_is_not_the_next_statements_trouble(website, monkeypatch):
    def lose(*_):
        connection.connection.close()
        connection.errors_occurred = True
        raise OperationalError

    monkeypatch.setattr(signed, "authenticated", lose)
    with pytest.raises(Unreachable, match="503"):
        service.get_dashboard(website, DashboardRequest())
    website.refresh_from_db()


def test_a_host_is_always_one_that_is_allowed(settings):
    settings.ALLOWED_HOSTS = []
    assert in_process._allowed_host() == "localhost"
