"""The pages of the team, as a browser gets them."""

import re
from datetime import timedelta
from unittest.mock import Mock
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.answers import service
from portal.models import Subscription
from portal.models.members import Invitation, Membership
from portal.sharing import actions as share_links
from portal.team import actions, emails, seats, views
from portal.team.urls import urlpatterns
from signed_api.billing import AccountEntitlement, EntitlementResponse, LimitUse
from signed_api.errors import CannotConnect
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.racing import race
from tests.structs import build

pytestmark = pytest.mark.django_db

TEAM, PROOF, PASSWORD = "/team/", "/accounts/reauthenticate/", "correct horse battery"
OWNER, MANAGER, CONTRIBUTOR, VIEWER = Membership.Role.values
NEW = {"username": "newcomer", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture
def account():
    account = make_portal_account(name="Example Shop")
    make_portal_website(account)
    return account


@pytest.fixture
def members(account):
    """Return one member of each role, and the owner of another account."""
    members = {role: make_membership(make_user(role), account, role) for role in Membership.Role.values}
    other = make_portal_account("acct_0002", name="Another shop")
    return members | {"stranger": make_membership(make_user("stranger"), other, OWNER)}


@pytest.fixture
def browser(members):
    """Return a browser for a member who has just proved who they are, or for a visitor."""

    def browser(name, *, has_proof=True):
        client = Client()
        if name in members:
            client.force_login(members[name].user)
            if has_proof:
                client.post(PROOF, {"password": PASSWORD})
        return client

    return browser


def invite(members, email="new@example.com", role=VIEWER, *, was_emailed=True):
    owner = members[OWNER]
    return actions.invite(owner.account, email, role, by=owner.user, was_emailed=was_emailed)


def link_to(invitation):
    return reverse("portal:join", args=[invitation.token])


def text_of(response):
    words = " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())
    return words.replace("( ", "(").replace(" )", ")")


# Permissions: every URL of these pages, so that none can be forgotten


def urls(members):
    viewer, open_one = members[VIEWER].pk, invite(members)
    return {
        "team": TEAM,
        "invite": reverse("portal:invite", args=[members[OWNER].account_id]),
        "withdraw_invitation": reverse("portal:withdraw_invitation", args=[open_one.pk]),
        "change_role": reverse("portal:change_role", args=[viewer]),
        "remove_member": reverse("portal:remove_member", args=[viewer]),
        "leave_account": reverse("portal:leave_account", args=[viewer]),
        "join": link_to(open_one),
    }


# A redirect to the sign-in is "in", one to another page of the portal is "ok".
RIGHTS = {
    "team": {"GET": "in 200 200 200 200 200", "POST": "405 405 405 405 405 405"},
    "invite": {"GET": "in ok ok ok ok ok", "POST": "in 404 404 404 ok 404"},
    "withdraw_invitation": {"GET": "405 405 405 405 405 405", "POST": "in 404 404 404 ok 404"},
    "change_role": {"GET": "in ok ok ok ok ok", "POST": "in 404 404 404 ok 404"},
    "remove_member": {"GET": "in ok ok ok ok ok", "POST": "in 404 404 404 ok 404"},
    "leave_account": {"GET": "in ok ok ok ok ok", "POST": "in ok 404 404 404 404"},
    "join": {"GET": "200 200 200 200 200 200", "POST": "200 ok ok ok ok ok"},
}
PEOPLE = ("visitor", VIEWER, CONTRIBUTOR, MANAGER, OWNER, "stranger")


def test_the_table_of_permissions_has_every_url():
    assert {pattern.name for pattern in urlpatterns} - {None} == set(RIGHTS)


@pytest.mark.parametrize("number", range(6), ids=PEOPLE)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("name", RIGHTS)
def test_each_role_has_exactly_the_permissions_of_the_table(members, browser, settings, name, method, number):
    settings.EMAIL_URL = "smtp://localhost"
    expected = RIGHTS[name][method].split()[number]
    form = {"email": "new2@example.com", "role": MANAGER}
    response = browser(PEOPLE[number]).generic(
        method,
        urls(members)[name],
        "&".join(f"{field}={value}" for field, value in form.items()),
        content_type="application/x-www-form-urlencoded",
    )
    if response.status_code == 302:
        outcome = "in" if response["Location"].startswith("/accounts/login/") else "ok"
    else:
        outcome = str(response.status_code)
    assert outcome == expected


@pytest.mark.parametrize("name", ["invite", "change_role", "remove_member", "leave_account"])
@pytest.mark.parametrize("number", [0, 2**31, 2**63, 10**30])
def test_an_unknown_id_is_not_found(browser, name, number):
    assert browser(OWNER).post(reverse(f"portal:{name}", args=[number]), {"role": OWNER}).status_code == 404


# The page


def test_an_owner_sees_members_invitations_and_changes(members, browser):
    invite(members, role=MANAGER)
    page = text_of(browser(OWNER).get(TEAM))
    for words in (
        "Example Shop",
        "manager@example.com",
        "owner (you)",
        "The only owner",
        "new@example.com invited as Manager, until",
        "Invite a person",
        "owner invited new@example.com as Manager",
    ):
        assert words in page
    assert "stranger" not in page
    assert "Another shop" not in page


def test_a_manager_sees_the_members_and_no_way_to_change_them(members, browser):
    response = browser(MANAGER).get(TEAM)
    assert "viewer@example.com" in text_of(response)
    assert 'action="/team/' not in response.content.decode()


@pytest.mark.parametrize("role", [CONTRIBUTOR, VIEWER])
def test_a_contributor_or_viewer_reads_who_sees_the_team(members, browser, role):
    page = text_of(browser(role).get(TEAM))
    assert "Only owners and managers" in page
    assert "manager@example.com" not in page


def test_the_page_takes_as_many_queries_for_many_members(
    account, members, browser, django_assert_max_num_queries
):
    for number in range(30):
        make_membership(make_user(f"person{number}"), account, OWNER if number % 2 else VIEWER)
    client = browser(OWNER)
    client.get(TEAM)  # the first visit keeps the language, too
    with django_assert_max_num_queries(10):
        client.get(TEAM)


# A fresh proof of identity

PROVED = {
    "invite": ("invite", OWNER, {"email": "new@example.com", "role": VIEWER}, "is invited as Viewer."),
    "invite an owner": ("invite", OWNER, {"email": "new@example.com", "role": OWNER}, "is invited as Owner."),
    "make an owner": ("change_role", VIEWER, {"role": OWNER}, "The role of viewer is changed."),
    "take the role": ("change_role", "second", {"role": VIEWER}, "The role of second is changed."),
    "remove": ("remove_member", MANAGER, {}, "manager is no longer a member of Example Shop."),
    "leave": ("leave_account", OWNER, {}, "You are no longer a member of Example Shop."),
}


@pytest.fixture
def act(members, account, settings):
    """Return a function that sends a form about a member, and one that reads what forms can change."""
    settings.EMAIL_URL = "smtp://localhost"
    members["second"] = make_membership(make_user("second"), account, OWNER)

    def act(client, name, about, form):
        number = account.pk if name == "invite" else members[about].pk
        return client.post(reverse(f"portal:{name}", args=[number]), form)

    return act


def state():
    rows = Membership.objects.values_list("user__username", "role"), Invitation.objects.values_list("role")
    return [sorted(each) for each in rows]


@pytest.mark.parametrize(("name", "about", "form", "words"), PROVED.values(), ids=PROVED)
def test_what_decides_who_is_in_an_account_waits_for_a_proof_of_identity(
    browser, act, name, about, form, words
):
    client, before = browser(OWNER, has_proof=False), state()
    asked = act(client, name, about, form)["Location"]
    assert urlsplit(asked).path == PROOF
    form_of_proof = client.get(asked).text.partition(f'action="{PROOF}"')[2]
    path = re.search(r'name="next" value="([^"]+)"', form_of_proof)[1]
    assert client.post(PROOF, {"password": "wrong", "next": path}).status_code == 200
    assert state() == before
    done = client.post(PROOF, {"password": PASSWORD, "next": path}, follow=True)
    page = "/accounts/" if name == "leave_account" else TEAM
    assert done.redirect_chain == [(page, 302)]
    assert words in text_of(done)
    assert state() != before
    again = client.get(path, follow=True)
    assert again.redirect_chain == [(page, 302)]
    assert "Nothing more was changed. If it is not done yet, please send the form again." in text_of(again)


def test_of_two_forms_that_wait_for_a_proof_the_lost_one_says_so(browser, act):
    client = browser(OWNER, has_proof=False)
    first, second = (
        parse_qs(urlsplit(act(client, "remove_member", name, {})["Location"]).query)["next"][0]
        for name in (VIEWER, MANAGER)
    )
    lost = client.post(PROOF, {"password": PASSWORD, "next": first}, follow=True)
    assert "Nothing more was changed. If it is not done yet, please send the form again." in text_of(lost)
    lost = client.post(PROOF, {"password": PASSWORD, "next": second}, follow=True)
    assert "Nothing more was changed. If it is not done yet, please send the form again." in text_of(lost)
    assert Membership.objects.count() == len(PEOPLE)  # no visitor, but a second owner


def test_other_roles_change_without_a_proof(browser, act):
    assert act(browser(OWNER, has_proof=False), "change_role", VIEWER, {"role": MANAGER})["Location"] == TEAM


def test_a_form_that_is_refused_after_the_proof_keeps_the_input_and_can_be_sent_again(
    members, browser, act, monkeypatch
):
    client, form = browser(OWNER, has_proof=False), {"email": "new@example.com", "role": OWNER}
    act(client, "invite", OWNER, form)
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    with monkeypatch.context() as context:
        context.setattr(seats, "of", lambda _: seats.Seats(limit=4))
        page = client.post(PROOF, {"password": PASSWORD, "next": address})
    assert "Your plan has 4 seats" in text_of(page)
    assert 'value="new@example.com"' in page.content.decode()
    assert f'action="{address}"' in page.content.decode()
    assert act(client, "invite", OWNER, form)["Location"] == TEAM


# The e-mail about a new owner


@pytest.mark.parametrize(
    ("language", "subject"),
    [
        ("en", "newcomer is now an owner of Example Shop"),
        ("de", "newcomer ist jetzt Inhaber von Example Shop"),
    ],
)
def test_the_other_owners_get_an_email_about_a_person_who_joined_as_owner(
    members, browser, settings, django_capture_on_commit_callbacks, language, subject
):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "smtp://localhost", "https://portal.example.com"
    Subscription.objects.create(membership=members[OWNER], language=language)
    link = link_to(invite(members, role=OWNER))
    with django_capture_on_commit_callbacks(execute=True):
        browser("visitor").post(link, NEW)
    [email] = mail.outbox
    assert (email.to, email.subject) == (["owner@example.com"], subject)
    assert "https://portal.example.com/team/" in email.body


@pytest.mark.parametrize(("role", "receivers"), [(OWNER, ["owner", "second"]), (MANAGER, [])])
def test_the_other_owners_get_an_email_about_a_member_who_becomes_an_owner(
    browser, act, django_capture_on_commit_callbacks, role, receivers
):
    with django_capture_on_commit_callbacks(execute=True):
        act(browser(OWNER), "change_role", VIEWER, {"role": role})
    assert sorted(email.to[0] for email in mail.outbox) == [f"{name}@example.com" for name in receivers]


@pytest.mark.parametrize("failing", ["open", "send_messages"])
def test_a_mail_server_that_fails_stops_no_new_owner(
    members, browser, act, monkeypatch, django_capture_on_commit_callbacks, caplog, failing
):
    monkeypatch.setattr(f"django.core.mail.backends.locmem.EmailBackend.{failing}", Mock(side_effect=OSError))
    with django_capture_on_commit_callbacks(execute=True):
        done = act(browser(OWNER), "change_role", VIEWER, {"role": OWNER})
    assert done["Location"] == TEAM
    assert Membership.objects.get(pk=members[VIEWER].pk).role == OWNER
    assert "sent: OSError" in caplog.text


# Roles, removing, leaving


def test_a_new_role_and_a_removal_take_effect_on_the_next_request(members, browser):
    owner, viewer = browser(OWNER), browser(VIEWER)
    assert "shop.example.com" in text_of(viewer.get("/"))
    pk = members[VIEWER].pk
    done = owner.post(reverse("portal:change_role", args=[pk]), {"role": MANAGER}, follow=True)
    assert "The role of viewer is changed." in text_of(done)
    assert "owner@example.com" in text_of(viewer.get(TEAM))
    done = owner.post(reverse("portal:remove_member", args=[pk]), follow=True)
    assert "viewer is no longer a member of Example Shop." in text_of(done)
    assert "shop.example.com" not in text_of(viewer.get("/"))
    assert viewer.get("/sites/shop.example.com/").status_code == 404


def test_a_removed_owner_has_no_permissions(members, browser, account):
    second = make_membership(make_user("second"), account, OWNER)
    client = Client()
    client.force_login(second.user)
    client.post(PROOF, {"password": PASSWORD})
    assert "Invite a person" in text_of(client.get(TEAM))
    browser(OWNER).post(reverse("portal:remove_member", args=[second.pk]))
    assert client.post(reverse("portal:remove_member", args=[members[VIEWER].pk])).status_code == 404


@pytest.mark.parametrize("act", ["remove_member", "change_role"])
def test_who_ends_the_role_of_an_owner_reads_what_that_person_may_still_have(members, browser, account, act):
    second = make_membership(make_user("second"), account, OWNER)
    owner = browser(OWNER)
    for member, is_advised in ((second, True), (members[VIEWER], False)):
        url = reverse(f"portal:{act}", args=[member.pk])
        done = owner.post(url, {"role": MANAGER}, follow=True)
        assert ("may know API secrets of Example Shop" in text_of(done)) == is_advised


def test_a_contributor_is_invited_with_the_words_for_the_role(members, browser, settings):
    settings.EMAIL_URL = "smtp://localhost"
    owner, form = browser(OWNER), {"email": "new@example.com", "role": CONTRIBUTOR}
    page = text_of(owner.get(TEAM))
    assert "Contributors say what will be done about findings, and write to analysts." in page
    done = owner.post(reverse("portal:invite", args=[members[OWNER].account_id]), form, follow=True)
    assert "new@example.com is invited as Contributor." in text_of(done)


def test_a_contributor_is_led_to_no_page_about_members_plan_or_api(members, browser):
    page = browser(CONTRIBUTOR).get("/").text
    assert [url in page for url in ('"/team/"', '"/plan/"', '"/api/"', '"/websites/add/"')] == [False] * 4


@pytest.mark.parametrize("act", ["remove_member", "change_role"])
def test_who_ends_the_role_of_a_manager_reads_that_their_links_still_work(members, browser, account, act):
    website = make_portal_website(account, "with-links.example.com")
    share_links.create(website, share_links.Subject(title="Old library"), by=members[MANAGER].user, days=7)
    renamed = members[MANAGER].user
    renamed.username = "renamed"
    renamed.save()
    urls = [reverse(f"portal:{act}", args=[members[role].pk]) for role in (VIEWER, MANAGER)]
    texts = [text_of(browser(OWNER).post(url, {"role": CONTRIBUTOR}, follow=True)) for url in urls]
    words = "Share links that renamed made still work"
    assert [words in text for text in texts] == [False, True]


def test_leaving_takes_effect_on_the_next_request(members, browser):
    viewer = browser(VIEWER)
    done = viewer.post(reverse("portal:leave_account", args=[members[VIEWER].pk]), follow=True)
    assert "You are no longer a member of Example Shop." in text_of(done)
    assert "No websites yet" in text_of(viewer.get("/"))


def test_the_only_owner_sees_why_nothing_changed(members, browser):
    owner, pk = browser(OWNER), members[OWNER].pk
    for name, form in (("change_role", {"role": VIEWER}), ("remove_member", {}), ("leave_account", {})):
        done = owner.post(reverse(f"portal:{name}", args=[pk]), form, follow=True)
        assert "make another member an owner first" in text_of(done)
    assert Membership.objects.get(pk=pk).role == OWNER


@pytest.mark.parametrize("role", ["", "king", "OWNER"])
def test_a_role_that_is_none_is_refused(members, browser, role):
    response = browser(OWNER).post(reverse("portal:change_role", args=[members[VIEWER].pk]), {"role": role})
    assert response.status_code == 400
    assert Membership.objects.get(pk=members[VIEWER].pk).role == VIEWER


def test_the_account_page_lists_memberships_and_how_to_leave(members, browser):
    page = browser(VIEWER).get("/accounts/").content.decode()
    assert "Sees the websites." in page
    assert reverse("portal:leave_account", args=[members[VIEWER].pk]) in page
    assert f'href="{TEAM}' not in page
    own = browser(OWNER).get("/accounts/").content.decode()
    assert f'href="{TEAM}#account-' in own
    assert reverse("portal:leave_account", args=[members[OWNER].pk]) not in own


# Inviting


def test_with_a_mail_server_only_the_address_gets_the_link(members, browser, settings):
    settings.EMAIL_URL = "smtp://localhost"
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    done = browser(OWNER).post(address, {"email": "New@Example.com", "role": VIEWER}, follow=True)
    assert "new@example.com is invited as Viewer." in text_of(done)
    [email] = mail.outbox
    assert email.to == ["new@example.com"]
    assert "Your role there: Viewer." in email.body
    assert "owner invites you to Example Shop" in email.body
    path = link_to(Invitation.objects.get())
    assert f"http://testserver{path}" in email.body
    assert Invitation.objects.get().token not in done.content.decode()


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("new@stra\u00dfe.example", ["new@xn--strae-oqa.example"]),
        ("new@exa\u00admple.com", ["new@example.com"]),
        ("new@" + "\u00fc" * 60 + ".example", []),
        ("new@[127.0.0.1]", []),
    ],
)
def test_an_invitation_goes_to_the_host_that_the_owner_typed_or_nowhere(
    members, browser, settings, typed, sent
):
    settings.EMAIL_URL = "smtp://localhost"
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    response = browser(OWNER).post(address, {"email": typed, "role": VIEWER})
    assert response.status_code == (302 if sent else 200)
    assert [invitation.email for invitation in Invitation.objects.all()] == sent
    assert [email.to for email in mail.outbox] == [[address] for address in sent]


