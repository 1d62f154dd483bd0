"""The text of an e-mail, its language, and its links."""

import re
from datetime import timedelta
from uuid import UUID

import pytest
from django.core.signing import BadSignature
from django.utils import timezone
from django.utils.html import escape

from portal.models import PendingNotification, UserLanguage, WebsiteSummary
from portal.notifications.conversations import EVENTS
from portal.notifications.digest import Digest, Message
from portal.notifications.emails import (
    EXCERPT_LENGTH,
    MESSAGES,
    SHOWN_PROBLEMS,
    compose,
    membership_of_token,
    unsubscribe_token,
)
from portal.texts.topics import TOPICS
from signed_api.findings import HistoryDay
from tests.factories import make_membership, make_portal_account, make_portal_website
from tests.portal.dashboards import (
    NOW,
    make_change,
    make_dashboard,
    make_message_change,
    make_note_change,
    make_page,
    make_summary,
)
from tests.structs import build

pytestmark = [pytest.mark.django_db, pytest.mark.once]
EMAIL_ID = UUID(int=7)
BASE = "https://portal.example.com"
SITE = f"{BASE}/sites/shop.example.com/"


@pytest.fixture
def email(website, owner):
    def email(*findings, total=None, is_exact=True, notes=()):
        total = len(findings) if total is None else total
        digest = Digest(
            since="1.2.3.", findings=list(findings), total=total, is_exact=is_exact, notes=list(notes)
        )
        notification = PendingNotification(
            membership=owner, website=website, digest=digest.to_json(), created_at=timezone.now()
        )
        return compose(EMAIL_ID, [notification])

    return email


def html_of(message):
    ((content, kind),) = message.alternatives
    assert kind == "text/html"
    return content


def test_findings_have_severity_title_location_and_link(email):
    message = email(make_change(7, "Critical"), make_change(8, "High", event="regressed"))
    assert message.subject == "shop.example.com: 2 findings to check, the worst: Critical"
    assert message.to == ["owner@example.com"]
    assert (
        "\n- Critical: Finding 7\n  https://shop.example.com/page/7\n  " + f"{SITE}findings/7/\n"
    ) in message.body
    assert "High: Finding 8 (found again)" in message.body
    html = html_of(message)
    for number, tone, label in (
        (7, "critical", "Critical"),
        (8, "high", "High (found again)"),
    ):
        assert f'<p class="tag {tone}">{label}</p>' in html
        assert f'<a href="{SITE}findings/{number}/">Finding {number}</a>' in html


def test_findings_with_one_problem_are_one_item(email):
    same = [
        make_change(number, "Critical", problem="5f0c6be1a2d34e78", fix="Use parameters.")
        for number in (7, 8, 9)
    ]
    back = make_change(6, "Critical", problem="5f0c6be1a2d34e78", event="regressed")
    message = email(*same, back, make_change(5, "High"))
    assert message.subject == "shop.example.com: 5 findings to check, the worst: Critical"
    assert (
        "\n- Critical: Finding 7\n  https://shop.example.com/page/7 and 2 more\n  Use parameters.\n"
        f"  {SITE}?problem=5f0c6be1a2d34e78#findings-title\n"
    ) in message.body
    assert "Finding 8" not in message.body
    assert "Critical: Finding 6 (found again)" in message.body
    assert "more." not in message.body
    assert "<p>Use parameters.</p>" in html_of(message)


def test_a_problem_has_at_least_the_findings_that_are_named_where_not_all_are(email):
    same = [make_change(number, problem="5f0c6be1a2d34e78") for number in (7, 8, 9)]
    assert "\n  https://shop.example.com/page/7 and at least 2 more\n" in email(*same, total=4).body
    assert "/page/7 and at least 2 more\n" in email(*same, total=3, is_exact=False).body
    assert "/page/7 and 2 more\n" in email(*same, total=3).body


