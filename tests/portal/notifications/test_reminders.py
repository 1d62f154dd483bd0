"""Reminders before certificates and domains expire: to whom, how often, and when they end."""

import pytest
from django.core import mail

from portal.models import PendingNotification, SentReminder, Subscription
from portal.notifications import delivery, emails, polling, reminders
from signed_api.errors import CannotConnect, InactiveEntitlement
from signed_api.inventory import INVENTORY, LAST_DAYS
from tests.factories import make_membership, make_portal_website, make_user
from tests.portal.dashboards import NOW
from tests.portal.inventory.inventories import (
    HOST,
    in_days,
    make_certificate,
    make_domain,
    make_inventory,
    make_last_day,
    make_last_days,
)
from tests.portal.service_answers import answer_with
from tests.structs import refused

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _frozen(monkeypatch):
    monkeypatch.setattr(emails.timezone, "now", lambda: NOW)


@pytest.fixture
def run(website, owner, monkeypatch):
    """Run once with these last days and certificates, and return the e-mails."""

    def run(*items, certificates=None, domain=None, now=NOW):
        read = certificates if certificates is not None else [certificate_of(each) for each in items]
        answer_with(monkeypatch, LAST_DAYS, lambda *_: make_last_days(*items))
        answer_with(monkeypatch, INVENTORY, lambda *_: make_inventory(certificates=read, domain=domain))
        mail.outbox.clear()
        audiences = polling.audiences()
        run.outcome = reminders.store_due(audiences, now=now)
        run.sent = delivery.send_due([each.website for each in audiences], clock=lambda: now)
        return mail.outbox

    return run


def certificate_of(item):
    return make_certificate(
        fingerprint=item.fingerprint, valid_from=item.valid_from, valid_until=item.valid_until
    )


def test_the_email_names_website_certificate_issuer_last_day_reading_and_advice(run):
    (message,) = run(make_last_day(14, name=f"www.{HOST}"))
    html = message.alternatives[0][0]
    assert message.subject == f"{HOST}: a certificate expires in 14 days"
    for words in (
        f"Website: {HOST}",
        f"Certificate of: www.{HOST}",
        "Issuer: Example Trust R3",
        "Last day: 4 Dec 2026",
        "Read on: 20 Nov 2026",
        "After this day browsers warn your visitors",
        "Renew the certificate",
        f"https://portal.example.com/sites/{HOST}/inventory/",
        "reminders before certificates and domains expire.",
    ):
        assert words in message.body
        assert words.partition(": ")[2] or words in html
    assert "List-Unsubscribe" in message.extra_headers


def test_a_domain_has_words_of_its_own(run):
    fields = {"kind": "domain", "name": "example.com", "port": None, "fingerprint": "", "valid_from": None}
    item = make_last_day(3, issuer="Registrar Ltd", **fields)
    (message,) = run(item, domain=make_domain(3))
    assert message.subject == f"{HOST}: the domain example.com expires in 3 days"
    for words in ("Domain: example.com", "Registrar: Registrar Ltd", "somebody else can register the name"):
        assert words in message.body


@pytest.mark.parametrize(
    ("days", "lifetime", "sent"),
    [
        (31, 365, []),
        (30, 365, [30]),
        (20, 365, [30]),
        (14, 365, [14]),
        (2, 365, [3]),
        (0.1, 365, [3]),
        (30, 90, [30]),
        (2, 6, [3]),
    ],
)
def test_a_certificate_first_seen_gets_only_the_nearest_reminder(run, days, lifetime, sent):
    item = make_last_day(days, lifetime=lifetime, seen_at=NOW)
    assert len(run(item)) == len(sent)
    assert [row.days for row in SentReminder.objects.all()] == sent


@pytest.mark.parametrize(("days", "lifetime", "is_sent"), [(30, 90, False), (14, 90, True), (1, 6, False)])
def test_a_certificate_that_may_have_been_renewed_since_the_scan_gets_no_reminder(
    run, days, lifetime, is_sent
):
    item = make_last_day(days, lifetime=lifetime, seen_at=in_days(-2))
    assert len(run(item)) == is_sent
    later = make_last_day(days, lifetime=lifetime, seen_at=NOW)
    assert len(run(later)) == (not is_sent)  # it was not renewed