def test_no_mail_program_makes_a_link_of_the_names_in_the_email_to_a_stranger(members, browser, settings):
    settings.EMAIL_URL = "smtp://localhost"
    owner = members[OWNER]
    owner.account.name = (
        "Prize at https://evil.example/now or win@evil\u3002example, http://192.0.2.7, www.1and1.example, "
        "St. Gallen 2.0"
    )
    owner.account.save()
    owner.user.username = "www.evil.example"
    owner.user.save()
    browser(OWNER).post(
        reverse("portal:invite", args=[owner.account_id]), {"email": "new@example.com", "role": VIEWER}
    )
    [email] = mail.outbox
    name = "Prize at https evil example/now or win evil example, http 192.0.2.7, www 1and1 example, "
    name += "St. Gallen 2.0"
    assert email.subject == f"You are invited to {name}"
    for text in (email.body, email.alternatives[0][0]):
        assert f"www evil example invites you to {name}" in text


def test_without_a_mail_server_the_owner_is_shown_the_link_once(members, browser, settings):
    settings.EMAIL_URL = ""
    owner = browser(OWNER)
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    response = owner.post(address, {"email": "new@example.com", "role": VIEWER})
    invitation = Invitation.objects.get()
    assert f"http://testserver{link_to(invitation)}" in response.content.decode()
    assert "The role: Viewer." in text_of(response)
    assert invitation.token not in owner.get(TEAM).content.decode()
    assert mail.outbox == []
    assert not invitation.was_emailed


