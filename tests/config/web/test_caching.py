import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["account_change_password", "account_logout", "portal:sites"])
def test_no_cache_keeps_what_a_person_with_a_session_sees(client, name):
    client.force_login(make_user())
    response = client.get(reverse(name))
    assert response.status_code == 200
    assert {"private", "no-store"} <= set(response["Cache-Control"].split(", "))


@pytest.mark.parametrize("page", ["account_logout", "admin:logout"])
def test_a_sign_out_leaves_nothing_in_the_browser(client, page):
    client.force_login(make_user(is_staff=True))
    assert "Clear-Site-Data" not in client.get(reverse("account_logout"))
    assert client.post(reverse(page))["Clear-Site-Data"] == '"cache", "storage"'


@pytest.mark.parametrize("page", ["/accounts/login/", "/accounts/password/reset/", "/invitations/x/", "/"])
def test_no_cache_keeps_a_page_of_a_visitor(client, page):
    assert {"private", "no-store"} <= set(client.get(page)["Cache-Control"].split(", "))


def test_documents_for_programs_are_left_alone_without_a_session(client):
    assert get_user_model().objects.count() == 0
    assert "no-store" not in client.get("/v1/openapi.json").headers.get("Cache-Control", "")
