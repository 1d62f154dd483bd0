"""The signed endpoints of claims: an account proves that a website is its own. Decision record 0104."""

from datetime import date

from django.core.exceptions import ValidationError

from dashboard_api.api.authentication import Authenticated
from dashboard_api.api.authorization import check_entitlement
from dashboard_api.api.request import Call
from dashboard_api.api.signed import signed
from dashboard_api.contract import (
    AGREE,
    CLAIM_ANSWER_PATH,
    CLAIM_CHECK_PATH,
    CLAIM_PATH,
    CLAIM_WITHDRAW_PATH,
    CLAIMS_PATH,
    ClaimAnswerRequest,
    ClaimCheckRequest,
    ClaimRequest,
    ClaimsRequest,
    ClaimWithdrawRequest,
    read_claim_answer_request,
    read_claim_check_request,
    read_claim_request,
    read_claim_withdraw_request,
    read_claims_request,
)
from dashboard_api.errors import (
    CheckTooSoon,
    ClaimRefused,
    UnknownClaim,
    WrongClaimState,
)
from dashboard_api.models import Account, Entitlement, OwnershipClaim
from dashboard_api.ownership import checks, claims
from dashboard_api.ownership.response import claim_response, claims_response

NOT_HELD = "The account does not hold this website."
NOT_ANSWERABLE = (
    "The other claim is no longer contested, or an account objected to it: then the operator decides."
)


@signed(CLAIM_PATH, read_claim_request)
def site_claim(call: Call, caller: Authenticated, fields: ClaimRequest) -> bytes:
    """``POST /v1/site/claim``: claim a website; the same host again is the same claim."""
    account = _entitled(caller, call.moment.date())
    try:
        claim = claims.add(account, fields.host, by=account.ref, now=call.moment)
    except ValidationError as error:
        raise ClaimRefused(reasons=error.messages) from error
    return claim_response(claim)


@signed(CLAIM_CHECK_PATH, read_claim_check_request)
def site_claim_check(call: Call, caller: Authenticated, fields: ClaimCheckRequest) -> bytes:
    """``POST /v1/site/claim/check``: look for the token now, which takes up to 12 seconds."""
    account = _entitled(caller, call.moment.date())
    claim = _claim_of(account, fields.claim_id)
    if claim.ended_at is not None:
        raise WrongClaimState(state=claim.state)
    if fields.others:
        if not claims.holds(claim):
            raise WrongClaimState(NOT_HELD, state=claim.state)
        claims.check_others(claim, by=account.ref, now=call.moment)
        return claim_response(claim)
    try:
        return claim_response(checks.check_by_hand(claim, method=fields.method, now=call.moment))
    except checks.TooSoon as error:
        raise CheckTooSoon(seconds=error.seconds) from error


@signed(CLAIM_WITHDRAW_PATH, read_claim_withdraw_request)
def site_claim_withdraw(call: Call, caller: Authenticated, fields: ClaimWithdrawRequest) -> bytes:
    """``POST /v1/site/claim/withdraw``: end a claim and its link, also without a plan; repeatable."""
    account = Account.objects.get(pk=caller.account_id)
    claim = _claim_of(account, fields.claim_id)
    try:
        claim = claims.withdraw(claim, by=account.ref, reason=fields.reason, now=call.moment)
    except claims.WrongState as error:
        claim = _claim_of(account, fields.claim_id)  # as it is now
        if claim.state != OwnershipClaim.State.WITHDRAWN:
            raise WrongClaimState(state=claim.state) from error
    return claim_response(claim)


@signed(CLAIM_ANSWER_PATH, read_claim_answer_request)
def site_claim_answer(call: Call, caller: Authenticated, fields: ClaimAnswerRequest) -> bytes:
    """``POST /v1/site/claim/answer``: agree or object to another account's claim, also without a plan."""
    account = Account.objects.get(pk=caller.account_id)
    claim = _claim_of(account, fields.claim_id)
    if not claims.holds(claim):
        raise WrongClaimState(NOT_HELD, state=claim.state)
    other = claims.others_of([claim]).filter(pk=fields.other_claim_id).first()
    if other is None:
        raise UnknownClaim("The website has no other claim with this other_claim_id.")
    try:
        claims.answer(
            other,
            account,
            agrees=fields.decision == AGREE,
            by=account.ref,
            reason=fields.reason,
            now=call.moment,
        )
    except claims.WrongState as error:
        raise WrongClaimState(NOT_ANSWERABLE, state=other.state) from error
    return claim_response(claim)


@signed(CLAIMS_PATH, read_claims_request)
def site_claims(_call: Call, caller: Authenticated, fields: ClaimsRequest) -> bytes:
    """``POST /v1/site/claims``: the account's claims that have not ended, also without a plan."""
    return claims_response(caller.account_id, fields)


def _entitled(caller: Authenticated, today: date) -> Account:
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