def test_several_findings_of_a_topic_have_its_title(email):
    same = [make_change(number, problem="sql-injection") for number in (7, 8)]
    assert "- High: SQL injection\n" in email(*same).body
    assert "- High: Finding 7\n" in email(same[0]).body


def test_one_finding_has_a_singular_subject(email):
    assert email(make_change(7)).subject == "shop.example.com: 1 finding to check: High"


def test_a_note_is_mentioned_without_its_text(email):
    about = make_note_change(finding_id="7", finding_title="Old jQuery", author="Robin")
    message = email(notes=[about, make_note_change(2, author="Ada")])
    assert message.subject == "shop.example.com: 2 new notes"
    assert f"Robin wrote a note about “Old jQuery”\n  {SITE}findings/7/" in message.body
    assert f"Ada wrote a note about the website\n  {SITE}#notes" in message.body
    assert "See all" not in message.body


def test_many_findings_are_counted_and_the_list_is_linked(email):
    many = [make_change(number, "Critical" if number < 3 else "High") for number in range(50)]
    message = email(*many, total=1234)
    assert message.subject == "shop.example.com: 1,234 findings to check, the worst: Critical"
    assert message.body.count("/findings/") == SHOWN_PROBLEMS
    assert "And 1,214 more." in message.body
    assert f"See all of them:\n{SITE}new/?since=1.2.3.&min_severity=High\n" in message.body
    assert "1,234 or more findings" in email(*many, total=1234, is_exact=False).subject


def test_an_email_has_the_language_of_the_subscription(email, owner, subscribe):
    subscribe(owner, language="de")
    message = email(make_change(7, "Critical"), make_change(8))
    assert "Kritisch" in message.subject
    assert 'lang="de"' in html_of(message)


def test_texts_of_scanners_are_marked_as_english_in_an_email_in_another_language(email, owner, subscribe):
    own_words = make_change(7, "Critical", problem="5f0c6be1a2d34e78", fix="Use parameters.")
    fix = TOPICS["sql-injection"].fix
    topic = [make_change(number, problem="sql-injection", fix=fix) for number in (8, 9)]
    assert html_of(email(own_words, *topic)).count('lang="en"') == 1  # of the whole
    subscribe(owner, language="de")
    html = html_of(email(own_words, *topic))
    assert re.findall(r'<p class="title"( lang="en")?>', html) == [' lang="en"', ""]
    assert '<p lang="en">Use parameters.</p>' in html
    assert html.count('lang="en"') == 2


def test_the_title_in_the_line_about_a_note_is_marked_as_english_in_another_language(email, owner, subscribe):
    about = make_note_change(finding_id="7", finding_title="Old <jQuery>", author="Robin")
    notes = [about, make_note_change(2, author="Ada")]
    assert "Robin wrote a note about “Old &lt;jQuery&gt;”</a>" in html_of(email(notes=notes))
    subscribe(owner, language="de")
    message = email(notes=notes)
    html = html_of(message)
    assert 'Notiz zu „<span lang="en">Old &lt;jQuery&gt;</span>“ geschrieben</a>' in html
    assert html.count('lang="en"') == 1
    assert "„Old <jQuery>“" in message.body


def test_the_default_language_is_that_of_the_last_visit(email, owner):
    assert 'lang="en"' in html_of(email(make_change(7)))
    UserLanguage.objects.create(pk=owner.user_id, language="de")
    assert 'lang="de"' in html_of(email(make_change(7)))


def test_the_language_of_the_subscription_overrides_that_of_a_visit(email, owner, subscribe):
    UserLanguage.objects.create(pk=owner.user_id, language="de")
    subscribe(owner, language="en")
    assert 'lang="en"' in html_of(email(make_change(7)))


