"""The rights of an account in each state of its plan, by signed calls and in the portal: one table."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from dashboard_api.models import Entitlement, ScanJob, Severity
from portal.models import Invitation, ShareLink
from tests.commands import run
from tests.dashboard_api.calls import PATH as DASHBOARD_PATH
from tests.dashboard_api.calls import SCAN_PATH, ask, fields_for
from tests.factories import make_finding

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
SITE = "/sites/shop.example.com/"
READS, GROWS = {"call", "export", "share", "open share", "news"}, {"scan by call", "scan", "invite"}
# A missing payment cuts no one off at once: only what makes an account larger is refused.
STATES = {
    "trialing": ({"status": "trialing"}, READS | GROWS),
    "active": ({}, READS | GROWS),
    "cancels": ({"cancels": True}, READS | GROWS),
    "cancelled": ({"cancels": True, "ends_on": -DAY}, set()),
    "renews late": ({"renews": True, "ends_on": -3 * DAY}, READS | GROWS),
    "never renewed": ({"renews": True, "ends_on": -4 * DAY}, set()),
    "past_due": ({"status": "past_due", "past_due_since": -7 * DAY}, READS),
    "past_due too long": ({"status": "past_due", "past_due_since": -8 * DAY}, set()),
    "suspended": ({"status": "suspended"}, set()),
    "expired": ({"status": "expired"}, set()),
    "none": (None, set()),
}


@pytest.fixture(autouse=True)
def _in_process(settings, owner):
    """Let the portal call the service in the same process, and begin to send e-mails."""
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = "", "config.web.in_process.application"
    settings.CRAWLER_ENABLED = True
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "consolemail://", "http://testserver"
    run("notify")


def set_state(account, fields):
    """Give the account an entitlement with these fields; days are counted from today."""
    if fields is None:
        Entitlement.objects.filter(account=account).delete()
        return
    today = timezone.now().date()
    values = {
        name: today + value if isinstance(value, timedelta) else value for name, value in fields.items()
    }
    Entitlement.objects.filter(account=account).update(**{"status": "active", "ends_on": today} | values)


def share(client):
    """Try to share the list of findings; return the new links."""
    before = set(ShareLink.objects.values_list("pk", flat=True))
    client.post(f"{SITE}share/", {"days": "7"})
    return ShareLink.objects.exclude(pk__in=before)


def token_of(client):
    page = client.post(f"{SITE}share/", {"days": "7"}).text
    return page.partition("/s/")[2].partition("/")[0]


def allowed(client, website, link, token):
    """Return what is allowed now."""
    done = set()
    if ask(client, fields_for(link), path=DASHBOARD_PATH).status_code == 200:
        done.add("call")
    file = client.get(f"{SITE}findings.csv")
    if file.status_code == 200 and b"https://shop.example.com/page/" in b"".join(file):
        done.add("export")
    if client.get(f"/s/{token}/").status_code == 200:
        done.add("open share")
    if share(client):
        done.add("share")
    if ask(client, fields_for(link, profile="quick"), path=SCAN_PATH).status_code == 200:
        done.add("scan by call")
    ScanJob.objects.all().delete()
    client.post(f"{SITE}scans/start/", {"profile": "quick"})
    if ScanJob.objects.exists():
        done.add("scan")
    mail.outbox.clear()
    client.post("/accounts/reauthenticate/", {"password": "correct horse battery"})
    client.post(f"/team/{website.account_id}/invite/", {"email": "new@example.org", "role": "viewer"})
    if Invitation.objects.exists():
        done.add("invite")
    mail.outbox.clear()
    make_finding(link.website, severity=Severity.CRITICAL, title="In an e-mail")
    run("notify")
    if any("In an e-mail" in message.body for message in mail.outbox):
        done.add("news")
    return done


@pytest.mark.parametrize("state", STATES)
def test_each_state_allows_what_the_table_says(client, owner, website, link, state):
    token = token_of(client)
    fields, expected = STATES[state]
    set_state(link.account, fields)
    assert allowed(client, website, link, token) == expected
    # The plan, the members and the activity are never taken away.
    assert [client.get(page).status_code for page in ("/plan/", "/team/", "/activity/")] == [200] * 3


def test_what_a_state_took_away_is_there_when_it_ends(client, owner, website, link):
    token = token_of(client)
    set_state(link.account, {"status": "suspended"})
    assert "call" not in allowed(client, website, link, token)
    set_state(link.account, {})
    assert allowed(client, website, link, token) == READS | GROWS
