"""Owners see the actions in their accounts, and only those."""

import csv
import io
import re

import pytest
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from audit.recording import Acting, Person, Subject, acting, record
from foundation.texts.people import reference_of
from portal.answers import service
from portal.files import places
from portal.models import WebsiteSummary
from signed_api.account import CallsResponse
from tests import factories
from tests.structs import build

pytestmark = pytest.mark.django_db
URL = "/activity/"


@pytest.fixture
def owner(client):
    """The owner of an account with a website, who is signed in."""
    account = factories.make_portal_account()
    factories.make_portal_website(account)
    membership = factories.make_membership(factories.make_user("ada"), account)
    client.force_login(membership.user)
    return membership


def act(action, *, who="ada", kind="person", **fields):
    with acting(Acting(kind=kind, person=lambda: Person(None, who))):
        record(action, **fields)


def text_of(client, query=""):
    response = client.get(URL + query)
    assert response.status_code == 200
    return response.content.decode()


def test_an_owner_sees_members_and_our_team_without_names_of_staff(client, owner):
    act("findings.exported", account="acct_0001", host="shop.example.com")
    act("website.seen_as_customer", who="eve-of-staff", kind="staff", account="acct_0001", reason="Ticket 7")
    text = text_of(client)
    assert "Exported findings" in text
    assert "Viewed your pages" in text
    assert "eve-of-staff" not in text
    assert "Ticket 7" not in text


def test_actions_with_one_name_are_one_filter(client, owner):
    act("scan.cancelled", account="acct_0001", host="shop.example.com")
    act("website.scan_cancelled", account="acct_0001", host="blog.example.com")
    [action] = re.findall(r'<option value="([^"]*)">Cancelled a scan<', text_of(client))
    rows = text_of(client, f"?action={action}").partition('<ul class="rows">')[2]
    assert "shop.example.com" in rows
    assert "blog.example.com" in rows


def test_a_link_is_named_by_its_website_alone(client, owner):
    subject = Subject("link", "1", "shop.example.com for acct_0001")
    act("link.linked", kind="staff", account="acct_0001", host="shop.example.com", subject=subject)
    assert "Activated a website (shop.example.com)" in text_of(client)


def test_plans_and_claims_are_named_without_the_reference_of_the_account(client, owner):
    act("ownership.verified", account="acct_0001", subject=Subject("claim", "1", "new.example of acct_0001"))
    act(
        "admin.changed",
        kind="staff",
        account="acct_0001",
        subject=Subject("plan", "1", "standard of acct_0001"),
    )
    text = text_of(client)
    assert "Found the proof of a website (new.example)" in text
    assert "Changed (standard)" in text
    assert "acct_0001" not in text


def test_an_owner_of_several_accounts_sees_the_name_of_each(client, owner):
    other = factories.make_portal_account("acct_0002", name="Example Press")
    factories.make_membership(owner.user, other)
    act("findings.exported", account="acct_0002")
    text = text_of(client)
    assert "Example Press" in text
    assert "acct_0002" not in text


def test_decisions_about_a_website_are_shown_to_the_accounts_that_have_it(client, owner):
    act("finding.accepted_risk", who="eve", kind="staff", host="shop.example.com")
    act("finding.false_positive", who="eve", kind="staff", host="other.example.com")
    act("admin.changed", who="eve", kind="staff", host="shop.example.com")
    text = text_of(client, "?action=").partition('<ul class="rows">')[2]
    assert "Accepted a risk" in text
    assert "false positive" not in text
    assert "Changed" not in text


def test_a_decision_of_no_account_ends_with_its_time(client, owner):
    other = factories.make_portal_account("acct_0002", name="Example Press")
    factories.make_membership(owner.user, other)
    act("finding.accepted_risk", who="eve", kind="staff", host="shop.example.com")
    assert not re.search(r"·\s*<", text_of(client))


def test_decisions_about_a_website_are_shown_while_the_account_has_it_and_not_those_for_others(client, owner):
    shop = {"kind": "staff", "host": "shop.example.com"}

    def decided(label):
        act("finding.accepted_risk", subject=Subject("finding", "1", label), **shop)

    for account, label in (("acct_0002", "before"), ("acct_0001", "ours"), ("acct_0003", "after")):
        act("link.linked", account=account, **shop)
        decided(label)
        act("link.revoked", account=account, **shop)
    decided("no one's")
    act("link.restored", account="acct_0001", **shop)
    decided("again ours")
    text = text_of(client) + client.get("/activity.csv").getvalue().decode()
    shown = {label for label in ("before", "ours", "after", "no one", "again ours") if f": {label}" in text}
    assert shown == {"ours", "again ours"}


