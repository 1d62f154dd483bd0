"""From a change in the service to an e-mail of the portal, by signed calls and the command that cron runs."""

import re
import smtplib
from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends import locmem
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone

from dashboard_api.decisions import triage
from dashboard_api.importing.undo import undo
from dashboard_api.models import Entitlement, Finding, ImportRun, Nonce, Severity, Website
from portal.models import FeedCursor, Membership, PendingNotification, Subscription, WebsiteSummary
from portal.notifications import polling
from signed_api import limits as contract_limits
from tests.commands import run, run_json
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import (
    make_account,
    make_event,
    make_finding,
    make_link,
    make_membership,
    make_note,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _mail(settings, service):
    settings.EMAIL_URL = "consolemail://"
    settings.PORTAL_BASE_URL = service.url


@pytest.fixture
def begun(owner):
    """The owner's portal, after its first poll."""
    assert run_json("notify")["subscribed"] == 1
    assert mail.outbox == []


def test_an_imported_report_is_one_email(website, begun):
    launch = make_link(make_account("acct_0002"), make_website("launch.example.net"))
    account = make_portal_account("acct_0002")
    make_portal_website(account, "launch.example.net", launch.link_id)
    make_membership(make_user("neighbour"), account)
    run("notify")
    for _ in range(2):
        call_command(
            "import_report", "docs/samples/nuclei.jsonl", "--host", "launch.example.net", verbosity=0
        )
        run("notify")
    (message,) = mail.outbox
    worst = launch.website.findings.filter(severity__gte=Severity.HIGH)
    assert message.to == ["neighbour@example.com"]
    assert message.body.count("/findings/") == worst.count() > 0


@pytest.fixture
def new_website(service):
    """A website that was linked just now, of an account without members."""
    launch = make_link(make_account(), make_website("launch.example.net"))
    return make_portal_website(make_portal_account(), "launch.example.net", launch.link_id)


def check_new_website(*numbers):
    for number in numbers:
        row = make_row(
            matched_at=f"https://launch.example.net/{number}",
            template_id=f"old-{number}",
            info={"name": "Old", "severity": "high"},
        )
        import_bytes(json_lines(row), Website.objects.get(host="launch.example.net"))


def test_the_findings_of_the_first_check_of_a_new_website_are_an_email(new_website):
    make_membership(make_user("owner"), new_website.account)
    check_new_website(1)
    summary = run_json("notify")
    assert (summary["subscribed"], summary["sent"]) == (1, 1)
    assert mail.outbox[0].body.count("/findings/") == 1
    assert run_json("notify")["sent"] == 0


def test_what_was_found_before_the_first_member_of_a_new_website_is_one_email(new_website):
    check_new_website(1, 2, 3)
    assert run_json("notify")["subscribed"] == 0
    make_membership(make_user("owner"), new_website.account)
    assert run_json("notify")["sent"] == 1
    assert mail.outbox[0].body.count("/findings/") == 3
    check_new_website(4, 5)
    assert run_json("notify")["sent"] == 2


def test_emails_that_are_off_and_on_again_are_not_sent_twice(new_website):
    membership = make_membership(make_user("owner"), new_website.account)
    check_new_website(1, 2)
    assert run_json("notify")["sent"] == 1
    choice = Subscription.objects.create(membership=membership, frequency="never")
    assert run_json("notify")["subscribed"] == 0
    check_new_website(3)
    Subscription.objects.filter(pk=choice.pk).update(frequency="immediate")
    for mode in (["--dry-run"], []):
        again = run_json("notify", *mode)
        assert (again["subscribed"], again["created"], again.get("sent", 0)) == (1, 0, 0)
    check_new_website(4)
    assert run_json("notify")["sent"] == 1
    assert mail.outbox[-1].body.count("/findings/") == 1


def test_a_rejected_cursor_sends_no_email_twice(new_website):
    make_membership(make_user("owner"), new_website.account)
    check_new_website(1, 2)
    assert run_json("notify")["sent"] == 1
    FeedCursor.objects.update(cursor="of another service")
    check_new_website(3)
    with pytest.raises(CommandError):
        run("notify")
    again = run_json("notify")
    assert (again["subscribed"], again["sent"]) == (1, 0)


def test_an_import_sends_one_email_with_working_links(owner, link, begun):
    findings = [make_finding(link.website, severity=severity) for severity in Severity]
    summary = run_json("notify")
    assert (summary["polled"], summary["sent"], summary["waiting"], summary["failures"]) == (1, 1, 0, [])
    (message,) = mail.outbox
    assert message.subject == "shop.example.com: 2 findings to check, the worst: Critical"
    critical, high = findings[0], findings[1]
    pages = re.findall(r"http://[^/]+(/sites/\S+findings/\S+)", message.body)
    assert pages == [f"/sites/shop.example.com/findings/{each.pk}/" for each in (critical, high)]
    assert critical.title in owner.get(pages[0]).content.decode()
    assert run_json("notify")["sent"] == 0


def test_only_websites_whose_data_changed_are_polled_and_their_e_mails_are_still_sent(link, begun):
    first = run_json("notify")
    assert (first["polled"], first["unchanged"]) == (0, 1)
    make_finding(link.website, severity=Severity.HIGH)
    assert run_json("notify", "--dry-run")["polled"] == 1  # which notes nothing
    changed = run_json("notify")
    assert (changed["polled"], changed["unchanged"], changed["sent"]) == (1, 0, 1)
    make_note(link.website, body="A word.")
    assert run_json("notify")["sent"] == 1
    assert run_json("notify")["unchanged"] == 1
    Subscription.objects.update_or_create(
        membership=Membership.objects.get(), defaults={"frequency": "daily", "language": "en"}
    )
    make_finding(link.website, severity=Severity.HIGH)
    assert run_json("notify")["waiting"] == 1
    PendingNotification.objects.update(created_at=timezone.now() - timedelta(days=1))
    later = run_json("notify")  # which asks whether the website is still in the plan
    assert (later["polled"], later["sent"]) == (1, 1)
    assert run_json("notify")["unchanged"] == 1


def test_what_is_new_agrees_with_the_e_mail_before_anyone_opens_the_website(owner, link, begun):
    def new_findings():
        page = owner.get("/new/").text
        return int(re.search(r'<td><a href="/sites/shop.example.com/new/">(\d+)</a>', page)[1])

    before = new_findings()
    make_finding(link.website, severity=Severity.CRITICAL)
    assert run_json("notify")["sent"] == 1
    assert "website has new findings" in owner.get("/help/").text
    assert new_findings() == before + 1


def test_owners_get_an_e_mail_about_their_plan_once(link, begun):
    Entitlement.objects.update(status="suspended")
    call_command("watch_limits", verbosity=0)
    assert run_json("notify")["about_plans"] == 1
    (message,) = mail.outbox
    assert message.subject == "Your plan Standard is suspended"
    assert run_json("notify")["about_plans"] == 0


def test_a_false_positive_at_a_further_location_is_in_an_email_with_that_location(link, begun):
    seen = make_row(template_id="xss", matched_at=f"https://{link.website.host}/search")
    further = make_row(template_id="xss", matched_at=f"https://{link.website.host}/login")
    import_bytes(json_lines(seen), link.website)
    triage.decide(
        Finding.objects.get(rule="xss"), "false_positive", by="ann", reason="Checked", now=timezone.now()
    )
    run("notify")
    mail.outbox.clear()
    import_bytes(json_lines(seen, further), link.website)
    run("notify")
    (message,) = mail.outbox
    assert "(found again)" in message.body
    assert f"https://{link.website.host}/login" in message.body


def test_a_regression_and_a_note_are_in_the_email(owner, link, begun):
    finding = link.website.findings.get(title="Café login")
    make_event(finding, "fixed")
    make_event(finding, "regressed")
    make_note(link.website, finding=finding, author="Robin", body="The words stay here.")
    make_note(link.website, is_internal=True, author="Nobody")
    run("notify")
    (message,) = mail.outbox
    assert "High: Café login (found again)" in message.body
    assert "Robin wrote a note about “Café login”" in message.body
    assert "The words stay here" not in message.body
    assert "Nobody" not in message.body


@pytest.mark.parametrize(("frequency", "mails"), [("immediate", 2), ("daily", 1)])
def test_imports_between_two_runs_are_an_email_each_or_a_days_together(
    owner, link, website, begun, tmp_path, frequency, mails
):
    membership = website.account.memberships.get()
    Subscription.objects.create(membership=membership, frequency=frequency, language="en")
    for number in range(3):
        at = timezone.now() - timedelta(days=10 - number)
        rules = ["panel", "version"][: min(number + 1, 2)]  # the last tells nothing new
        file = tmp_path / f"{number}.jsonl"
        rows = [make_row(template_id=rule, timestamp=at.isoformat()) for rule in rules]
        file.write_bytes(json_lines(*rows))
        call_command("import_report", str(file), "--host", link.website.host, verbosity=0)
    assert run_json("notify", "--dry-run")["created"] == 2
    run("notify")
    if frequency == "daily":
        assert mail.outbox == []
        PendingNotification.objects.update(created_at=timezone.now() - timedelta(days=1))
        run("notify")
    assert [message.body.count("/findings/") for message in mail.outbox] == [2 // mails] * mails


def test_a_finding_of_a_later_report_is_a_regression(link, begun):
    def bring(*rows, day):
        at = timezone.now() - timedelta(days=10 - day)
        import_bytes(json_lines(*rows), link.website, complete=True, scanned_at=at)

    link.website.coverage.all().delete()  # these scans are not older than the last
    panel, version = make_row(), make_row(template_id="version", info={"name": "Old", "severity": "low"})
    subjects = []
    for day, rows in enumerate([(panel, version), (version,), (panel, version), (panel, version)]):
        bring(*rows, day=day)
        run("notify")
        subjects.append("found again" in mail.outbox[-1].body)
    assert len(mail.outbox) == 2
    assert subjects == [False, False, True, True]


def test_the_list_of_an_email_has_its_findings_and_newer_ones(owner, link, begun):
    old = make_finding(link.website, severity=Severity.LOW)
    back = link.website.findings.get(title="Café login")
    make_event(back)
    new = [make_finding(link.website, severity=Severity.CRITICAL) for _ in range(25)]
    run("notify")
    (address,) = re.findall(r"http://[^/]+(/sites/\S+/new/\S+)", mail.outbox[0].body)
    later = make_finding(link.website, severity=Severity.HIGH)
    make_note(link.website, author="Robin")
    text = owner.get(address).content.decode()
    assert re.findall(r"/findings/(\d+)/", text) == [
        *(str(finding.pk) for finding in reversed(new)),
        str(later.pk),
        str(back.pk),
    ]
    assert "27 findings." in text
    assert "Found again ·" in text
    assert "Robin wrote a note about the website" in text
    assert "are listed" not in text
    assert f"/findings/{old.pk}/" in owner.get(address.replace("High", "Low")).content.decode()


def test_a_list_that_is_too_long_says_so(owner, link, begun, monkeypatch):
    monkeypatch.setattr(contract_limits, "MAX_CHANGES", 3)
    text = owner.get("/sites/shop.example.com/new/?since=0.0.0.").content.decode()
    assert "31 findings." in text
    assert "The list shows the worst 3 of them." in text


def test_the_new_findings_end_with_a_link_to_all_if_a_list_has_just_these(owner, link, begun, monkeypatch):
    address, all_of_them = "/sites/shop.example.com/new/", 'href="/sites/shop.example.com/?since=7"'
    assert all_of_them not in owner.get(address).text
    monkeypatch.setattr(contract_limits, "MAX_CHANGES", 3)
    page = owner.get(address).text
    count = re.search(r"(\d+) that were new or came back in that time are open now", page)[1]
    assert f"{all_of_them}>All {count} findings</a>" in page
    make_event(make_finding(link.website, first_seen=timezone.now() - timedelta(days=30)))
    assert all_of_them not in owner.get(address).text


def test_the_list_of_an_email_needs_access_to_the_website(client, owner, link, begun):
    address = "/sites/shop.example.com/new/?since=0.0.0."
    client.force_login(make_user("stranger"))
    assert client.get(address).status_code == 404
    assert Client().get(address).status_code == 302


def test_the_list_of_an_email_says_why_it_is_not_there(owner, link, begun):
    address = "/sites/shop.example.com/new/"
    assert owner.get(address, {"since": "yesterday"}).status_code == 404
    assert owner.get(address, {"since": "0.0.0.", "min_severity": "Dreadful"}).status_code == 200
    link.revoke(by="tests", reason="asked to", now=timezone.now())
    page = owner.get(address, {"since": "0.0.0."})
    assert (page.status_code, "was removed from your organization" in page.content.decode()) == (403, True)


def test_without_a_cursor_the_last_days_are_listed_and_agree_with_the_dashboard(owner, link, begun):
    now = timezone.now()
    for days_ago, title in ((1, "Found yesterday"), (20, "Found long ago")):
        make_finding(link.website, title=title, first_seen=now - timedelta(days=days_ago))
    make_finding(link.website, title="Fixed at once", status="fixed", fixed_at=now, first_seen=now)
    address = "/sites/shop.example.com/new/"
    ((count,),) = [re.findall(rf'href="{address}"[^>]*>(\d+)<', owner.get("/sites/shop.example.com/").text)]
    page = owner.get(address).text
    assert f"{count} findings were first seen in the last 7 days." in page
    assert "Found yesterday" in page
    assert "Found long ago" not in page
    assert "Fixed at once" not in page


def test_no_email_is_empty(link, begun):
    make_finding(link.website, severity=Severity.MEDIUM)
    make_finding(link.website, severity=Severity.CRITICAL, status="false_positive")
    assert run_json("notify")["sent"] == 0
    assert (mail.outbox, PendingNotification.objects.count()) == ([], 0)


def test_one_call_serves_members_with_different_choices(link, website, begun):
    careful = make_membership(make_user("careful"), website.account, "viewer")
    Subscription.objects.create(membership=careful, frequency="immediate", min_severity="Low", language="de")
    make_membership(make_user("quiet"), website.account, "viewer")
    run("notify")
    for severity in (Severity.HIGH, Severity.LOW, Severity.INFO):
        make_finding(link.website, severity=severity)
    spent = Nonce.objects.count()
    summary = run_json("notify")
    assert (summary["polled"], summary["created"], summary["sent"]) == (1, 2, 2)
    # The versions, the changes, the numbers, what expires, the changes again for each e-mail, the claims, and
    # the plan.
    assert Nonce.objects.count() == spent + 8
    subjects = {message.to[0]: message.subject for message in mail.outbox}
    assert subjects == {
        "owner@example.com": "shop.example.com: 1 finding to check: High",
        "careful@example.com": "shop.example.com: 2 Befunde zu prüfen, der schwerste: Hoch",
    }


@pytest.mark.parametrize("refusal", ["inactive_entitlement", "revoked_link", "unknown_link"])
def test_a_refused_website_sends_nothing_and_names_the_reason(link, website, begun, refusal):
    make_finding(link.website, severity=Severity.CRITICAL)
    if refusal == "inactive_entitlement":
        link.account.entitlement.status = "expired"
        link.account.entitlement.save()
    elif refusal == "revoked_link":
        link.revoke(by="tests", reason="asked to", now=timezone.now())
    else:
        website.link_id = "00000000-0000-4000-8000-000000000000"
        website.save()
    summary = run_json("notify")
    assert (summary["skipped"], summary["sent"]) == ([f"shop.example.com (acct_0001): {refusal}"], 0)
    assert mail.outbox == []


def test_notifications_from_before_the_plan_ended_are_not_sent(link, website, begun):
    daily = Subscription.Frequency.DAILY
    owner = website.account.memberships.get()
    Subscription.objects.create(membership=owner, frequency=daily, language="en")
    make_finding(link.website, severity=Severity.CRITICAL)
    assert run_json("notify")["waiting"] == 1
    PendingNotification.objects.update(created_at=timezone.now() - timedelta(days=1))
    link.account.entitlement.status = "expired"
    link.account.entitlement.save()
    summary = run_json("notify")
    assert (summary["sent"], summary["waiting"], mail.outbox) == (0, 1, [])


@pytest.fixture
def in_a_digest(website, begun):
    """E-mails are due once a day, and the next one is due now for what a test stores."""

    def in_a_digest(change, **fields):
        Subscription.objects.get_or_create(
            membership=website.account.memberships.get(), frequency="daily", language="en"
        )
        made = change(**fields)
        assert run_json("notify")["waiting"] == 1
        PendingNotification.objects.update(created_at=timezone.now() - timedelta(days=1))
        return made

    return in_a_digest


def test_nor_are_those_about_a_website_that_is_paused(link, in_a_digest):
    in_a_digest(make_finding, website=link.website, severity=Severity.CRITICAL)
    link.paused_at = timezone.now()
    link.save()
    summary = run_json("notify")
    assert summary["skipped"] == ["shop.example.com (acct_0001): inactive_entitlement"]
    assert (summary["sent"], summary["waiting"], mail.outbox) == (0, 1, [])


def test_an_email_is_silent_about_notes_that_are_internal_by_then(link, in_a_digest):
    note = in_a_digest(make_note, website=link.website, author="Robin")
    note.is_internal = True
    note.save()
    summary = run_json("notify")
    assert (summary["sent"], summary["waiting"], mail.outbox) == (0, 0, [])


def test_what_else_it_says_is_sent(link, in_a_digest):
    note = make_note(link.website, author="Robin")
    make_note(link.website, author="Kim")
    in_a_digest(make_finding, website=link.website, severity=Severity.CRITICAL)
    note.is_internal = True
    note.save()
    assert run_json("notify")["sent"] == 1
    [email] = mail.outbox
    assert email.subject == "shop.example.com: 1 finding to check: Critical"
    assert "Kim wrote a note" in email.body
    assert "Robin" not in email.body


def test_no_published_note_is_lost_from_a_digest_with_more_than_the_service_names(link, in_a_digest):
    in_a_digest(make_note, website=link.website, author="Robin")
    PendingNotification.objects.update(created_at=timezone.now())
    for _ in range(contract_limits.MAX_CHANGES):
        make_note(link.website, author="Alex")
    run("notify")
    late = make_note(link.website, author="Lou")
    run("notify")
    late.is_internal = True
    late.save()
    PendingNotification.objects.update(created_at=timezone.now() - timedelta(days=1))
    assert run_json("notify")["sent"] == 1
    [email] = mail.outbox
    assert email.body.count(" wrote a note") == contract_limits.MAX_CHANGES + 1
    assert "Robin" in email.body
    assert "Lou" not in email.body


def bring(link, rules):
    """Import a critical finding of each rule."""
    rows = [make_row(template_id=rule, info={"name": rule, "severity": "critical"}) for rule in rules]
    import_bytes(json_lines(*rows), link.website, format_name="nuclei")


def test_an_email_is_silent_about_an_import_that_was_taken_back(link, in_a_digest):
    in_a_digest(bring, link=link, rules=["wrong"])
    _take_back()
    summary = run_json("notify")
    assert (summary["sent"], summary["waiting"], mail.outbox) == (0, 0, [])


def test_an_email_is_silent_about_findings_that_are_false_positives_by_then(link, in_a_digest):
    make_finding(link.website, severity=Severity.CRITICAL, title="True")
    wrong = in_a_digest(make_finding, website=link.website, severity=Severity.CRITICAL, title="Wrong")
    triage.decide(wrong, "false_positive", by="ann", reason="Checked", now=timezone.now())
    assert run_json("notify")["sent"] == 1
    [email] = mail.outbox
    assert email.subject == "shop.example.com: 1 finding to check: Critical"
    assert "True" in email.body
    assert "Wrong" not in email.body


def test_findings_that_had_no_room_take_the_places_of_those_taken_back(link, in_a_digest):
    for number in range(contract_limits.MAX_CHANGES + 10):
        make_finding(link.website, severity=Severity.HIGH, title=f"True {number}")
    in_a_digest(
        bring, link=link, rules=[f"wrong-{number}" for number in range(contract_limits.MAX_CHANGES + 5)]
    )
    _take_back()
    assert run_json("notify")["sent"] == 1
    [email] = mail.outbox
    assert (
        email.subject
        == f"shop.example.com: {contract_limits.MAX_CHANGES + 10} findings to check, the worst: High"
    )
    assert "wrong" not in email.body


def _take_back():
    undo(ImportRun.objects.get(), by="ann", reason="Another website's", now=timezone.now())


def test_a_failed_website_does_not_delay_the_others(link, website, begun, capsys):
    broken = make_portal_account("acct_0009", secret="no-secret-of-the-service")
    make_portal_website(broken, "broken.example.com")
    make_membership(make_user("unlucky"), broken)
    make_finding(link.website, severity=Severity.HIGH)
    with pytest.raises(CommandError, match="3 failed"):  # its changes, its claims and its plan
        run("notify")
    assert [message.to for message in mail.outbox] == [["owner@example.com"]]


def test_trying_keeps_and_sends_nothing(link, begun):
    before = FeedCursor.objects.get().cursor
    make_finding(link.website, severity=Severity.HIGH)
    summary = run_json("notify", "--dry-run")
    assert (summary["polled"], summary["created"]) == (1, 1)
    assert (FeedCursor.objects.get().cursor, PendingNotification.objects.count(), mail.outbox) == (
        before,
        0,
        [],
    )
    assert "Notifications: 1. Nothing was stored" in run("notify", "--dry-run")
    assert run_json("notify")["sent"] == 1


def test_a_rejected_cursor_is_replaced_by_a_new_one(link, begun):
    FeedCursor.objects.update(cursor="of another service")
    make_note(link.website)
    with pytest.raises(CommandError):
        run("notify")
    assert run_json("notify")["subscribed"] == 1
    make_finding(link.website, severity=Severity.HIGH)
    assert run_json("notify")["sent"] == 1


def test_other_accounts_of_the_website_have_their_own_calls(link, website, begun):
    theirs = make_link(make_account("acct_0002"), link.website)
    account = make_portal_account("acct_0002")
    make_portal_website(account, link.website.host, theirs.link_id)
    make_membership(make_user("neighbour"), account)
    run("notify")
    make_note(link.website, account=theirs.account)
    make_finding(make_website("other.example.com"), severity=Severity.CRITICAL)
    run("notify")
    assert [message.to for message in mail.outbox] == [["neighbour@example.com"]]


@pytest.mark.parametrize("name", ["EMAIL_URL", "PORTAL_BASE_URL"])
def test_without_a_mail_server_or_an_address_only_numbers_are_refreshed(website, begun, settings, name):
    setattr(settings, name, "")
    WebsiteSummary.objects.all().delete()
    cursor = FeedCursor.objects.get().cursor
    make_finding(Website.objects.get(), severity=Severity.CRITICAL)
    assert run("notify", "--dry-run") == "Websites with new numbers: 0.\n"
    assert run("notify") == "Websites with new numbers: 1.\n"
    assert WebsiteSummary.objects.get().headline.summary.by_severity["Critical"] == 7
    assert (mail.outbox, FeedCursor.objects.get().cursor) == ([], cursor)


def test_changes_that_cannot_be_stored_do_not_delay_those_of_other_websites(link, begun, monkeypatch):
    launch = make_link(make_account("acct_0002"), make_website("launch.example.net"))
    account = make_portal_account("acct_0002")
    make_portal_website(account, "launch.example.net", launch.link_id)
    make_membership(make_user("neighbour"), account)
    store = polling.store

    def fail_for_the_first(audience, *args, **options):
        if audience.website.host == link.website.host:
            raise KeyError("unforeseen")
        store(audience, *args, **options)

    make_finding(link.website, severity=Severity.HIGH)
    monkeypatch.setattr(polling, "store", fail_for_the_first)
    with pytest.raises(CommandError, match="1 failed"):
        run("notify")
    assert FeedCursor.objects.filter(website__host="launch.example.net").exists()


def test_a_refused_address_is_named_and_fails_no_run(owner, link, website, begun, monkeypatch):
    def refuse(backend, messages):
        raise smtplib.SMTPRecipientsRefused({"owner@example.com": (550, b"no such user")})

    monkeypatch.setattr(locmem.EmailBackend, "send_messages", refuse)
    make_finding(link.website, severity=Severity.HIGH)
    output = run("notify")
    assert "notifications waiting: 1." in output
    assert "Refused by the mail server: owner: SMTPRecipientsRefused" in output


def test_a_mail_server_that_refuses_everyone_fails_the_run(owner, link, website, begun, monkeypatch):
    def refuse(backend, messages):
        if messages[0].to != [accepted]:
            raise smtplib.SMTPRecipientsRefused({messages[0].to[0]: (554, b"5.7.1 Relay access denied")})
        return 1

    accepted = ""
    second = make_membership(make_user("second"), website.account, "viewer")
    Subscription.objects.create(membership=second, frequency="immediate", language="en")
    monkeypatch.setattr(locmem.EmailBackend, "send_messages", refuse)
    make_finding(link.website, severity=Severity.HIGH)
    with pytest.raises(CommandError, match="1 failed"):
        run("notify")
    accepted = "second@example.com"
    assert "Refused by the mail server: owner: SMTPRecipientsRefused" in run("notify")
