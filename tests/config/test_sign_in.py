"""What of allauth's pages is offered, and what is not."""

import importlib

import pytest
from django.urls import clear_url_caches

from config import urls

pytestmark = pytest.mark.django_db


@pytest.fixture
def addresses(settings):
    """Reload the addresses after a setting changed, and again once it is back."""

    def reload(**changed):
        for name, value in changed.items():
            setattr(settings, name, value)
        importlib.reload(urls)
        clear_url_caches()

    before = settings.EMAIL_URL
    yield reload
    reload(EMAIL_URL=before)


@pytest.mark.parametrize(
    "page", ["2fa/", "2fa/totp/activate/", "email/", "confirm-email/", "login/code/confirm/"]
)
def test_pages_that_lead_nowhere_are_not_offered(client, page):
    assert client.get(f"/accounts/{page}").status_code == 404


def test_signing_up_is_closed(client):
    assert b"<form" not in client.get("/accounts/signup/").content


def test_without_a_mail_server_the_page_says_whom_to_ask(client, addresses):
    addresses(EMAIL_URL="")
    page = client.get("/accounts/password/reset/").content.decode()
    assert "This service sends no e-mail" in page
    assert "https://example.com/support" in page
    assert client.post("/accounts/password/reset/", {"email": "owner@example.com"}).status_code == 405


def test_with_a_mail_server_a_link_is_sent(client, addresses, mailoutbox):
    from tests.factories import make_user

    addresses(EMAIL_URL="smtp://localhost")
    make_user()
    assert client.post("/accounts/password/reset/", {"email": "owner@example.com"}).status_code == 302
    assert "/accounts/password/reset/key/" in mailoutbox[0].body
