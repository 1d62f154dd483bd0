import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import RequestFactory
from django_htmx.middleware import HtmxDetails

from portal.pages.access import members_only

PATH = "/sites/shop.example.com/?severity=High"


@members_only
def private(request):
    return HttpResponse("private")


def ask(user, path=PATH, **headers):
    request = RequestFactory().get(path, headers=headers)
    request.user = user
    request.session = {}
    request.htmx = HtmxDetails(request)
    return private(request)


def test_a_stranger_is_sent_to_sign_in_and_back():
    response = ask(AnonymousUser())
    assert response.status_code == 302
    assert response["Location"] == "/accounts/login/?next=/sites/shop.example.com/%3Fseverity%3DHigh"


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("/team/?x=" + "a" * 3900, "/team/"),
        ("/sites/shop.example.com/?query=" + "%25" * 1000, "/sites/shop.example.com/"),
        ("/sites/shop.example.com/?query=" + "%25" * 500, "/sites/shop.example.com/"),
        ("/" + "a" * 3900 + "/", "/"),
    ],
)
def test_an_address_that_is_too_long_for_the_way_back_loses_its_query(address, kept):
    assert ask(AnonymousUser(), path=address)["Location"] == f"/accounts/login/?next={kept}"
    fragment = {"hx_request": "true", "hx_current_url": f"http://testserver{address}"}
    assert len(ask(AnonymousUser(), **fragment)["HX-Redirect"]) < 100


def send_form(**headers):
    request = RequestFactory().post("/members/1/remove/", headers=headers)
    request.user = AnonymousUser()
    request.htmx = HtmxDetails(request)
    return private(request)["Location"]


def test_a_strangers_form_leads_back_to_the_page_that_sent_it():
    page = "http://testserver/members/?account=acct_0002"
    assert send_form(referer=page) == "/accounts/login/?next=/members/%3Faccount%3Dacct_0002"


@pytest.mark.parametrize(
    "page",
    [
        "",
        "http://evil.example/members/",
        "http://testserver//evil.example/",
        "//evil.example",
        "http://[",
        "portal:sites",
    ],
)
def test_a_strangers_form_leads_to_the_start_where_its_page_is_not_ours(page):
    assert send_form(referer=page) == "/accounts/login/?next=/"


def test_a_fragment_for_a_visitor_redirects_the_whole_page_to_the_sign_in():
    page = "http://testserver/sites/shop.example.com/?severity=Low"
    response = ask(AnonymousUser(), hx_request="true", hx_current_url=page)
    assert response.status_code == 200
    assert response.content == b""
    assert response["HX-Redirect"] == (
        "/accounts/login/?next=%2Fsites%2Fshop.example.com%2F%3Fseverity%3DLow"
    )


@pytest.mark.parametrize(
    "page",
    ["http://evil.example/sites/", "http://testserver//evil.example/", "javascript:alert(1)", "", None],
)
def test_the_way_back_never_leaves_the_portal(page):
    headers = {} if page is None else {"hx_current_url": page}
    response = ask(AnonymousUser(), hx_request="true", **headers)
    assert response["HX-Redirect"] == "/accounts/login/?next=%2F"
