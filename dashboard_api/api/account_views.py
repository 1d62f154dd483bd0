"""The signed endpoints for the account's plan and the list of its websites."""

import msgspec

from dashboard_api.api.authentication import Authenticated
from dashboard_api.api.authorization import check_entitlement
from dashboard_api.api.request import Call
from dashboard_api.api.signed import signed
from dashboard_api.billing import websites
from dashboard_api.billing.overview import build_account_changes, build_entitlement
from dashboard_api.models import Account, Entitlement
from signed_api.account import ACCOUNT_CHANGES, AccountChangesRequest
from signed_api.billing import ENTITLEMENT, WEBSITES, EntitlementRequest, WebsitesRequest


@signed(ENTITLEMENT)
def account_entitlement(call: Call, caller: Authenticated, _fields: EntitlementRequest) -> bytes:
    """``POST /v1/account/entitlement``: return the plan, even if it has ended."""
    return msgspec.json.encode(build_entitlement(caller.account_id, call.moment))


@signed(ACCOUNT_CHANGES)
def account_changes(call: Call, caller: Authenticated, _fields: AccountChangesRequest) -> bytes:
    """``POST /v1/account/changes``: list the linked websites with their versions."""
    entitlement = Entitlement.objects.filter(account_id=caller.account_id).first()
    check_entitlement(entitlement, call.moment.date())
    return msgspec.json.encode(build_account_changes(caller.account_id))


@signed(WEBSITES)
def account_websites(call: Call, caller: Authenticated, fields: WebsitesRequest) -> bytes:
    """``POST /v1/account/websites``: choose which websites to keep in the plan, and list all.

    Works without a usable plan. Repeating the call is safe.
    """
    account = Account.objects.get(pk=caller.account_id)
    if fields.stay:
        websites.choose(account, fields.stay.split(","), by=account.ref, now=call.moment)
    return msgspec.json.encode(websites.websites_response(account))