def test_a_failed_email_withdraws_the_invitation_and_shows_a_message(members, browser, settings, monkeypatch):
    settings.EMAIL_URL = "smtp://localhost"

    def refuse(*_, **__):
        raise ConnectionRefusedError

    monkeypatch.setattr(emails.with_link, "send", refuse)
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    response = browser(OWNER).post(address, {"email": "new@example.com", "role": VIEWER})
    assert "could not be sent" in text_of(response)
    assert Invitation.objects.get().closed_at


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"email": "nonsense", "role": VIEWER}, "Enter a valid email address."),
        ({"email": "new@example.com\nBcc: all@example.com", "role": VIEWER}, "Enter a valid email address."),
        ({"email": "", "role": VIEWER}, "This field is required."),
        ({"email": "new@example.com", "role": "king"}, "Select a valid choice."),
        ({"email": "VIEWER@example.com", "role": VIEWER}, "This person is already a member."),
    ],
)
def test_an_invalid_invitation_shows_an_error_and_keeps_the_input(members, browser, form, words):
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    response = browser(OWNER).post(address, form)
    assert words in text_of(response)
    assert Invitation.objects.count() == 0


@pytest.mark.parametrize(
    ("own_seats", "words"),
    [
        (seats.Seats(limit=3), "Your plan has 3 seats, and all are taken by members and open invitations."),
        (seats.Seats(may_grow=False), "A payment is missing, or your plan is not active"),
    ],
)
def test_an_owner_learns_why_no_person_can_be_invited_and_the_way_out(
    members, browser, monkeypatch, own_seats, words
):
    monkeypatch.setattr(seats, "of", lambda _: own_seats)
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    response = browser(OWNER).post(address, {"email": "new@example.com", "role": VIEWER})
    assert words in text_of(response)
    assert 'href="/plan/"' in response.content.decode()
    assert not Invitation.objects.exists()


