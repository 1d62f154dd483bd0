"""A website changes hands: neither owner reads a byte of the other, in the portal, in files or in e-mails."""

from datetime import timedelta

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dashboard_api.models import ScanJob, Website
from dashboard_api.ownership import claims
from dashboard_api.ownership.claims import Check, Verdict
from portal.models import SavedView
from portal.sharing import actions
from tests import factories
from tests.portal.test_isolation import templates

pytestmark = pytest.mark.django_db(transaction=True)
HOST = "shop.example.com"
FILE, MISSING = Check(Verdict.FOUND, "file", "https"), Check(Verdict.MISSING)


class Owner:
    """A customer, in whose every text is ``mark``."""

    def __init__(self, mark):
        self.mark, secret = mark, f"secret-of-{mark}-customer"
        self.account = factories.make_account(f"acct-{mark}", secrets=[secret])
        self.portal = factories.make_portal_account(self.account.ref, secret=secret, name=f"{mark} Bakery")
        self.user = factories.make_user(f"{mark}_owner")
        self.membership = factories.make_membership(self.user, self.portal)
        self.client = Client()
        self.client.force_login(self.user)

    def prove(self, now):
        """Prove the website, and let something be found, noted, decided, scanned and shared."""
        claim = claims.add(self.account, HOST, by=self.account.ref, now=now)
        self.claim = claims.record_check(claim, FILE, now=now)
        self.website, mark = Website.objects.get(host=HOST), self.mark
        self.client.get("/websites/add/")
        self.site = self.portal.websites.get()
        self.finding = factories.make_finding(
            self.website, title=f"{mark} finding", evidence=f"{mark} proof", location=f"https://{HOST}/{mark}"
        )
        factories.make_event(self.finding, "accepted_risk", reason=f"{mark} reason", by=f"{mark} analyst")
        factories.make_note(self.website, body=f"{mark} note", author=f"{mark} analyst")
        factories.make_coverage(self.website, detail=f"{mark} detail", source=self.finding.source)
        source = self.finding.source
        self.runs = [
            factories.make_import_run(self.website, source=source, detail=f"{mark} run").pk for _ in range(2)
        ]
        self.view = SavedView.objects.create(account=self.portal, name=f"{mark} view", query="severity=High")
        self.job = ScanJob.objects.create(
            website=self.website, account=self.account, by=f"{mark} person", state="failed", ended_at=now
        )
        subject = actions.Subject(title=f"{mark} finding", finding_id=str(self.finding.pk))
        self.share_link, self.shared = actions.create(self.site, subject, by=self.user, days=7)
        self.answer(f"{mark} reason")
        self.badge = actions.switch_badge_on(self.site, by=self.user).token
        return self

    def answer(self, words):
        """Dispute the finding in the portal, and write to the analysts."""
        page = f"/sites/{HOST}/findings/{self.finding.pk}/"
        fields = {"act": "disputed", "reason": f"{words}, of 20 characters"}
        answered = self.client.post(f"/sites/{HOST}/answer/?ids={self.finding.pk}", fields)
        written = self.client.post(f"{page}messages/", {"text": f"{words} in a message"})
        assert (answered.url, written.url) == (page, page)
        assert f"{words} in a message" in self.client.get(page).content.decode()

    def pages_about(self, *owners):
        """Yield the text of each page that the person can open, asked for with what ``owners`` have."""
        for route in templates():
            for each in owners:
                values = {
                    "host": HOST, "account": each.portal.pk, "website": each.site.pk,
                    "membership": each.membership.pk, "finding_id": each.finding.pk, "job_id": each.job.pk,
                    "claim_id": each.claim.pk, "share_link": each.share_link.pk, "token": self.shared,
                    "earlier": each.runs[0], "later": each.runs[1], "saved_view": each.view.pk,
                    "invitation": "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e",
                }  # fmt: skip
                response = self.client.get(route.format(**values))
                body = b"".join(response) if response.streaming else response.content
                yield route, f"{body.decode(errors='replace')} {response.headers}"


def assert_apart(former, new):
    for reader, other in ((former, new), (new, former)):
        pages = list(reader.pages_about(former, new))
        assert [route for route, text in pages if other.mark in text] == []
        assert [route for route, text in pages if ", until 20" in text] == []  # the name of a retired website


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize(
    ("missed", "reason", "subject"),
    [
        ((39, 38, 37, 20), "lapsed", f"{HOST} was removed"),
        ((4, 3, 2, 1), "taken_over", f"Another organization now owns {HOST}"),
    ],
)
def test_neither_owner_reads_a_byte_of_the_other(service, settings, missed, reason, subject):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "smtp://localhost", "https://portal.example.com"
    now = timezone.now()
    former = Owner("alpha").prove(now - timedelta(days=40))
    call_command("notify")  # the first run stores where to continue
    factories.make_finding(former.website, title="alpha news", severity=4)
    assert "alpha finding" in dict(former.pages_about(former))["/sites/{host}/"]  # and kept for an outage
    for days in missed:
        claims.record_check(former.claim, MISSING, now=now - timedelta(days=days))
    new = Owner("gamma").prove(now - timedelta(days=1))
    former.claim.refresh_from_db()
    assert (former.claim.ended_reason, new.claim.state) == (reason, "verified")
    mail.outbox.clear()
    call_command("notify")
    assert {(sent.to[0], sent.subject) for sent in mail.outbox} == {
        ("alpha_owner@example.com", subject),
        ("gamma_owner@example.com", f"{HOST} is verified"),
    }
    assert_apart(former, new)
    stranger = Client()
    assert [stranger.get(f"/s/{each.shared}/").status_code for each in (former, new)] == [404, 200]
    assert [stranger.get(f"/badge/{each.badge}.svg").status_code for each in (former, new)] == [404, 200]
    settings.DASHBOARD_BASE_URL = "http://127.0.0.1:1"
    assert_apart(former, new)


def test_the_list_of_websites_shows_no_old_result_once_the_service_refused_any_call(service, settings):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "smtp://localhost", "https://portal.example.com"
    former = Owner("alpha").prove(timezone.now())
    factories.make_finding(former.website, title="alpha worst", severity=4)
    former.client.get(f"/sites/{HOST}/")
    assert "alpha worst" in former.client.get("/").content.decode()
    former.account.links.get().revoke(by="staff", reason="sold", now=timezone.now())
    call_command("notify")
    assert "alpha worst" not in former.client.get("/").content.decode()
