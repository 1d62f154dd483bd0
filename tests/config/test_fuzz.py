"""Odd values in every part of a request, on every route, never cause an error of the server."""

import itertools
from urllib.parse import quote

import pytest
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.test import Client

from config.operations import client_health, health
from signed_api.scans import SCAN_SCHEDULE, SCANS, ScanScheduleResponse, ScansResponse
from tests import routes
from tests.factories import (
    make_account,
    make_coverage,
    make_finding,
    make_link,
    make_membership,
    make_note,
    make_portal_account,
    make_portal_website,
    make_user,
)
from tests.portal.service_answers import answer_pages, answer_with
from tests.structs import build

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

ODD = [b"foo", b"\0", b"a\r\nb: c", b"http://[", b"9" * 30, b"NaN", b"[]", b"\xed\xa0\xbd\xff", "٣".encode()]
IN_PATHS = [b"\0", b"a\r\nb", b"9" * 30, b"[", b"%", b"a" * 2_000, b"\xff"]
# What a database may refuse. Of the others, which stop before it, PostgreSQL tries one at each path, in turn.
REFUSED = {
    "postgresql": {b"\0", b"9" * 30, b"NaN", b"\xed\xa0\xbd\xff", b"\xff"},
    "sqlite": {b"9" * 30, b"\xed\xa0\xbd\xff"},
}
# Names that the forms and lists understand.
FIELDS = (
    "next", "page", "page_size", "severity", "source", "kind", "status", "query", "account", "q", "p", "o",
    "group_by", "problem", "sort", "since", "hosts", "view",
    "e", "all", "_facets", "_popup", "_to_field", "_changelist_filters", "app_label", "model_name",
    "field_name", "term", "id__exact", "created_at__year", "last_seen__year", "last_seen__month",
    "last_seen__day", "enabled__exact", "is_active__exact", "login", "password", "password1", "password2",
    "oldpassword",
    "usable_password", "email", "code", "credential", "name", "theme", "language", "role", "days", "evidence",
    "url", "frequency", "min_severity",
    "action", "_selected_action", "select_across", "index", "confirmed", "reason", "body", "host", "ref",
    "slug", "interval_days", "user", "website", "plan", "starts_on", "ends_on", "starts_on_0", "starts_on_1",
    "sites_limit", "features", "urls_checked", "verified_at_0", "verified_at_1", "report", "format_name",
    "base_url", "scanned_at", "apply", "post", "notes-TOTAL_FORMS", "link_id", "secret", "username", "since",
    "day", "outcome", "before", "person",
)  # fmt: skip
HEADERS = ("HX-Current-URL", "HX-Target", "HX-Trigger", "HX-Trigger-Name", "Accept-Language", "Accept",
           "Referer", "Origin", "Content-Type", "Accept-Encoding", "X-Requested-With", "X-CSRFToken",
           "Range", "If-Modified-Since", "If-None-Match")  # fmt: skip
FOR_HEADERS = ("/", "/sites/shop.example.com/", "/sites/shop.example.com/row/", "/accounts/login/",
               "/admin/", "/v1/docs", "/v1/site/dashboard", "/nowhere/")  # fmt: skip
MARK = "put-the-value-here"
WHO = ["", "owner", "operator"]
PLACE = {"GET": "query", "POST": "body"}
COOKIES = ("sessionid", "csrftoken", "messages", "theme", "language")


@pytest.fixture(autouse=True)
def _answers(monkeypatch):
    """Let the service answer every call, and find nothing wrong with itself."""
    monkeypatch.setattr(health.READINESS, "failed", lambda: ())
    monkeypatch.setattr(client_health.CHECKS, "failed", lambda: ())
    answer_pages(monkeypatch)
    answer_with(monkeypatch, SCAN_SCHEDULE, lambda *_: build(ScanScheduleResponse, host="shop.example.com"))
    answer_with(monkeypatch, SCANS, lambda *_: build(ScansResponse, host="shop.example.com"))


@pytest.fixture
def examples():
    """Create the objects to which the routes lead."""
    link = make_link(make_account())
    finding = make_finding(link.website)
    make_coverage(link.website)
    make_note(link.website, finding=finding)
    website = make_portal_website(make_portal_account(link.account.ref), link.website.host, link.link_id)
    for name in ("owner", "operator"):
        is_staff = name == "operator"
        user = make_user(name, is_staff=is_staff, is_superuser=is_staff)
        make_membership(user, website.account)
    return {"int": str(user.pk), "content_type_id": str(ContentType.objects.first().pk)}


def tried(paths, values):
    """Yield the paths with the values that this run tries there."""
    refused = REFUSED[connection.vendor]
    others = itertools.cycle([value for value in values if value not in refused])
    for path in paths:
        yield from ((path, value) for value in values if value in refused)
        if connection.vendor == "postgresql":
            yield path, next(others)


def person(name):
    client = Client(raise_request_exception=False)
    if name:
        client.force_login(get_user_model().objects.get(username=name))
    return client


def statuses(client, method, path, *, query="", body="", **headers):
    """Return the status of the response, and undo its changes."""
    with transaction.atomic():
        response = client.generic(
            method,
            "/",
            body,
            "application/x-www-form-urlencoded",
            headers=headers,
            PATH_INFO=path,  # as it is: the client would strip controls
            QUERY_STRING=query,
        )
        b"".join(response)
        transaction.set_rollback(True)
    return response.status_code


def with_fields(value):
    return "&".join(f"{name}={quote(value, safe='')}" for name in FIELDS)


def paths_for(who, **examples):
    """Return the users of a route: an operator for the admin, else visitors and members."""
    paths = dict.fromkeys(routes.every_path(**examples))
    return [path for path in paths if path.startswith("/admin/") == (who == "operator")]


@pytest.mark.parametrize("who", WHO)
def test_no_odd_parameter_or_field_breaks_a_page(who, examples):
    client = person(who)
    broken = [
        (method, path, value, status)
        for path, value in tried(paths_for(who, **examples), ODD)
        for method in ("GET", "POST")
        if (method, path) != ("POST", "/accounts/logout/")
        and (status := statuses(client, method, path, **{PLACE[method]: with_fields(value)})) >= 500
    ]
    assert broken == []


@pytest.mark.once
@pytest.mark.parametrize("who", WHO)
def test_no_odd_address_breaks_a_page(who, examples):
    client = person(who)
    broken = [
        (path, value, status)
        for path, value in tried(paths_for(who, **dict.fromkeys(routes.EXAMPLES, MARK)), IN_PATHS)
        for method in ("GET", "POST")
        if (status := statuses(client, method, path.replace(MARK, value.decode("latin-1")))) >= 500
    ]
    assert broken == []


@pytest.mark.once
@pytest.mark.parametrize("who", WHO)
def test_no_odd_header_or_cookie_breaks_a_page(who, examples):
    broken = []
    for path, value in itertools.product(FOR_HEADERS, ODD):
        text = value.decode("latin-1")
        client = person(who)
        given = dict.fromkeys(HEADERS, text) | {"HX-Request": "true"}
        broken.append((path, value, statuses(client, "GET", path, **given)))
        for name in COOKIES:
            octal = "".join(f"\\{byte:03o}" for byte in value)
            client.cookies[name] = text.replace("\r", "").replace("\n", "")
            client.cookies[name].set(name, text, f'"{octal}"')
        broken.append((path, value, statuses(client, "GET", path)))
    assert [each for each in broken if each[-1] >= 500] == []
