"""The calls of an account, from the record of the service to the page and the file of the portal."""

import csv
import io

import pytest

from dashboard_api.models import Nonce
from portal.answers import service as portal_service
from signed_api.account import CallsRequest
from tests.dashboard_api.calls import ask, fields_for
from tests.factories import make_account, make_link, make_website

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["http", "direct"])
def service(request, service, settings):
    """The service, called over HTTP and then in the same process."""
    if request.param == "direct":
        settings.DASHBOARD_BASE_URL = ""
    return service


def test_the_page_and_the_file_have_the_calls_of_the_account_alone(client, owner, link):
    other = make_account("acct_0002", secrets=["another-secret-0002"])
    theirs = make_link(other, make_website("theirs.example.com"))
    ask(client, fields_for(theirs), secret="another-secret-0002")
    refused = ask(client, fields_for(link, page=0))["X-Request-Id"]
    ask(client, fields_for(link))
    text = owner.get("/api/calls/").content.decode()
    for words in (refused, "invalid_request", link.account.secrets.get().hint, "shop.example.com"):
        assert words in text
    assert "theirs.example.com" not in text
    only_refused = owner.get("/api/calls.csv", {"outcome": "refused"}).getvalue().decode("utf-8-sig")
    assert [row["request"] for row in csv.DictReader(io.StringIO(only_refused))] == [refused]
    assert Nonce.objects.filter(route="account/calls").count() == 2
    assert "account/calls" not in owner.get("/api/calls/").content.decode()


@pytest.mark.parametrize(
    "question",
    [
        CallsRequest(),
        CallsRequest(day="2026-11-20", outcome="answered", page_size=1_000),
        CallsRequest(before="1763370000123456.abc", outcome="refused"),
    ],
)
def test_every_request_of_the_portal_is_accepted(website, question):
    assert portal_service.get_calls(website.account, question).calls == []
