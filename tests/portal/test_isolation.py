"""Every route of the portal for people it is not for: they learn nothing and change nothing."""

import re
from datetime import timedelta

import pytest
from django.core import serializers
from django.db import transaction
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from portal import models as portal
from portal.urls import urlpatterns
from signed_api.errors import CannotConnect
from tests import routes
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.isolation_table import ROUTES
from tests.portal.service_answers import answer_pages

pytestmark = pytest.mark.django_db

PUBLIC = {
    "/", "/sample/", "/sample/findings/{finding_id}/", "/how-we-grade/", "/s/{token}/", "/badge/{token}.svg",
    "/invitations/{token}/", "/notifications/unsubscribe/{token}/", "/news/stop/{token}/", "/news/",
    "/members/", "/sites/{host}/news/", "/prove/{token}/", "/prove/{token}/check/",
    "/s/{token}/fixed/",
}  # fmt: skip
HTMX = {"HX-Request": "true", "HX-Target": "results"}
WAYS = [("GET", {}), ("GET", HTMX), ("POST", {})]
# Where the address of a form leads, whatever its object.
LISTS = {"/team/", "/shares/", "/views/", "/notifications/", "/accounts/"}
HOST = "canary.example.com"


def templates(patterns=urlpatterns, prefix="/"):
    """Return every route of the portal, such as ``/sites/{host}/``."""
    for pattern in patterns:
        route = prefix + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        yield from templates(pattern.url_patterns, route) if hasattr(pattern, "url_patterns") else [route]


@pytest.fixture
def values():
    """An account with one of everything, each with the word canary; return what its addresses contain."""
    account = make_portal_account("canary_account", name="Canary Bakery")
    website = make_portal_website(account, HOST)
    membership = make_membership(make_user("canary_user"), account)
    soon = timezone.now() + timedelta(days=1)
    invitation = portal.Invitation.objects.create(
        account=account, email="canary@example.org", was_emailed=True, expires_at=soon
    )
    share_link = portal.ShareLink.objects.create(
        website=website, link_id=website.link_id, title="Canary finding", token_hash="0" * 64, expires_at=soon
    )
    saved_view = portal.SavedView.objects.create(account=account, name="Canary view", query="query=canary")
    return {
        "host": HOST,
        "account": account.pk,
        "website": website.pk,
        "membership": membership.pk,
        "invitation": invitation.pk,
        "share_link": share_link.pk,
        "saved_view": saved_view.pk,
        "finding_id": "1",
        "claim_id": 1,
        "job_id": 1,
        "earlier": 1,
        "later": 2,
        "token": "x" * 43,
    }


def stored():
    """Return every row of the portal as text, without those in which people's own pages are noted."""
    own = (portal.LastVisit, portal.UserLanguage)
    models = [each for each in vars(portal).values() if isinstance(each, type) and issubclass(each, Model)]
    return [
        serializers.serialize("json", model.objects.order_by("pk")) for model in models if model not in own
    ]


def check(client, route, values, method, headers):
    """Send a request, and return its response, in which the other account's words must not be."""
    query = {"account": "canary_account"} if method == "GET" else {}
    response = client.generic(method, route.format(**values), headers=headers, query_params=query)
    assert response.status_code < 500, (method, route)
    text = b"".join(response) if response.streaming else response.content
    seen = f"{text.decode(errors='replace')} {response.headers}".replace(HOST, "").replace(
        "canary_account", ""
    )
    assert "canary" not in seen.lower(), (method, route)
    return response


def test_a_visitor_is_sent_to_the_sign_in_by_every_route_that_is_not_public(client, values):
    before = stored()
    for route in templates():
        for method, headers in WAYS:
            response = check(client, route, values, method, headers)
            leads_to = response.headers.get("HX-Redirect") or response.headers.get("Location") or ""
            assert (
                route in PUBLIC or leads_to.startswith("/accounts/login/") or response.status_code == 405
            ), route
    assert stored() == before


@pytest.mark.parametrize("is_staff", [False, True], ids=["member", "staff"])
def test_a_person_of_another_account_gets_404_for_every_object_of_this_one(client, values, is_staff):
    stranger = make_user("stranger", is_staff=is_staff, is_superuser=is_staff)
    make_membership(stranger, make_portal_account("acct_0002"))
    client.force_login(stranger)
    before = stored()
    for route in templates():
        for method, headers in WAYS:
            response = check(client, route, values, method, headers)
            if "{" in route and route not in PUBLIC:
                is_list = method == "GET" and response.headers.get("Location") in LISTS
                assert is_list or response.status_code in (404, 405), (method, route)
    assert stored() == before


@pytest.fixture
def people(values):
    """A browser of each kind of person, by the columns of the table."""
    browsers = {name: Client() for name in ("visitor", "stranger", "staff", "own")}
    stranger = make_user("stranger")
    make_membership(stranger, make_portal_account("acct_0002"))
    browsers["stranger"].force_login(stranger)
    browsers["staff"].force_login(make_user("root", is_staff=True, is_superuser=True))
    browsers["own"].force_login(portal.Membership.objects.get(pk=values["membership"]).user)
    return browsers


@pytest.fixture
def _answers(monkeypatch):
    """Let the service answer the calls that pages make most, and be away for the others: 502."""

    def away(*_):
        raise CannotConnect("away")

    monkeypatch.setattr("portal.gateway.client.send", away)
    answer_pages(monkeypatch)


def seen_by(client, route, values):
    """Return the statuses of a route by GET, htmx and POST, and undo what they change."""
    statuses = []
    for method, headers in WAYS:
        with transaction.atomic():
            response = client.generic(method, route.format(**values), headers=headers)
            b"".join(response)
            transaction.set_rollback(True)
        statuses.append(str(response.status_code))
    return " ".join(statuses)


@pytest.mark.once
@pytest.mark.usefixtures("_answers")
def test_each_route_answers_each_kind_of_person_as_the_table_says(people, values):
    seen = {
        route: tuple(seen_by(client, route, values) for client in people.values()) for route in templates()
    }
    assert seen == ROUTES


# Who posts here has no cookie of ours, and shows a token or a signature.
WITHOUT_COOKIES = ("/v1/", "/notifications/unsubscribe/", "/news/stop/")


@pytest.mark.once
@pytest.mark.parametrize("forged", [{}, {"origin": "https://elsewhere.example"}], ids=["token", "origin"])
def test_no_route_takes_a_form_without_its_token_or_of_another_website(forged):
    client = Client(enforce_csrf_checks=True, headers=forged)
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    fields = {}
    if forged:
        client.get("/accounts/password/change/")
        fields = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    taken = {
        (path, response.status_code)
        for path in routes.every_path()
        if not path.startswith(WITHOUT_COOKIES) and (response := client.post(path, fields)).status_code != 403
    }
    assert taken == {("/accounts/login/", 302)}  # to itself, with another token


def test_a_form_with_its_token_is_taken():
    client = Client(enforce_csrf_checks=True)
    client.get("/accounts/login/")
    fields = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value, "theme": "dark"}
    assert client.post("/theme/", fields).status_code == 302
