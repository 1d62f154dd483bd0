"""Requests that are refused before a page, a form or a database handles them."""

import pytest
from django.core.files import uploadhandler
from django.test import Client
from django.urls import resolve

from dashboard_api import limits
from tests import routes
from tests.factories import make_membership, make_portal_account, make_user, make_website

pytestmark = [pytest.mark.once, pytest.mark.django_db]

BOUNDARY = "boundary"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
IMPORT = "/admin/dashboard_api/website/{}/import/"


class Endless:
    """A body of ``most`` bytes, generated while it is read, that counts the bytes read."""

    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'.encode()

    def __init__(self, most=0):
        self.most, self.read_bytes = most, 0

    def read(self, size=-1):
        size = self.most if size is None or size < 0 else size
        self.read_bytes += size
        assert self.read_bytes <= self.most, "the body is read beyond its limit"
        head, self.head = self.head, b""
        return (head + b"a" * size)[:size]

    def readline(self, *_):
        raise AssertionError("nothing here is read by lines")

    def close(self):
        pass


@pytest.fixture(autouse=True)
def stored(monkeypatch):
    """Return the names of the files in which uploads were stored."""
    names = []

    class Recorded(uploadhandler.TemporaryUploadedFile):
        def __init__(self, name, *args):
            names.append(name)
            super().__init__(name, *args)

    monkeypatch.setattr(uploadhandler, "TemporaryUploadedFile", Recorded)
    return names


def person(kind):
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    if kind != "visitor":
        is_staff = kind == "superuser"
        user = make_user(kind, is_staff=is_staff, is_superuser=is_staff)
        make_membership(user, make_portal_account())
        client.force_login(user)
    return client


def upload(client, path, length, body, **environ):
    environ |= {"CONTENT_LENGTH": length} if length else {}
    return client.generic("POST", path, CONTENT_TYPE=MULTIPART, **{"wsgi.input": body} | environ)


def paths(kind):
    skipped = "dashboard_api_website_import" if kind == "superuser" else "none"
    return [path for path in routes.every_path() if skipped not in resolve(path).view_name]


@pytest.mark.parametrize("kind", ["visitor", "member", "superuser"])
def test_a_body_over_64_kb_is_413_on_every_route_and_not_read(kind, stored, settings):
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"form": None}  # there are more routes
    client = person(kind)
    for path in paths(kind):
        response = upload(client, path, str(64 * 1024 + 1), Endless())
        if path == "/v1/reports":  # it looks at the token first, whatever the length
            assert response.status_code == 401
            continue
        if path == "/v1/callbacks/shop":  # it looks for its provider first, and takes up to 256 KB
            assert response.status_code == 404
            continue
        assert response.status_code == 413, path
        is_json = response["Content-Type"] == "application/json"
        assert is_json == path.startswith("/v1/"), path
    assert stored == []


@pytest.mark.parametrize("kind", ["visitor", "superuser"])
def test_of_a_body_without_a_length_nothing_is_read_on_any_route(kind, stored):
    client = person(kind)
    for path in routes.every_path():
        response = upload(client, path, "", Endless(), HTTP_TRANSFER_ENCODING="chunked")
        assert response.status_code < 500, path
    assert stored == []


@pytest.mark.parametrize("length", ["-1", "+70000", "7_0000", "1e9", "٧", " ", "0x10", "70000, 70000"])
def test_a_length_that_is_no_number_is_400(length, stored):
    assert upload(person("visitor"), "/accounts/login/", length, Endless()).status_code == 400
    assert stored == []


def test_a_body_of_64_kb_is_read():
    response = upload(person("visitor"), "/accounts/login/", str(64 * 1024), Endless(64 * 1024))
    # The check of forms had its turn, and asks for the sign-in once more.
    assert (response.status_code, response["Location"]) == (302, "/accounts/login/?next=")


def test_the_page_says_in_plain_words_what_to_do():
    page = upload(person("visitor"), "/accounts/login/", "70000", Endless()).content.decode()
    assert "This is too large" in page
    assert "nothing was changed" in page


