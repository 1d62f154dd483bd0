"""E-mails about the plan: each notice once, to each owner, while it holds."""

from datetime import date, timedelta

import pytest
from django.core import mail
from django.core.mail.backends import locmem

from portal.answers import service
from portal.models import Subscription
from portal.plan import emails
from signed_api.billing import AccountEntitlement, EntitlementResponse, LimitUse, Notice
from signed_api.errors import CannotConnect
from tests import factories
from tests.portal.dashboards import NOW
from tests.structs import build

pytestmark = [pytest.mark.django_db, pytest.mark.once]
LAST = date(2026, 11, 30)
TODAY = {"ends_on": NOW.date()}
UNPAID = {
    "status": "expired",
    "past_due_since": date(2026, 11, 11),
    "usable_until": date(2026, 11, 18),
}
PAST_DUE = {"status": "past_due", "past_due_since": date(2026, 11, 19)}


@pytest.fixture(autouse=True)
def _mail(settings):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "consolemail://", "https://portal.example.com"


@pytest.fixture
def owner():
    account = factories.make_portal_account(name="Example Shop")
    factories.make_membership(factories.make_user("viewer"), account, "viewer")
    factories.make_membership(factories.make_user("manager"), account, "manager")
    return factories.make_membership(factories.make_user("owner"), account)


def plan(*notices, limits=(), **fields):
    own = {"plan": "team", "status": "active", "ends_on": LAST, "usable_until": LAST} | fields
    return build(
        EntitlementResponse,
        ok=True,
        entitlement=build(AccountEntitlement, **own),
        notices=list(notices),
        limits=list(limits),
    )


def notice(kind, *, at=NOW, **fields):
    return build(Notice, id="1", kind=kind, at=at, **fields)


@pytest.fixture
def run(owner, monkeypatch):
    """Run once with this answer of the service, and return the subjects of the e-mails."""

    def run(answer, now=NOW):
        def get(account):
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(service, "get_entitlement", get)
        mail.outbox.clear()
        run.outcome = emails.send_due(clock=lambda: now)
        return [message.subject for message in mail.outbox]

    return run


SCANS = build(LimitUse, name="scans_per_month", limit=20, used=20, state="reached", resets_at=NOW)
SITES = build(LimitUse, name="websites", limit=5, used=5, state="reached")
OVER = build(LimitUse, name="websites", limit=2, used=3, state="reached")
CALLS = build(LimitUse, name="calls_per_day", limit=1000, used=850, state="near", resets_at=NOW)


@pytest.mark.parametrize(
    ("answer", "subject", "text"),
    [
        (plan(notice("trial_ends", days=7), status="trialing"), "Your trial of Team ends on 30 Nov", "delet"),
        (plan(notice("trial_ends", days=0), status="trialing", **TODAY), "of Team ends today", "Choose a"),
        (plan(notice("trial_ends", days=0), status="trialing"), "ends on 30 Nov", "Choose a"),  # extended
        (
            plan(notice("trial_ends", days=7), plan="trial", status="trialing"),
            "Your trial ends on",
            "trial runs",
        ),
        (plan(notice("plan_ends", days=14), cancels=True), "Your plan Team ends on 30 Nov", "cancelled"),
        (plan(notice("plan_ends", days=0), cancels=True, **TODAY), "Your plan Team ends today", "cancelled"),
        (plan(notice("plan_ends", days=14)), "Your plan Team ends on 30 Nov", "unless another plan follows"),
        (plan(notice("past_due", days=3), **PAST_DUE), "A payment for Team is missing", "since 19 Nov 2026"),
        (plan(notice("suspended"), status="suspended"), "Your plan Team is suspended", "Contact us"),
        (plan(notice("expired", days=0), status="expired", **TODAY), "Team has ended", "ended on 20 Nov"),
        (
            plan(notice("expired", days=0), **UNPAID),
            "Team has ended",
            "ended on 18 Nov 2026, because a payment has been missing since 11 Nov",
        ),
        (
            plan(notice("limit_reached", limit="scans_per_month"), limits=[SCANS]),
            "Scans a month: limit",
            "20",
        ),
        (
            plan(notice("limit_reached", limit="websites"), limits=[SITES]),
            "Websites: limit reached",
            "Another website gets no results until you remove one or choose a larger plan.",
        ),
        (plan(notice("websites_over", days=14), limits=[OVER]), "includes fewer websites", "until 4 Dec"),
        (plan(notice("limit_near", limit="calls_per_day"), limits=[CALLS]), "nearly reached", "850 of 1,000"),
    ],
)
def test_each_notice_is_sent_once_to_owners(run, owner, answer, subject, text):
    (sent,) = run(answer)
    (message,) = mail.outbox
    assert subject in sent
    assert message.to == [owner.user.email]
    for body in (message.body, message.alternatives[0][0]):
        assert text in body
        assert "https://portal.example.com/plan/" in body
    assert run(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        plan(notice("trial_ends", days=3)),  # a plan was chosen
        plan(notice("plan_ends", days=3), renews=True),  # and the cancellation was taken back
        plan(notice("past_due", days=0)),  # and the payment has arrived
        plan(notice("limit_near", limit="scans_per_month"), limits=[SCANS]),  # there is another for reached
        plan(notice("limit_reached", limit="colours"), limits=[SITES]),
        plan(notice("news")),
        plan(notice("websites_over", days=14), limits=[SITES]),  # some were removed
        plan(notice("suspended", at=NOW - timedelta(days=3)), status="suspended"),
        build(EntitlementResponse, ok=True, notices=[notice("expired", days=0)]),
    ],
)
def test_what_no_longer_holds_is_not_sent(run, answer):
    assert run(answer) == []
    assert run.outcome.failures == []