def test_a_weekly_email_has_the_grade_now_and_the_change_since_a_week_before(
    email, website, owner, subscribe
):
    history = [
        build(HistoryDay, NOW.date() - timedelta(days=ago), "F", count, 1)
        for ago, count in ((8, 144), (2, 137))
    ]
    summary = make_summary(open=137, history=history)
    WebsiteSummary.objects.store(website, dashboard=make_dashboard(summary=summary))
    assert "Grade" not in email(make_change(7)).body
    subscribe(owner, frequency="weekly")
    message = email(make_change(7))
    for text in ("Grade D on 20 Nov 2026", "7 open findings fewer than a week ago"):
        assert text in message.body
        assert text in html_of(message)
    assert 'class="grade grade-D"' in html_of(message)
    WebsiteSummary.objects.discard(website.pk)
    assert "Grade" not in email(make_change(7)).body


def test_a_weekly_email_says_that_a_grade_is_provisional(email, website, owner, subscribe):
    page, summary = make_page(grade="D", grade_provisional=True), make_summary()
    WebsiteSummary.objects.store(website, dashboard=make_dashboard(dashboard=page, summary=summary))
    subscribe(owner, frequency="weekly")
    assert "Grade D so far on " in email(make_change(7)).body


@pytest.mark.parametrize(
    ("fixed", "text"), [(0, ""), (1, "1 finding fixed in 7 days"), (29, "29 findings fixed in 7 days")]
)
def test_a_weekly_email_says_how_many_findings_were_fixed(email, website, owner, subscribe, fixed, text):
    dashboard = make_dashboard(summary=make_summary(fixed_7d=fixed))
    WebsiteSummary.objects.store(website, dashboard=dashboard)
    subscribe(owner, frequency="weekly")
    message, url = email(make_change(7)), f"{SITE}?status=fixed&fixed=7"
    assert (f"{text}: {url}\n" in message.body) == bool(text)
    assert (f'<a href="{escape(url)}">{text}</a>' in html_of(message)) == bool(text)
    assert ("fixed in" in message.body) == bool(text)


@pytest.mark.parametrize("frequency", ["immediate", "daily", "weekly"])
def test_a_digest_has_the_findings_that_are_due_with_their_lists(email, website, owner, subscribe, frequency):
    summary = make_summary(overdue=3, due_this_week=1)
    WebsiteSummary.objects.store(website, dashboard=make_dashboard(summary=summary))
    subscribe(owner, frequency=frequency)
    message = email(make_change(7))
    for text, due in (("3 findings are overdue", "overdue"), ("1 finding is due this week", "this_week")):
        url = f"{SITE}?due={due}#findings-title"
        assert (f"{text}: {url}\n" in message.body) == (frequency != "immediate")
        assert (f'<a href="{url}">{text}</a>' in html_of(message)) == (frequency != "immediate")


def test_a_digest_without_due_findings_says_nothing_about_them(email, website, owner, subscribe):
    WebsiteSummary.objects.store(website, dashboard=make_dashboard())
    subscribe(owner, frequency="daily")
    assert "due" not in email(make_change(7)).body


@pytest.fixture
def email_about(website, owner):
    def email_about(*changes):
        digest = Digest(since="1.2.3.", messages=[Message.of(change) for change in changes])
        notification = PendingNotification(
            membership=owner, website=website, digest=digest.to_json(), created_at=timezone.now()
        )
        return compose(EMAIL_ID, [notification])

    return email_about


def test_a_message_is_quoted_without_marks_images_and_links(email_about):
    text = "Please **update** it,\nsee [this](https://x.example/a).\n\n- <b>one</b>\n- `two`"
    message = email_about(make_message_change(event="asked", text=text))
    assert message.subject == "shop.example.com: Robin has a question about “Finding 7”"
    quoted = "Please update it, see this. <b>one</b> two"
    assert f"- Robin has a question about “Finding 7”\n  {quoted}\n  {SITE}findings/7/\n" in message.body
    assert f'<p class="excerpt">{escape(quoted)}</p>' in html_of(message)
    assert "x.example" not in message.body + html_of(message)


def test_a_long_message_is_cut(email_about):
    body = email_about(make_message_change(text="word " * 200)).body
    assert max(map(len, body.splitlines())) == EXCERPT_LENGTH + len("  ")
    assert "word…" in body


