from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.models import Account, Secret, SecretUse
from dashboard_api.models.accounts import AlreadyRevoked, DuplicateSecret, NotActive, TooManySecrets
from dashboard_api.queries import credentials
from tests.factories import SECRET, make_account
from tests.racing import race

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    return make_account(secrets=())


def issue(account, **fields):
    return Secret.objects.issue(account, **({"by": "Ada"} | fields))


@pytest.mark.parametrize("ref", ["", "with space", "ümlaut", "line\nbreak", "x" * 129])
def test_account_reference_is_printable_ascii_and_not_too_long(ref):
    with pytest.raises(ValidationError, match="ref"):
        Account(ref=ref).full_clean()


def test_issued_secret_is_long_random_marked_as_ours_stored_sealed_and_shows_only_a_hint(account):
    row, clear = issue(account)
    assert clear.startswith("es1_live_")
    assert len(clear) == len("es1_live_") + 43
    assert clear != issue(account)[1]
    assert row.hint == clear[:13]
    assert row.created_by == "Ada"
    row.refresh_from_db()
    assert clear not in row.sealed
    assert row.reveal() == clear
    assert str(row) == f"secret {row.pk} ({clear[:13]}) of acct_0001"


def test_secret_brought_in_is_kept_as_it_is_and_hints_at_nothing(account):
    row, clear = issue(account, secret="an existing secret, wörds & all")
    assert clear == row.reveal() == "an existing secret, wörds & all"
    assert row.hint == "brought in"


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "x" * 15,
        "x" * 513,
        " " * 20,
        "with a line\nbreak in it",
        "ends with a space ",
        "surrogate \udc80 inside it",
    ],
)
def test_secret_brought_in_is_refused_unless_it_is_printable_and_of_good_length(account, secret):
    with pytest.raises(ValidationError, match="16 to 512 printable"):
        issue(account, secret=secret)
    assert not account.secrets.exists()


def test_secret_needs_an_issuer(account):
    with pytest.raises(ValidationError, match="created_by"):
        issue(account, by=" ")
    assert not account.secrets.exists()


def test_third_usable_secret_is_refused_naming_the_two_until_one_is_revoked(account):
    first, second = issue(account)[0], issue(account, secret=SECRET)[0]
    with pytest.raises(TooManySecrets) as refusal:
        issue(account)
    assert f"{first.pk}: {first.hint}" in str(refusal.value)
    assert f"{second.pk}: brought in" in str(refusal.value)
    assert account.secrets.count() == 2
    first.revoke(now=timezone.now())
    issue(account)


def test_retiring_secret_still_counts_until_its_end(account):
    now = timezone.now()
    retiring, _ = issue(account)
    issue(account)
    retiring.retire(now=now)
    with pytest.raises(TooManySecrets):
        issue(account)

    retiring.retires_at = now - timedelta(seconds=1)
    retiring.save()
    issue(account)
    retiring.refresh_from_db()
    assert retiring.state == Secret.State.REVOKED
    assert retiring.revoked_at == retiring.retires_at


def test_secret_in_use_or_revoked_cannot_be_brought_in_again(account):
    leaked, _ = issue(account, secret=SECRET)
    with pytest.raises(DuplicateSecret, match="active"):
        issue(account, secret=SECRET)
    leaked.revoke(now=timezone.now())
    with pytest.raises(DuplicateSecret, match="revoked"):
        issue(account, secret=SECRET)


def test_secret_that_no_key_opens_matches_no_text(account):
    row, clear = issue(account)
    Secret.objects.update(sealed="not sealed by any key")
    row.refresh_from_db()
    assert not row.holds(clear)


@pytest.mark.django_db(transaction=True)
def test_secrets_issued_at_once_are_never_more_than_two():
    account = make_account(secrets=())
    outcomes = race(lambda number: issue(account, by=f"operator {number}"))
    assert sum(isinstance(outcome, TooManySecrets) for outcome in outcomes) == 6
    assert Secret.objects.usable(timezone.now()).count() == 2


def test_usable_secrets_are_the_active_and_the_retiring_ones_of_the_account(account):
    now = timezone.now()
    retiring, _ = issue(account)
    active, _ = issue(account)
    retiring.retire(now=now)
    issue(make_account("acct_0002", secrets=()))

    assert signers(now) == {active.pk, retiring.pk}
    assert signers(now + limits.RETIRING_PERIOD) == {active.pk}


def signers(now):
    return {signer.pk for signer in credentials.read_credentials("acct_0001", "", now).signers}


def test_retiring_secret_is_usable_for_its_period_and_keeps_its_end_when_retired_again(account):
    now = timezone.now()
    secret, _ = issue(account)
    secret.retire(now=now)
    assert secret.is_usable(now + timedelta(hours=23, minutes=59))
    assert not secret.is_usable(now + timedelta(hours=24))
    with pytest.raises(NotActive, match="retiring"):
        secret.retire(now=now + timedelta(hours=12))
    assert secret.retires_at == now + limits.RETIRING_PERIOD


def test_revoked_secret_cannot_retire_back_to_life_even_on_a_page_loaded_before(account):
    now = timezone.now()
    secret, _ = issue(account)
    loaded_before = Secret.objects.get(pk=secret.pk)
    secret.revoke(now=now)

    with pytest.raises(NotActive, match="revoked"):
        loaded_before.retire(now=now)
    secret.refresh_from_db()
    assert secret.state == Secret.State.REVOKED


def test_revoked_secret_is_not_usable_and_keeps_the_time_of_its_revocation(account):
    now = timezone.now()
    secret, _ = issue(account)
    secret.revoke(now=now)
    assert not secret.is_usable(now)
    with pytest.raises(AlreadyRevoked):
        secret.revoke(now=now + timedelta(hours=1))
    assert secret.revoked_at == now


def test_secret_cannot_be_retiring_without_an_end(account):
    issue(account)
    with pytest.raises(IntegrityError, match="dashboard_api_secret_retiring_has_end"):
        Secret.objects.update(state=Secret.State.RETIRING)


def test_secret_knows_when_it_was_last_used(account):
    now = timezone.now()
    secret, _ = issue(account)
    assert secret.last_used_at is None
    SecretUse.record(secret.pk, now)
    assert secret.last_used_at == now
