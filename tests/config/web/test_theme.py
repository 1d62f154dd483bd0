"""Light and dark themes, stored in a cookie and written by the server."""

import re

import pytest
from django.conf import settings

from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def member(client):
    client.force_login(make_user())
    return client


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_that_was_chosen_is_in_every_page_from_its_first_byte(client, theme):
    client.post("/theme/", {"theme": theme, "next": "/"})
    for page in ("/accounts/login/", "/no/such/page/"):
        html = client.get(page).content.decode()
        assert f'data-theme="{theme}"' in html
        assert f'<meta name="color-scheme" content="{theme}">' in html


def test_the_documentation_of_the_api_has_the_theme_and_is_not_cached_for_others(client):
    assert 'data-theme="system"' in client.get("/v1/docs").content.decode()
    client.post("/theme/", {"theme": "dark"})
    page = client.get("/v1/docs")
    assert 'data-theme="dark"' in page.content.decode()
    assert "Cookie" in page["Vary"]


@pytest.mark.parametrize("theme", ["dark", "system"])
def test_the_admin_has_the_theme_and_its_choice(client, theme):
    client.force_login(make_user(is_staff=True))
    client.post("/theme/", {"theme": theme})
    html = client.get("/admin/").content.decode()
    assert f'data-theme="{theme}">' in html
    assert f'value="{theme}" aria-pressed="true"' in html
    assert "theme-toggle" not in html


def test_a_theme_can_be_chosen_before_the_sign_in(client):
    html = client.get("/accounts/login/?next=/team/").content.decode()
    assert html.count('name="theme"') == 3
    assert 'name="next" value="/accounts/login/?next=/team/"' in html


def test_without_a_choice_and_with_a_cookie_of_anything_else_the_page_is_as_the_system(client):
    def is_as_the_system():
        html = client.get("/accounts/login/").content.decode()
        return 'data-theme="system"' in html and '<meta name="color-scheme" content="light dark">' in html

    assert is_as_the_system()
    client.post("/theme/", {"theme": "dark"})
    assert not is_as_the_system()
    client.post("/theme/", {"theme": "system"})
    assert is_as_the_system()
    client.cookies["theme"] = '"><script>'
    assert is_as_the_system()


def test_the_form_knows_which_theme_is_chosen_and_where_it_is(member):
    member.post("/theme/", {"theme": "dark"})
    html = member.get("/accounts/?a=1&b=2").content.decode()
    assert 'name="next" value="/accounts/?a=1&amp;b=2"' in html
    assert 'value="dark" aria-pressed="true"' in html
    assert html.count('aria-pressed="true"') == 1


def test_a_form_that_failed_is_no_page_to_come_back_to(client):
    html = client.post("/accounts/login/", {"login": "x"}).content.decode()
    assert 'name="next" value="/"' in html.partition('action="/theme/"')[2]


@pytest.mark.parametrize(
    ("page", "choices"),
    [
        ("/accounts/password/change/", ('action="/theme/"', 'action="/language/"')),
        ("/admin/auth/user/add/", ('action="/theme/"',)),
    ],
)
def test_what_a_form_shows_once_is_not_left_by_a_choice_of_theme_or_language(client, page, choices, settings):
    settings.STAFF_SECOND_FACTOR = False
    client.force_login(make_user(is_staff=True, is_superuser=True))
    assert all(choice in client.get(page).content.decode() for choice in choices)
    response = client.post(page, {"password1": "x"})
    assert response.status_code == 200
    assert not any(choice in response.content.decode() for choice in choices)


@pytest.mark.parametrize(
    ("back", "expected"),
    [
        ("/sites/shop.example.com/?severity=High", "/sites/shop.example.com/?severity=High"),
        ("https://evil.example.org/", "/"),
        ("//evil.example.org/", "/"),
        ("/\\evil.example.org", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_choosing_leads_back_to_a_page_of_ours(client, back, expected):
    response = client.post("/theme/", {"theme": "dark", "next": back})
    assert (response.status_code, response["Location"]) == (302, expected)


@pytest.mark.parametrize("theme", ["", "blue", "DARK"])
def test_a_theme_that_there_is_not_is_refused(client, theme):
    response = client.post("/theme/", {"theme": theme})
    assert response.status_code == 400
    assert "theme" not in response.cookies
    assert client.get("/theme/").status_code == 405


@pytest.mark.parametrize("https", [True, False])
def test_the_cookie_is_for_this_server_alone(client, settings, https):
    settings.HTTPS = https
    cookie = client.post("/theme/", {"theme": "dark"}).cookies["theme"]
    assert (bool(cookie["secure"]), cookie["httponly"], cookie["samesite"]) == (https, True, "Lax")
    assert cookie["domain"] == ""
    assert cookie["max-age"] == 365 * 24 * 3600


def test_the_admin_has_the_colours_of_the_portal():
    def colours(file):
        sheet = (settings.BASE_DIR / "static" / file).read_text()
        return dict(re.findall(r"--([a-z-]+): (light-dark\([^;]+\));", sheet))

    portal, admin = colours("portal/portal.css"), colours("config/admin.css")
    shared = portal.keys() & admin.keys()
    assert {name: admin[name] for name in shared} == {name: portal[name] for name in shared}
    assert {"canvas", "surface", "text", "accent", "critical", "good"} <= shared
