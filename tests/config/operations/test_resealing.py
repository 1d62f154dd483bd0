import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.operations.resealing import is_lost, opens, reseal, sealed_rows
from dashboard_api.models import CallbackEvent, Secret
from dashboard_api.models.accounts import DuplicateSecret
from foundation.sealing import CannotUnseal
from portal.models import Account as PortalAccount
from tests.commands import run_json
from tests.config.operations.test_environment import ONE, TWO
from tests.dashboard_api.calls import CALLS_PATH, ask, error_of
from tests.factories import make_account, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(settings):
    """A secret of each kind, sealed with an older key."""
    settings.MASTER_KEYS = [ONE]
    secret, clear = Secret.objects.issue(make_account("acct_0001", secrets=()), by="Robin")
    account = PortalAccount(ref="acct_0001")
    account.set_secret(clear)
    account.save()
    encrypt, person = get_adapter().encrypt, make_user("ada")
    totp = Authenticator.objects.create(
        user=person, type=Authenticator.Type.TOTP, data={"secret": encrypt("totp-secret")}
    )
    codes = Authenticator.objects.create(
        user=person,
        type=Authenticator.Type.RECOVERY_CODES,
        data={"migrated_codes": [encrypt("1234"), encrypt("5678")], "used_mask": 0},
    )
    settings.MASTER_KEYS = [TWO, ONE]
    return secret, account, totp, codes


def make_callback(state, **fields):
    return CallbackEvent.objects.create(provider="standard", event_id=f"msg_{state}", state=state, **fields)


def lost_names():
    return [row.name for row in sealed_rows() if is_lost(row)]


def in_clear(stored):
    for row in stored:
        row.refresh_from_db()
    secret, account, totp, codes = stored
    decrypt = get_adapter().decrypt
    return (
        secret.reveal() == account.reveal_secret(),
        decrypt(totp.data["secret"]),
        [decrypt(code) for code in codes.data["migrated_codes"]],
        codes.data["used_mask"],
    )


def test_resealed_secrets_open_without_the_older_key(stored, settings, capsys):
    call_command("reseal")
    assert capsys.readouterr().out == "Sealed with the newest key: 4 changed.\n"
    settings.MASTER_KEYS = [TWO]
    assert in_clear(stored) == (True, "totp-secret", ["1234", "5678"], 0)


def test_what_is_sealed_with_the_newest_key_stays_as_it_is(stored, capsys):
    call_command("reseal")
    sealed = Secret.objects.get().sealed
    call_command("reseal")
    assert capsys.readouterr().out.endswith("Sealed with the newest key: 0 changed.\n")
    assert Secret.objects.get().sealed == sealed


def test_a_secret_that_no_key_opens_is_named_and_the_others_are_resealed(stored, settings):
    Secret.objects.update(sealed="not sealed by any key")
    with pytest.raises(CommandError, match=r"opens secret .* of acct_0001 in its place: keep every key"):
        call_command("reseal")
    settings.MASTER_KEYS = [TWO]
    stored[1].refresh_from_db()
    assert stored[1].reveal_secret()


def test_a_lost_secret_that_was_revoked_stays_as_it_is(stored):
    Secret.objects.update(sealed="not sealed by any key", state="revoked")
    assert run_json("reseal")["not_opened"] == []
    assert Secret.objects.get().sealed == "not sealed by any key"


@pytest.mark.parametrize("state", ["applied", "duplicate", "superseded", "ignored"])
def test_the_lost_body_of_a_callback_that_is_not_applied_again_is_no_problem(stored, state):
    make_callback("failed", sealed_body="lost")
    assert [opens(row) for row in sealed_rows(newest_only=True)].count(False) == 1
    CallbackEvent.objects.update(state=state)
    assert all(opens(row) for row in sealed_rows(newest_only=True))
    assert lost_names() == run_json("reseal")["not_opened"] == []


def test_a_lost_secret_of_the_portal_is_no_problem_while_that_of_the_environment_signs(stored, settings):
    PortalAccount.objects.update(sealed_secret="lost")
    assert lost_names() == ["the portal's secret of acct_0001"]
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", "a-secret-of-the-environment"
    assert all(opens(row) for row in sealed_rows(newest_only=True))
    assert lost_names() == run_json("reseal")["not_opened"] == []


def test_a_revoked_secret_is_resealed_so_that_it_cannot_be_brought_in_again(stored, settings):
    clear = stored[0].reveal()
    stored[0].revoke(now=timezone.now())
    call_command("reseal")
    settings.MASTER_KEYS = [TWO]
    with pytest.raises(DuplicateSecret):
        Secret.objects.issue(stored[0].account, by="Robin", secret=clear)


def test_a_secret_that_was_replaced_meanwhile_is_not_overwritten(stored):
    rows = list(sealed_rows())
    PortalAccount.objects.update(sealed_secret="replaced")
    changed = [reseal(row) for row in rows]
    assert changed.count(False) == 1
    assert PortalAccount.objects.get().sealed_secret == "replaced"


def test_only_the_newest_of_each_table_is_looked_at_on_a_start(stored):
    assert len(list(sealed_rows(newest_only=True))) == 3
    assert all(opens(row) for row in sealed_rows())


def test_what_was_sealed_without_a_place_opens_and_is_bound_to_it(stored, settings):
    newest = Fernet(TWO)
    secret, _, totp, _ = stored
    Secret.objects.update(sealed=newest.encrypt(secret.reveal().encode()).decode())
    totp.data = {"secret": newest.encrypt(b"totp-secret").decode()}
    totp.save()
    assert in_clear(stored)[:2] == (True, "totp-secret")
    assert run_json("reseal")["secrets"] == 4
    assert in_clear(stored) == (True, "totp-secret", ["1234", "5678"], 0)
    assert run_json("reseal")["secrets"] == 0


def test_the_sealed_secret_of_another_account_neither_opens_nor_is_bound_to_this_one(stored, client):
    secret = stored[0]
    known, clear = Secret.objects.issue(make_account("acct_0002", secrets=()), by="Eve")
    Secret.objects.filter(pk=secret.pk).update(sealed=known.sealed)
    secret.refresh_from_db()
    assert not secret.holds(clear)
    with pytest.raises(CommandError, match=r"opens secret .* of acct_0001 in its place"):
        call_command("reseal")
    fields = {"portal_account_ref": "acct_0001"}
    response = ask(client, fields, path=CALLS_PATH, secret=clear)
    assert (response.status_code, error_of(response)["code"]) == (503, "unavailable")
    Secret.objects.filter(pk=known.pk).update(account=secret.account)
    secret.delete()
    assert ask(client, fields, path=CALLS_PATH, secret=clear).status_code == 503


def test_no_sealed_text_opens_as_another_kind(stored):
    secret, account, _, _ = stored
    account.sealed_secret = secret.sealed
    with pytest.raises(CannotUnseal):
        account.reveal_secret()
    with pytest.raises(CannotUnseal):
        get_adapter().decrypt(secret.sealed)
