"""The response about a claim, from its row and its account's link."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from dashboard_api import limits
from dashboard_api.contract import ClaimsRequest, responses
from dashboard_api.models import OwnershipClaim, SiteLink
from dashboard_api.ownership import calendar
from dashboard_api.ownership.checking import FILE_PATH, META_NAME

State = OwnershipClaim.State


def claim_response(claim: OwnershipClaim) -> bytes:
    """Return the encoded ClaimResponse."""
    (answer,) = _described([claim])
    return msgspec.json.encode(responses.ClaimResponse(ok=True, claim=answer))


def claims_response(account_id: int, request: ClaimsRequest) -> bytes:
    """Return the encoded ClaimsResponse."""
    claims = OwnershipClaim.objects.open().filter(account=account_id).order_by("host")
    start = (request.page - 1) * request.page_size
    shown = list(claims[start : start + request.page_size])
    answer = responses.ClaimsResponse(ok=True, claims=list(_described(shown)), total=claims.count())
    return msgspec.json.encode(answer)


def _described(claims: Sequence[OwnershipClaim]) -> Iterable[responses.WebsiteClaim]:
    links = SiteLink.objects.not_revoked().filter(
        account__in={claim.account_id for claim in claims}, website__host__in=[claim.host for claim in claims]
    )
    ids = {
        (account, host): link
        for account, host, link in links.values_list("account", "website__host", "link_id")
    }
    for claim in claims:
        yield _claim(claim, ids.get((claim.account_id, claim.host)))


def _claim(claim: OwnershipClaim, link_id: str | None) -> responses.WebsiteClaim:
    lapses = (
        claim.missed_at + calendar.LAPSES_AFTER if claim.missed_at and claim.state == State.FAILING else None
    )
    return responses.WebsiteClaim(
        claim_id=str(claim.pk),
        host=claim.host,
        state=claim.state,
        method=claim.method or None,
        strength=claim.strength or None,
        token=claim.token,
        instructions=responses.ProofInstructions(
            file=responses.ProofFile(url=f"https://{claim.host}{FILE_PATH}", content=claim.token),
            meta=f'<meta name="{META_NAME}" content="{claim.token}">',
        ),
        checks=[msgspec.convert(each, responses.ClaimCheck) for each in claim.checks],
        created_at=_seconds(claim.created_at),
        next_check_at=_optional(claim.next_check_at),
        check_allowed_at=_seconds(
            (claim.asked_at or claim.created_at - limits.CHECK_PAUSE) + limits.CHECK_PAUSE
        ),
        expires_at=_optional(
            claim.created_at + calendar.PENDING_FOR if claim.state == State.PENDING else None
        ),
        verified_at=_optional(claim.verified_at),
        lapses_at=_optional(lapses),
        link_id=link_id,
        link_problem=claim.link_problem or None,
    )


def _optional(at: datetime | None) -> datetime | None:
    return at and _seconds(at)


def _seconds(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(microsecond=0)
