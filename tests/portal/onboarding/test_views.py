"""Owners and managers add a website, prove it and give it up; the service's answers become pages."""

import html
import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import AuditEvent
from portal.answers import service
from portal.gateway.errors import TooManyCalls
from portal.models import Badge, ClaimState, ShareLink, Website, WebsiteSummary
from portal.onboarding import actions
from signed_api.billing import AccountEntitlement, EntitlementResponse, LimitUse
from signed_api.claims import CLAIMS, ClaimCheckRequest, ClaimRequest, ClaimsResponse, ClaimWithdrawRequest
from signed_api.errors import (
    CannotConnect,
    CheckTooSoon,
    ClaimEnded,
    ClaimRefused,
    InactiveEntitlement,
    TimedOut,
    UnknownClaim,
)
from tests import factories
from tests.portal.dashboards import make_claim, make_claim_check
from tests.portal.service_answers import answer_claims, answer_with
from tests.structs import build, refused

pytestmark = [pytest.mark.django_db, pytest.mark.once]
ADD = "/websites/add/"
PROOF = "/accounts/reauthenticate/"
LINK = "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e"
OTHER_LINK = "11111111-8f7e-4f57-9a3b-0d4a5b6c7d8e"
LAPSED = {"state": "ended", "ended_reason": "lapsed", "link_id": None}
PROVEN = {"state": "verified", "method": "file", "strength": "https", "link_id": LINK}


@pytest.fixture
def owner(client):
    """The owner of an account, who has just signed in."""
    membership = factories.make_membership(factories.make_user("ada"), factories.make_portal_account())
    client.force_login(membership.user)
    client.post(PROOF, {"password": "correct horse battery"})
    return membership


@pytest.fixture
def answers(monkeypatch):
    """Record each call with its account; ``claims`` are listed, ``answer`` responds to the others.

    ``later`` are the claims after the first list, and ``websites`` the used ones and the limit of the plan;
    ``may_grow`` is false while a payment is missing, for example.
    """

    class Answers(list):
        claims = (make_claim(),)
        later = None
        websites = (1, 5)
        may_grow, status, starts_on = True, "active", None
        answer = make_claim()

        def respond(self, _service, account, request):
            self.append((account.account_ref, request))
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        def plan(self, _account):
            if isinstance(self.websites, Exception):
                raise self.websites
            used, limit = self.websites
            day = timezone.now().date()
            days = {"starts_on": self.starts_on, "ends_on": day, "usable_until": day}
            own = build(AccountEntitlement, plan="team", status=self.status, may_grow=self.may_grow, **days)
            limits = [build(LimitUse, name="websites", used=used, limit=limit)]
            return build(EntitlementResponse, ok=True, entitlement=own, limits=limits)

        def list_claims(self, _service, account, request):
            if isinstance(self.claims, Exception):
                raise self.claims
            found = [claim for claim in self.claims if request.host in ("", claim.host)]
            self.claims = self.later if self.later is not None else self.claims
            start = (request.page - 1) * request.page_size
            return build(
                ClaimsResponse, ok=True, claims=found[start : start + request.page_size], total=len(found)
            )

    answers = Answers()
    answer_claims(monkeypatch, answers.respond)
    answer_with(monkeypatch, CLAIMS, answers.list_claims)
    monkeypatch.setattr(service, "get_entitlement", answers.plan)
    return answers


@pytest.fixture
def page(owner):
    return f"/websites/{owner.account_id}/claims/1/"


def text_of(response):
    return html.unescape(re.sub(r"\s+", " ", response.content.decode()))


def add(client, host="shop.example.com", account="acct_0001", **options):
    return client.post(ADD, {"host": host, "account": account}, **options)


@pytest.mark.parametrize(
    "typed",
    ["shop.example.com", " Shop.Example.com. ", "https://shop.example.com/a?b", "HTTP://shop.example.com"],
)
def test_a_host_is_taken_as_people_type_it(client, owner, answers, page, typed):
    assert add(client, typed)["Location"] == page
    assert answers == [("acct_0001", ClaimRequest(host="shop.example.com"))]


@pytest.mark.parametrize("typed", ["", "not a host", "shop.example.com:8443", "10.0.0.1", "x" * 300])
def test_a_wrong_host_is_explained_next_to_its_field_and_not_sent(client, owner, answers, typed):
    text = text_of(add(client, typed))
    assert re.search(r'<div class="error" role="alert"> ?<ul', text)
    assert answers == []