def test_the_seats_are_those_of_the_plan_and_without_an_answer_there_is_no_limit(account, monkeypatch):
    day = timezone.now().date()
    own = build(AccountEntitlement, plan="team", status="active", ends_on=day, usable_until=day)
    limits = [build(LimitUse, name="websites", limit=5), build(LimitUse, name="seats", limit=2)]
    plan = build(EntitlementResponse, ok=True, entitlement=own, limits=limits)
    monkeypatch.setattr(service, "get_entitlement", lambda _: plan)
    assert seats.of(account) == seats.Seats(limit=2)
    monkeypatch.setattr(service, "get_entitlement", lambda _: build(EntitlementResponse, ok=True))
    assert seats.of(account) == seats.Seats(may_grow=False)
    monkeypatch.setattr(service, "get_entitlement", Mock(side_effect=CannotConnect))
    assert seats.of(account) == seats.UNLIMITED


def test_an_address_is_a_members_however_it_is_capitalised(account, members, browser):
    make_membership(make_user("ada", email="Ada@Example.com"), account, VIEWER)
    address = reverse("portal:invite", args=[account.pk])
    response = browser(OWNER).post(address, {"email": "ADA@example.com", "role": VIEWER})
    assert "This person is already a member." in text_of(response)


def test_a_member_of_another_account_can_be_invited(members, browser, settings):
    settings.EMAIL_URL = "smtp://localhost"
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    done = browser(OWNER).post(address, {"email": "stranger@example.com", "role": VIEWER}, follow=True)
    assert "stranger@example.com is invited as Viewer." in text_of(done)


