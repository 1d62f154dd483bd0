"""The status page and its feed: what is measured, the incidents that operators wrote, and nothing else."""

import re
import xml.etree.ElementTree as ET
from datetime import UTC, timedelta

import pytest
from django.utils import timezone

from config import health, status
from config.models import Incident, Run
from dashboard_api import limits
from dashboard_api.models import Nonce
from tests import factories

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _ready(monkeypatch):
    """Let the process be ready: its checks, in a thread, would wait for the transaction of the test."""
    monkeypatch.setattr(health.READINESS, "failed", tuple)


def make_run(command, *, ago=timedelta(), summary="3 e-mails to ada@example.com"):
    at = timezone.now() - ago
    interval = timedelta(minutes=15)
    Run.objects.create(command=command, interval=interval, began=at, ended=at, ok=True, summary=summary)


def make_incident(title="Calls are slow", *, began=DAY, ended=None, **fields):
    now = timezone.now()
    end = None if ended is None else now - ended
    return Incident.objects.create(title=title, began=now - began, ended=end, **fields)


def components(client):
    """Return the words of each component: its state and its history."""
    rows = re.findall(
        r'<h3>([^<]*)</h3>\s*<span class="state \w+">([^<]*)</span>.*?<p class="muted">([^<]*)</p>',
        client.get("/status/").text,
        re.DOTALL,
    )
    return {title: (word, history) for title, word, history in rows}


def entries(client):
    return ET.fromstring(client.get("/status/feed/").content).findall(f"{ATOM}entry")


def test_only_what_is_measured_is_shown(client, settings):
    works = ("Works", "No incidents")
    assert components(client) == {"Signed calls": works, "Portal": works}
    make_run("notify")
    make_run("import_inbox", ago=timedelta(hours=3))
    make_run("prune", ago=30 * DAY)
    assert components(client) == {
        "Signed calls": works,
        "Portal": works,
        "Imports of reports": ("Delayed", "No incidents"),
        "Notifications": works,
    }
    settings.ENABLE_API = False
    assert "Signed calls" not in components(client)


def test_payment_callbacks_are_shown_where_a_provider_sends_them(client, settings):
    make_run("process_callbacks", ago=timedelta(hours=3))
    settings.CALLBACK_SECRETS = {"standard": [], "stripe": []}
    assert "Payment callbacks" not in components(client)
    settings.CALLBACK_SECRETS = {"standard": ["whsec_secret"], "stripe": []}
    assert components(client)["Payment callbacks"] == ("Delayed", "No incidents")
    make_incident(component="callbacks", began=timedelta())
    assert components(client)["Payment callbacks"] == ("Disrupted", "Incidents on 1 day")


def test_a_process_that_is_not_ready_is_shown_as_disturbed(client, monkeypatch):
    monkeypatch.setattr(health.READINESS, "failed", lambda: ("disk",))
    assert components(client)["Portal"] == ("Disrupted", "No incidents")
    assert "disk" not in client.get("/status/").text


def test_calls_that_are_refused_after_a_restore_are_shown_with_the_minute_of_their_return(client):
    until = Nonce.objects.raise_fence(timezone.now())
    minute = (until + timedelta(minutes=1)).astimezone(UTC)
    word, history = components(client)["Signed calls"]
    assert (word, components(client)["Portal"][0]) == ("Disrupted", "Works")
    assert f"answered again at {minute:%H:%M} UTC" in history
    assert "of the last day that our team" in client.get("/status/").text
    Nonce.objects.raise_fence(timezone.now() - timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS + 2))
    assert components(client)["Signed calls"] == ("Works", "No incidents")


def test_the_page_asks_once_until_when_calls_are_refused(client, monkeypatch):
    asked = []
    monkeypatch.setattr(status, "calls_refused_until", asked.append)
    components(client)
    assert len(asked) == 1


def test_an_incident_is_shown_with_its_component_until_90_days_after_its_end(client):
    make_incident(component="portal", began=3 * DAY, ended=2 * DAY)
    make_incident("A long time ago", began=99 * DAY, ended=91 * DAY)
    assert components(client)["Signed calls"] == ("Works", "No incidents")
    assert components(client)["Portal"] == ("Works", "Incidents on 2 days")
    make_incident("We move", kind="maintenance", began=timedelta())
    assert components(client)["Portal"] == ("Planned maintenance", "Incidents on 3 days")
    make_incident("Nothing works", began=timedelta())
    assert components(client)["Signed calls"] == ("Disrupted", "Incidents on 1 day")
    page = client.get("/status/").text
    assert all(title in page for title in ("Calls are slow", "We move", "Nothing works"))
    assert "A long time ago" not in page


def test_an_announced_incident_is_read_before_it_begins_and_changes_no_state(client):
    make_incident("We move", kind="maintenance", began=-DAY)
    assert "We move" in client.get("/status/").text
    assert components(client)["Portal"] == ("Works", "No incidents")


def test_the_feed_has_each_incident_once_with_escaped_texts(client):
    incident = make_incident("Calls & pages", text="<b>Slow</b>\n\nWe look at it.", ended=timedelta(hours=1))
    response = client.get("/status/feed/")
    assert response["Content-Type"] == "application/atom+xml; charset=utf-8"
    [entry] = entries(client)
    assert entry.findtext(f"{ATOM}title") == "Calls & pages"
    assert entry.findtext(f"{ATOM}summary") == "<p>&lt;b&gt;Slow&lt;/b&gt;</p>\n\n<p>We look at it.</p>"
    assert entry.findtext(f"{ATOM}id").startswith("tag:testserver,")
    assert entry.find(f"{ATOM}link").get("href") == f"http://testserver/status/#incident-{incident.pk}"
    assert entry.findtext(f"{ATOM}updated") == incident.ended.isoformat()


def test_strangers_read_neither_accounts_nor_hosts_nor_addresses(client):
    factories.make_link()
    make_run("notify")
    page = client.get("/status/").text + client.get("/status/feed/").text
    assert not re.search(r"acct_|shop\.example|@|notify", page)


def test_it_is_german_for_germans(client):
    page = client.get("/status/", headers={"Accept-Language": "de"}).text
    assert "<h1>Betriebsstatus</h1>" in page
    assert "Signierte Aufrufe" in page


def test_it_can_be_switched_off(client, settings):
    settings.STATUS_PAGE = False
    assert {client.get(f"/status/{name}").status_code for name in ("", "feed/")} == {404}
    assert client.post("/status/").status_code in (404, 405)