def test_an_email_that_was_refused_is_tried_for_ten_days(run, monkeypatch):
    def refuse(backend, messages):
        raise OSError

    late, suspended = NOW + timedelta(days=9), plan(notice("suspended"), status="suspended")
    with monkeypatch.context() as broken:
        broken.setattr(locmem.EmailBackend, "send_messages", refuse)
        assert run(suspended) == []
        assert len(run.outcome.failures) == 1
    assert run(suspended, NOW + timedelta(days=10)) == []
    assert run(suspended, late) == ["Your plan Team is suspended"]


def invite(owner, email):
    until = NOW + timedelta(days=7)
    owner.account.invitations.create(email=email, was_emailed=True, expires_at=until)


def seats(limit):
    return build(LimitUse, name="seats", limit=limit)


@pytest.mark.parametrize(
    ("limit", "invitations", "subject", "text"),
    [
        (4, 0, None, ""),  # 75 percent
        (5, 1, "Members: nearly reached", "4 of 5 used. Open invitations count as seats."),
        (3, 0, "Members: limit reached", "3 of 3 used. No one else can be invited."),
        (2, 0, "Members: limit reached", "3 of 2 used"),
        (None, 3, None, ""),
    ],
)
def test_owners_read_once_that_the_members_of_the_plan_are_nearly_or_all_there(
    run, owner, limit, invitations, subject, text
):
    for number in range(invitations):
        invite(owner, f"new{number}@example.com")
    answer = plan(limits=[seats(limit)])
    assert run(answer) == ([subject] if subject else [])
    assert not subject or text in mail.outbox[0].body
    assert run(answer, NOW + timedelta(days=400)) == []


def test_owners_read_again_about_the_last_seat_and_about_another_plan(run, owner):
    invite(owner, "new@example.com")
    assert run(plan(limits=[seats(5)])) == ["Members: nearly reached"]
    invite(owner, "newer@example.com")
    assert run(plan(limits=[seats(5)])) == ["Members: limit reached"]
    assert run(plan(limits=[seats(6)])) == ["Members: nearly reached"]


@pytest.mark.parametrize("status", ["suspended", "expired"])
def test_nothing_is_sent_about_the_seats_of_a_plan_that_does_not_work(run, status):
    assert run(plan(limits=[seats(3)], status=status)) == []


@pytest.mark.parametrize(
    ("name", "resets_at", "promises"),
    [("websites", None, False), ("calls_per_day", NOW, False), ("scans_per_month", NOW, True)],
)
def test_only_the_scans_promise_the_day_on_which_their_limit_will_be_reached(run, name, resets_at, promises):
    near = build(LimitUse, name=name, limit=5, used=4, state="near", resets_at=resets_at)
    run(plan(notice("limit_near", limit=name), limits=[near]))
    assert ("when the limit will be reached" in mail.outbox[0].body) == promises


def test_an_owner_reads_it_in_their_language(run, owner):
    Subscription.objects.create(membership=owner, frequency="never", language="de")
    (subject,) = run(plan(notice("trial_ends", days=7), status="trialing"))
    assert subject == "Ihre Testphase für Team endet am 30.11.2026"
    assert "Tarif öffnen" in mail.outbox[0].body + mail.outbox[0].alternatives[0][0]


def test_an_account_without_an_answer_is_reported_and_asked_again(run):
    assert run(CannotConnect()) == []
    assert "CannotConnect" in run.outcome.failures[0]
    assert len(run(plan(notice("suspended"), status="suspended"))) == 1
