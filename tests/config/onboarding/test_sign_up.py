"""Sign-up: strangers make an account by a link that is sent to their address."""

import html
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from audit.models import AuditEvent
from config.onboarding import sign_up, sign_up_views
from dashboard_api import models as api
from portal import models as portal
from tests.commands import run, run_json
from tests.factories import make_plan, make_user
from tests.racing import race

pytestmark = pytest.mark.django_db
EMAIL = "ada@example.com"
FIELDS = {
    "name": "Example Shop",
    "username": "ada",
    "password1": "correct horse battery",
    "password2": "correct horse battery",
}


@pytest.fixture(autouse=True)
def open_sign_up(settings, monkeypatch):
    settings.SIGN_UP, settings.LINK_URL = "open", ""
    monkeypatch.setattr(sign_up_views, "run_later", lambda job: job())


def ask(client=None, email=EMAIL, **extra):
    return (client or Client()).post("/sign-up/", {"email": email}, **extra)


def link_in(message):
    return re.search(r"http://testserver(/sign-up/\S+)", message.body)[1]


def later(monkeypatch, **passed):
    now = timezone.now() + timedelta(**passed)
    monkeypatch.setattr(sign_up.timezone, "now", lambda: now)


def test_a_stranger_makes_an_account_and_is_led_to_adding_a_website(client, mailoutbox):
    assert ask(client, email="Ada@Example.com")["Location"] == "/sign-up/sent/"
    assert b"Check your inbox" in client.get("/sign-up/sent/").content
    assert mailoutbox[0].to == [EMAIL]
    link = link_in(mailoutbox[0])
    assert b'value="ada"' in client.get(link).content  # a suggestion
    response = client.post(link, FIELDS, follow=True)
    assert response.redirect_chain[-1][0] == "/websites/add/"
    assert b"Your account is ready." in response.content
    member = portal.Membership.objects.get()
    assert (member.user.email, member.role, member.account.name) == (EMAIL, "owner", "Example Shop")
    event = AuditEvent.objects.get(action="customer.signed_up")
    assert (event.account, event.actor_kind) == (member.account.ref, "person")


def test_the_account_is_a_trial_of_one_website_for_14_days_and_can_make_calls(client, mailoutbox):
    ask(client)
    client.post(link_in(mailoutbox[0]), FIELDS)
    account = api.Account.objects.get()
    plan = account.entitlement
    assert (plan.status, plan.plan, plan.sites_limit) == ("trialing", "trial", 1)
    assert plan.ends_on - plan.starts_on == timedelta(days=14)
    own = portal.Account.objects.get(ref=account.ref)
    assert own.reveal_secret() == account.secrets.get(for_portal=True).reveal()


def test_a_trial_is_as_long_and_as_large_as_the_plan_named_trial(client, mailoutbox):
    make_plan(
        "trial", revision=2, trial_days=30, limits={"websites": 3, "seats": 2}, features=["scans_daily"]
    )
    assert "Free for 30 days, for 3 websites." in " ".join(client.get("/sign-up/").text.split())
    ask(client)
    client.post(link_in(mailoutbox[0]), FIELDS)
    plan = api.Entitlement.objects.get()
    assert (plan.status, plan.sites_limit, plan.seats, plan.features) == ("trialing", 3, 2, ["scans_daily"])
    assert plan.ends_on - plan.starts_on == timedelta(days=30)
    assert (plan.plan_revision, plan.overrides) == (api.Plan.objects.get(), [])


def test_without_days_of_its_own_the_plan_named_trial_lasts_14(client, mailoutbox):
    make_plan("trial", limits={"websites": 1})
    make_plan("team", trial_days=60)
    assert "Free for 14 days, for 1 website." in " ".join(client.get("/sign-up/").text.split())
    ask(client)
    client.post(link_in(mailoutbox[0]), FIELDS)
    plan = api.Entitlement.objects.get()
    assert plan.ends_on - plan.starts_on == timedelta(days=14)


