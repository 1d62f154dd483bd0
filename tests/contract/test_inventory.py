"""Certificates, domains and scripts of the service, in the portal and its reminders."""

from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.crawler import reasons
from dashboard_api.models import RegisteredDomain, ScriptInventory, SeenCertificate, SeenScript, SiteLink
from foundation.texts.people import reference_of
from portal.inventory import labels
from portal.models import Membership, SentReminder
from signed_api.inventory import DOMAIN
from tests.commands import run_json
from tests.factories import (
    make_account,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db(transaction=True)
HOST = "shop.example.com"
PAGE, DATES = f"/sites/{HOST}/inventory/", "/websites/certificates/"
SCRIPT = "https://cdn.example.net/a.js"


@pytest.fixture
def service(service, settings):
    settings.DASHBOARD_BASE_URL = ""
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "consolemail://", "https://portal.example.com"
    return service


def text_of(response):
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def see_certificate(website, days=10, **fields):
    now = timezone.now()
    details = {"subject": HOST, "names": [HOST], "key": "RSA, 2048 bits", "signature": "sha256", "chain": []}
    details |= {"valid_from": (now - timedelta(days=300)).isoformat(), "problem": ""}
    facts = {"host": website.host, "port": 443, "fingerprint": "a1" * 32, "issuer": "Example Trust R3"}
    facts |= {"valid_until": now + timedelta(days=days), "first_seen_at": now, "seen_at": now}
    return SeenCertificate.objects.create(website=website, details=details, **(facts | fields))


def see_script(website, **fields):
    now = timezone.now()
    ScriptInventory.objects.create(website=website, page=f"https://{HOST}/", at=now, expected_hosts=[HOST])
    facts = {"url": SCRIPT, "host": "cdn.example.net", "sha256": "9f" * 32, "has_integrity": False}
    facts |= {"first_seen_at": now, "seen_at": now}
    return SeenScript.objects.create(website=website, **(facts | fields))


def test_a_website_without_a_scan_says_what_to_do(owner):
    assert "Nothing has been read yet" in text_of(owner.get(PAGE))
    assert "Nothing has been read yet" in text_of(owner.get(DATES))


def test_an_owner_pins_and_unpins_a_script_and_accepts_its_host(owner, link):
    see_script(link.website)
    text = text_of(owner.get(PAGE))
    assert "New host" in text
    fields = {"url": SCRIPT, "sha256": "9f" * 32}
    for act, words in (("pin", "pinned</span>"), ("accept_host", "third party"), ("unpin", 'value="pin"')):
        assert words in text_of(owner.post(f"{PAGE}script/", fields | {"act": act}, follow=True))
    assert ScriptInventory.objects.get().expected_hosts == ["cdn.example.net", HOST]
    user = Membership.objects.get().user
    by_service = AuditEvent.objects.filter(action="script.pin").get()
    assert AuditEvent.objects.filter(action="website.script_pinned", host=HOST).exists()
    assert reference_of(user.pk) in str(by_service.actor) or by_service.actor


def test_content_that_changed_after_the_page_was_shown_is_not_pinned(owner, link):
    see_script(link.website, sha256="00" * 32)
    fields = {"url": SCRIPT, "act": "pin", "sha256": "9f" * 32}
    assert "Nothing was changed" in text_of(owner.post(f"{PAGE}script/", fields, follow=True))
    assert SeenScript.objects.get().pinned_sha256 == ""


def test_another_account_of_the_service_sees_nothing(owner, link):
    see_certificate(link.website)
    other = make_link(make_account("acct_0002"), make_website("other.example.net"))
    account = make_portal_account("acct_0002")
    make_portal_website(account, "other.example.net", other.link_id)
    stranger = make_user("stranger")
    make_membership(stranger, account)
    browser = Client()
    browser.force_login(stranger)
    assert browser.get(PAGE).status_code == 404
    assert HOST not in text_of(browser.get(DATES))
    assert HOST in text_of(owner.get(DATES))


def test_reminders_are_sent_once_and_end_with_a_renewal(owner, link):
    now = timezone.now()
    see_certificate(link.website)
    RegisteredDomain.objects.create(
        website=link.website, name="example.com", valid_until=now + timedelta(days=20), read_at=now
    )
    run_json("notify")
    assert run_json("notify")["sent"] == 0
    (message,) = mail.outbox
    assert message.subject == "2 certificates or domains expire"
    assert sorted(SentReminder.objects.values_list("days", flat=True)) == [14, 30]
    SeenCertificate.objects.update(is_current=False)
    see_certificate(link.website, 3, is_current=False, fingerprint="b2" * 32)
    see_certificate(link.website, 85, fingerprint="c3" * 32)
    assert run_json("notify")["sent"] == 0


@pytest.mark.parametrize("state", [{"paused_at": timezone.now()}, {"revoked_at": timezone.now()}])
def test_websites_that_are_paused_or_unlinked_get_no_reminder(owner, link, state):
    see_certificate(link.website)
    SiteLink.objects.update(**state)
    run_json("notify")
    assert mail.outbox == []


def test_every_reason_of_the_service_about_a_domain_has_words():
    assert reasons._OF_DOMAIN.keys() == labels.UNREAD_DOMAIN.keys()
    assert DOMAIN in labels.KINDS
