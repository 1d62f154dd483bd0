"""The signed endpoint through which the portal manages an account's secrets."""

from collections.abc import Iterable
from datetime import datetime

import msgspec
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from dashboard_api.api.authentication import Authenticated, authenticated
from dashboard_api.api.request import Reply, json_endpoint, receive
from dashboard_api.api.test_mode import example_reply
from dashboard_api.contract.requests import read_request
from dashboard_api.errors import SecretRefused
from dashboard_api.models import Account, Secret
from dashboard_api.models.accounts import NotActive, TooManySecrets
from signed_api import account as contract
from signed_api.account import SECRETS, SecretsRequest


@json_endpoint
def account_secrets(request: HttpRequest) -> bytes | Reply:
    """``POST /v1/account/secrets``: list, issue or retire secrets; needs no plan."""
    call = receive(request, SECRETS.path)
    with authenticated(call) as caller:
        fields = read_request(SECRETS, caller.unchecked_fields)
        if caller.is_test:
            return example_reply(SECRETS, fields)
        if not caller.is_portal:
            raise SecretRefused(reason="portal_only")
        return _change_and_list(caller, fields, call.moment)


@sensitive_variables("new_secret")
def _change_and_list(caller: Authenticated, fields: SecretsRequest, now: datetime) -> bytes:
    account = Account.objects.get(pk=caller.account_id)
    if fields.retire:
        _retire(caller, int(fields.retire), now)
    new_secret = _issue(caller, account) if fields.issue else None
    usable = Secret.objects.filter(account=account).usable(now).order_by("-created_at", "-pk")
    return msgspec.json.encode(
        contract.SecretsResponse(ok=True, secrets=_in_response(caller, usable), secret=new_secret)
    )


def _retire(caller: Authenticated, secret_id: int, now: datetime) -> None:
    """Retire a secret of the customer; raises SecretRefused for the portal's own secret: pages need it."""
    secret = Secret.objects.filter(account=caller.account_id, pk=secret_id).first()
    if secret is None:
        raise SecretRefused(reason="unknown")
    if secret.for_portal or secret.pk == caller.secret_id:
        raise SecretRefused(reason="in_use")
    try:
        secret.retire(now=now)
    except NotActive as error:
        raise SecretRefused(reason="not_active") from error


@sensitive_variables("clear")
def _issue(caller: Authenticated, account: Account) -> str:
    try:
        _row, clear = Secret.objects.issue(account, by=account.ref, portal_secret=caller.secret_id)
    except TooManySecrets as error:
        raise SecretRefused(reason="too_many") from error
    return clear


def _in_response(caller: Authenticated, secrets: Iterable[Secret]) -> list[contract.AccountSecret]:
    return [
        contract.AccountSecret(
            id=str(secret.pk),
            hint=secret.hint,
            state="retiring" if secret.state == Secret.State.RETIRING else "active",
            is_test=secret.is_test,
            for_portal=secret.for_portal or secret.pk == caller.secret_id,
            created_at=secret.created_at,
            retires_at=secret.retires_at,
            last_used_at=secret.last_used_at,
        )
        for secret in secrets
    ]