def test_the_services_reasons_are_next_to_the_field(client, owner, answers):
    answers.answer = refused(ClaimRefused, reasons=["First <reason>.", "Second reason."])
    text = text_of(add(client))
    assert "First <reason>." in text
    assert "Second reason." in text
    assert "<reason>" not in add(client).content.decode()


GIVE_UP = {"reason": "Sold"}


def test_giving_up_waits_for_a_proof_of_identity(client, owner, answers, page):
    sent = ClaimWithdrawRequest(claim_id="1", **GIVE_UP)
    client.force_login(owner.user)
    session = client.session
    del session["account_authentication_methods"]
    session.save()
    asked = client.post(f"{page}withdraw/", GIVE_UP)
    assert (asked.status_code, urlsplit(asked["Location"]).path) == (302, PROOF)
    again = client.get(f"{page}withdraw/", follow=True)
    assert again.redirect_chain == [(page, 302)]
    assert "Nothing more was changed. If it is not done yet, please send the form again." in again.text
    assert sent not in [request for _account, request in answers]
    client.post(PROOF, {"password": "correct horse battery", "next": f"{page}withdraw/"})
    assert sent in [request for _account, request in answers]


@pytest.mark.parametrize("role", ["viewer", None])
def test_viewers_and_people_without_an_account_find_nothing(client, owner, answers, page, role):
    user = factories.make_user("bob")
    if role:
        factories.make_membership(user, owner.account, role)
    client.force_login(user)
    assert client.get(ADD).status_code == client.get(page).status_code == 404
    for path in (ADD, f"{page}check/", f"{page}withdraw/"):
        assert client.post(path, {"host": "shop.example.com", "reason": "x"}).status_code == 404
    assert answers == []


def test_a_manager_adds_and_checks_but_only_an_owner_gives_up(client, owner, answers, page):
    manager = factories.make_membership(factories.make_user("mia"), owner.account, "manager")
    assert "Remove website" in text_of(client.get(page))
    client.force_login(manager.user)
    assert add(client).status_code == 302
    assert client.post(f"{page}check/").status_code == 302
    assert "Remove website" not in text_of(client.get(page))
    assert client.post(f"{page}withdraw/", {"reason": "x"}).status_code == 404
    assert [type(request) for _, request in answers] == [ClaimRequest, ClaimCheckRequest]


def test_a_person_with_several_accounts_chooses_one_that_they_manage(client, owner, answers):
    second = factories.make_portal_account("acct_0002", name="Second Bakery")
    factories.make_membership(owner.user, second, "manager")
    third = factories.make_portal_account("acct_0003", name="Canary Bakery")
    factories.make_membership(owner.user, third, "viewer")
    text = text_of(client.get(ADD, {"account": "acct_0002"}))
    assert "Websites of Second Bakery" in text
    assert "Canary" not in text
    assert add(client, account="acct_0002").status_code == 302
    assert add(client, account="acct_0003").status_code == 200
    assert client.get(ADD, {"account": "acct_0003"}).status_code == 404
    assert [account for account, _ in answers] == ["acct_0002"]


def test_a_claim_that_is_not_the_accounts_is_not_found(client, owner, answers, page):
    other = page.replace("claims/1/", "claims/2/")
    answers.answer = UnknownClaim()
    assert client.get(other).status_code == 404
    assert client.post(f"{other}check/").status_code == 404
    assert client.post(f"{other}withdraw/", {"reason": "x"}).status_code == 404
    for number in ("0", "9" * 30):
        assert client.post(f"/websites/{owner.account_id}/claims/{number}/check/").status_code == 404


def test_forms_need_the_token_of_the_page(owner, answers, page):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner.user)
    for path in (ADD, f"{page}check/", f"{page}withdraw/"):
        assert client.post(path, {"host": "shop.example.com", "reason": "x"}).status_code == 403
    assert answers == []


def test_the_claims_come_from_all_pages_those_that_need_an_action_first(client, owner, answers):
    answers.claims = [
        *(make_claim(number, host=f"a{number}.example.com", **PROVEN) for number in range(1, 120)),
        make_claim(120, host="z.example.com", state="failing", link_id=LINK),
    ]
    text = text_of(client.get(ADD))
    assert text.index(">z.example.com<") < text.index(">a1.example.com<") < text.index(">a119.example.com<")


def test_a_verified_website_is_stored_and_leads_to_its_dashboard(client, owner, answers, page):
    answers.answer = make_claim(**PROVEN)
    assert client.post(f"{page}check/")["Location"] == "/sites/shop.example.com/"
    website = Website.objects.get()
    assert (website.account, website.host, website.link_id) == (owner.account, "shop.example.com", LINK)
    event = AuditEvent.objects.get(action="website.added")
    assert (event.account, event.actor_kind) == ("acct_0001", "person")


