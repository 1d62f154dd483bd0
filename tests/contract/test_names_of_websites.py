"""A website whose name has letters beyond ASCII: people read them, machines get the stored form."""

import json

import pytest

from tests.factories import (
    make_account,
    make_finding,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db
HOST, NAME = "xn--mnchen-3ya.example.com", "münchen.example.com"


@pytest.fixture
def owner(client, settings):
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = "", "config.web.in_process.application"
    link = make_link(make_account(), make_website(HOST))
    make_finding(link.website)
    account = make_portal_account(link.account.ref)
    make_portal_website(account, HOST, link.link_id)
    make_membership(make_user(), account)
    client.force_login(account.memberships.get().user)
    return client


@pytest.mark.parametrize(
    "page", ["/", f"/sites/{HOST}/", f"/sites/{HOST}/report/", "/palette/hits/?query=münchen"]
)
def test_pages_show_the_name_in_its_own_letters(owner, page):
    text = owner.get(page).text
    assert NAME in text
    assert f">{HOST}<" not in text


def test_machines_get_the_stored_form(owner):
    assert json.loads(b"".join(owner.get(f"/sites/{HOST}/findings.json")))["host"] == HOST
    assert HOST in owner.get("/api/").text  # for the code of a backend


@pytest.mark.parametrize("query", [NAME, "München", HOST, f"https://{NAME}/cart"])
def test_the_list_is_searched_by_any_form_of_the_name(owner, query):
    assert NAME in owner.get("/", {"query": query}).text
    assert NAME not in owner.get("/", {"query": "köln"}).text