def test_an_invitation_link_ignores_the_host_header(members, browser, settings, mailoutbox):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "smtp://localhost", "https://portal.example.com"
    path = reverse("portal:invite", args=[members[OWNER].account_id])
    browser(OWNER).post(path, {"email": "new@example.com", "role": VIEWER}, HTTP_HOST="localhost:6666")
    assert "https://portal.example.com/invitations/" in mailoutbox[0].body
    assert "6666" not in mailoutbox[0].body


def test_a_day_has_room_for_twenty_invitations_of_an_account(members, browser, settings):
    settings.EMAIL_URL = "smtp://localhost"
    for number in range(20):
        invite(members, f"person{number}@example.com")
    address = reverse("portal:invite", args=[members[OWNER].account_id])
    response = browser(OWNER).post(address, {"email": "one.more@example.com", "role": VIEWER})
    assert "many invitations today" in text_of(response)
    Invitation.objects.update(created_at=Invitation.objects.first().created_at - timedelta(days=1))
    assert browser(OWNER).post(address, {"email": "one.more@example.com", "role": VIEWER}).status_code == 302


# Joining


def test_a_new_person_chooses_a_name_and_a_password_and_is_signed_in(members, browser):
    link = link_to(invite(members, role=MANAGER))
    client = browser("visitor")
    assert "Join Example Shop" in text_of(client.get(link))
    assert client.post(link, NEW)["Location"] == "/"
    assert "shop.example.com Example Shop" in text_of(client.get("/"))
    person = get_user_model().objects.get(username="newcomer")
    assert person.email == "new@example.com"
    assert person.check_password(NEW["password1"])
    assert not person.is_staff


