"""E-mails about proofs of ownership: each event once, to each owner, in both languages."""

import smtplib
from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends import locmem

from portal.answers import service
from portal.models import ClaimEmail, ClaimState, Subscription, Website, WebsiteSummary
from portal.onboarding import emails
from portal.pages.view_models.claim_notices import claim_notices
from signed_api.claims import DifferentPage, OtherClaim, PausedSchedule
from signed_api.errors import CannotConnect
from tests import factories
from tests.portal.dashboards import NOW, make_claim
from tests.structs import build

pytestmark = pytest.mark.django_db
LINK = "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e"
LINKED = {"method": "file", "strength": "https", "link_id": LINK}
VERIFIED = {**LINKED, "state": "verified", "verified_at": NOW}
FAILING = {**LINKED, "state": "failing", "lapses_at": NOW + timedelta(days=13)}
ENDED = {**LINKED, "state": "ended", "ended_at": NOW, "link_id": None}
LAPSED, TAKEN_OVER, REFUSED = (
    {**ENDED, "ended_reason": reason} for reason in ("lapsed", "taken_over", "refused")
)
OTHER = build(OtherClaim, claim_id="9", method="dns", token="tdv1-x", since=NOW)


@pytest.fixture(autouse=True)
def _mail(settings):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "consolemail://", "https://portal.example.com"


@pytest.fixture
def owner():
    account = factories.make_portal_account(name="Example Shop")
    factories.make_membership(factories.make_user("viewer"), account, "viewer")
    factories.make_membership(factories.make_user("manager"), account, "manager")
    return factories.make_membership(factories.make_user("owner"), account)


@pytest.fixture
def run(owner, monkeypatch):
    """Run once with these claims of the account, and return the subjects of the e-mails."""

    def run(*claims, now=NOW):
        def answer(account):
            if isinstance(claims[0], Exception):
                raise claims[0]
            return list(claims)

        def claim_to(_account, host):
            return next((claim for claim in claims if claim.host == host), None)

        monkeypatch.setattr(service, "get_claims", answer)
        monkeypatch.setattr(service, "get_claim_to", claim_to)
        mail.outbox.clear()
        run.outcome = emails.send_due(clock=lambda: now)
        return [message.subject for message in mail.outbox]

    return run


@pytest.mark.parametrize(
    ("fields", "subject", "text"),
    [
        (VERIFIED, "shop.example.com is verified", "we check it every week"),
        (FAILING, "the proof of ownership is missing", "Otherwise the website is removed on 3 Dec 2026."),
        (LAPSED, "was removed", "add the website again: you get it back"),
        (TAKEN_OVER, "Another organization now owns shop.example.com", "It cannot see your results"),
        (REFUSED, "was not added", "our team has confirmed it"),
        (
            {**VERIFIED, "verified_at": None, "others": [OTHER]},
            "Another organization is verifying",
            "the other token",
        ),
    ],
)
def test_each_event_is_sent_once_to_owners(run, owner, fields, subject, text):
    (sent,) = run(make_claim(**fields))
    (message,) = mail.outbox
    assert subject in sent
    assert message.to == [owner.user.email]
    html = message.alternatives[0][0]
    url = f"https://portal.example.com/websites/{owner.account_id}/claims/1/"
    for body in (message.body, html):
        assert text in body
        assert url in body
    assert run(make_claim(**fields)) == []


NO_ROOM = {**VERIFIED, "link_id": None, "link_problem": "no_room"}


def test_an_email_says_why_a_verified_website_is_not_linked(run):
    assert len(run(make_claim(**NO_ROOM))) == 1
    for body in (mail.outbox[0].body, mail.outbox[0].alternatives[0][0]):
        text = " ".join(body.split())
        assert "The website is verified, but not active in your organization. Your plan has no room" in text


@pytest.mark.parametrize("reason", ["expired", "withdrawn"])
def test_a_claim_that_ended_without_a_website_or_by_its_owner_is_no_news(run, reason):
    assert run(make_claim(**ENDED, ended_reason=reason)) == []


def test_a_page_that_looks_different_is_announced_once_and_leads_to_both_pages(run, owner):
    known = {**VERIFIED, "verified_at": None}
    first = make_claim(**known, different_page=build(DifferentPage, job_id="7", since=NOW))
    assert run(first) == ["shop.example.com: the page looks different"]
    assert "/sites/shop.example.com/scans/7/page/" in mail.outbox[-1].body
    assert run(make_claim(**known, different_page=build(DifferentPage, job_id="8", since=NOW))) == []


def test_a_paused_schedule_is_announced_once_each_time_it_was_set(run, owner):
    paused = {**VERIFIED, "verified_at": None}
    claim = make_claim(**paused, paused_schedule=build(PausedSchedule, reason="blocked", set_at=NOW))
    assert run(claim) == ["shop.example.com: scans by schedule are paused"]
    assert f"/sites/shop.example.com/scans/?account={owner.account.ref}" in mail.outbox[0].body
    assert run(claim) == []
    later = build(PausedSchedule, reason="blocked", set_at=NOW + timedelta(days=3))
    assert len(run(make_claim(**paused, paused_schedule=later))) == 1


