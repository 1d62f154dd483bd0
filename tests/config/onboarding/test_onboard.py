"""manage.py onboard: a customer in one step, whole or not at all, and never twice."""

import smtplib
from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends import locmem
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api import models as api
from portal import models as portal
from signed_api import example_calls
from tests.commands import run, run_json
from tests.dashboard_api.calls import ask, fields_for
from tests.factories import make_account, make_finding, make_link, make_membership, make_user, make_website
from tests.racing import race

pytestmark = pytest.mark.django_db
COMMAND = ["onboard", "acct_0001", "shop.example.com", "--owner", "ada@example.com"]
TABLES = [
    api.Account, api.Entitlement, api.Secret, api.Website, api.SiteLink, api.LinkEvent,
    portal.Account, portal.Website, portal.Invitation, portal.MembershipChange,
]  # fmt: skip


@pytest.fixture
def mail_server(settings):
    settings.EMAIL_URL = "smtp://mail.example.com"
    settings.PORTAL_BASE_URL = "https://portal.example.com"


def rows():
    return {table.__name__: list(table.objects.order_by("pk").values()) for table in TABLES}


def test_one_command_sets_up_a_customer_whose_calls_are_answered(client, mail_server):
    result = run_json(*COMMAND, "--name", "Example Shop", "--by", "Robin", "--method", "dns")
    assert result["changed"]
    assert result["created"] == [
        "account", "plan", "website", "link", "secret", "test secret", "portal access", "portal website",
        "invitation",
    ]  # fmt: skip
    link = api.SiteLink.objects.get(link_id=result["link_id"])
    assert (link.website.verified_by, link.website.verification_method) == ("Robin", "dns")
    response = ask(client, fields_for(link), secret=result["secret"])
    assert response.status_code == 200
    assert response.json()["entitlement"]["plan"] == "standard"
    tried = ask(
        client, {**example_calls.LINK, "portal_account_ref": "acct_0001"}, secret=result["test_secret"]
    )
    assert tried["X-Service-Test"] == "true"


def test_the_portal_can_sign_for_the_customer_and_the_owner_is_invited(mail_server):
    result = run_json(*COMMAND, "--name", "Example Shop", "--by", "Robin")
    account = portal.Account.objects.get(ref="acct_0001")
    own = api.Secret.objects.get(for_portal=True)
    assert (account.name, account.reveal_secret()) == ("Example Shop", own.reveal())
    assert account.websites.get().link_id == result["link_id"]
    invitation = account.invitations.get()
    assert (invitation.email, invitation.role, invitation.was_emailed) == ("ada@example.com", "owner", True)
    assert result["invitation_link"] is None
    (letter,) = mail.outbox
    assert letter.to == ["ada@example.com"]
    assert "Robin invites you to Example Shop" in letter.body
    assert f"https://portal.example.com/invitations/{invitation.token}/" in letter.body


def test_the_link_of_the_invitation_works(client, mail_server):
    run(*COMMAND)
    page = client.get(f"/invitations/{portal.Invitation.objects.get().token}/")
    assert (page.status_code, "acct_0001" in page.text) == (200, True)


def test_without_a_mail_server_the_link_is_printed(settings):
    settings.EMAIL_URL = ""
    link = run_json(*COMMAND)["invitation_link"]
    assert link.endswith(f"/invitations/{portal.Invitation.objects.get().token}/")
    assert not portal.Invitation.objects.get().was_emailed
    assert mail.outbox == []


def test_the_plan_is_saved_with_its_dates():
    run(*COMMAND)
    today = timezone.now().date()
    entitlement = api.Entitlement.objects.get()
    assert (entitlement.starts_on, entitlement.ends_on) == (today, today + timedelta(days=365))


def test_the_plan_takes_the_options_of_its_own_command():
    run(*COMMAND, "--plan", "gold", "--sites-limit", "9", "--ends-on", "2999-01-31", "--renews")
    entitlement = api.Entitlement.objects.get()
    assert (entitlement.plan, entitlement.sites_limit, entitlement.renews) == ("gold", 9, True)
    assert entitlement.ends_on.isoformat() == "2999-01-31"