def test_only_staff_who_may_import_send_a_report_and_none_beyond_its_limit(stored):
    path = IMPORT.format(make_website().pk)
    most = limits.MAX_UPLOAD_BYTES + 64 * 1024
    operator = person("superuser")
    size = 3 * 1024 * 1024
    assert upload(operator, path, str(size), Endless(size)).status_code == 403  # by the check of forms
    assert stored
    assert upload(operator, path, str(most + 1), Endless()).status_code == 413
    reader = Client()
    reader.force_login(make_user("reader", is_staff=True))
    for client in (reader, person("visitor")):
        assert upload(client, path, "70000", Endless()).status_code == 413


@pytest.mark.parametrize("path", ["/sites/\0/", "/sites/a\r\nb/", "/sites/\x7f/", "/?query=%00", "/?%00=a"])
def test_a_control_character_in_an_address_is_400(client, path):
    path, _, query = path.partition("?")
    response = client.get("/", PATH_INFO=path, QUERY_STRING=query)
    assert response.status_code == 400
    assert b"could not be read" in response.content
    assert response["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/admin/../v1/reports", "/admin/./x/", "/admin/x/.."])
def test_an_address_with_dots_that_a_proxy_takes_for_another_is_400_and_its_form_is_not_read(client, path):
    form = {"CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": "4000"}
    response = client.generic("POST", "/", PATH_INFO=path, **form | {"wsgi.input": Endless()})
    assert response.status_code == 400


def test_dots_in_a_name_are_no_reason_to_refuse_an_address(client):
    assert client.get("/admin/.x/..y/z./").status_code == 302


def test_a_nul_in_a_form_is_400(client):
    assert client.post("/theme/", {"theme": "dark", "next": "/\0"}).status_code == 400


def _parts(count, name):
    part = f"--{BOUNDARY}\r\nContent-Disposition: form-data; {name}\r\n\r\na\r\n"
    return {"data": f"{part * count}--{BOUNDARY}--", "content_type": MULTIPART}


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [
        ("get", f"/{'?a' + '&a' * 1_500}", {}),
        (
            "post",
            "/accounts/login/",
            {"data": "a&" * 1_500, "content_type": "application/x-www-form-urlencoded"},
        ),
        ("post", "/accounts/login/", _parts(1_100, 'name="a"')),
        ("post", "/accounts/login/", _parts(150, 'name="a"; filename="a"')),
    ],
    ids=["query", "form", "parts", "files"],
)
def test_too_many_fields_are_400_without_a_traceback_in_the_log(caplog, method, path, sent):
    assert getattr(Client(), method)(path, **sent).status_code == 400
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_cookie_with_a_nul_is_as_if_it_were_not_there(client):
    client.cookies["sessionid"] = ""
    client.cookies["sessionid"].set("sessionid", "\0", '"\\000"')
    assert client.get("/team/").status_code == 302


@pytest.mark.parametrize("host", ["testserver.", "testserver.:80", "localhost."])
@pytest.mark.parametrize("path", ["/accounts/login/", "/v1/site/dashboard"])
def test_a_host_that_ends_with_a_dot_is_400(client, host, path):
    assert client.get(path, HTTP_HOST=host).status_code == 400


@pytest.mark.parametrize("path", ["//v1/site/dashboard", "///v1/", "//v1/docs/"])
def test_a_path_below_v1_with_another_slash_in_front_gets_json(client, path):
    response = client.post("/", PATH_INFO=path)
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("back", ["foo", "?a=b", "#top", "accounts"])
def test_the_choice_of_a_theme_leads_to_paths_only(client, back):
    assert client.post("/theme/", {"theme": "dark", "next": back})["Location"] == "/"


@pytest.mark.parametrize("url", ["http://[", "http://testserver[/", "\0", "//["])
def test_a_browser_that_gives_an_odd_address_is_led_to_the_sign_in(client, url):
    response = client.get("/", headers={"HX-Request": "true", "HX-Current-URL": url})
    assert response.status_code == 200
    assert response["HX-Redirect"] == "/accounts/login/?next=%2F"


@pytest.mark.parametrize("path", ["/v1/docs", "/accounts/login/"])
def test_a_path_below_another_one_is_refused(client, path):
    assert client.get(path, SCRIPT_NAME="/x").status_code == 400


@pytest.mark.parametrize("path", ["/accounts/login/", "/v1/docs", "/v1/openapi.json", "/nowhere/"])
def test_other_websites_cannot_load_a_response_into_their_pages(client, path):
    assert client.get(path)["Cross-Origin-Resource-Policy"] == "same-origin"
