"""The project's own pages, sign-in and errors: one style, and nothing inline."""

import re

import pytest
from django.template.loader import get_template
from django.test import Client, RequestFactory
from django.urls import reverse

from tests.factories import make_user


@pytest.mark.parametrize("status", ["400", "403", "403_csrf", "404", "413", "429", "500", "503"])
def test_an_error_page_needs_nothing_to_be_shown(status):
    page = " ".join(get_template(f"{status}.html").render().split())
    assert "Threat Dashboard" in page
    assert 'class="button primary" href="/"' in page


@pytest.mark.django_db
def test_a_wrong_address_shows_our_page(client):
    response = client.get("/no/such/page/")
    assert response.status_code == 404
    assert b"Page not found" in response.content


@pytest.mark.django_db
def test_a_wrong_address_leads_strangers_to_the_start_page_and_members_to_their_websites(client):
    stranger = client.get("/no/such/page/").text
    assert "go on from the start page" in stranger
    assert "list of your websites" not in stranger
    client.force_login(make_user("ada"))
    assert "start again from the list of your websites" in client.get("/no/such/page/").text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "page", ["/", "/accounts/login/", "/how-we-grade/", "/v1/public", "/v1/public/feed.html", "/v1/docs"]
)
def test_a_public_page_has_one_heading_a_description_and_an_icon(client, page):
    text = client.get(page).text
    assert len(re.findall("<h1[ >]", text)) == 1
    [description] = re.findall(r'<meta name="description" content="([^"]*)">', text)
    assert description == description.strip() != ""
    assert '<link rel="icon"' in text


@pytest.mark.django_db
def test_a_forged_form_shows_our_page():
    client = Client(enforce_csrf_checks=True)
    response = client.post("/theme/", {"theme": "dark"})
    assert response.status_code == 403
    assert b"This form is out of date" in response.content


def test_the_error_page_of_a_broken_server_needs_no_request(settings):
    from django.views.defaults import server_error

    response = server_error(RequestFactory().get("/"))
    assert response.status_code == 500
    assert b"Something went wrong on our side" in response.content


@pytest.mark.django_db
def test_signing_in_leads_to_where_the_visitor_wanted(client):
    make_user("owner")
    response = client.post(
        reverse("account_login"),
        {
            "login": "owner",
            "password": "correct horse battery",
            "next": "/sites/shop.example.com/?severity=Low",
        },
    )
    assert response["Location"] == "/sites/shop.example.com/?severity=Low"


@pytest.mark.django_db
@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_signing_in_leads_nowhere_else(client, elsewhere):
    make_user("owner")
    response = client.post(
        reverse("account_login"), {"login": "owner", "password": "correct horse battery", "next": elsewhere}
    )
    assert response["Location"] == "/"


@pytest.mark.django_db
def test_a_wrong_password_is_said_and_keeps_the_name(client):
    make_user("owner")
    page = client.post(reverse("account_login"), {"login": "owner", "password": "wrong"}).content.decode()
    assert 'role="alert"' in page
    assert 'value="owner"' in page


@pytest.mark.django_db
def test_staff_are_led_to_the_admin_and_others_are_not(client):
    page = reverse("account")
    client.force_login(make_user("owner"))
    assert reverse("admin:index") not in client.get(page).content.decode()
    client.force_login(make_user("operator", is_staff=True))
    assert reverse("admin:index") in client.get(page).content.decode()
