"""The foot of every page: links from settings, also where there is no request."""

import re

import pytest
from django.template.loader import get_template

from tests.factories import make_membership, make_portal_account, make_user

NAMES = ("IMPRINT_URL", "PRIVACY_URL", "TERMS_URL", "SUPPORT_URL", "STATUS_URL", "SECURITY_TXT_URL")


def footer_of(html):
    found = re.search(r"<footer.*?</footer>", html, re.DOTALL)
    return re.findall(r'<a href="([^"]*)">([^<]*)</a>', found[0]) if found else []


@pytest.mark.django_db
def test_each_address_that_is_set_has_a_link(client, settings):
    for name in NAMES:
        setattr(settings, name, f"https://example.com/{name}")
    labels = ("Imprint", "Privacy", "Terms", "Support", "Service status", "security.txt")
    expected = [(f"https://example.com/{name}", label) for name, label in zip(NAMES, labels, strict=True)]
    assert footer_of(client.get("/accounts/login/").text) == expected


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_an_address_that_is_not_set_is_left_out(client, settings, name):
    for other in NAMES:
        setattr(settings, other, "")
    assert "<footer" not in client.get("/accounts/login/").text
    setattr(settings, name, "mailto:someone@example.com")
    assert [url for url, _ in footer_of(client.get("/accounts/login/").text)] == [
        "mailto:someone@example.com"
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/help/",
        "/new/",
        "/team/",
        "/notifications/",
        "/accounts/",
        "/accounts/2fa/webauthn/add/",
        "/nowhere/",
    ],
)
def test_pages_of_members_have_it(client, path):
    make_membership(user := make_user(), make_portal_account())
    client.force_login(user)
    assert footer_of(client.get(path, follow=True).text)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/s/unknown/", "/prove/unknown/"])
def test_pages_behind_secret_links_have_it(client, path):
    assert footer_of(client.get(path).text)


@pytest.mark.django_db
def test_pages_of_staff_have_it_and_popups_do_not(admin_client):
    for path in ("/admin/", "/admin/portal/account/add/", "/admin/dashboard_api/finding/workbench/"):
        assert footer_of(admin_client.get(path).text)
    assert not footer_of(admin_client.get("/admin/portal/account/add/?_popup=1").text)


@pytest.mark.parametrize("status", ["400", "403", "403_csrf", "404", "413", "429", "500", "503"])
def test_error_pages_have_it_without_a_request(status):
    assert footer_of(get_template(f"{status}.html").render())
