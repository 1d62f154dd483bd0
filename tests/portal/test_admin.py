import re

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from config.admin_pages.staff_groups import create_groups
from portal.models import Account, Membership, Website
from portal.sharing import actions as sharing
from portal.team import actions
from tests.factories import (
    SECRET,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
)

pytestmark = pytest.mark.django_db

LINK_ID = "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e"
OTHER_LINK_ID = "00000000-8f7e-4f57-9a3b-0d4a5b6c7d8e"
CANARY = "canary-0123456789abcdef"


@pytest.fixture
def operator(client):
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    return client


def page(name, *args, **query):
    return reverse(f"admin:portal_{name}", args=args, query=query or None)


def account_form(*, websites=(), members=(), **fields):
    """Return the data of an account's form."""
    data = {"ref": "acct_0001", "name": "", "secret": ""} | fields
    for prefix, rows in (("websites", websites), ("memberships", members), ("membership_changes", ())):
        data |= {f"{prefix}-TOTAL_FORMS": len(rows), f"{prefix}-INITIAL_FORMS": 0}
        for number, row in enumerate(rows):
            data |= {f"{prefix}-{number}-{name}": value for name, value in row.items()}
    return data


def test_account_is_added_with_its_secret_websites_and_members(operator):
    owner = make_user("owner")
    form = account_form(
        secret=CANARY,
        websites=[{"host": "München.example.", "link_id": LINK_ID}],
        members=[{"user": owner.pk, "role": "owner"}],
    )
    response = operator.post(page("account_add"), form)
    assert response.status_code == 302
    account = Account.objects.get()
    assert account.reveal_secret() == CANARY
    assert [website.host for website in account.websites.all()] == ["xn--mnchen-3ya.example"]
    assert [member.user for member in account.memberships.all()] == [owner]


def test_changes_by_operators_are_recorded(operator):
    account, ada, bob = make_portal_account(), make_user("ada"), make_user("bob")
    operator.post(page("membership_add"), {"user": ada.pk, "account": account.pk, "role": "viewer"})
    ada_joined = account.memberships.get()
    operator.post(page("membership_change", ada_joined.pk), {"role": "owner", "user": bob.pk})
    operator.post(page("membership_change", ada_joined.pk), {"role": "owner"})
    operator.post(
        page("account_change", account.pk), account_form(members=[{"user": bob.pk, "role": "viewer"}])
    )
    operator.post(page("membership_delete", ada_joined.pk), {"post": "yes"})
    pks = [membership.pk for membership in account.memberships.all()]
    operator.post(
        page("membership_changelist"),
        {"action": "delete_selected", "_selected_action": pks, "post": "yes"},
    )
    assert [str(change) for change in reversed(account.membership_changes.all())] == [
        "an operator: joined ada viewer",
        "an operator: role ada owner",
        "an operator: joined bob viewer",
        "an operator: removed ada",
        "an operator: removed bob",
    ]
    page_text = operator.get(page("account_change", account.pk)).content.decode()
    assert "Changes of members" in page_text


@pytest.mark.parametrize("way", ["page", "list", "deactivated", "renamed"])
def test_the_open_invitations_of_a_person_end_when_operators_end_their_sign_in(operator, way):
    account = make_portal_account()
    owner, other = (make_membership(make_user(name), account, "owner") for name in ("owner", "other"))
    for person in (owner, other):
        actions.invite(account, f"{person.user}@example.org", "owner", by=person.user, was_emailed=True)
    actions.invite(account, owner.user.email, "owner", by=other.user, was_emailed=True)
    pk = owner.user_id
    if way == "page":
        operator.post(f"/admin/auth/user/{pk}/delete/", {"post": "yes"})
    elif way == "list":
        selected = {"action": "delete_selected", "_selected_action": [pk], "post": "yes"}
        operator.post("/admin/auth/user/", selected)
    else:
        name = "owner-blocked" if way == "renamed" else "owner"
        form = {"username": name, "date_joined_0": "2026-11-01", "date_joined_1": "10:00:00"}
        operator.post(f"/admin/auth/user/{pk}/change/", form)
        assert not User.objects.get(pk=pk).is_active
    assert [invitation.email for invitation in account.invitations.open(at=timezone.now())] == [
        "other@example.org"
    ]


@pytest.mark.parametrize("way", ["row", "page", "list", "demoted"])
def test_the_open_invitations_of_an_owner_end_when_operators_end_the_role(operator, way):
    account = make_portal_account()
    owner, other = (make_membership(make_user(name), account, "owner") for name in ("owner", "other"))
    for person in (owner, other):
        actions.invite(account, f"{person.user}@example.org", "owner", by=person.user, was_emailed=True)
    actions.invite(account, owner.user.email, "owner", by=other.user, was_emailed=True)
    rows = account_form(members=[{"id": owner.pk, "account": account.pk, "DELETE": "on"}])
    selected = {"action": "delete_selected", "_selected_action": [owner.pk], "post": "yes"}
    address, form = {
        "row": (page("account_change", account.pk), rows | {"memberships-INITIAL_FORMS": 1}),
        "page": (page("membership_delete", owner.pk), {"post": "yes"}),
        "list": (page("membership_changelist"), selected),
        "demoted": (page("membership_change", owner.pk), {"role": "manager"}),
    }[way]
    operator.post(address, form)
    assert list(account.memberships.owners()) == [other]
    assert [invitation.email for invitation in account.invitations.open(at=timezone.now())] == [
        "other@example.org"
    ]
    assert "an operator: withdrawn owner@example.org" in map(str, account.membership_changes.all())