def test_an_account_whose_link_is_no_longer_on_record_sees_decisions_unless_the_link_ended(client, owner):
    act("link.linked", account="acct_0002", host="shop.example.com", kind="staff")
    act("finding.accepted_risk", kind="staff", host="shop.example.com")
    website = owner.account.websites.get()
    WebsiteSummary.objects.store(website, refusal="websites_limit")
    assert "Our team" in text_of(client).partition('class="rows"')[2]
    WebsiteSummary.objects.store(website, refusal="revoked_link")
    assert "Our team" not in text_of(client).partition('class="rows"')[2]


def test_a_former_owner_sees_no_decision_for_later_ones_once_no_link_is_on_record(client, owner):
    """The events of links are deleted after 400 days, and the new owner's link may be older than that."""
    act("finding.accepted_risk", kind="staff", host="shop.example.com")
    website = owner.account.websites.get()
    for refusal in ("revoked_link", "inactive_entitlement"):  # of a plan that ended, too
        WebsiteSummary.objects.store(website, refusal=refusal)
        assert "Our team" not in text_of(client).partition('class="rows"')[2]
    act("link.revoked", account="acct_0001", host="shop.example.com")
    act("finding.false_positive", kind="staff", host="shop.example.com")
    assert "false positive" not in text_of(client).partition('class="rows"')[2]


def test_the_actions_of_other_accounts_are_never_shown(client, owner):
    act("import.stored", who="their token", kind="system", account="acct_0002", host="shop.example.com")
    act("member.invited", who="bob", account="acct_0002")
    text = text_of(client) + client.get("/activity.csv").getvalue().decode()
    assert "their token" not in text
    assert "bob" not in text


def test_the_actions_of_a_deleted_account_are_not_shown_to_a_new_one_with_its_reference(client, owner):
    act("findings.exported", account="acct_0001", host="former.example.com")
    act("account.forgotten", kind="command", account="acct_0001", subject=Subject("account", "acct_0001"))
    act("findings.exported", account="acct_0001", host="shop.example.com")
    for url in (URL, "/activity.csv"):
        response = client.get(url)
        text = b"".join(response).decode()
        assert "shop.example.com" in text
        assert "former.example.com" not in text
        assert "account.forgotten" not in text


@pytest.mark.parametrize("role", ["manager", "viewer"])
def test_other_members_see_nothing(client, owner, role):
    act("findings.exported", account="acct_0001", host="shop.example.com")
    client.force_login(factories.make_membership(factories.make_user(role), owner.account, role).user)
    assert "Only owners see this page" in text_of(client)
    assert len(client.get("/activity.csv").getvalue().splitlines()) == 1


def test_the_filters_leave_what_they_say(client, owner):
    act("findings.exported", account="acct_0001", who="ada")
    act("share_link.created", account="acct_0001", who="bob")
    events = {"ada": "Exported findings", "bob": "Created a share link"}

    def shown(query):
        rows = text_of(client, query).partition('class="rows"')[2]
        return {who for who, words in events.items() if words in rows}

    assert shown("") == {"ada", "bob"}
    assert shown("?action=findings.exported") == {"ada"}
    assert shown("?person=team") == set()
    assert shown(f"?day={timezone.now():%Y-%m-%d}") == {"ada", "bob"}
    assert shown("?day=2020-01-01") == set()
    assert shown("?day=9999-12-31") == set()
    assert client.get(URL + "?person=4711").status_code == 400


def test_the_list_goes_on_on_the_next_page(client, owner):
    for number in range(51):
        act("badge.switched_on", account="acct_0001", subject=Subject("x", str(number), f"badge-{number}."))
    first = text_of(client)
    assert "badge-50." in first
    assert "badge-0." not in first
    query = first.partition('rel="next" href="/activity/')[2].partition('"')[0].replace("&amp;", "&")
    assert "badge-0." in text_of(client, query)


def test_the_file_has_all_actions_and_no_formula(client, owner):
    act("member.invited", account="acct_0001", subject=Person(None, "=cmd()@example.com"))
    response = client.get(reverse("portal:activity_csv"))
    rows = list(csv.DictReader(io.StringIO(response.getvalue().decode("utf-8-sig"))))
    assert [row["about"] for row in rows] == ["'=cmd()@example.com"]
    assert rows[0]["who"] == "ada"
    assert response["Content-Disposition"].startswith('attachment; filename="activity-')


