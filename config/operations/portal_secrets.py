"""The secrets with which the portal signs its calls to a service in the same process."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from dashboard_api import models as api
from dashboard_api.limits import MAX_USABLE_SECRETS
from dashboard_api.models.accounts import secret_ends
from foundation.sealing import CannotUnseal
from portal.answers.service import is_in_process
from portal.models import Account
from portal.models.accounts import check_secret

_ENDS_SOON = "has a secret that works until"  # the beginning of a text of _wrong_state


def connect() -> None:
    """Connect the signals: the portal replaces an ending secret and reports a broken one."""
    secret_ends.connect(_replace, dispatch_uid="portal_secrets")
    check_secret.connect(_check, dispatch_uid="portal_secrets")


@sensitive_variables("clear", "given")
@transaction.atomic
def give_secret(account: Account, service_account: api.Account, *, by: str) -> bool:
    """Give ``account`` a new secret of ``service_account``, and save it; raises ValidationError.

    Revoke the portal's unused secrets, which nobody else has. A secret from the environment is kept, and
    issued in the service unless the service knows it: then return False.
    """
    given = account.reveal_secret() if account.is_from_environment else None  # by the environment
    if given is None and account.pk:
        for unused in _unused(account):
            unused.revoke(now=timezone.now())
    is_new = given is None or _row_of(service_account.ref, given) is None
    if is_new:
        _secret, clear = api.Secret.objects.issue(service_account, by=by, secret=given, for_portal=True)
    if given is None:
        account.set_secret(clear)
    account.save()
    return is_new


def problems() -> Iterator[str]:
    """Yield a line for each account if the service refuses its secret, or will soon."""
    for account in Account.objects.order_by("ref").iterator():
        if line := problem(account):
            yield line


@sensitive_variables("clear")
def problem(account: Account) -> str:
    """Return what is wrong with the secret of ``account``, and what to do; empty if the secret works."""
    if not is_in_process():
        return ""
    try:
        clear = account.reveal_secret()
    except CannotUnseal:
        state = "has a secret that MASTER_KEYS does not open" if account.sealed_secret else "has no secret"
    else:
        state = _wrong_state(account.ref, clear)
    if not state:
        return ""
    command = f"manage.py issue_secret {account.ref} --for-portal"
    unused = _unused(account)
    if len(unused) >= MAX_USABLE_SECRETS or (unused and state.startswith(_ENDS_SOON)):
        command = f"manage.py revoke_secret {account.ref} {unused[0].pk} && {command}"
    advice = f"Run '{command} | manage.py connect_account {account.ref}'."
    if account.is_from_environment:
        advice = f"Run '{command}', set SITE_API_SECRET to what it prints, and restart every process."
    return f"The portal {state} for {account.ref}, whose pages need one that works. {advice}"


@sensitive_variables("clear")
def _unused(account: Account) -> list[api.Secret]:
    """Return the usable portal secrets with which ``account`` does not sign, oldest first."""
    try:
        clear = account.reveal_secret()
    except CannotUnseal:
        clear = ""
    rows = api.Secret.objects.filter(account__ref=account.ref, for_portal=True, is_test=False)
    return [row for row in rows.usable(timezone.now()).order_by("pk") if not row.holds(clear)]


@sensitive_variables("clear")
def _row_of(ref: str, clear: str) -> api.Secret | None:
    """Return the service's row for the secret ``clear``, if the service knows it."""
    return next((row for row in api.Secret.objects.filter(account__ref=ref) if row.holds(clear)), None)


@sensitive_variables("clear")
def _wrong_state(ref: str, clear: str) -> str:
    """Return what is wrong with the secret ``clear``; empty if it works and will not end."""
    secret = _row_of(ref, clear)
    if secret is None:
        return "has a secret that the service does not know"
    if secret.is_test:
        return "has a test secret"
    if not secret.is_usable(timezone.now()):
        return f"has a secret that was revoked ({secret.pk}: {secret.hint})"
    if secret.state == api.Secret.State.RETIRING:
        return f"{_ENDS_SOON} {secret.retires_at:%Y-%m-%d %H:%M} UTC only"
    return ""


@sensitive_variables("clear")
def _replace(*, secret: api.Secret, **_kwargs: Any) -> None:
    """Give the portal a new secret if it signs with ``secret``, which ends; raises ValidationError."""
    service_account = secret.account
    account = Account.objects.select_for_update().filter(ref=service_account.ref).first()
    if account is None or not is_in_process():
        return
    try:
        clear = account.reveal_secret()
    except CannotUnseal:
        return
    if not secret.holds(clear):
        return
    if account.is_from_environment:
        raise ValidationError(
            f"The portal signs with {secret}, as SITE_API_SECRET says. Run 'manage.py issue_secret "
            f"{service_account} --for-portal', set SITE_API_SECRET to what it prints, and restart every "
            "process first."
        )
    give_secret(account, service_account, by="Our team")


def _check(*, account: Account, **_kwargs: Any) -> str:
    return problem(account)