def test_an_invited_person_without_a_seat_learns_so_and_the_link_still_works(members, browser, monkeypatch):
    link = link_to(invite(members))
    with monkeypatch.context() as context:
        context.setattr(seats, "of", lambda _: seats.Seats(limit=3))
        response = browser("visitor").post(link, NEW)
    assert (response.status_code, "All seats are taken" in text_of(response)) == (409, True)
    assert not get_user_model().objects.filter(username="newcomer").exists()
    assert browser("visitor").post(link, NEW)["Location"] == "/"


def test_a_link_works_once(members, browser):
    link = link_to(invite(members))
    browser("visitor").post(link, NEW)
    for method in ("get", "post"):
        again = getattr(browser("visitor"), method)(link, NEW | {"username": "second"})
        assert again.status_code == 404
        assert "does not work" in text_of(again)
    assert not get_user_model().objects.filter(username="second").exists()


def test_a_signed_in_person_joins_with_their_user(members, browser):
    link = link_to(invite(members))
    client = browser("stranger")
    page = text_of(client.get(link))
    assert "You are signed in as stranger" in page
    assert "Your role there: Viewer." in page
    client.post(link)
    assert "shop.example.com" in text_of(client.get("/"))


def test_a_member_who_keeps_their_role_does_not_read_that_of_the_invitation(members, browser):
    page = text_of(browser(VIEWER).get(link_to(invite(members, role=OWNER))))
    assert "You are already a member, and keep your role." in page
    assert "Your role there" not in page


