"""The signed endpoints of claims: an account proves that a website is its own. Decision record 0104."""

from datetime import date

from django.core.exceptions import ValidationError
from django.http import HttpRequest

from dashboard_api.api.authentication import Authenticated, authenticated
from dashboard_api.api.authorization import check_entitlement
from dashboard_api.api.request import Reply, json_endpoint, receive
from dashboard_api.api.test_mode import example_reply
from dashboard_api.contract import (
    CLAIM_CHECK_PATH,
    CLAIM_PATH,
    CLAIM_WITHDRAW_PATH,
    CLAIMS_PATH,
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


@json_endpoint
def site_claim(request: HttpRequest) -> bytes | Reply:
    """``POST /v1/site/claim``: claim a website; the same host again is the same claim."""
    call = receive(request, CLAIM_PATH)
    with authenticated(call) as caller:
        fields = read_claim_request(caller.fields)
        if caller.is_test:
            return example_reply(fields)
        account = _entitled(caller, call.moment.date())
        try:
            claim = claims.add(account, fields.host, by=account.ref, now=call.moment)
        except ValidationError as error:
            raise ClaimRefused(reasons=error.messages) from error
        return claim_response(claim)


@json_endpoint
def site_claim_check(request: HttpRequest) -> bytes | Reply:
    """``POST /v1/site/claim/check``: look for the token now, which takes up to 12 seconds."""
    call = receive(request, CLAIM_CHECK_PATH)
    with authenticated(call) as caller:
        fields = read_claim_check_request(caller.fields)
        if caller.is_test:
            return example_reply(fields)
        account = _entitled(caller, call.moment.date())
        claim = _claim_of(account, fields.claim_id)
        if claim.ended_at is not None:
            raise WrongClaimState(state=claim.state)
        try:
            return claim_response(checks.check_by_hand(claim, method=fields.method, now=call.moment))
        except checks.TooSoon as error:
            raise CheckTooSoon(seconds=error.seconds) from error


@json_endpoint
def site_claim_withdraw(request: HttpRequest) -> bytes | Reply:
    """``POST /v1/site/claim/withdraw``: end a claim and its link, also without a plan; repeatable."""
    call = receive(request, CLAIM_WITHDRAW_PATH)
    with authenticated(call) as caller:
        fields = read_claim_withdraw_request(caller.fields)
        if caller.is_test:
            return example_reply(fields)
        account = Account.objects.get(pk=caller.account_id)
        claim = _claim_of(account, fields.claim_id)
        if claim.state == OwnershipClaim.State.WITHDRAWN:
            return claim_response(claim)
        try:
            claim = claims.withdraw(claim, by=account.ref, reason=fields.reason, now=call.moment)
        except claims.WrongState as error:
            raise WrongClaimState(state=claim.state) from error
        return claim_response(claim)


@json_endpoint
def site_claims(request: HttpRequest) -> bytes | Reply:
    """``POST /v1/site/claims``: the account's claims that have not ended, also without a plan."""
    call = receive(request, CLAIMS_PATH)
    with authenticated(call) as caller:
        fields = read_claims_request(caller.fields)
        if caller.is_test:
            return example_reply(fields)
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