def test_a_repetition_says_already_so_and_creates_nothing(mail_server):
    first = run_json(*COMMAND, "--plan", "gold", "--name", "Example Shop")
    before = rows()
    again = run_json(*COMMAND, "--plan", "gold", "--name", "Example Shop")
    assert (again["changed"], again["created"], again["secret"]) == (False, [], None)
    assert again["link_id"] == first["link_id"]
    assert "nothing was changed" in run(*COMMAND)
    assert rows() == before
    assert len(mail.outbox) == 1


def test_a_repetition_after_the_owner_joined_invites_nobody():
    run(*COMMAND)
    make_membership(make_user("ada"), portal.Account.objects.get())
    portal.Invitation.objects.update(closed_at=timezone.now())
    assert run_json(*COMMAND)["changed"] is False
    assert portal.Invitation.objects.count() == 1


def test_a_second_website_and_what_was_missing_are_added():
    run(*COMMAND)
    result = run_json("onboard", "acct_0001", "mail.example.com", "--owner", "ada@example.com")
    assert result["created"] == ["website", "link", "portal website"]


def test_an_account_is_set_up_without_a_website_or_an_owner():
    result = run_json("onboard", "acct_0001", "--name", "Example Shop")
    assert result["created"] == ["account", "plan", "secret", "test secret", "portal access"]
    assert (result["host"], result["link_id"], result["invitation_link"]) == (None, None, None)
    assert "acct_0001 is set up already" in run("onboard", "acct_0001")
    assert not api.Website.objects.exists()


def test_the_longest_reference_is_on_record():
    ref = "a" * 128
    run("onboard", ref)
    assert set(AuditEvent.objects.values_list("account", flat=True)) == {ref}
    with pytest.raises(CommandError, match="128 characters"):
        run("onboard", "a" * 129)


def test_an_account_that_the_service_has_already_gets_portal_access_with_another_secret():
    link = make_link()
    result = run_json(*COMMAND)
    assert result["created"] == ["portal access", "portal website", "invitation"]
    assert result["secret"] is None
    own = link.account.secrets.get(for_portal=True)
    assert portal.Account.objects.get().reveal_secret() == own.reveal()


def test_a_website_of_another_account_is_linked_only_after_a_confirmation_that_names_that_account():
    theirs = make_link(make_account("acct_0009", name="Their Shop"))
    former = make_link(make_account("acct_0008"), theirs.website)
    api.SiteLink.objects.filter(pk=former.pk).update(revoked_at=timezone.now())
    before = rows()
    with pytest.raises(CommandError) as refusal:
        run(*COMMAND)
    words = "shop.example.com is also linked to acct_0009 (Their Shop): all of them would see the same"
    assert words in str(refusal.value)
    assert "--shared" in str(refusal.value)
    assert rows() == before
    assert run_json(*COMMAND, "--shared")["created"][:3] == ["account", "plan", "link"]
    assert theirs.website.links.not_revoked().count() == 2
    assert run_json(*COMMAND)["changed"] is False  # what is linked needs no confirmation again


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--plan", "silver"], "already has a plan whose plan is standard"),
        (["--name", "Other"], "exists already, without a name"),
    ],
)
def test_other_statements_about_an_existing_customer_are_refused(options, words):
    run(*COMMAND)
    before = rows()
    with pytest.raises(CommandError, match=words):
        call_command(*COMMAND, *options)
    assert rows() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["acct 1", "shop.example.com", "--owner", "ada@example.com"], "Use printable ASCII"),
        (["acct_0001", "nonsense", "--owner", "ada@example.com"], "nonsense: the host"),
        (["acct_0001", "shop.example.com", "--owner", "ada"], "valid email"),
        ([*COMMAND[1:], "--plan", " "], "Name the plan"),
        ([*COMMAND[1:], "--sites-limit", "0"], "uses all 0 websites"),
        ([*COMMAND[1:], "--sites-limit", "-1"], "sites_limit: Ensure this value is greater than"),
        ([*COMMAND[1:], "--ends-on", "2000-01-01"], "ends_on: The last day cannot be before the first"),
        ([*COMMAND[1:], "--ends-on", "tomorrow"], "tomorrow is not a day such as 2026-01-31"),
        ([*COMMAND[1:], "--ends-on", "2026-02-30"], "2026-02-30 is not a day: day is out of range for month"),
        ([*COMMAND[1:], "--status", "paid"], "invalid choice: 'paid'"),
        ([*COMMAND[1:], "--name", "\udcff"], "must be UTF-8"),
        (["acct_0001", "github.io"], "Anyone can register a name below github.io"),
    ],
)
def test_a_mistake_changes_nothing_at_all(arguments, words):
    with pytest.raises(CommandError, match=words):
        call_command("onboard", *arguments)
    assert not any(rows().values())