def test_what_happened_to_many_answers_is_one_line(email_about):
    gone = [make_message_change(number, event="gone", by="", text="") for number in (1, 2, 3)]
    said = make_message_change(4, event="disagreed", text="No.", findings=74)
    message = email_about(*gone, said)
    assert message.subject == "shop.example.com: 2 messages"
    assert "- No longer found by a scan: “Finding 7” and 2 more\n" in message.body
    assert "- Robin disagrees, and it stays open: “Finding 7” and 73 more\n  No.\n" in message.body


def test_every_event_has_words_in_both_languages(email_about, owner, subscribe):
    subjects = set()
    for language in ("en", "de"):
        subscribe(owner, language=language)
        owner.refresh_from_db()
        subjects |= {email_about(make_message_change(event=event)).subject for event in MESSAGES}
    assert len(subjects) == 2 * len(MESSAGES)
    assert set(EVENTS) | {"mention", "second_person"} == set(MESSAGES)


def test_an_email_about_messages_says_why_it_came_and_has_no_numbers_of_a_digest(
    email_about, website, owner, subscribe
):
    summary = make_summary(overdue=3)
    WebsiteSummary.objects.store(website, dashboard=make_dashboard(summary=summary))
    subscribe(owner, frequency="weekly")
    message = email_about(make_message_change())
    for text in (message.body, html_of(message)):
        assert "as a member of Example Shop: messages and answers that concern you." in text
        assert "overdue" not in text
        assert "Grade" not in text
        assert "See all" not in text
        assert unsubscribe_token(owner.pk) in text


def test_texts_of_others_are_plain_and_on_one_line(email):
    message = email(make_change(7, title="<b>x</b>\r\nBcc: all@example.com \x1b[31m", location="<i>y"))
    assert "&lt;b&gt;x&lt;/b&gt; Bcc: all@example.com [31m" in html_of(message)
    assert "&lt;i&gt;y" in html_of(message)
    assert "- High: <b>x</b> Bcc: all@example.com [31m\n" in message.body


def test_an_invalid_finding_id_links_to_the_website(email):
    assert f"  {SITE}\n" in email(make_change("../../admin")).body


def test_links_have_the_account_if_the_host_is_ambiguous(email, owner):
    other = make_portal_account("acct_0002")
    make_portal_website(other)
    make_membership(owner.user, other)
    message = email(make_change(7))
    assert f"{SITE}findings/7/?account=acct_0001\n" in message.body
    assert f"{SITE}new/?since=1.2.3.&min_severity=High&account=acct_0001\n" in message.body


def test_every_email_explains_itself_and_has_an_unsubscribe_link(email, owner):
    message = email(make_change(7))
    unsubscribe_url = f"{BASE}/notifications/unsubscribe/{unsubscribe_token(owner.pk)}/"
    for text in (message.body, html_of(message)):
        assert "as a member of Example Shop: findings of severity High or worse" in text
        assert f"{BASE}/notifications/" in text
        assert unsubscribe_url in text
    assert message.extra_headers == {
        "Message-ID": f"<{EMAIL_ID}@portal.example.com>",
        "Auto-Submitted": "auto-generated",
        "List-Unsubscribe": f"<{unsubscribe_url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def test_one_click_needs_https(email, settings):
    settings.PORTAL_BASE_URL = "http://127.0.0.1:8000"
    headers = email(make_change(7)).extra_headers
    assert "List-Unsubscribe" in headers
    assert "List-Unsubscribe-Post" not in headers


def test_a_token_belongs_to_one_membership_and_cannot_be_forged(owner):
    assert membership_of_token(unsubscribe_token(owner.pk)) == owner.pk
    for token in (str(owner.pk), f"{owner.pk + 1}:{unsubscribe_token(owner.pk).split(':')[1]}", "", "x:y"):
        with pytest.raises(BadSignature):
            membership_of_token(token)