def test_a_website_that_the_service_verified_was_added_by_no_one_who_opens_a_page(client, owner, answers):
    answers.claims = [make_claim(**PROVEN)]
    client.get(ADD)
    event = AuditEvent.objects.get(action="website.added")
    assert (event.account, event.actor_kind, event.actor) == ("acct_0001", "system", None)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_claim_that_is_given_up_while_its_page_loads_is_not_found(
    client, owner, answers, page, monkeypatch, is_new
):
    answers.claims = [make_claim(**PROVEN)]
    monkeypatch.setattr(actions, "settle", lambda *_: Website() if is_new else None)
    assert client.get(page).status_code == 404


def test_htmx_opens_the_dashboard_as_a_page_of_its_own(client, owner, answers, page):
    answers.answer = make_claim(**PROVEN)
    response = client.post(f"{page}check/", headers={"HX-Request": "true"})
    assert (response.status_code, response["HX-Redirect"]) == (200, "/sites/shop.example.com/")


@pytest.mark.parametrize("where", ["page", "list"])
def test_a_website_that_was_verified_meanwhile_is_stored_wherever_claims_are_read(
    client, owner, answers, page, where
):
    answers.claims = [make_claim(**PROVEN)]
    response = client.get(page if where == "page" else ADD, follow=False)
    assert response.status_code == (302 if where == "page" else 200)
    assert Website.objects.get().link_id == LINK
    assert client.get(page).status_code == 200


@pytest.mark.parametrize("where", ["page", "list", "check"])
def test_a_page_that_read_a_claim_before_it_was_given_up_does_not_bring_the_website_back(
    client, owner, answers, page, where
):
    answers.claims = [] if where == "check" else [make_claim(**PROVEN)]
    answers.later, answers.answer = [], make_claim(**PROVEN)
    if where == "check":
        client.post(f"{page}check/")
    else:
        client.get(page if where == "page" else ADD)
    assert not Website.objects.exists()
    assert AuditEvent.objects.filter(action="website.removed", account="acct_0001").count() == 1


@pytest.mark.parametrize("refusal", ["", "revoked_link"])
def test_a_website_without_a_claim_leaves_the_list_and_those_of_others_stay(client, owner, answers, refusal):
    theirs = factories.make_portal_website(factories.make_portal_account("acct_0002"))
    lapsed = factories.make_portal_website(owner.account, "lapsed.example.com")
    gone = factories.make_portal_website(owner.account)
    if refusal:
        WebsiteSummary.objects.store(gone, refusal=refusal)
    answers.claims = [make_claim(**PROVEN | LAPSED | {"host": lapsed.host})]
    assert client.get(ADD).status_code == 200
    assert set(Website.objects.all()) == {theirs, lapsed}
    event = AuditEvent.objects.get(action="website.removed")
    assert (event.host, event.account, event.actor_kind) == (gone.host, "acct_0001", "system")


@pytest.mark.parametrize(("model", "values"), [(ShareLink, {"expires_at": timezone.now()}), (Badge, {})])
def test_a_website_without_a_claim_stays_with_what_would_be_lost(client, owner, answers, model, values):
    kept = factories.make_portal_website(owner.account)
    model.objects.create(website=kept, link_id=kept.link_id, **values)
    answers.claims = []
    for _ in range(2):
        client.get(ADD)
    assert WebsiteSummary.objects.get(pk=kept.pk).refusal == "revoked_link"
    assert Website.objects.filter(pk=kept.pk).exists()


def test_a_website_stays_while_the_service_does_not_say_that_its_claim_has_ended(
    client, owner, answers, monkeypatch
):
    factories.make_portal_website(owner.account)

    def refuse(_account, _host):
        raise CannotConnect

    answers.claims = []
    monkeypatch.setattr(service, "get_claim_to", refuse)
    assert client.get(ADD).status_code == 200
    assert Website.objects.count() == 1


def test_the_list_writes_nothing_for_hundreds_of_websites_that_it_has(
    client, owner, answers, django_assert_max_num_queries
):
    hosts = [f"site{number}.example.com" for number in range(100)]
    for host in hosts:
        factories.make_portal_website(owner.account, host)
    answers.claims = [make_claim(n, **PROVEN | {"host": host}) for n, host in enumerate(hosts, 1)]
    with django_assert_max_num_queries(30):
        assert client.get(ADD).status_code == 200


