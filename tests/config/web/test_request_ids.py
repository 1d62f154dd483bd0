"""One id for a request: in its response, its error, and the calls that it makes."""

import re

import pytest
from django.urls import reverse

from config.web import in_process
from foundation.operations.request_ids import current_caller_request_id, current_request_id
from tests.factories import make_account, make_link, make_membership, make_portal_account, make_portal_website
from tests.factories import make_user as user_of

ID = re.compile("[0-9a-f]{16}")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/livez", "/", "/accounts/login/", "/no-such-page", "/v1/openapi.json", "/v1/nothing", "//v1/x"]
)
def test_every_response_has_an_id_of_ours_whatever_the_caller_sends(client, path):
    ids = {client.get(path, headers={"X-Request-Id": "callers-own"})["X-Request-Id"] for _ in range(2)}
    assert len(ids) == 2
    assert all(ID.fullmatch(each) for each in ids)


def test_a_refused_host_has_an_id_too(client):
    assert ID.fullmatch(client.get("/", HTTP_HOST="evil.example.com")["X-Request-Id"])


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/v1/reports"])
def test_an_error_shows_the_id_of_its_response(client, monkeypatch, path):
    client.raise_request_exception = False
    monkeypatch.setattr("config.web.guards._drop_control_cookies", lambda _: 1 / 0)
    response = client.get(path)
    assert response.status_code == 500
    assert response["X-Request-Id"] in response.text


@pytest.mark.django_db(transaction=True)
def test_the_service_gets_the_id_of_the_page_as_its_callers(client, settings, monkeypatch):
    settings.DASHBOARD_BASE_URL = ""
    link = make_link(make_account())
    account = make_portal_account(link.account.ref)
    make_portal_website(account, link.website.host, link.link_id)
    make_membership(user := user_of(), account)
    client.force_login(user)
    inside = []
    answer = in_process.application.get_response

    def note(request):
        response = answer(request)
        inside.append((current_request_id(), current_caller_request_id(), response["X-Request-Id"]))
        return response

    monkeypatch.setattr(in_process.application, "get_response", note)
    link.revoke(by="tests", reason="asked to", now=link.created_at)
    page = client.get(reverse("portal:site", args=[link.website.host]))
    own, callers, sent = inside[-1]
    assert own == sent != callers == page["X-Request-Id"]
    assert f"<code>{callers}</code>" in page.text
