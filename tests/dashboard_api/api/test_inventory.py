"""Certificates, domains and scripts by signed calls: of one's own websites, and of no other."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.crawler import facts, inventory
from dashboard_api.models import (
    Entitlement,
    RegisteredDomain,
    ScriptInventory,
    SeenCertificate,
    SeenScript,
    Usage,
)
from tests.dashboard_api.calls import (
    INVENTORY_PATH,
    LAST_DAYS_PATH,
    SCRIPT_PATH,
    ask,
    error_of,
    fields_for,
)
from tests.factories import make_account, make_link, make_website
from tests.racing import race

pytestmark = pytest.mark.django_db

NOW = timezone.now().replace(microsecond=0)
DAY = timedelta(days=1)
CDN = "https://cdn.example.net/a.js"


def text_of(moment):
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def make_certificate(website, days, number=1, **fields):
    values = {
        "host": website.host,
        "port": 443,
        "fingerprint": f"{number:064x}",
        "issuer": "R3",
        "valid_until": NOW + days * DAY,
        "details": {
            "subject": website.host,
            "names": [website.host],
            "key": "RSA, 2048 bits",
            "signature": "sha256",
            "valid_from": text_of(NOW - 30 * DAY),
            "chain": [{"subject": "R3", "issuer": "Root", "valid_until": text_of(NOW + 900 * DAY)}],
            "problem": "",
        },
        "first_seen_at": NOW - 9 * DAY,
        "seen_at": NOW - 2 * DAY,
    }
    return SeenCertificate.objects.create(website=website, **(values | fields))


def make_domain(website, days, **fields):
    ends = None if days is None else NOW + days * DAY
    values = {"name": "example.com", "valid_until": ends, "registrar": "R", "read_at": NOW} | fields
    return RegisteredDomain.objects.create(website=website, **values)


def make_script(website, url=CDN, **fields):
    host = url.split("/")[2]
    values = {"host": host, "sha256": "a" * 64, "has_integrity": False, "first_seen_at": NOW, "seen_at": NOW}
    return SeenScript.objects.create(website=website, url=url, **(values | fields))


def make_inventory(website, *hosts):
    return ScriptInventory.objects.create(
        website=website, page=f"https://{website.host}/", at=NOW, expected_hosts=[*hosts]
    )


@pytest.fixture
def link():
    return make_link(make_account(), make_website("shop.example.com"))


def inventory_of(client, link):
    response = ask(client, fields_for(link), path=INVENTORY_PATH)
    assert response.status_code == 200, response.content
    return response.json()


def change(client, link, url=CDN, **fields):
    return ask(client, fields_for(link, url=url, **fields), path=SCRIPT_PATH)


def last_days(client, link, **fields):
    response = ask(client, {"portal_account_ref": link.account.ref, **fields}, path=LAST_DAYS_PATH)
    assert response.status_code == 200, response.content
    return response.json()


def test_a_website_that_was_not_scanned_has_an_empty_inventory(client, link):
    shown = inventory_of(client, link)
    assert (shown["certificates"], shown["domain"], shown["scripts"]) == ([], None, [])
    assert (shown["scripts_at"], shown["page"]) == (None, "")


def test_an_inventory_shows_what_scans_saw_and_when(client, link):
    make_certificate(link.website, 20)
    make_certificate(link.website, -3, 2, is_current=False)
    make_domain(link.website, None, reason="no_server", registrar="")
    make_inventory(link.website, "cdn.example.net")
    make_script(link.website, libraries=[{"name": "jquery", "version": "3.7.1"}])
    make_script(link.website, "https://static.example.com/app.js", sha256="", pinned_sha256="b" * 64)
    make_script(link.website, "https://gone.example.net/x.js", seen_at=NOW - DAY)
    shown = inventory_of(client, link)
    assert [each["current"] for each in shown["certificates"]] == [True, False]
    first = shown["certificates"][0]
    assert (first["valid_until"], first["seen_at"]) == (text_of(NOW + 20 * DAY), text_of(NOW - 2 * DAY))
    assert first["chain"][0]["subject"] == "R3"
    assert (shown["domain"]["valid_until"], shown["domain"]["reason"]) == (None, "no_server")
    assert shown["domain"]["explanation"]
    names = ("url", "own", "new", "current", "pinned", "sha256")
    assert [tuple(each[name] for name in names) for each in shown["scripts"]] == [
        (CDN, False, False, True, False, "a" * 64),
        ("https://static.example.com/app.js", True, False, True, True, None),
        ("https://gone.example.net/x.js", False, True, False, False, "a" * 64),
    ]
    assert shown["scripts"][0]["libraries"] == [{"name": "jquery", "version": "3.7.1"}]


def test_before_the_first_complete_inventory_no_host_is_new_and_no_script_gone(client, link):
    make_script(link.website)
    [script] = inventory_of(client, link)["scripts"]
    assert (script["new"], script["current"]) == (False, True)


def test_a_pin_stores_the_content_that_was_seen_and_is_on_record_once(client, link):
    make_script(link.website)
    for _ in range(2):
        shown = change(client, link, act="pin", sha256="a" * 64, by="user-7").json()["script"]
        assert (shown["pinned"], shown["pinned_sha256"]) == (True, "a" * 64)
    event = AuditEvent.objects.get(action="script.pin")
    assert (event.account, event.host) == (link.account.ref, "shop.example.com")
    assert event.after == {"url": CDN, "sha256": "a" * 64}
    assert facts.expected(link.website_id)["pins"] == {CDN: "a" * 64}
    assert change(client, link, act="unpin").json()["script"]["pinned"] is False
    assert AuditEvent.objects.filter(action="script.unpin").count() == 1
    assert facts.expected(link.website_id)["pins"] == {}


@pytest.mark.parametrize("sha256", ["", "a" * 64])
def test_content_that_the_caller_did_not_see_is_not_pinned(client, link, sha256):
    make_script(link.website, sha256="b" * 64 if sha256 else "")
    response = change(client, link, act="pin", sha256=sha256)
    assert (response.status_code, error_of(response)["code"]) == (409, "wrong_state")
    assert facts.expected(link.website_id)["pins"] == {}


def test_a_website_has_a_limit_of_pins_and_of_expected_hosts(client, link, monkeypatch):
    monkeypatch.setattr(inventory, "MAX_PINS", 1)
    monkeypatch.setattr(inventory, "MAX_EXPECTED_HOSTS", 1)
    make_inventory(link.website, "other.example.net")
    make_script(link.website, pinned_sha256="b" * 64)
    make_script(link.website, "https://cdn.example.net/b.js")
    assert change(client, link, act="pin").status_code == 200  # the changed content of a pinned script
    assert change(client, link, "https://cdn.example.net/b.js", act="pin").status_code == 409
    assert change(client, link, act="accept_host").status_code == 409


def test_an_accepted_host_is_expected_from_then_on(client, link):
    make_inventory(link.website, "shop.example.com")
    make_script(link.website)
    assert inventory_of(client, link)["scripts"][0]["new"] is True
    for _ in range(2):
        assert change(client, link, act="accept_host").json()["script"]["new"] is False
    assert facts.expected(link.website_id)["hosts"] == ["cdn.example.net", "shop.example.com"]
    assert AuditEvent.objects.get(action="script.accept_host").after == {
        "url": CDN,
        "host": "cdn.example.net",
    }


def test_a_script_of_another_website_is_unknown(client, link):
    make_script(make_website("other.example.com"))
    response = change(client, link, act="pin")
    assert (response.status_code, error_of(response)["code"]) == (404, "unknown_script")


def test_last_days_come_soonest_first_and_only_of_what_is_current(client, link):
    website = link.website
    make_certificate(website, 20)
    make_certificate(website, -3, 2, host="www.shop.example.com")
    make_certificate(website, 1, 3, is_current=False)
    make_domain(website, 40)
    other = make_link(link.account, make_website("other.example.com")).website
    make_domain(other, None)
    make_certificate(other, 30)
    shown = last_days(client, link)
    assert [(each["host"], each["kind"], each["name"], each["port"]) for each in shown["items"]] == [
        ("shop.example.com", "certificate", "www.shop.example.com", 443),
        ("shop.example.com", "certificate", "shop.example.com", 443),
        ("other.example.com", "certificate", "other.example.com", 443),
        ("shop.example.com", "domain", "example.com", None),
    ]
    assert shown["total"] == 4
    domain = shown["items"][3]
    assert (domain["issuer"], domain["fingerprint"], domain["seen_at"]) == ("R", "", text_of(NOW))
    assert domain["valid_until"] == text_of(NOW + 40 * DAY)
    assert last_days(client, link, within_days=25)["total"] == 2
    assert not Usage.objects.filter(calls__gt=0).exists()
    page = last_days(client, link, page=2, page_size=3)
    assert ([each["kind"] for each in page["items"]], page["total"]) == (["domain"], 4)


def test_last_days_are_those_of_the_websites_that_the_account_can_read(client, link):
    paused = make_link(link.account, make_website("paused.example.com"))
    revoked = make_link(link.account, make_website("revoked.example.com"))
    stranger = make_link(make_account("stranger"), make_website("stranger.example.com"))
    for each in (link, paused, revoked, stranger):
        make_certificate(each.website, 20)
        make_domain(each.website, 30)
    paused.paused_at = NOW
    paused.save()
    revoked.revoke(by="ada", reason="Left.", now=NOW)
    shown = last_days(client, link)
    assert {each["host"] for each in shown["items"]} == {"shop.example.com"}
    assert shown["total"] == 2
    for refused in (paused, revoked):
        for response in (
            ask(client, fields_for(refused), path=INVENTORY_PATH),
            change(client, refused, act="pin"),
        ):
            assert response.status_code == 403


def test_without_a_usable_plan_there_is_no_inventory(client, link):
    make_script(link.website)
    Entitlement.objects.filter(account=link.account).update(ends_on=(NOW - 25 * DAY).date())
    responses = [
        ask(client, fields_for(link), path=INVENTORY_PATH),
        change(client, link, act="pin"),
        ask(client, {"portal_account_ref": link.account.ref}, path=LAST_DAYS_PATH),
    ]
    assert {error_of(response)["code"] for response in responses} == {"inactive_entitlement"}


def test_every_account_of_a_website_sees_its_pins(client, link):
    make_script(link.website)
    other = make_link(make_account("other"), link.website)
    change(client, link, act="pin")
    assert inventory_of(client, other)["scripts"][0]["pinned"] is True


@pytest.mark.django_db(transaction=True)
def test_hosts_that_are_accepted_at_once_are_all_expected(link):
    make_inventory(link.website)
    for number in range(4):
        make_script(link.website, f"https://cdn{number}.example.net/a.js")

    def accept(number):
        url = f"https://cdn{number}.example.net/a.js"
        return change(Client(), link, url, act="accept_host").status_code

    assert race(accept, times=4) == [200] * 4
    assert facts.expected(link.website_id)["hosts"] == [f"cdn{number}.example.net" for number in range(4)]