def test_without_a_free_seat_no_password_is_hashed(members, browser, monkeypatch):
    link, hashed = link_to(invite(members)), []
    monkeypatch.setattr(seats, "of", lambda _: seats.Seats(limit=1))
    monkeypatch.setattr(get_user_model(), "set_password", lambda *_: hashed.append(True))
    assert browser("visitor").post(link, NEW).status_code == 409
    assert not hashed


def test_an_existing_user_is_sent_to_the_sign_in_and_back(members, browser):
    link = link_to(invite(members, "stranger@example.com"))
    client = browser("visitor")
    page = client.get(link)
    assert "You already have a user name here" in text_of(page)
    assert 'type="password"' not in page.content.decode()
    sign_in = re.search(r'href="(/accounts/login/[^"]*)"', page.content.decode())[1]
    done = client.post(
        urlsplit(sign_in).path,
        {"login": "stranger", "password": "correct horse battery", "next": link},
    )
    assert done["Location"] == link
    assert client.post(link, NEW)["Location"] == "/"
    assert not get_user_model().objects.filter(username="newcomer").exists()


def test_a_person_who_signed_up_meanwhile_by_another_link_is_sent_to_the_sign_in(
    members, browser, monkeypatch
):
    def save(form, commit):
        make_user("quicker", email="New@example.com")
        return get_user_model()(username="newcomer")

    link = link_to(invite(members))
    monkeypatch.setattr(views.JoinForm, "save", save)
    page = text_of(browser("").post(link, NEW))
    assert "You already have a user name here, with the address new@example.com." in page
    assert get_user_model().objects.filter(email__iexact="new@example.com").count() == 1


