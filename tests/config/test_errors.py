import pytest
from django.test import RequestFactory

from config import errors


def test_a_host_that_is_not_allowed_gets_json_below_v1(client):
    response = client.post("/v1/site/dashboard", HTTP_HOST="evil.example.com")
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "bad_request"


def test_an_error_outside_any_view_gets_json_below_v1():
    response = errors.server_error(RequestFactory().post("/v1/site/dashboard"))
    assert response.status_code == 500
    assert b'"internal_error"' in response.content


@pytest.mark.parametrize("path", ["/", "/sites/shop.example.com/"])
def test_a_host_that_is_not_allowed_gets_a_page_elsewhere(client, path):
    response = client.get(path, HTTP_HOST="evil.example.com")
    assert response.status_code == 400
    assert response["Content-Type"].startswith("text/html")