def test_an_email_that_is_not_accepted_changes_nothing_at_all(mail_server, monkeypatch):
    def refuse(*_):
        raise smtplib.SMTPServerDisconnected

    monkeypatch.setattr(locmem.EmailBackend, "send_messages", refuse)
    with pytest.raises(CommandError, match="nothing was changed"):
        call_command(*COMMAND)
    assert not any(rows().values())


def test_a_revoked_link_is_not_restored_in_passing():
    link = make_link()
    link.revoke(by="tests", reason="test", now=timezone.now())
    with pytest.raises(CommandError, match="restore it in the admin first"):
        call_command(*COMMAND)
    assert not portal.Account.objects.exists()


def test_a_website_of_another_customer_is_linked_too_and_keeps_its_verification():
    make_link(make_account("acct_0002"), make_website(verified=True))
    run(*COMMAND, "--shared", "--by", "Robin")
    website = api.Website.objects.get()
    assert (website.verified_by, website.links.count()) == ("tests", 2)


def test_a_customer_reads_nothing_of_former_owners_of_the_website():
    link = make_link(make_account("acct_0002"), make_website())
    make_finding(link.website)
    link.website.unverify(by="Robin", reason="The domain was sold", now=timezone.now())
    run(*COMMAND, "--by", "Robin")
    website = api.SiteLink.objects.get(account__ref="acct_0001").website
    assert (website.host, website.verified_by, website.findings.count()) == ("shop.example.com", "Robin", 0)
    assert api.SiteLink.objects.get(account__ref="acct_0002").website.findings.count() == 1


def test_a_service_alone_sets_up_its_own_part(settings):
    settings.ENABLE_PORTAL = False
    assert run_json(*COMMAND)["created"] == ["account", "plan", "website", "link", "secret", "test secret"]
    assert not portal.Account.objects.exists()


def test_a_portal_of_one_account_brings_in_the_secret_of_the_environment_once(settings):
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", "es1_test_of-the-environment"
    assert run_json(*COMMAND)["secret"].startswith("es1_live_")
    assert api.Secret.objects.get(for_portal=True).reveal() == "es1_test_of-the-environment"
    assert portal.Account.objects.get().sealed_secret == ""


@pytest.mark.django_db(transaction=True)
def test_two_at_once_set_up_one_customer(settings):
    settings.EMAIL_URL = ""
    race(lambda _: run(*COMMAND), times=2)
    counts = [table.objects.count() for table in (api.Account, api.Secret, api.SiteLink, portal.Account)]
    assert counts == [1, 3, 1, 1]  # the customer's, its test secret and the portal's


def test_the_claims_of_the_website_are_locked_before_the_account():
    """Else a customer who is set up, and a check of another account's proof, wait for each other."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows")
    with CaptureQueriesContext(connection) as queries:
        run(*COMMAND)
    locking = [each["sql"] for each in queries if "FOR " in each["sql"] and "SELECT" in each["sql"]]
    assert 'FROM "dashboard_api_ownershipclaim"' in locking[0]