def test_nothing_is_stored_before_the_link_is_opened(mailoutbox):
    ask()
    Client().get(link_in(mailoutbox[0]))
    assert not api.Account.objects.exists()
    assert not portal.Account.objects.exists()


def test_a_link_makes_one_account_even_if_two_use_it(client, mailoutbox):
    ask(client)
    link = link_in(mailoutbox[0])
    assert Client().post(link, FIELDS).status_code == 302
    assert Client().get(link).status_code == 404
    token = link.strip("/").rpartition("/")[2]
    with pytest.raises(sign_up.LinkUsed):  # of a page that was sent before
        sign_up.create_account(User(username="second"), sign_up.read_link(token), name="Second")
    assert api.Account.objects.count() == portal.Account.objects.count() == 1


def test_of_two_links_for_one_address_the_one_that_is_used_first_works():
    first, second = (sign_up.new_link(EMAIL, lifetime=timedelta(days=days)) for days in (1, 14))
    assert Client().post(first, FIELDS).status_code == 302
    assert Client().post(second, FIELDS | {"username": "other"}).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_links_for_one_address_that_are_used_at_the_same_moment_make_one_person():
    links = [sign_up.SignUpLink(email=EMAIL, ref=f"acct_{number}") for number in range(8)]

    def use(number):
        try:
            return sign_up.create_account(User(username=f"ada{number}"), links[number], name="Example Shop")
        except sign_up.LinkUsed:
            return None

    [account] = filter(None, race(use))
    assert User.objects.get(email=EMAIL).memberships.get().account == account
    assert api.Account.objects.count() == portal.Account.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_people_who_choose_one_name_at_the_same_moment_one_chooses_another():
    clients = [Client() for _ in range(4)]
    links = [sign_up.new_link(f"person{number}@example.com") for number in range(4)]
    names = ["ada", "Ada", "ada", "ADA"]

    answers = race(
        lambda number: clients[number].post(links[number], FIELDS | {"username": names[number]}), times=4
    )
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 302]
    assert User.objects.count() == api.Account.objects.count() == portal.Account.objects.count() == 1
    for client, link, answer in zip(clients, links, answers, strict=True):
        if answer.status_code == 200:
            assert "This user name is taken." in html.unescape(answer.content.decode())
            assert client.post(link, FIELDS | {"username": f"ada{len(link)}x"}).status_code == 302
            return


def test_a_name_that_was_taken_since_the_form_was_checked_does_not_end_the_link(monkeypatch):
    def save(form, commit):
        User.objects.create(username="ada")
        return User(username="ada")

    link = sign_up.new_link(EMAIL)
    with monkeypatch.context() as context:
        context.setattr(sign_up_views.AccountForm, "save", save)
        page = Client().post(link, FIELDS)
    assert page.status_code == 200
    assert b"This user name is taken." in page.content
    assert Client().post(link, FIELDS | {"username": "ada2"}).status_code == 302


def test_the_name_of_an_account_is_one_line_that_can_be_printed():
    link = sign_up.new_link(EMAIL)
    for empty in ("", "\r\n", "\u202e\u200b"):
        page = Client().post(link, FIELDS | {"name": empty})
        assert (page.status_code, b"This field is required." in page.content) == (200, True)
    Client().post(link, FIELDS | {"name": "Shop\r\nBcc: bob@example.com \u202e\x1b[31m"})
    assert {each.name for each in (api.Account.objects.get(), portal.Account.objects.get())} == {
        "Shop Bcc: bob@example.com [31m"
    }


def test_a_wrong_or_old_link_makes_nothing(client, mailoutbox, monkeypatch):
    ask(client)
    link = link_in(mailoutbox[0])
    assert client.post(f"{link[:-3]}xx/", FIELDS).status_code == 404
    later(monkeypatch, hours=25)
    assert client.post(link, FIELDS).status_code == 404
    assert not api.Account.objects.exists()


