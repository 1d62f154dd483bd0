"""security.txt: whom to write to about a security problem (RFC 9116)."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from dashboard_api.crawler.essentials.page import check_security_txt
from foundation.outbound.fetch import Fetched, Hop
from foundation.outbound.robots import read_robots
from tests.routes import every_path

pytestmark = pytest.mark.django_db
PATH = "/.well-known/security.txt"


def test_security_txt_has_contact_end_languages_and_its_address(client, settings):
    settings.SUPPORT_URL = "mailto:security@example.com"
    found = client.get(PATH)
    assert found["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in found.text.split("\r\n")[:-1])
    expires = datetime.fromisoformat(fields.pop("Expires"))
    assert timezone.now() + timedelta(days=30) < expires < timezone.now() + timedelta(days=365)
    assert fields == {
        "Canonical": f"http://testserver{PATH}",
        "Contact": "mailto:security@example.com",
        "Preferred-Languages": "en, de",
    }


@pytest.fixture
def files(client, settings, tmp_path):
    """Return a client of the product with its static files, which other tests leave out."""
    settings.STATIC_ROOT = tmp_path  # a fresh checkout has collected none
    settings.MIDDLEWARE = ["config.web.static_files.StaticFiles", *settings.MIDDLEWARE]
    return client


def test_browsers_find_the_icon_where_they_look_for_it(files):
    icon = files.get("/favicon.ico")
    assert icon["Content-Type"] in ("image/x-icon", "image/vnd.microsoft.icon")
    assert b"".join(icon).startswith(b"\0\0\1\0")


FOR_EVERYONE = (
    "/v1/public",
    "/v1/docs",
    "/sample/",
    "/scanner",
    "/how-we-grade/",
    "/.well-known/",
)
NEVER_KEPT = ("/s/", "/prove/")  # these say so themselves


def test_search_engines_may_read_what_is_for_everyone_and_nothing_else(files):
    allows = read_robots(b"".join(files.get("/robots.txt")).decode())
    assert allows("/")
    assert allows("/static/portal/portal.css")
    for path in every_path():
        assert allows(path) == (path == "/" or path.startswith(FOR_EVERYONE + NEVER_KEPT)), path


@pytest.mark.parametrize("page", [f"{start}x/" for start in NEVER_KEPT])
def test_pages_behind_a_secret_link_say_that_no_search_engine_keeps_them(client, page):
    assert "noindex" in client.get(page)["X-Robots-Tag"]


def fetched(client):
    """Return the file as our scanner gets it."""
    response = client.get(PATH)
    hops = (Hop(url=f"https://testserver{PATH}"),)
    return Fetched(status=response.status_code, headers={}, body=response.content, is_whole=True, hops=hops)


def test_our_own_scanner_finds_no_problem_with_it(client, settings):
    settings.SUPPORT_URL = "https://example.com/support"
    assert list(check_security_txt(fetched(client), timezone.now())) == []
    settings.SUPPORT_URL = ""
    [problem] = check_security_txt(fetched(client), timezone.now())
    assert problem.rule == "security-txt-missing"


def test_without_a_contact_there_is_none_and_it_only_answers_reads(client, settings):
    settings.SUPPORT_URL = ""
    assert client.get(PATH).status_code == 404
    settings.SUPPORT_URL = "mailto:security@example.com"
    assert client.post(PATH).status_code == 405
