import logging

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from config.operations.logs import OneInAHundred
from config.web import errors
from tests.factories import make_membership, make_portal_account, make_user


def test_a_host_that_is_not_allowed_gets_json_below_v1(client):
    response = client.post("/v1/site/dashboard", HTTP_HOST="evil.example.com")
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "bad_request"


def test_a_host_that_is_not_allowed_is_named_in_the_log(client, caplog, monkeypatch):
    logger = logging.getLogger("django.security.DisallowedHost")
    assert OneInAHundred in map(type, logger.filters)
    monkeypatch.setattr(logger, "filters", [OneInAHundred()])  # a second setup of Django would add one more
    for _ in range(100):
        client.get("/", HTTP_HOST="evil.example.com")
    [line] = [record.message for record in caplog.records if record.name == logger.name]
    assert "evil.example.com" in line
    assert logger.isEnabledFor(logging.ERROR)


@pytest.mark.parametrize("address", ["/theme/", "/shares/1/revoke/", "/sites/shop.example.com/scans/start/"])
def test_opening_the_address_of_a_form_gets_a_page_that_leads_on(client, db, address):
    response = client.get(address)
    assert response.status_code == 405
    assert response["Allow"] == "POST"
    assert "Page not found" in response.text
    assert "Home" in response.text


def test_an_error_outside_any_view_gets_json_below_v1():
    response = errors.server_error(RequestFactory().post("/v1/site/dashboard"))
    assert response.status_code == 500
    assert b'"internal_error"' in response.content


@pytest.mark.parametrize("path", ["/", "/sites/shop.example.com/"])
def test_a_host_that_is_not_allowed_gets_a_page_elsewhere(client, path):
    response = client.get(path, HTTP_HOST="evil.example.com")
    assert response.status_code == 400
    assert response["Content-Type"].startswith("text/html")


# Forms that are out of date

OUT_OF_DATE = "The form was out of date, so nothing was sent. Please try again."
SIGN_IN = "/accounts/login/"


@pytest.fixture
def strict():
    """A browser that checks CSRF tokens."""
    return Client(enforce_csrf_checks=True)


def send(client, path, *, page="", **fields):
    headers = {"Referer": f"http://testserver{page}"} if page else {}
    return client.post(path, fields, headers=headers, follow=True)


@pytest.mark.django_db
@pytest.mark.parametrize("page", [f"{SIGN_IN}?next=/team/", ""])
def test_a_stale_sign_in_form_is_a_fresh_one_with_a_line_that_says_why(strict, page):
    make_user()
    response = send(strict, SIGN_IN, page=page, login="owner", password="x", next="/team/")
    assert response.status_code == 200
    assert OUT_OF_DATE in response.text
    assert 'name="csrfmiddlewaretoken"' in response.text
    assert 'name="next" value="/team/"' in response.text


@pytest.mark.django_db
def test_a_stale_sign_in_form_of_who_signed_in_meanwhile_leads_on_without_a_word(strict):
    make_membership(user := make_user(), make_portal_account())
    strict.force_login(user)
    response = send(strict, SIGN_IN, page=f"{SIGN_IN}?next=/team/", next="/team/")
    assert response.request["PATH_INFO"] == "/team/"
    assert OUT_OF_DATE not in response.text


@pytest.mark.django_db
def test_any_other_stale_form_leads_back_to_its_page_and_changes_nothing(strict):
    place = make_membership(user := make_user(), make_portal_account())
    strict.force_login(user)
    path = reverse("portal:subscribe", args=[place.pk])
    response = send(strict, path, page="/notifications/", frequency="daily", min_severity="Low")
    assert response.request["PATH_INFO"] == "/notifications/"
    assert OUT_OF_DATE in response.text
    assert not hasattr(place, "subscription")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/theme/", {}),
        ("/theme/", {"Referer": "http://evil.example/accounts/login/"}),
        ("/theme/", {"Referer": "no-address"}),
        ("/admin/auth/user/add/", {"Referer": "http://testserver/admin/auth/user/add/"}),
    ],
)
def test_a_form_from_elsewhere_or_of_the_admin_is_refused(strict, path, headers):
    response = strict.post(path, headers=headers)
    assert response.status_code == 403
    assert "This form is out of date" in response.text


FORM = "application/x-www-form-urlencoded"
ODD_FORMS = {
    "too many fields": ("&".join(f"a{number}=1" for number in range(1001)), FORM),
    "too long": ("a=" + "x" * 2_621_441, FORM),
    "no boundary": ("x", "multipart/form-data"),
    "too many files": (
        "".join(
            f'--x\r\nContent-Disposition: form-data; name="{number}"; filename="a"\r\n\r\nx\r\n'
            for number in range(101)
        )
        + "--x--",
        "multipart/form-data; boundary=x",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("form", ODD_FORMS)
@pytest.mark.parametrize(("path", "statuses"), [("/nothing/", {404}), (SIGN_IN, {400, 413})])
def test_a_form_that_cannot_be_read_is_no_error_of_ours_on_any_page(strict, path, statuses, form):
    strict.get(SIGN_IN)  # with a cookie, the CSRF check reads the form
    strict.raise_request_exception = False
    body, content_type = ODD_FORMS[form]
    assert strict.post(path, body, content_type=content_type).status_code in statuses