def test_the_answer_does_not_show_whether_the_address_is_known(mailoutbox):
    make_user("ada", email=EMAIL)
    token = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"')

    def answer(email):
        response = Client().post("/sign-up/", {"email": email}, follow=True)
        return response.redirect_chain, token.sub(b"", response.content)

    assert answer(EMAIL) == answer("bob@example.com")
    known, unknown = mailoutbox
    assert "/accounts/login/" in known.body
    assert "/sign-up/" not in known.body
    assert "/sign-up/" in unknown.body


@pytest.mark.parametrize("other", ["ada@exampıe.com", "ada@EXAMPLE.com", "ada@example.com"])
def test_the_user_name_is_sent_only_to_the_address_of_the_person(mailoutbox, other):
    stored = "ada@exampie.com" if "ı" in other else "Ada@example.com"  # PostgreSQL takes it for I
    make_user("ada-the-first", email=stored)
    ask(email=other)
    [message] = mailoutbox
    assert ("ada-the-first" in message.body) == (message.to == [stored])
    assert message.to == [stored] or "ı" in other


def test_an_address_and_a_sender_are_limited(mailoutbox):
    assert [ask().status_code for _ in range(4)] == [302, 302, 302, 429]
    many = [ask(email=f"{n}@example.com", REMOTE_ADDR="192.0.2.9").status_code for n in range(6)]
    assert many == [302] * 5 + [429]
    assert len(mailoutbox) == 8


@pytest.mark.parametrize(
    ("wrong", "first"),
    [({}, "name"), ({"username": "a@b"}, "username"), ({"password1": "x", "password2": "x"}, "password1")],
)
def test_the_form_begins_at_the_first_field_with_an_error(wrong, first):
    form = sign_up_views.AccountForm(FIELDS | wrong)
    form.is_valid()
    assert [field.name for field in form if "autofocus" in str(field)] == [first]


def test_a_person_who_is_signed_in_makes_no_second_account_by_accident(client, mailoutbox):
    ask()
    client.force_login(make_user("bob"))
    assert client.get("/sign-up/")["Location"] == "/"
    assert b"You are signed in as bob" in client.post(link_in(mailoutbox[0]), FIELDS).content
    assert not api.Account.objects.exists()


@pytest.mark.parametrize(("mode", "status"), [("off", 404), ("invite", 404), ("open", 200)])
def test_pages_for_strangers_are_there_only_where_sign_up_is_open(settings, client, mode, status):
    settings.SIGN_UP = mode
    for path in ("/sign-up/", "/sign-up/sent/"):
        assert client.get(path).status_code == status
    for path in ("/", "/accounts/login/"):
        assert (b"/sign-up/" in client.get(path).content) == (mode == "open")


def test_operators_invite_customers_where_sign_up_is_not_open(settings, client, mailoutbox, monkeypatch):
    settings.SIGN_UP = "invite"
    shown = run_json("invite_customer", "Ada@example.com", "--by", "Robin")
    assert shown["link"].startswith("http://localhost:8000/sign-up/")
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "smtp://mail", "http://testserver"
    assert run("invite_customer", EMAIL).strip() == f"{EMAIL} is invited."
    later(monkeypatch, days=13)
    assert client.post(link_in(mailoutbox[0]), FIELDS).status_code == 302
    assert AuditEvent.objects.filter(action="customer.invited").count() == 2
    with pytest.raises(CommandError, match="can sign in already"):
        run("invite_customer", EMAIL)


def test_no_invitation_leads_anywhere_where_sign_up_is_off(settings, client, mailoutbox):
    ask()
    settings.SIGN_UP = "off"
    assert client.post(link_in(mailoutbox[0]), FIELDS).status_code == 404
    with pytest.raises(CommandError, match="SIGN_UP is off"):
        run("invite_customer", EMAIL)
