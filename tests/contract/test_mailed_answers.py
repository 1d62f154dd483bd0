"""From an answer or a message of a member to an e-mail, by signed calls and the command that cron runs."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.core import mail
from django.utils import timezone

from dashboard_api.answers import settling
from dashboard_api.decisions import cases
from dashboard_api.models import Answer, Case, Message, Severity
from foundation.texts.people import reference_of
from portal.answers import service as portal_service
from portal.models import PendingNotification, Subscription
from portal.notifications.emails import compose
from signed_api.answering import AnswerRequest, MessageRequest
from tests.commands import run, run_json
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import (
    make_account,
    make_finding,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
)

pytestmark = pytest.mark.django_db(transaction=True)
WHY = "The page is not reachable from outside."


@pytest.fixture(autouse=True)
def _mail(settings, service):
    settings.EMAIL_URL = "consolemail://"
    settings.PORTAL_BASE_URL = service.url


@pytest.fixture
def finding(link):
    return make_finding(link.website, severity=Severity.MEDIUM, title="Old library")


@pytest.fixture
def ada(owner, website, finding):
    """A contributor without a choice of e-mails; the first poll is done."""
    member = make_membership(make_user("ada"), website.account, "contributor")
    run("notify")
    return member


def answer(website, finding, member, act, **fields):
    by = reference_of(member.user_id)
    portal_service.answer(website, AnswerRequest(act=act, finding_ids=str(finding.pk), by=by, **fields))


def write(website, finding, member, text, **fields):
    by = reference_of(member.user_id)
    request = MessageRequest(finding_id=str(finding.pk), text=text, by=by, **fields)
    return portal_service.write_message(website, request).message


def decide(decision, text="It is."):
    decision(Case.objects.open().get(), by="Robin", person="", text=text, now=timezone.now())


def mailed():
    """Run the command twice, and return recipient and subject of the e-mails."""
    mail.outbox.clear()
    for _ in range(2):
        run_json("notify")
    return sorted((message.to[0].partition("@")[0], message.subject) for message in mail.outbox)


def test_what_an_analyst_decides_about_a_dispute_is_mailed_once_to_who_disputed(website, finding, ada):
    answer(website, finding, ada, "disputed", reason=WHY)
    assert mailed() == []
    decide(cases.ask, "Which page?")
    assert mailed() == [("ada", "shop.example.com: Robin has a question about “Old library”")]
    decide(cases.disagree, "It **is** reachable.")
    assert mailed() == [("ada", "shop.example.com: Robin disagrees, and it stays open: “Old library”")]
    assert "It is reachable." in mail.outbox[0].body
    assert f"/sites/shop.example.com/findings/{finding.pk}/" in mail.outbox[0].body


def test_an_answer_to_a_question_is_mailed_to_its_author_and_edits_are_not(website, finding, ada):
    message = write(website, finding, ada, "Is it used?")
    decide(cases.reply, "On every page.")
    assert mailed() == [("ada", "shop.example.com: Robin wrote about “Old library”")]
    write(website, finding, ada, "Is it used at all?", message_id=message.id)
    assert mailed() == []


def test_a_member_who_left_gets_no_answer(website, finding, ada):
    answer(website, finding, ada, "disputed", reason=WHY)
    decide(cases.disagree)
    ada.delete()
    assert mailed() == []


@pytest.mark.parametrize(("is_found", "words"), [(False, "No longer found"), (True, "Still found")])
def test_what_a_scan_decides_about_a_fix_is_mailed_to_who_said_it(website, link, ada, is_found, words):
    def scan(*rules, at):
        rows = [make_row(template_id=rule, info={"name": rule, "severity": "low"}) for rule in rules]
        import_bytes(json_lines(*rows), link.website, complete=True, scanned_at=at)

    link.website.coverage.all().delete()
    scan("panel", "version", at=timezone.now() - timedelta(days=1))
    answer(website, link.website.findings.get(rule="panel"), ada, "fixed")
    assert mailed() == []
    scan(*(["panel", "version"] if is_found else ["version"]), at=timezone.now())
    assert mailed() == [("ada", f"shop.example.com: {words} by a scan: “panel”")]


def test_the_end_of_accepted_risks_is_announced_and_mailed_to_owners_and_to_who_accepted(
    website, link, finding, ada
):
    now = timezone.now()
    same = make_finding(link.website, severity=Severity.MEDIUM, title=finding.title)
    for each in (finding, same):
        answer(website, each, ada, "accepted", reason=WHY, until=(now + timedelta(days=30)).date())
    assert mailed() == []
    settling.announce_ends(now + timedelta(days=20))
    soon = "shop.example.com: The accepted risk ends in two weeks: “Old library” and 1 more"
    assert mailed() == [("ada", soon), ("owner", soon)]
    settling.end_accepted(now + timedelta(days=40))
    ended = "shop.example.com: The accepted risk has ended: “Old library” and 1 more"
    assert mailed() == [("ada", ended), ("owner", ended)]


def test_many_answers_that_end_at_once_are_one_e_mail(website, link, ada, settings):
    until = (timezone.now() + timedelta(days=30)).date()
    findings = [make_finding(link.website, severity=Severity.LOW) for _ in range(74)]
    ids = ",".join(str(finding.pk) for finding in findings)
    request = AnswerRequest(
        act="accepted", finding_ids=ids, reason=WHY, until=until, by=reference_of(ada.user_id)
    )
    portal_service.answer(website, request)
    settling.end_accepted(timezone.now() + timedelta(days=40))
    assert Answer.objects.filter(outcome="expired").count() == 74
    assert [who for who, subject in mailed() if "and 73 more" in subject] == ["ada", "owner"]
    assert len(mail.outbox) == 2


def test_answers_of_one_account_change_no_byte_of_another_ones_e_mails(website, link, finding, ada):
    other = make_link(make_account("acct_0002"), link.website)
    account = make_portal_account("acct_0002")
    make_portal_website(account, link_id=other.link_id)
    neighbour = make_membership(make_user("neighbour"), account)
    Subscription.objects.create(membership=neighbour, frequency="weekly", language="en")
    run("notify")
    make_finding(link.website, severity=Severity.HIGH)
    run("notify")
    before = compose(UUID(int=7), list(PendingNotification.objects.filter(membership=neighbour)))

    answer(website, finding, ada, "disputed", reason=WHY)
    write(website, finding, ada, "@neighbour, look.")
    decide(cases.disagree)
    tomorrow = timezone.now() + timedelta(days=1)
    answer(website, finding, ada, "will_fix", due=tomorrow.date())
    assert [who for who, _ in mailed()] == ["ada"]
    PendingNotification.objects.update(created_at=timezone.now() - timedelta(days=8))
    assert [who for who, _ in mailed()] == ["neighbour"]
    [after] = mail.outbox
    assert (after.subject, after.body, after.alternatives) == (
        before.subject,
        before.body,
        before.alternatives,
    )


def test_the_audit_log_names_the_members_who_answered_and_wrote(owner, website, finding, ada):
    answer(website, finding, ada, "disputed", reason=WHY)
    write(website, finding, ada, "Is it used?")
    decide(cases.disagree)
    text = owner.get("/activity/").text
    assert "<b>ada</b>: Disputed findings (shop.example.com)" in text
    assert "<b>ada</b>: Wrote to our analysts (shop.example.com)" in text
    assert "Disagreed with a dispute (shop.example.com)" in text


@pytest.fixture
def browser(ada, client):
    client.force_login(ada.user)
    return client


def test_a_member_who_is_mentioned_reads_the_message_in_an_e_mail(browser, website, finding):
    make_membership(make_user("grace"), website.account, "manager")
    mail.outbox.clear()
    write_at = f"/sites/shop.example.com/findings/{finding.pk}/messages/"
    assert browser.post(write_at, {"text": "@grace, is it ours?"}).status_code == 302
    ((message,), recipients) = mail.outbox, [each.to[0].partition("@")[0] for each in mail.outbox]
    assert recipients == ["grace"]
    assert "Old library" in message.subject
    assert "is it ours?" in message.body
    sent = Message.objects.get()
    browser.post(write_at, {"text": "@grace, is it?", "message_id": str(sent.pk)})
    assert len(mail.outbox) == 1  # an edit is not sent again


def test_who_may_confirm_an_accepted_risk_gets_an_e_mail(browser, website, link, finding):
    type(link.account).objects.update(second_person=True)
    make_membership(make_user("viewer"), website.account, "viewer")
    serious = make_finding(link.website, severity=Severity.CRITICAL, title="SQL injection")
    mail.outbox.clear()
    form = {"act": "accepted", "reason": WHY, "until": str(timezone.now().date() + timedelta(days=9))}
    response = browser.post(f"/sites/shop.example.com/answer/?ids={serious.pk},{finding.pk}", form)
    assert response.status_code == 302, response.text
    assert [(each.to[0].partition("@")[0], "SQL injection" in each.subject) for each in mail.outbox] == [
        ("owner", False)
    ]
    mail.outbox.clear()
    another = make_finding(link.website, severity=Severity.HIGH, title="Old cipher")
    browser.post(f"/sites/shop.example.com/answer/?ids={another.pk}", form)
    assert [(each.to[0].partition("@")[0], "Old cipher" in each.subject) for each in mail.outbox] == [
        ("owner", True)
    ]
