import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import RequestFactory
from django_htmx.middleware import HtmxDetails

from portal.members import members_only
from tests.factories import make_user

PATH = "/sites/shop.example.com/?severity=High"


@members_only
def private(request):
    return HttpResponse("private")


def ask(user, **headers):
    request = RequestFactory().get(PATH, headers=headers)
    request.user = user
    request.session = {}
    request.htmx = HtmxDetails(request)
    return private(request)


def test_a_stranger_is_sent_to_sign_in_and_back():
    response = ask(AnonymousUser())
    assert response.status_code == 302
    assert response["Location"] == "/accounts/login/?next=/sites/shop.example.com/%3Fseverity%3DHigh"


def test_a_strangers_form_does_not_lead_back_to_where_only_forms_go():
    request = RequestFactory().post("/members/1/remove/")
    request.user = AnonymousUser()
    request.htmx = HtmxDetails(request)
    assert private(request)["Location"] == "/accounts/login/?next=/"


def test_a_fragment_of_a_stranger_takes_the_whole_page_to_sign_in():
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


@pytest.mark.django_db
def test_a_member_gets_the_page():
    assert ask(make_user("owner")).content == b"private"
