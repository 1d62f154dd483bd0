import io

import pytest
from django.core.management.base import CommandError

from portal.models import Account, Invitation
from tests.commands import run, run_json
from tests.factories import SECRET, make_portal_account

pytestmark = pytest.mark.django_db


@pytest.fixture
def typed(monkeypatch):
    """Puts text on standard input."""

    def put(text):
        raw = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))

    return put


def test_account_is_connected_with_its_secret_sealed_and_never_shown(typed):
    typed(SECRET + "\n")
    output = run("connect_account", "acct_0001", "--name", "Shop Ltd")
    account = Account.objects.get()
    assert (account.ref, account.name) == ("acct_0001", "Shop Ltd")
    assert account.reveal_secret() == SECRET
    assert "Connected the account acct_0001" in output
    assert "add its websites" in output
    assert SECRET not in output


def test_account_is_connected_for_scripts(typed):
    typed(SECRET)
    result = run_json("connect_account", "acct_0001")
    assert result == {"changed": True, "account": "acct_0001", "name": "", "created": True}
    typed(SECRET)
    assert run_json("connect_account", "acct_0001")["changed"] is False
    typed(SECRET)
    assert run_json("connect_account", "acct_0001", "--name", "Shop")["changed"] is True


@pytest.mark.parametrize(
    ("secret", "refusal"),
    [
        ("", "on standard input"),
        ("\n", "on standard input"),
        ("canary-too-shor", "16 to 512 printable"),
        ("canary-first-line\ncanary-second-line", "16 to 512 printable"),
        (b"canary-\xff-0123456789abcdef", "must be UTF-8"),
    ],
)
def test_secret_that_will_not_do_is_refused_without_showing_it(typed, secret, refusal):
    account = make_portal_account("acct_0001")
    typed(secret)
    with pytest.raises(CommandError, match=refusal) as caught:
        run("connect_account", "acct_0001", "--name", "ListChanged")
    assert "canary" not in f"{caught.value} {caught.value.__cause__}"
    assert Account.objects.get().sealed_secret == account.sealed_secret
    assert Account.objects.get().name == ""


def test_account_of_a_reference_that_no_service_gives_is_refused(typed):
    typed(SECRET)
    with pytest.raises(CommandError, match="ref: Use printable ASCII characters without spaces"):
        run("connect_account", "with space")
    assert not Account.objects.exists()


def test_account_of_the_environment_needs_no_secret_on_standard_input(settings, typed):
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", SECRET
    typed("")
    output = run("connect_account", "acct_0001")
    assert "SITE_API_SECRET" in output
    assert Account.objects.get().sealed_secret == ""


def test_the_first_owner_is_invited_once_and_also_without_the_secret_again(typed, settings):
    settings.EMAIL_URL = ""
    typed(SECRET)
    result = run_json("connect_account", "acct_0001", "--owner", "Ada@example.com", "--by", "Robin")
    invitation = Invitation.objects.get()
    assert (invitation.email, invitation.role) == ("ada@example.com", "owner")
    assert result["invitation_link"].endswith(f"/invitations/{invitation.token}/")
    typed("")
    again = run_json("connect_account", "acct_0001", "--owner", "ada@example.com")
    assert (again["changed"], Invitation.objects.count()) == (False, 1)
    assert Account.objects.get().reveal_secret() == SECRET


def test_nothing_is_connected_with_a_wrong_address_of_the_owner(typed):
    typed(SECRET)
    with pytest.raises(CommandError, match="valid email"):
        run("connect_account", "acct_0001", "--owner", "ada")
    assert not Account.objects.exists()
