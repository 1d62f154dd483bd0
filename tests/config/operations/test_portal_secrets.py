"""The portal's pages work whatever happens to the secret with which it signs."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from config.operations import doctor
from dashboard_api.models import Secret
from portal.answers.service import get_entitlement
from portal.models import Account
from tests.commands import run, run_json
from tests.factories import SECRET, make_account, make_portal_account, make_user

pytestmark = pytest.mark.django_db
OWNER = ("--owner", "ada@example.com")
OTHER = "another-secret-of-this-account"


@pytest.fixture(autouse=True)
def in_process(settings):
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = "", "config.web.in_process.application"
    settings.EMAIL_URL = ""


def pages_work(ref="acct_0001"):
    return get_entitlement(Account.objects.get(ref=ref)) is not None


def doctor_lines(ref="acct_0001"):
    return [line for line in doctor.problems() if f"for {ref}, whose pages" in line]


def typed(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))


def test_a_new_customer_and_the_portal_have_different_secrets():
    given = run_json("onboard", "acct_0001", "shop.example.com", *OWNER)["secret"]
    own = Account.objects.get().reveal_secret()
    assert own != given
    assert [row.reveal() for row in Secret.objects.filter(for_portal=True)] == [own]
    assert pages_work()
    for number in Secret.objects.filter(is_test=False, for_portal=False).values_list("pk", flat=True):
        run("revoke_secret", "acct_0001", str(number))
    assert Account.objects.get().reveal_secret() == own
    assert pages_work()


@pytest.mark.parametrize("options", [["--retire"], []])
def test_a_secret_that_the_portal_shares_is_replaced_in_it_when_it_ends(options):
    shared = make_account().secrets.get()
    make_portal_account()
    run("revoke_secret", "acct_0001", str(shared.pk), *options)
    Secret.objects.filter(state="retiring").update(retires_at=timezone.now() - timedelta(seconds=1))
    assert pages_work()
    own = Secret.objects.get(for_portal=True)
    assert (own.reveal(), own.created_by) == (Account.objects.get().reveal_secret(), "Our team")
    assert doctor_lines() == []


def test_a_secret_revoked_in_the_admin_is_replaced_too(client):
    shared = make_account().secrets.get()
    make_portal_account()
    client.force_login(make_user("robin", is_staff=True, is_superuser=True))
    address = reverse("admin:dashboard_api_secret_changelist")
    fields = {"action": "revoke", "_selected_action": [shared.pk], "confirmed": "1"}
    client.post(address, fields)
    shared.refresh_from_db()
    assert shared.state == "revoked"
    assert pages_work()


def test_the_portals_own_secret_can_be_replaced_again_and_again():
    run("onboard", "acct_0001", "shop.example.com", *OWNER)
    for _ in range(4):
        own = Secret.objects.get(for_portal=True, state="active")
        run("revoke_secret", "acct_0001", str(own.pk))
        assert pages_work()


def test_the_secret_of_the_environment_ends_only_after_another_is_set(settings):
    shared = make_account().secrets.get()
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", SECRET
    make_portal_account()
    with pytest.raises(CommandError, match="issue_secret acct_0001 --for-portal', set SITE_API_SECRET"):
        call_command("revoke_secret", "acct_0001", str(shared.pk))
    assert pages_work()
    settings.SITE_API_SECRET = run_json("issue_secret", "acct_0001", "--for-portal")["secret"]
    run("revoke_secret", "acct_0001", str(shared.pk))
    assert pages_work()


@pytest.mark.parametrize("state", ["active", "retiring"])
def test_another_website_can_be_set_up_while_the_secret_of_the_environment_is_retiring(settings, state):
    shared = make_account().secrets.get()
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", SECRET
    make_portal_account()
    Secret.objects.update(state=state, retires_at=timezone.now() + timedelta(hours=1))
    created = run_json("onboard", "acct_0001", "other.example.com", *OWNER)["created"]
    assert "portal website" in created
    assert "the portal's secret" not in created
    assert list(Secret.objects.filter(is_test=False)) == [shared]
    assert pages_work()


def test_a_secret_of_the_environment_that_the_service_does_not_know_is_brought_in(settings):
    make_account(secrets=())
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", SECRET
    make_portal_account()
    created = run_json("onboard", "acct_0001", "other.example.com", *OWNER)["created"]
    assert "the portal's secret" in created
    assert Secret.objects.get(for_portal=True).holds(SECRET)
    assert pages_work()


def test_other_secrets_of_other_portals_are_left_alone(settings):
    shared = make_account().secrets.get()
    make_portal_account()
    make_account("acct_0002", secrets=(OTHER,))
    make_portal_account("acct_0002", secret=OTHER)
    settings.DASHBOARD_BASE_URL = "https://api.example.com"
    run("revoke_secret", "acct_0001", str(shared.pk))
    assert not Secret.objects.filter(for_portal=True).exists()
    assert doctor_lines() == []
    settings.DASHBOARD_BASE_URL = ""
    assert doctor_lines("acct_0002") == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"state": "revoked"}, "has a secret that was revoked"),
        ({"state": "retiring", "retires_at": "2020-01-01T00:00:00Z"}, "has a secret that was revoked"),
        ({"state": "retiring", "retires_at": "2100-01-02T03:04:00Z"}, "works until 2100-01-02 03:04 UTC"),
        ({"is_test": True}, "has a test secret"),
    ],
)
def test_doctor_names_accounts_whose_pages_the_service_refuses_and_its_advice_works(
    change, words, monkeypatch
):
    make_account()
    make_portal_account()
    assert doctor_lines() == []
    Secret.objects.update(**change)
    [line] = doctor_lines()
    assert words in line
    assert "'manage.py issue_secret acct_0001 --for-portal | manage.py connect_account acct_0001'" in line
    typed(monkeypatch, run("issue_secret", "acct_0001", "--for-portal"))
    assert "whose pages" not in run("connect_account", "acct_0001")
    assert doctor_lines() == []
    assert pages_work()


@pytest.mark.parametrize("options", [["--retire"], []])
def test_the_portals_secret_can_end_again_within_the_day_of_a_retirement(options):
    run("onboard", "acct_0001", "shop.example.com", *OWNER)
    for ends in (["--retire"], options, options):
        run("revoke_secret", "acct_0001", str(Secret.objects.get(for_portal=True, state="active").pk), *ends)
        assert pages_work()
    assert len(Secret.objects.filter(for_portal=True).usable(timezone.now())) <= 2


def connect_what_no_service_knows(monkeypatch):
    typed(monkeypatch, OTHER)
    assert "the service does not know" in run("connect_account", "acct_0001")


def test_onboard_again_works_however_often_another_secret_was_connected(monkeypatch):
    run("onboard", "acct_0001", "shop.example.com", *OWNER)
    for _ in range(4):
        connect_what_no_service_knows(monkeypatch)
        run("onboard", "acct_0001", "shop.example.com", *OWNER)
        assert pages_work()


def test_the_advice_of_doctor_works_where_there_is_no_room_for_another_secret(monkeypatch):
    run("onboard", "acct_0001", "shop.example.com", *OWNER)
    run("revoke_secret", "acct_0001", str(Secret.objects.get(for_portal=True).pk), "--retire")
    connect_what_no_service_knows(monkeypatch)
    [line] = doctor_lines()
    first = Secret.objects.filter(for_portal=True).earliest("pk")
    assert f"'manage.py revoke_secret acct_0001 {first.pk} && manage.py issue_secret acct_0001 --for" in line
    run("revoke_secret", "acct_0001", str(first.pk))
    typed(monkeypatch, run("issue_secret", "acct_0001", "--for-portal"))
    run("connect_account", "acct_0001")
    assert doctor_lines() == []
    assert pages_work()


def test_where_the_portals_secret_cannot_be_opened_doctor_and_onboard_replace_it():
    run("onboard", "acct_0001", "shop.example.com", *OWNER)
    Account.objects.update(sealed_secret="1:lost")
    [line] = doctor_lines()
    assert "has a secret that MASTER_KEYS does not open for acct_0001" in line
    assert run_json("onboard", "acct_0001", "shop.example.com", *OWNER)["created"] == ["the portal's secret"]
    assert pages_work()


def test_doctor_names_an_account_without_a_secret():
    make_account()
    account = make_portal_account()
    account.sealed_secret = ""
    account.save()
    [line] = doctor_lines()
    assert "The portal has no secret for acct_0001" in line


def test_onboard_again_replaces_a_secret_that_the_service_refuses():
    run("onboard", "acct_0001", "shop.example.com", *OWNER)
    Secret.objects.filter(for_portal=True).update(state="revoked")
    again = run_json("onboard", "acct_0001", "shop.example.com", *OWNER)
    assert again["created"] == ["the portal's secret"]
    assert pages_work()


def test_connecting_an_account_by_a_secret_that_the_service_refuses_says_so(monkeypatch):
    make_account()
    typed(monkeypatch, OTHER)
    output = run("connect_account", "acct_0001")
    assert "The portal has a secret that the service does not know for acct_0001" in output
    assert OTHER not in output
    typed(monkeypatch, SECRET)
    assert "whose pages" not in run("connect_account", "acct_0001")


def test_an_account_shows_which_secret_is_the_portals():
    run("onboard", "acct_0001", "shop.example.com", *OWNER)
    own = Secret.objects.get(for_portal=True)
    assert f"Secret {own.pk} for the portal ({own.hint}): active" in run("show_account", "acct_0001")
    assert [row["for_portal"] for row in run_json("show_account", "acct_0001")["secrets"]].count(True) == 1