def test_changes_of_websites_on_the_page_of_their_account_are_on_record(operator):
    account = make_portal_account()

    def send(**website):
        rows = account_form(websites=[{"host": "shop.example.com", "link_id": LINK_ID} | website])
        rows["websites-INITIAL_FORMS"] = int("id" in website)
        rows["websites-0-account"] = account.pk
        assert operator.post(page("account_change", account.pk), rows).status_code == 302

    send()
    website = account.websites.get()
    send(id=website.pk, link_id=OTHER_LINK_ID)
    send(id=website.pk, link_id=OTHER_LINK_ID, DELETE="on")
    assert not account.websites.exists()
    events = AuditEvent.objects.filter(object_type="portal.website").order_by("pk")
    assert [(event.action, event.account, event.host, event.object_id) for event in events] == [
        (f"admin.{verb}", "acct_0001", "shop.example.com", str(website.pk))
        for verb in ("added", "changed", "deleted")
    ]
    assert (events[1].before, events[1].after) == ({"link_id": LINK_ID}, {"link_id": OTHER_LINK_ID})


def test_account_with_members_and_their_record_can_be_deleted(operator):
    account = make_portal_account()
    membership = make_membership(make_user("ada"), account)
    account.membership_changes.create(action="joined", person="ada")
    operator.post(page("account_delete", account.pk), {"post": "yes"})
    assert not Account.objects.exists()
    assert not Membership.objects.filter(pk=membership.pk).exists()


def test_secret_is_never_rendered_back(operator):
    account = make_portal_account(secret=CANARY)
    page_text = operator.get(page("account_change", account.pk)).content.decode()
    page_text += operator.post(
        page("account_change", account.pk), account_form(secret=CANARY, ref="")
    ).content.decode()
    operator.post(page("account_change", account.pk), account_form(secret=CANARY))
    page_text += operator.get(page("account_history", account.pk)).content.decode()
    page_text += operator.get(page("account_changelist")).content.decode()
    assert 'name="secret"' in page_text
    assert CANARY not in page_text
    assert account.sealed_secret not in page_text


@pytest.mark.parametrize("secret", ["", "too-short", " 0123456789abcdef"])
def test_account_is_not_added_without_a_usable_secret(operator, secret):
    response = operator.post(page("account_add"), account_form(secret=secret))
    assert response.status_code == 200
    assert "secret" in response.context["adminform"].form.errors
    assert not Account.objects.exists()


def test_account_of_the_environment_is_added_without_a_secret(operator, settings):
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", CANARY
    operator.post(page("account_add"), account_form())
    assert Account.objects.get().sealed_secret == ""


def test_account_gets_the_new_secret_that_is_typed(operator):
    account = make_portal_account(secret=SECRET)
    operator.post(page("account_change", account.pk), account_form(secret=CANARY))
    account.refresh_from_db()
    assert account.reveal_secret() == CANARY


def test_secret_never_appears_in_an_error_report(operator, settings, monkeypatch, mailoutbox):
    settings.ADMINS = [("Operator", "operator@example.com")]
    monkeypatch.setattr(Account, "full_clean", lambda *_, **__: 1 / 0)
    operator.raise_request_exception = False
    assert operator.post(page("account_add"), account_form(secret=CANARY)).status_code == 500
    [report] = mailoutbox
    assert "ZeroDivisionError" in report.body
    assert CANARY not in report.body


def test_two_ways_to_write_one_host_are_an_error_of_the_form(operator):
    websites = [{"host": host, "link_id": LINK_ID} for host in ("shop.example.com", "SHOP.example.com.")]
    response = operator.post(page("account_add"), account_form(secret=SECRET, websites=websites))
    assert response.status_code == 200
    assert "Please correct the duplicate" in response.content.decode()
    assert not Account.objects.exists()


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"host": "https://shop.example.com:8443"}, "host"),
        ({"host": "localhost"}, "host"),
        ({"link_id": "rubbish"}, "link_id"),
    ],
)
def test_website_that_cannot_be_is_an_error_of_the_form(operator, fields, wrong):
    form = {"account": make_portal_account().pk, "host": "shop.example.com", "link_id": LINK_ID} | fields
    response = operator.post(page("website_add"), form)
    assert list(response.context["adminform"].form.errors) == [wrong]
    assert not Website.objects.exists()


def test_website_that_is_there_already_is_an_error_of_the_form(operator):
    website = make_portal_website()
    form = {"account": website.account.pk, "host": website.host.upper(), "link_id": LINK_ID}
    assert operator.post(page("website_add"), form).status_code == 200
    assert Website.objects.count() == 1


