import pytest
from django.core.management.base import CommandError

from portal.models import Website
from tests.commands import run, run_json
from tests.factories import make_portal_account, make_portal_website

pytestmark = pytest.mark.django_db

FIRST, SECOND = "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e", "11111111-2222-4333-8444-555555555555"


def test_website_is_added_with_its_host_as_the_service_writes_it():
    account = make_portal_account("acct_0001")
    output = run("add_website", "acct_0001", "München.Example.", FIRST)
    website = Website.objects.get()
    assert (website.account, website.host, website.link_id) == (account, "xn--mnchen-3ya.example", FIRST)
    assert "manage.py add_member acct_0001 USER" in output


def test_website_added_again_stays_as_it_is():
    make_portal_website(make_portal_account("acct_0001"), host="shop.example.com", link_id=FIRST)
    output = run("add_website", "acct_0001", "SHOP.example.com", FIRST)
    assert "nothing was changed" in output
    assert Website.objects.count() == 1


def test_website_with_another_link_id_gets_it_and_says_so():
    make_portal_website(make_portal_account("acct_0001"), host="shop.example.com", link_id=FIRST)
    assert f"from {FIRST} to {SECOND}" in run("add_website", "acct_0001", "shop.example.com", SECOND)
    assert Website.objects.get().link_id == SECOND


def test_website_is_added_for_scripts():
    make_portal_account("acct_0001")
    assert run_json("add_website", "acct_0001", "shop.example.com", FIRST) == {
        "changed": True,
        "account": "acct_0001",
        "host": "shop.example.com",
        "link_id": FIRST,
        "previous_link_id": None,
    }


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["acct_0002", "shop.example.com", FIRST], r"manage\.py connect_account acct_0002"),
        (["acct_0001", "https://shop.example.com:8443", FIRST], "without a port"),
        (["acct_0001", "localhost", FIRST], "must be a public domain name"),
        (["acct_0001", "shop.example.com", "rubbish"], "link_id: Copy it as the service shows it"),
        (["acct_0001", "shop.example.com", FIRST + "\n"], "link_id: Copy it as the service shows it"),
        (["acct_\udcff", "shop.example.com", FIRST], "must be UTF-8"),
    ],
)
def test_website_is_refused_as_a_whole(arguments, refusal):
    make_portal_account("acct_0001")
    with pytest.raises(CommandError, match=refusal):
        run("add_website", *arguments)
    assert not Website.objects.exists()
