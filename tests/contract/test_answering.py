"""Members answer findings and write to analysts, with the real service."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.answers import messages
from dashboard_api.decisions import cases
from dashboard_api.models import Account, Answer, Case, Message
from foundation.texts.people import reference_of
from portal.answers import service as portal_service
from portal.models import Membership
from signed_api import limits
from signed_api.answering import AnswerRequest, MessageRequest
from tests.factories import make_finding, make_membership, make_user, make_website

pytestmark = pytest.mark.django_db(transaction=True)

SITE = "/sites/shop.example.com/"
REASON = "The parameter never reaches the database."


@pytest.fixture(params=["http", "direct"])
def service(request, service, settings):
    """The service, called over HTTP and then in the same process."""
    if request.param == "direct":
        settings.DASHBOARD_BASE_URL = ""
    return service


@pytest.fixture
def finding(link):
    return link.website.findings.get(title="Café login")


@pytest.fixture
def colleague(website):
    """A contributor of the same account, in a browser."""
    return signed_in("robin", website, "contributor")


def signed_in(name, website, role):
    client, user = Client(), make_user(name)
    make_membership(user, website.account, role)
    client.force_login(user)
    return client


def hidden(response):
    """Return the hidden fields of the form of an answer, without its token."""
    form = response.text.partition('<form class="answer-form"')[2].partition("</form>")[0]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


def shown(response):
    return " ".join(re.sub("<[^>]*>", " ", response.text).split())


def in_days(count):
    return (timezone.localdate() + timedelta(days=count)).isoformat()


def reference(client):
    return reference_of(int(client.session["_auth_user_id"]))


def test_an_owner_promises_a_fix_sees_it_and_withdraws_it(owner, finding, colleague):
    page, assignee = f"{SITE}findings/{finding.pk}/", reference(colleague)
    fields = hidden(owner.get(page)) | {"act": "will_fix", "due": in_days(3), "assignee": assignee}
    done = owner.post(f"{SITE}answer/?ids={finding.pk}", fields, follow=True)
    assert done.redirect_chain == [(page, 302)]
    assert "Your answer is saved." in shown(done)
    answer = Answer.objects.open().get(finding=finding)
    assert (answer.by, answer.assignee, str(answer.due_on)) == (reference(owner), assignee, in_days(3))
    assert "assigned to robin" in shown(done)
    assert "An answer does not change the grade" in shown(done)
    gone = owner.post(f"{SITE}answer/?ids={finding.pk}", {"act": "withdraw"}, follow=True)
    assert "Your answer is withdrawn." in shown(gone)
    assert "Earlier answers (1)" in shown(gone)
    assert not Answer.objects.open().exists()
    recorded = AuditEvent.objects.filter(action="website.findings_answered").order_by("pk")
    assert [event.after["answer"] for event in recorded] == ["will_fix", "withdraw"]


def test_all_findings_of_a_filter_are_answered_unless_others_match_by_then(owner, link):
    url = f"{SITE}answer/?severity=High"
    preview = owner.get(url)
    assert "7 open findings" in shown(preview)
    make_finding(link.website, severity=3)
    fields = {"act": "accepted", "reason": "A test <system>.", "until": in_days(30)}
    changed = owner.post(url, hidden(preview) | fields)
    assert "1 finding was added." in shown(changed)
    assert "8 open findings" in shown(changed)
    assert "A test &lt;system&gt;.</textarea>" in changed.text
    assert f'value="{in_days(30)}"' in changed.text
    assert not Answer.objects.exists()
    done = owner.post(url, hidden(changed) | fields, follow=True)
    assert done.redirect_chain == [(f"{SITE}?severity=High", 302)]
    assert Answer.objects.open().filter(answer="accepted").count() == 8
    again = owner.get(url)
    assert "8 of them have an answer, which yours replaces." in shown(again)


def test_an_answer_that_a_colleague_gave_meanwhile_is_replaced_only_on_demand(owner, colleague, finding):
    url = f"{SITE}answer/?ids={finding.pk}"
    fields = hidden(owner.get(url)) | {"act": "fixed"}
    colleague.post(url, {"act": "will_fix", "due": in_days(9)})
    refused = owner.post(url, fields)
    assert "Someone answered meanwhile." in shown(refused)
    assert Answer.objects.open().get().answer == "will_fix"
    owner.post(url, hidden(refused) | {"act": "fixed"})
    assert Answer.objects.open().get().answer == "fixed"


def test_a_form_that_is_sent_twice_counts_once(owner, finding):
    url = f"{SITE}answer/?ids={finding.pk}"
    fields = hidden(owner.get(url)) | {"act": "disputed", "reason": REASON}
    for _ in range(2):
        assert owner.post(url, fields).status_code == 302
    assert Case.objects.count() == Answer.objects.count() == 1
    other = owner.post(url, fields | {"reason": REASON + " Never."})
    assert "This form was sent before, with other words." in shown(other)
    assert hidden(other)["key"] != fields["key"]
    talk = f"{SITE}findings/{finding.pk}/messages/"
    for _ in range(2):
        owner.post(talk, {"text": "Hello", "key": "k" * 24})
    assert Message.objects.filter(event="message").count() == 1


def test_what_was_fixed_names_the_scan_that_decides(owner, finding):
    done = owner.post(f"{SITE}answer/?ids={finding.pk}", {"act": "fixed"}, follow=True)
    assert "The next complete scan by Nuclei decides whether it is gone." in shown(done)
    assert f'<a href="{SITE}#coverage">Next scans</a>' in done.text


def test_a_second_dispute_needs_evidence_and_there_is_no_third(owner, finding):
    page, url = f"{SITE}findings/{finding.pk}/", f"{SITE}answer/?ids={finding.pk}"
    fields = {"act": "disputed", "reason": REASON}
    for number in range(2):
        done = owner.post(url, fields | {"evidence": "See orders.py." if number else ""}, follow=True)
        assert "An analyst answers by" in shown(done)
        case = Case.objects.open().get()
        cases.disagree(case, by="Robin", person="", text="It **does**.", now=timezone.now())
        assert "Robin disagreed" in shown(owner.get(page))
        if not number:
            refused = owner.post(url, fields)
            assert "a second dispute needs new evidence" in shown(refused)
    third = owner.get(page)
    assert 'value="disputed"' not in third.text
    assert "Analysts have decided twice that it is a problem." in shown(third)
    assert "<strong>does</strong>" in third.text


def test_only_another_member_confirms_an_accepted_risk(owner, colleague, finding, link):
    Account.objects.filter(pk=link.account_id).update(second_person=True)
    page, url = f"{SITE}findings/{finding.pk}/", f"{SITE}answer/?ids={finding.pk}"
    owner.post(url, {"act": "accepted", "reason": "A test system.", "until": in_days(9)})
    assert "waits for a second person" in shown(owner.get(page))
    assert 'value="confirm"' not in owner.get(page).text
    refused = owner.post(url, {"act": "confirm"}, follow=True)
    assert "another person than the first must confirm or decline it" in shown(refused)
    assert 'value="confirm"' in colleague.get(page).text
    assert "confirmed by robin" in shown(colleague.post(url, {"act": "confirm"}, follow=True))
    assert Answer.objects.open().get().answer == "accepted"


def test_too_many_disputes_and_closed_findings_are_refused_in_our_words(owner, link, finding, monkeypatch):
    monkeypatch.setattr(limits, "MAX_OPEN_DISPUTES", 0)
    url = f"{SITE}answer/?ids={finding.pk}"
    refused = owner.post(url, {"act": "disputed", "reason": REASON})
    assert "Wait until analysts answer some." in shown(refused)
    assert f"{REASON}</textarea>" in refused.text
    closed = link.website.findings.get(status="fixed")
    refused = owner.post(f"{SITE}answer/?ids={closed.pk}", {"act": "will_fix"})
    assert "Only open findings can be answered" in shown(refused)


def test_the_longest_texts_fit_into_a_call_and_longer_ones_are_refused_by_the_form(owner, finding):
    url, talk = f"{SITE}answer/?ids={finding.pk}", f"{SITE}findings/{finding.pk}/messages/"
    longest = {"act": "disputed", "reason": "€" * 2000, "evidence": '"' * 480}
    assert owner.post(url, longest).status_code == 302
    assert "This is too long" in shown(owner.post(url, longest | {"evidence": '"' * 600}))
    assert owner.post(talk, {"text": "é" * 3000 + "x" * 990}).status_code == 302
    refused = owner.post(talk, {"text": "é" * 4000})
    assert "This is too long" in shown(refused)
    assert "é" * 4000 in refused.text


def test_a_member_writes_and_corrects_a_message_and_a_colleague_cannot(owner, colleague, finding):
    page, url = f"{SITE}findings/{finding.pk}/", f"{SITE}findings/{finding.pk}/messages/"
    sent = owner.post(url, {"text": "Is this on the blog, @ROBIN? `@robin` <b>"}, follow=True)
    assert sent.redirect_chain == [(page, 302)]
    assert "Your message is sent. We answer by" in shown(sent)
    assert "<strong>@ROBIN</strong>? <code>@robin</code> &lt;b&gt;" in sent.text
    message = Message.objects.get()
    theirs = colleague.post(url, {"text": "Mine now", "message_id": message.pk})
    assert "by its author for an hour" in shown(theirs)
    assert "Mine now</textarea>" in theirs.text
    changed = owner.post(url, {"text": "On the shop?", "message_id": message.pk}, follow=True)
    assert "Your message is changed." in shown(changed)
    assert "· edited" in shown(changed)
    Message.objects.update(at=timezone.now() - timedelta(minutes=61))
    assert "message_id" not in owner.get(page).text


def test_too_many_messages_wait_some_minutes(owner, finding, monkeypatch):
    monkeypatch.setattr(messages, "MAX_OF_PERSON", 1)
    url = f"{SITE}findings/{finding.pk}/messages/"
    owner.post(url, {"text": "First"})
    refused = owner.post(url, {"text": "Second"})
    assert "This is too much at once. Try again in 60 minutes." in shown(refused)
    assert "Second</textarea>" in refused.text


def test_viewers_strangers_and_staff_cannot_answer_or_write(owner, website, finding):
    viewer, page = signed_in("viewer", website, "viewer"), f"{SITE}findings/{finding.pk}/"
    owner.post(f"{page}messages/", {"text": "Of the owner"})
    assert "Of the owner" in viewer.get(page).text
    assert "answer-form" not in viewer.get(page).text
    assert "message-form" not in viewer.get(page).text
    stranger, staff = Client(), Client()
    stranger.force_login(make_user("stranger"))
    staff.force_login(make_user("root", is_staff=True, is_superuser=True))
    for browser in (viewer, stranger, staff):
        for url in (f"{SITE}answer/?ids={finding.pk}", f"{page}messages/"):
            assert browser.get(url).status_code == 404
            assert browser.post(url, {"act": "fixed", "text": "Hello"}).status_code == 404
    assert (Answer.objects.count(), Message.objects.count()) == (0, 1)


def test_a_finding_of_another_website_is_not_found(owner):
    theirs = make_finding(make_website("other.example.com"))
    for url in (
        f"{SITE}answer/?ids={theirs.pk}",
        f"{SITE}answer/?ids=1x",
        f"{SITE}findings/{theirs.pk}/messages/",
    ):
        assert owner.post(url, {"act": "fixed", "text": "Hello"}).status_code == 404
    assert owner.get(f"{SITE}answer/?ids={theirs.pk}").status_code == 404
    assert not Answer.objects.exists()


def test_a_former_member_has_no_name(owner, colleague, finding):
    colleague.post(f"{SITE}answer/?ids={finding.pk}", {"act": "will_fix"})
    assert "robin," in shown(owner.get(f"{SITE}findings/{finding.pk}/"))
    Membership.objects.filter(user__username="robin").delete()
    page = shown(owner.get(f"{SITE}findings/{finding.pk}/"))
    assert "A former member," in page
    assert "robin" not in page


def test_words_of_members_analysts_and_strangers_are_shown_as_text(owner, website, link, finding):
    bad = (
        "<script>alert(1)</script> **<img src=x onerror=alert(1)>** [x](javascript:alert(1)) is not a problem"
    )
    chosen = {"finding_ids": str(finding.pk), "by": ""}
    portal_service.answer(website, AnswerRequest(act="fixed", name=bad[:90], **chosen))
    portal_service.answer(website, AnswerRequest(act="disputed", reason=bad, evidence=bad, **chosen))
    portal_service.write_message(website, MessageRequest(finding_id=str(finding.pk), text=bad))
    case = Case.objects.get()
    cases.disagree(case, by=bad[:90], person="", text=bad, now=timezone.now())
    page = owner.get(f"{SITE}findings/{finding.pk}/").text
    assert page.count("&lt;script&gt;alert(1)") >= 5
    for tag in ("<script>alert", "<img src=x", 'javascript:alert(1)"', "onerror=alert(1)>"):
        assert tag not in page