def test_list_of_accounts_shows_counts_and_usable_secrets(operator, settings):
    account = make_portal_account("acct_0001")
    make_portal_website(account, "one.example.com")
    make_portal_website(account, "two.example.com")
    for name in ("ada", "bob", "eve"):
        make_membership(make_user(name), account)
    Account.objects.create(ref="acct_0002", sealed_secret="sealed with a lost key")
    html = operator.get(page("account_changelist")).content.decode()
    cells = re.findall(r'field-(can_sign|\w+_count)">(?:<img[^>]*alt=")?(\w+)', html)
    assert cells == [
        *[("can_sign", "True"), ("website_count", "2"), ("member_count", "3")],
        *[("can_sign", "False"), ("website_count", "0"), ("member_count", "0")],
    ]


@pytest.mark.parametrize(
    ("query", "refs"),
    [
        ({"q": "two.example"}, ["acct_0002"]),
        ({"q": "ada"}, ["acct_0001"]),
        ({"websites__isempty": "1"}, ["acct_0001"]),
        ({"websites__isempty": "0"}, ["acct_0002"]),
        ({"memberships__isempty": "1"}, ["acct_0002"]),
    ],
)
def test_list_of_accounts_is_searched_and_filtered(operator, query, refs):
    make_membership(make_user("ada"), make_portal_account("acct_0001"))
    second = make_portal_account("acct_0002")
    make_portal_website(second, "one.example.com")
    make_portal_website(second, "two.example.com")
    changelist = operator.get(page("account_changelist", **query)).context["cl"]
    assert [row.ref for row in changelist.result_list] == refs


def test_lists_of_websites_and_memberships_are_searched(operator):
    make_portal_website(make_portal_account("acct_0001"), "one.example.com")
    make_membership(make_user("ada"), make_portal_account("acct_0002"))
    for name in ("website_changelist", "membership_changelist"):
        assert operator.get(page(name, q="acct_0001 one")).status_code == 200
    results = operator.get(page("membership_changelist", q="ada", role__exact="owner")).context["cl"]
    assert list(results.result_list) == list(Membership.objects.all())


def test_lists_take_as_many_queries_for_many_rows_as_for_few(operator, django_assert_max_num_queries):
    for number in range(12):
        account = make_portal_account(f"acct_{number:04}")
        make_portal_website(account, f"shop{number}.example.com")
        make_membership(make_user(f"user{number}"), account)
    for name in ("account_changelist", "website_changelist", "membership_changelist"):
        with django_assert_max_num_queries(8):
            operator.get(page(name))


def test_pages_hold_no_inline_script_or_style(operator):
    account = make_portal_account()
    make_portal_website(account)
    for address in (
        page("account_changelist"),
        page("account_add"),
        page("account_change", account.pk),
        page("website_add"),
        page("membership_add"),
    ):
        html = operator.get(address).content.decode()
        assert not re.search(
            r"<script(?![^>]*\b(src|type=.application/json.))[^>]*>|<style|\sstyle=|\son\w+=", html
        )


@pytest.mark.parametrize("name", ["account_changelist", "website_changelist", "membership_changelist"])
def test_members_without_rights_of_staff_do_not_come_in(client, name):
    client.force_login(make_user())
    assert client.get(page(name)).status_code in (302, 403)


def test_operators_see_share_links_and_revoke_them_and_change_nothing_else(operator):
    website, person = make_portal_website(), make_user("ada")
    share_link, token = sharing.create(website, sharing.Subject(title="SQL injection"), by=person, days=7)
    listed = operator.get(page("sharelink_changelist")).content.decode()
    assert "SQL injection" in listed
    shown = operator.get(page("sharelink_change", share_link.pk)).content.decode()
    assert share_link.token_hash not in shown
    assert operator.get(page("sharelink_add")).status_code == 403
    assert operator.post(page("sharelink_change", share_link.pk), {"title": "x"}).status_code == 403
    operator.post(page("sharelink_changelist"), {"action": "revoke", "_selected_action": share_link.pk})
    share_link.refresh_from_db()
    assert share_link.revoked_at
    with pytest.raises(sharing.NoLongerShared):
        sharing.find(token)


def test_operators_name_a_new_member_by_the_user_name(client):
    create_groups("default")
    person = make_user("op", is_staff=True)
    person.groups.add(Group.objects.get(name="Operators"))
    client.force_login(person)
    account, ada = make_portal_account(), make_user("ada")
    fields = {"user": "ida", "account": account.pk, "role": "viewer"}
    refused = client.post(reverse("admin:portal_membership_add"), fields)
    assert "No person has this user name." in refused.text
    client.post(reverse("admin:portal_membership_add"), fields | {"user": "ada"})
    assert Membership.objects.get().user == ada
    page = client.get(reverse("admin:portal_account_change", args=[account.pk]))
    assert 'name="memberships-__prefix__-user"' in page.text
    assert reverse("admin:autocomplete") not in page.text.partition("memberships-__prefix__-user")[2][:400]
