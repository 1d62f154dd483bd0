"""The signed endpoints for claims: an account proves that it controls a website."""

from datetime import date

from django.core.exceptions import ValidationError

from dashboard_api.api.authentication import Authenticated
from dashboard_api.api.authorization import check_entitlement
from dashboard_api.api.request import Call
from dashboard_api.api.signed import signed
from dashboard_api.errors import (
    CheckTooSoon,
    ClaimRefused,
    UnknownClaim,
    WrongClaimState,
)
from dashboard_api.models import Account, Entitlement, OwnershipClaim
from dashboard_api.ownership import checks, claims
from dashboard_api.ownership.response import claim_response, claims_response
from signed_api.claims import (
    CLAIM,
    CLAIM_CHECK,
    CLAIM_WITHDRAW,
    CLAIMS,
    ClaimCheckRequest,
    ClaimRequest,
    ClaimsRequest,
    ClaimWithdrawRequest,
)


@signed(CLAIM)
def site_claim(call: Call, caller: Authenticated, fields: ClaimRequest) -> bytes:
    """``POST /v1/site/claim``: claim a website, or return the claim that exists for this host."""
    account = _account_with_plan(caller, call.moment.date())
    try:
        claim = claims.add(account, fields.host, by=account.ref, now=call.moment)
    except ValidationError as error:
        raise ClaimRefused(reasons=error.messages) from error
    return claim_response(claim)


@signed(CLAIM_CHECK)
def site_claim_check(call: Call, caller: Authenticated, fields: ClaimCheckRequest) -> bytes:
    """``POST /v1/site/claim/check``: look for the token now; takes up to 12 seconds."""
    account = _account_with_plan(caller, call.moment.date())
    claim = _claim_of(account, int(fields.claim_id))
    if claim.ended_at is not None:
        raise WrongClaimState(ended_reason=claim.ended_reason)
    try:
        return claim_response(checks.check_by_hand(claim, method=fields.method, now=call.moment))
    except checks.TooSoon as error:
        raise CheckTooSoon(seconds=error.seconds) from error


@signed(CLAIM_WITHDRAW)
def site_claim_withdraw(call: Call, caller: Authenticated, fields: ClaimWithdrawRequest) -> bytes:
    """``POST /v1/site/claim/withdraw``: end a claim and its link. Needs no plan; repeating it is safe."""
    account = Account.objects.get(pk=caller.account_id)
    claim = _claim_of(account, int(fields.claim_id))
    try:
        claim = claims.withdraw(claim, by=account.ref, reason=fields.reason, now=call.moment)
    except claims.WrongState as error:
        claim = _claim_of(account, int(fields.claim_id))  # read its current state
        if claim.ended_reason != OwnershipClaim.EndedReason.WITHDRAWN:
            raise WrongClaimState(ended_reason=claim.ended_reason) from error
    return claim_response(claim)


@signed(CLAIMS)
def site_claims(call: Call, caller: Authenticated, fields: ClaimsRequest) -> bytes:
    """``POST /v1/site/claims``: list the account's claims; needs no plan."""
    return claims_response(caller.account_id, fields, now=call.moment)


def _account_with_plan(caller: Authenticated, today: date) -> Account:
    """Return the account of the caller; raises InactiveEntitlement."""
    account = Account.objects.get(pk=caller.account_id)
    check_entitlement(Entitlement.objects.filter(account=account).first(), today)
    return account


def _claim_of(account: Account, claim_id: int) -> OwnershipClaim:
    """Return the account's claim; raises UnknownClaim."""
    claim = OwnershipClaim.objects.filter(account=account, pk=claim_id).first()
    if claim is None:
        raise UnknownClaim
    return claim