@pytest.mark.parametrize(("file", "page"), [("/activity.csv", URL), ("/api/calls.csv", "/api/calls/")])
def test_another_website_that_opens_a_file_gets_the_page(client, owner, file, page):
    response = client.get(file, {"person": "1"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (response.status_code, response["Location"]) == (302, f"{page}?person=1")


@pytest.mark.parametrize("page", ["/activity.csv", "/api/calls.csv"])
def test_a_file_that_takes_minutes_leaves_the_threads_to_others(client, owner, page, monkeypatch):
    monkeypatch.setattr(service, "get_calls", lambda *_: build(CallsResponse, ok=True, calls=[]))
    first, second = client.get(page), client.get(page)
    assert (first.status_code, second.status_code, second["Retry-After"]) == (200, 503, "5")
    places.hold_place(other := HttpRequest(), -1)
    other.close()
    assert first.getvalue()
    again = client.get(page)
    assert again.status_code == 200
    again.close()


# Answers and messages, which the service records with references of people


def answered(member, action="answer.disputed", *, account="acct_0001", count=74):
    """Record an answer as the service does for a call of the portal."""
    with acting(Acting()):
        record(
            action,
            Subject("dashboard_api.account", "1", account),
            by=reference_of(member.user_id),
            account=account,
            host="shop.example.com",
            after={"findings": count, "first": 7},
        )


def test_answers_have_the_name_of_the_member_and_the_number_of_findings(client, owner):
    answered(owner)
    answered(owner, "message.written", count=1)
    text = text_of(client)
    assert "<b>ada</b>: Disputed findings (shop.example.com: 74 findings)" in text
    assert "<b>ada</b>: Wrote to our analysts (shop.example.com)" in text
    assert "user-" not in text
    rows = csv.DictReader(io.StringIO(client.get("/activity.csv").getvalue().decode("utf-8-sig")))
    assert {row["who"] for row in rows} == {"ada"}


@pytest.mark.parametrize("kind", ["left", "of another account", "unknown"])
def test_a_reference_of_nobody_in_the_account_is_a_former_member(client, owner, kind):
    bob = factories.make_membership(factories.make_user("bob"), factories.make_portal_account("acct_0002"))
    if kind == "left":
        bob = factories.make_membership(bob.user, owner.account)
    answered(bob)
    if kind == "left":
        bob.delete()
    elif kind == "unknown":
        bob.user.delete()
    text = text_of(client)
    assert "<b>A former member</b>: Disputed findings" in text
    assert "bob" not in text


def test_a_member_has_a_name_in_the_own_accounts_alone(client, owner):
    other = factories.make_portal_account("acct_0002", name="Example Press")
    factories.make_membership(owner.user, other)
    bob = factories.make_membership(factories.make_user("bob"), other)
    answered(bob, account="acct_0001")
    answered(bob, account="acct_0002")
    assert re.findall(r"<b>([^<]*)</b>: Disputed", text_of(client)) == ["bob", "A former member"]


def test_a_person_is_one_filter_for_pages_and_answers(client, owner):
    with acting(Acting(kind="person", person=lambda: Person(owner.user_id, "ada"))):
        record("findings.exported", account="acct_0001")
    answered(owner)
    bob = factories.make_membership(factories.make_user("bob"), owner.account, "contributor")
    answered(bob, "answer.fixed")
    people = dict(re.findall(r'<option value="(\d+)">(\w+)<', text_of(client)))
    assert sorted(people.values()) == ["ada", "bob"]

    def shown(person):
        [number] = [number for number, name in people.items() if name == person]
        rows = text_of(client, f"?person={number}").partition('<ul class="rows">')[2]
        labels = ("Exported findings", "Disputed findings", "Said that findings are fixed")
        return [label for label in labels if label in rows]

    assert shown("ada") == ["Exported findings", "Disputed findings"]
    assert shown("bob") == ["Said that findings are fixed"]


def test_decisions_about_disputes_are_of_our_team(client, owner):
    act(
        "case.disagreed",
        who="eve-of-staff",
        kind="staff",
        account="acct_0001",
        host="shop.example.com",
        subject=Subject("dashboard_api.case", "7", "Dispute 7 of acct_0001"),
        reason="Internal words",
    )
    text = text_of(client)
    assert "<b>Our team</b>: Disagreed with a dispute (shop.example.com)" in text
    assert "eve-of-staff" not in text
    assert "Internal words" not in text
