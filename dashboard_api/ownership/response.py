"""Responses about claims, built from their rows and their accounts' links."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from dashboard_api.models import OwnershipClaim, ScanJob, ScanSchedule, SiteLink, Website
from dashboard_api.models.scan_job import PAGE_CHANGED
from dashboard_api.ownership import calendar
from dashboard_api.ownership.checking import FILE_PATH, META_NAME
from dashboard_api.ownership.claims import contested_of
from dashboard_api.ownership.dns import has_record, record_name, relative_name
from foundation.outbound.names import origin_of
from signed_api import claims as contract
from signed_api.claims import ClaimsRequest

State = OwnershipClaim.State


def claim_response(claim: OwnershipClaim) -> bytes:
    """Return the encoded ClaimResponse."""
    (answer,) = _website_claims([claim])
    return msgspec.json.encode(contract.ClaimResponse(ok=True, claim=answer))


def describe(claim: OwnershipClaim) -> dict[str, Any]:
    """Return the members of the claim in a response."""
    (answer,) = _website_claims([claim])
    members: dict[str, Any] = msgspec.to_builtins(answer)
    return members


def claims_response(account_id: int, request: ClaimsRequest, *, now: datetime) -> bytes:
    """Return the encoded ClaimsResponse."""
    claims = OwnershipClaim.objects.filter(account=account_id).order_by("host", "pk")
    if request.claim_id:
        claims = claims.filter(pk=int(request.claim_id))
    else:
        claims = claims.listed(now - calendar.LISTED_FOR)
    if request.host:
        claims = claims.filter(host=request.host)
    start = (request.page - 1) * request.page_size
    shown = list(claims[start : start + request.page_size])
    answer = contract.ClaimsResponse(ok=True, claims=list(_website_claims(shown)), total=claims.count())
    return msgspec.json.encode(answer)


def _website_claims(claims: Sequence[OwnershipClaim]) -> Iterable[contract.WebsiteClaim]:
    links = SiteLink.objects.not_revoked().filter(
        account__in={claim.account_id for claim in claims}, website__host__in=[claim.host for claim in claims]
    )
    # The rest by account and host.
    link_ids = {
        (account, host): link_id
        for account, host, link_id in links.values_list("account", "website__host", "link_id")
    }
    paused = {
        (account, host): contract.PausedSchedule(reason=reason, set_at=_in_seconds(set_at))
        for account, host, reason, set_at in ScanSchedule.objects.exclude(pause_reason="")
        .filter(link__in=links)
        .values_list("link__account", "link__website__host", "pause_reason", "changed_at")
    }
    different = _different_pages(host for _account, host in link_ids)
    others = defaultdict(list)
    for other in contested_of([claim for claim in claims if (claim.account_id, claim.host) in link_ids]):
        others[other.host].append(_other_claim(other))
    for claim in claims:
        holds = claim.state in OwnershipClaim.HOLDING
        key = (claim.account_id, claim.host)
        yield _claim(
            claim,
            link_ids.get(key),
            others.get(claim.host, []) if holds else [],
            paused.get(key) if holds else None,
            different.get(claim.host) if holds and key in link_ids else None,
        )


def _claim(
    claim: OwnershipClaim,
    link_id: str | None,
    others: list[contract.OtherClaim],
    paused: contract.PausedSchedule | None,
    different: contract.DifferentPage | None,
) -> contract.WebsiteClaim:
    return contract.WebsiteClaim(
        claim_id=str(claim.pk),
        host=claim.host,
        state=claim.state,
        method=claim.method or None,
        strength=claim.strength or None,
        token=claim.token,
        instructions=contract.ProofInstructions(
            dns=(
                contract.ProofRecord(
                    name=record_name(claim.host), relative_name=relative_name(claim.host), value=claim.token
                )
                if has_record(claim.host)
                else None
            ),
            file=contract.ProofFile(url=origin_of(claim.host) + FILE_PATH, content=claim.token),
            meta=f'<meta name="{META_NAME}" content="{claim.token}">',
        ),
        checks=[msgspec.convert(each, contract.ClaimCheck) for each in claim.checks],
        created_at=_in_seconds(claim.created_at),
        next_check_at=_optional_in_seconds(claim.next_check_at),
        check_allowed_at=_in_seconds(claim.check_allowed_at or claim.created_at),
        expires_at=(
            _in_seconds(claim.created_at + calendar.PENDING_FOR) if claim.state == State.PENDING else None
        ),
        verified_at=_optional_in_seconds(claim.verified_at),
        lapses_at=_optional_in_seconds(_lapses_at(claim)),
        ended_at=_optional_in_seconds(claim.ended_at),
        ended_reason=claim.ended_reason or None,
        link_id=link_id,
        link_problem=claim.link_problem or None,
        others=others,
        paused_schedule=paused,
        different_page=different,
    )


def _different_pages(hosts: Iterable[str]) -> dict[str, contract.DifferentPage]:
    """Return the different page of each host that has no newer known page."""
    found = {}
    unknown = ScanJob.objects.filter(reason=PAGE_CHANGED, page__isnull=False, page_confirmed_at=None)
    for website in Website.objects.filter(host__in=list(hosts), scan_jobs__in=unknown).distinct():
        jobs = website.scan_jobs.order_by("created_at", "pk")
        known = jobs.with_known_page().last()
        later = jobs.filter(page__isnull=False)
        if known is not None:
            later = later.filter(created_at__gt=known.created_at)
        first, newest = later.first(), later.last()
        if first and newest:
            found[website.host] = contract.DifferentPage(
                job_id=str(newest.pk), since=_in_seconds(first.created_at)
            )
    return found


def _other_claim(claim: OwnershipClaim) -> contract.OtherClaim:
    return contract.OtherClaim(
        claim_id=str(claim.pk),
        method=claim.method,
        token=claim.token,
        since=_in_seconds(claim.contested_at or claim.created_at),
    )


def _lapses_at(claim: OwnershipClaim) -> datetime | None:
    """Return when the link ends, unless a check at that time got no answer: then the next answer decides."""
    if claim.state != State.FAILING or claim.missed_at is None:
        return None
    ends_at = claim.missed_at + calendar.LAPSES_AFTER
    return None if claim.checked_at and claim.checked_at >= ends_at else ends_at


def _optional_in_seconds(at: datetime | None) -> datetime | None:
    return at and _in_seconds(at)


def _in_seconds(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(microsecond=0)