def test_a_state_that_needs_an_action_is_read_in_the_order_of_the_claims(client, owner, answers):
    website = factories.make_portal_website(owner.account)
    lapsed, proven = make_claim(1, **PROVEN | LAPSED), make_claim(2, **PROVEN)
    for claims, states in (([proven, lapsed], 1), ([lapsed, proven], 0), ([lapsed], 1), ([proven], 0)):
        answers.claims = claims
        assert client.get(ADD).status_code == 200
        assert ClaimState.objects.filter(website=website).count() == states


def test_a_new_link_replaces_the_old_one(client, owner, answers, page):
    factories.make_portal_website(owner.account, link_id=OTHER_LINK)
    answers.claims = [make_claim(**PROVEN)]
    assert client.get(page).status_code == 302
    assert Website.objects.get().link_id == LINK


@pytest.mark.parametrize("fields", [{"link_id": None}, LAPSED, {"state": "contested"}])
def test_a_claim_that_is_not_verified_or_not_linked_is_not_in_the_list(client, owner, answers, page, fields):
    answers.claims = [make_claim(**PROVEN | fields)]
    assert client.get(page).status_code == 200
    assert client.get(ADD).status_code == 200
    assert not Website.objects.exists()


def test_a_host_of_two_accounts_leads_to_the_dashboard_of_the_right_one(client, owner, answers, page):
    second = factories.make_portal_account("acct_0002")
    factories.make_membership(owner.user, second)
    factories.make_portal_website(second)
    answers.answer = make_claim(**PROVEN)
    assert client.post(f"{page}check/")["Location"] == "/sites/shop.example.com/?account=acct_0001"


NO_ROOM = "Your plan has no room for another website."


@pytest.mark.parametrize(
    ("websites", "is_full"),
    [((4, 5), False), ((5, 5), True), ((6, 5), True), ((5, None), False), (CannotConnect(), False)],
)
def test_the_limit_of_the_plan_is_named_before_the_proof(client, owner, answers, page, websites, is_full):
    answers.websites = websites
    for path in (ADD, page):
        assert (NO_ROOM in text_of(client.get(path))) == is_full


def test_a_missing_payment_is_named_before_the_proof_also_where_the_plan_has_no_room(
    client, owner, answers, page
):
    answers.may_grow, answers.status = False, "past_due"
    for answers.websites in ((1, 5), (5, 5)):
        for path in (ADD, page):
            text = text_of(client.get(path))
            assert "A payment is missing. You can prove the website now; it gets results once" in text
            assert NO_ROOM not in text
    answers.claims = [make_claim(state="verified", link_problem="no_room")]
    text = text_of(client.get(page))
    assert "A payment is missing." in text
    assert "You can prove" not in text


@pytest.mark.parametrize(
    ("fields", "is_named"),
    [
        ({"state": "verified", "link_problem": "no_room"}, True),
        ({"state": "pending"}, True),
        ({"state": "contested", "method": "dns", "strength": "dns"}, True),
        (LAPSED, False),
        (PROVEN, False),
    ],
)
def test_the_page_of_a_claim_names_the_limit_only_while_it_needs_room(
    client, owner, answers, page, fields, is_named
):
    answers.websites = (5, 5)
    factories.make_portal_website(owner.account)
    answers.claims = [make_claim(**fields)]
    text = text_of(client.get(page))
    assert (NO_ROOM in text) == is_named
    assert ("You can prove it now" in text) == (fields["state"] == "pending")


@pytest.mark.parametrize(
    ("may_grow", "status", "starts_in", "words"),
    [
        (False, "suspended", -9, "Your plan is suspended: contact us, then go on here."),
        (False, "suspended", 9, "Your plan is suspended: contact us, then go on here."),
        (False, "expired", -9, "Your plan has ended: renew it or choose another, then go on here."),
        (True, "active", 9, "Your plan has not started yet: go on here from its first day."),
    ],
)
def test_a_plan_under_which_checks_are_refused_is_named_before_the_proof(
    client, owner, answers, page, may_grow, status, starts_in, words
):
    answers.websites = (5, 5)
    answers.may_grow, answers.status = may_grow, status
    answers.starts_on = timezone.localdate() + timedelta(days=starts_in)
    for path in (ADD, page):
        assert words in text_of(client.get(path))
    answers.claims = [make_claim(state="verified", link_problem="no_room")]
    text = text_of(client.get(page))
    assert words in text
    assert "The website is verified, but not active in your organization." in text
    assert "give another website up" not in text


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (CheckTooSoon(retry_after=12), "Check again in 12 seconds."),
        (CheckTooSoon(retry_after=1), "Check again in 1 second."),
        (CheckTooSoon(retry_after=1741), "Many checks were made in this hour. Check again in 30 minutes."),
        (TooManyCalls(), "Check again in 5 seconds."),
        (TimedOut(), "The check is taking longer than usual."),
        (CannotConnect(), "The service cannot be reached."),
        (refused(InactiveEntitlement, plan="pro", status="expired", ends_on=None), "Renew the plan"),
    ],
)
def test_a_check_that_did_not_take_place_says_why(client, owner, answers, page, error, words):
    answers.answer = error
    assert words in text_of(client.post(f"{page}check/", follow=True))


