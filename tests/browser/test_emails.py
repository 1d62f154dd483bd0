"""Every e-mail, light and dark, narrow and wide: nothing overflows, everything is accessible."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.core import mail
from django.utils import timezone

from config.identity import passwords
from config.onboarding import sign_up
from portal.emails import to_owners
from portal.models import Invitation, Membership, PendingNotification, Subscription, WebsiteSummary
from portal.notifications import emails
from portal.notifications.digest import Digest, Message
from portal.team.emails import send_invitation
from signed_api.findings import HistoryDay
from tests.browser.looks import barriers
from tests.portal.dashboards import (
    NOW,
    make_change,
    make_dashboard,
    make_message_change,
    make_note_change,
    make_summary,
)
from tests.structs import build

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.once,
    pytest.mark.django_db(transaction=True),
]

SEVERITIES = ("Critical", "High", "Medium", "Low", "Info")
PORTAL = "https://portal.example.com"


@pytest.fixture(autouse=True)
def _portal(settings):
    settings.PORTAL_BASE_URL = PORTAL


def about_findings(website, owner):
    """Send a weekly e-mail with a grade, every severity, one problem at several locations, and notes."""
    Subscription.objects.create(membership=owner, frequency="weekly", language="de")
    history = [build(HistoryDay, NOW.date() - timedelta(days=8), "F", 3, 1)]
    dashboard = make_dashboard(summary=make_summary(history=history, overdue=3, due_this_week=1))
    WebsiteSummary.objects.store(website, dashboard=dashboard)
    long = "Schwachstellenmanagementverantwortlichkeit" * 4
    changes = [
        make_change(9, "Critical", event="regressed", title=long, location="https://shop/" + "x" * 300)
    ]
    same = {"problem": "5f0c6be1a2d34e78", "fix": "Pass values as parameters of prepared statements."}
    changes += [make_change(number, "Critical", **same) for number in (7, 8)]
    changes += [make_change(number, severity) for number, severity in enumerate(SEVERITIES)]
    digest = Digest(since="1.2.3.", findings=changes, total=80, notes=[make_note_change(finding_title=long)])
    pending = PendingNotification(
        membership=owner, website=website, digest=digest.to_json(), created_at=timezone.now()
    )
    emails.compose(UUID(int=7), [pending, pending]).send()


def about_messages(website, owner):
    """Send an e-mail about messages and answers, with long words."""
    long = "Schwachstellenmanagementverantwortlichkeit" * 4
    changes = [make_message_change(1, event="disagreed", finding_title=long, text=f"Weil {long}. " * 9)]
    changes += [make_message_change(number, event="gone", text="") for number in range(2, 76)]
    digest = Digest(since="1.2.3.", messages=[Message.of(change) for change in changes])
    pending = PendingNotification(membership=owner, website=website, digest=digest.to_json())
    emails.compose(UUID(int=7), [pending]).send()


def about_ownership(website, owner):
    words = to_owners.Words(
        subject="Another account has proven shop.example.com too", text="a " * 200, button="Decide", path="/"
    )
    to_owners.compose(owner, owner.account, "key", lambda: words).send()


def about_links(website, owner):
    invitation = Invitation.objects.create(
        account=website.account, email="new@example.com", was_emailed=True, expires_at=timezone.now()
    )
    send_invitation(invitation, f"{PORTAL}/join/{'x' * 90}/", by="owner")
    passwords.send_links(owner.user.email, base_url=PORTAL, language="de")
    for address in ("new@example.com", owner.user.email):
        sign_up.send_link(address, origin=PORTAL, language="de")
    sign_up.send_invitation("new@example.com", f"{PORTAL}/sign-up/abc/")


@pytest.mark.parametrize("width", [320, 600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("write", "count"),
    [(about_findings, 1), (about_messages, 1), (about_ownership, 1), (about_links, 5)],
)
def test_every_e_mail_fits_and_can_be_read(open_page, website, owner, scheme, width, write, count):
    write(website, Membership.objects.get(user=owner))
    page = open_page(color_scheme=scheme, viewport={"width": width, "height": 640})
    assert len(mail.outbox) == count
    for message in mail.outbox:
        ((html, _kind),) = message.alternatives
        page.set_content(html)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, message.subject
        assert barriers(page) == [], message.subject