def test_each_reminder_is_sent_once(run):
    item = make_last_day(30)
    days = (0, 0, 1, 15, 16, 17, 27, 28, 30)
    assert [len(run(item, now=in_days(each))) for each in days] == [1, 0, 0, 0, 1, 0, 1, 0, 0]
    assert list(SentReminder.objects.values_list("days", flat=True)) == [30, 14, 3]


def test_two_runs_at_once_store_one_reminder(run, website, owner, monkeypatch):
    due = reminders._Due(key="a" * 64, days=14, items=[make_last_day(14)])
    answer_with(monkeypatch, INVENTORY, lambda *_: make_inventory())
    counts = [reminders._store(due, {HOST: website}, [owner], NOW) for _ in range(2)]
    assert counts == [1, 0]
    assert PendingNotification.objects.count() == 1


def test_a_renewed_certificate_ends_a_reminder_that_waits(run):
    assert run(make_last_day(14), certificates=[]) == []  # renewed between the two calls
    assert PendingNotification.objects.count() == 0
    renewed = make_last_day(80, fingerprint="b2" * 32)
    assert run(renewed, now=in_days(5)) == []


def test_a_certificate_of_several_websites_is_one_reminder(run, account):
    make_portal_website(account, "blog.example.com", "7f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e")
    (message,) = run(make_last_day(14), make_last_day(14, host="blog.example.com"))
    assert "Also on: blog.example.com" in message.body


def test_several_reminders_are_one_email(run):
    items = [make_last_day(14), make_last_day(3, name=f"www.{HOST}", fingerprint="b2" * 32)]
    (message,) = run(*items)
    assert message.subject == "2 certificates or domains expire"
    assert message.body.count("Certificate of:") == 2


def test_an_old_reading_says_so(run):
    (message,) = run(make_last_day(14, seen_at=in_days(-9)))
    assert "As of: 11 Nov 2026; no scan has read it since, so it may have been renewed" in message.body


@pytest.mark.parametrize(
    ("role", "fields", "gets"),
    [
        ("owner", None, True),
        ("manager", None, False),  # gets no e-mails unless chosen
        ("manager", {}, True),
        ("viewer", {}, False),
        ("viewer", {"reminders": True}, True),
        ("owner", {"reminders": False}, False),
        ("owner", {"frequency": "never", "reminders": True}, False),
        ("owner", {"frequency": "weekly"}, True),  # at once, not in the digest
    ],
)
def test_members_who_get_emails_choose_reminders(run, account, owner, subscribe, role, fields, gets):
    subscribe(owner, frequency="never")
    member = make_membership(make_user(f"another_{role}"), account, role)
    if fields is not None:
        subscribe(member, **fields)
    assert [message.to for message in run(make_last_day(14))] == [[member.user.email]] * gets


def test_a_member_who_chooses_none_before_it_is_sent_gets_none(run, owner, monkeypatch):
    monkeypatch.setattr(delivery, "_due", lambda *_, **__: [])
    run(make_last_day(14))
    monkeypatch.undo()
    Subscription.objects.create(membership=owner, frequency="immediate", reminders=False)
    assert run(make_last_day(14)) == []
    assert PendingNotification.objects.count() == 0


def test_an_account_without_a_plan_is_skipped_and_an_outage_is_a_failure(run, monkeypatch):
    for error, failures in ((refused(InactiveEntitlement), 0), (CannotConnect("away"), 1)):

        def respond(*_, error=error):
            raise error

        answer_with(monkeypatch, LAST_DAYS, respond)
        outcome = reminders.store_due(polling.audiences(), now=NOW)
        assert (outcome.created, len(outcome.failures)) == (0, failures)
    assert len(run(make_last_day(14))) == 1  # the next run sends it


def test_websites_that_are_not_in_the_portal_get_none(run):
    assert run(make_last_day(14, host="other.example.net")) == []


def test_the_settings_have_the_choice(client, owner):
    client.force_login(owner.user)
    page = client.get("/notifications/").content.decode()
    assert '<input type="checkbox" name="reminders"' in page
    assert "checked" in page
    client.post(f"/notifications/{owner.pk}/", {"frequency": "daily", "min_severity": "High"})
    owner.refresh_from_db()
    assert Subscription.of(owner).gets_reminders is False
    assert "checked" not in client.get("/notifications/").content.decode()