def test_an_ended_claim_leads_to_the_form_for_a_new_one(client, owner, answers, page):
    answers.answer = ClaimEnded()
    for path, fields in ((f"{page}check/", {}), (f"{page}withdraw/", {"reason": "x"})):
        response = client.post(path, fields, follow=True)
        assert response.redirect_chain == [(f"{ADD}?account=acct_0001", 302)]
        assert "Its proof has ended." in text_of(response)


def test_the_page_of_a_claim_that_has_ended_leads_to_the_form_with_its_host(client, owner, answers, page):
    answers.claims = [make_claim(**PROVEN | LAPSED)]
    url = f"{ADD}?account=acct_0001&host=shop.example.com"
    assert f'href="{url}"' in text_of(client.get(page))
    assert 'value="shop.example.com"' in text_of(client.get(url))


def test_giving_up_needs_a_reason_and_removes_the_website_with_its_link(client, owner, answers, page):
    factories.make_portal_website(owner.account)
    answers.answer = make_claim(state="ended", ended_reason="withdrawn")
    for reason in ("", " ", "x" * 501):
        assert "Say why" in text_of(client.post(f"{page}withdraw/", {"reason": reason}, follow=True))
    assert answers == []
    assert client.post(f"{page}withdraw/", {"reason": "Sold"})["Location"] == "/"
    assert answers == [("acct_0001", ClaimWithdrawRequest(claim_id="1", reason="Sold"))]
    assert not Website.objects.exists()


def test_all_owners_get_an_email_about_a_website_that_was_given_up(
    client, owner, answers, page, settings, mailoutbox
):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "smtp://localhost", "https://portal.example.com"
    for role in ("owner", "manager"):
        factories.make_membership(factories.make_user(role), owner.account, role)
    factories.make_portal_website(owner.account)
    answers.answer = make_claim(state="ended", ended_reason="withdrawn")
    client.post(f"{page}withdraw/", {"reason": "Sold"})
    assert [email.to for email in mailoutbox] == [["ada@example.com"], ["owner@example.com"]]
    assert {email.subject for email in mailoutbox} == {"shop.example.com was removed"}
    assert "https://portal.example.com/activity/" in mailoutbox[0].body
    client.post(f"{page}withdraw/", {"reason": "A claim without a website"})
    assert len(mailoutbox) == 2


def test_giving_up_keeps_a_website_whose_link_goes_on_and_those_of_other_accounts(
    client, owner, answers, page
):
    theirs = factories.make_portal_website(factories.make_portal_account("acct_0002"))
    factories.make_portal_website(owner.account)
    answers.answer = make_claim(state="ended", ended_reason="withdrawn", link_id=LINK)
    client.post(f"{page}withdraw/", {"reason": "Twice"})
    assert Website.objects.count() == 2
    answers.answer = make_claim(state="ended", ended_reason="withdrawn")
    client.post(f"{page}withdraw/", {"reason": "Twice"})
    assert Website.objects.get() == theirs


def test_an_error_of_the_service_keeps_its_status_and_the_form(client, owner, answers, page):
    answers.claims = answers.answer = CannotConnect()
    assert client.get(page).status_code == 502
    response = client.get(ADD)
    assert response.status_code == 502
    assert 'name="host"' in text_of(response)
    assert add(client).status_code == 502
    response = client.post(f"{page}withdraw/", {"reason": "x"})
    assert response.status_code == 502
    assert f'href="{page}"' in text_of(response)


def test_what_a_check_found_is_text_and_not_markup(client, owner, answers, page):
    check = make_claim_check(found=["<script>alert(1)</script>"], asked=["https://a/ (192.0.2.1)"])
    answers.claims = [make_claim(checks=[check])]
    response = client.get(page)
    assert "<script>alert" not in response.content.decode()
    assert "<script>alert" in text_of(response)
    assert "https://a/ (192.0.2.1)" in text_of(response)
