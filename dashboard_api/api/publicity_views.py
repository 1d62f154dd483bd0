"""The signed endpoint for consent to publish facts about an account's websites."""

import msgspec

from dashboard_api.api.authentication import Authenticated
from dashboard_api.api.request import Call
from dashboard_api.api.signed import signed
from dashboard_api.models import Account
from dashboard_api.public import consent
from signed_api.account import PUBLICITY, PublicityRequest


@signed(PUBLICITY)
def account_publicity(_call: Call, caller: Authenticated, fields: PublicityRequest) -> bytes:
    """``POST /v1/account/publicity``: read or change the consent. Needs no plan; repeating it is safe."""
    account = Account.objects.get(pk=caller.account_id)
    consent.change(account, fields, by=account.ref)
    return msgspec.json.encode(consent.publicity_response(account.pk, fields))
