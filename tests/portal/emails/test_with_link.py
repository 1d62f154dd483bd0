"""E-mails about one link: what the text says, and the card with its button."""

import pytest
from django.utils import translation

from portal.emails import with_link

LINK = "https://portal.example.com/join/abc/"


@pytest.fixture
def message(mailoutbox):
    text = f"Ada <ada@example.com> invites you:\n\n{LINK}\n\nIf you did not expect this, ignore it.\n"
    with translation.override("de"):
        with_link.send("You are invited", text, to="bob@example.com", link=LINK, button="Join & see")
    return mailoutbox[0]


def test_the_text_is_a_whole_e_mail_of_its_own(message):
    assert (message.subject, message.to) == ("You are invited", ["bob@example.com"])
    assert message.body.splitlines()[2] == LINK
    assert message.from_email == "Threat Dashboard <threat-dashboard@localhost>"


def test_the_subject_is_one_line_whatever_the_name_of_an_account_is(mailoutbox):
    subject = "You are invited to A\r\nBcc: b@example.com\u202e\x1b[1m"
    with_link.send(subject, LINK, to="bob@example.com", link=LINK, button="Join")
    assert mailoutbox[0].message()["Subject"] == "You are invited to A Bcc: b@example.com [1m"
    assert mailoutbox[0].recipients() == ["bob@example.com"]


def test_the_card_has_the_same_words_and_the_link_as_its_button(message):
    ((html, kind),) = message.alternatives
    assert kind == "text/html"
    assert '<html lang="de">' in html
    assert f'<a class="button" href="{LINK}">Join &amp; see</a>' in html
    assert html.count(LINK) == 1
    assert "<p>Ada &lt;ada@example.com&gt; invites you:</p>" in html
    assert '<td class="foot"><p>If you did not expect this, ignore it.</p>' in html