@pytest.mark.parametrize("was_emailed", [True, False])
def test_a_name_that_was_taken_since_the_form_was_checked_is_an_error_of_the_form(
    members, browser, monkeypatch, was_emailed
):
    def save(form, commit):
        make_user("newcomer")
        return get_user_model()(username="newcomer")

    link = link_to(invite(members, was_emailed=was_emailed))
    with monkeypatch.context() as context:
        context.setattr(views.JoinForm, "save", save)
        page = browser("").post(link, NEW)
    assert page.status_code == 200
    assert "This user name is taken." in text_of(page)
    assert browser("").post(link, NEW | {"username": "another"})["Location"] == "/"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("was_emailed", [True, False])
def test_a_form_that_is_sent_twice_at_once_makes_one_member(members, browser, was_emailed):
    link = link_to(invite(members, was_emailed=was_emailed))
    clients = [browser("visitor") for _ in range(3)]
    answers = race(lambda number: clients[number].post(link, NEW).status_code, times=3)
    assert answers.count(302) == 1
    assert set(answers) <= {200, 302, 404}
    assert get_user_model().objects.filter(username="newcomer").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_signed_in_person_who_joins_twice_at_once_is_one_member(account, members, browser):
    link = link_to(invite(members))
    clients = [browser("stranger") for _ in range(3)]
    answers = race(lambda number: clients[number].post(link).status_code, times=3)
    assert 302 in answers
    assert set(answers) <= {302, 404}
    assert account.memberships.filter(user=members["stranger"].user).count() == 1


def test_a_shared_link_does_not_reveal_users_and_proves_no_address(members, browser):
    link = link_to(invite(members, "stranger@example.com", was_emailed=False))
    client = browser("visitor")
    assert "You already have a user name here" not in text_of(client.get(link))
    client.post(link, NEW)
    assert get_user_model().objects.get(username="newcomer").email == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"username": "stranger@example.com"}, "without the @ sign"),
        ({"username": "Stranger"}, "is taken"),
        ({"password1": "short", "password2": "short"}, "too short"),
        ({"password1": "password1234", "password2": "password1234"}, "too common"),
        ({"password2": "something else entirely"}, "match"),
    ],
)
def test_an_invalid_name_or_password_shows_an_error(members, browser, fields, words):
    link = link_to(invite(members))
    page = browser("visitor").post(link, NEW | fields)
    assert words in text_of(page)
    assert list(page.context["form"].errors) == list(fields)[:1]
    assert not get_user_model().objects.filter(username="newcomer").exists()
    assert browser("visitor").post(link, NEW).status_code == 302


def test_joining_takes_no_more_than_was_offered(members, browser):
    link = link_to(invite(members, role=VIEWER))
    browser("visitor").post(
        link, NEW | {"is_staff": "on", "is_superuser": "on", "role": OWNER, "email": "x@y.z"}
    )
    person = get_user_model().objects.get(username="newcomer")
    assert (person.is_staff, person.is_superuser, person.email) == (False, False, "new@example.com")
    assert person.memberships.get().role == VIEWER


def test_a_password_never_appears_in_an_error_report(members, browser, settings, monkeypatch, mailoutbox):
    settings.ADMINS = [("Operator", "operator@example.com")]
    monkeypatch.setattr(actions, "accept", lambda *_, **__: 1 / 0)
    client = browser("visitor")
    client.raise_request_exception = False
    assert client.post(link_to(invite(members)), NEW).status_code == 500
    assert "ZeroDivisionError" in mailoutbox[0].body
    assert NEW["password1"] not in mailoutbox[0].body
    assert not get_user_model().objects.filter(username="newcomer").exists()