@pytest.mark.parametrize("state", ["pending", "contested"])
def test_a_claim_that_waits_for_its_owner_is_no_news(run, state):
    assert run(make_claim(state=state)) == []


def test_a_proof_of_long_ago_and_one_by_staff_are_no_news(run):
    assert run(make_claim(**VERIFIED), now=NOW + timedelta(days=3)) == []
    assert run(make_claim(**VERIFIED | {"method": "manual"})) == []


def test_the_end_of_a_link_is_announced_seven_and_two_days_before(run):
    claim = make_claim(**FAILING)
    sent = [subject for day in range(13) for subject in run(claim, now=NOW + timedelta(days=day))]
    assert sent == [
        "shop.example.com: the proof of ownership is missing",
        "shop.example.com will be removed in less than 7 days",
        "shop.example.com will be removed in less than 2 days",
    ]


def test_an_owner_reads_it_in_german(run, owner):
    Subscription.objects.create(membership=owner, frequency="never", language="de")
    run(make_claim(**FAILING))
    assert "Nachweis" in mail.outbox[0].subject
    assert 'lang="de"' in mail.outbox[0].alternatives[0][0]


def test_a_failure_of_the_mail_server_is_tried_again_with_the_same_message_id(run, monkeypatch):
    def refuse(backend, messages):
        refused.append(messages[0].extra_headers["Message-ID"])
        raise smtplib.SMTPRecipientsRefused({})

    refused = []
    with monkeypatch.context() as broken:
        broken.setattr(locmem.EmailBackend, "send_messages", refuse)
        run(make_claim(**FAILING))
    assert (len(run.outcome.refused), run.outcome.failures) == (1, [])
    run(make_claim(**FAILING))
    assert [message.extra_headers["Message-ID"] for message in mail.outbox] == refused


def test_an_email_that_another_process_is_sending_is_left_to_it_for_a_while(run, owner):
    run(make_claim(**FAILING))
    ClaimEmail.objects.update(sent_at=None)
    assert run(make_claim(**FAILING), now=NOW + timedelta(minutes=14)) == []
    assert len(run(make_claim(**FAILING), now=NOW + timedelta(minutes=16))) == 1


def test_a_service_that_cannot_be_reached_is_a_failure(run):
    run(CannotConnect("refused"))
    assert len(run.outcome.failures) == 1


def test_what_needs_an_action_is_on_the_list_of_websites_and_on_the_page(run, owner, client):
    run(make_claim(**FAILING))
    assert Website.objects.get().link_id == LINK
    (notice,) = claim_notices(owner.user)
    assert "or the website is removed on 3 Dec 2026" in notice.text
    client.force_login(owner.user)
    assert notice.url in client.get("/").content.decode()
    assert claim_notices(owner.user, "other.example.com") == []
    for ended, words in ((LAPSED, "missing for 14 days"), (TAKEN_OVER, "another organization verified")):
        run(make_claim(**ended))
        (notice,) = claim_notices(owner.user)
        assert (words in notice.text, notice.is_urgent) == (True, True)
    run(make_claim(**VERIFIED))
    assert not ClaimState.objects.exists()


def test_viewers_get_no_notices_and_states_of_claims_that_are_gone_go(run, owner):
    run(make_claim(**FAILING))
    viewer = owner.account.memberships.get(role="viewer").user
    assert claim_notices(viewer) == []
    run(make_claim(2, **VERIFIED | {"host": "other.example.com"}))
    assert claim_notices(owner.user) == []


def test_a_link_that_no_claim_has_counts_as_ended_until_it_is_back_even_if_no_page_asks_for_it(run):
    run(make_claim(**VERIFIED))
    assert not WebsiteSummary.objects.exists()
    for _ in range(2):
        run(make_claim(**LAPSED))
        assert WebsiteSummary.objects.get().refusal == "revoked_link"
    run(make_claim(**VERIFIED))
    assert not WebsiteSummary.objects.exists()


def test_what_one_account_cannot_be_sent_does_not_delay_others(run, monkeypatch):
    factories.make_membership(factories.make_user("other"), factories.make_portal_account("acct_0002"))
    compose = emails.compose

    def fail_for_the_first(event, account):
        if account.ref == "acct_0001":
            raise KeyError("unforeseen")
        return compose(event, account)

    monkeypatch.setattr(emails, "compose", fail_for_the_first)
    assert len(run(make_claim(**FAILING))) == 1
    assert run.outcome.failures == ["acct_0001: KeyError: 'unforeseen'"]


def test_a_link_that_ends_at_no_known_day_is_no_news(run):
    assert run(make_claim(**FAILING | {"lapses_at": None})) == []
