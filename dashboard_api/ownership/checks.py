"""Checks of claims: look for the token and record the result."""

import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.db import transaction
from django.db.models import Min, Sum

from dashboard_api import limits
from dashboard_api.crawler.home_page import MAX_BYTES, home_page_of
from dashboard_api.crawler.known_page import known_page
from dashboard_api.models import OwnershipClaim, Website
from dashboard_api.ownership import claims
from dashboard_api.ownership.advice import advice_for
from dashboard_api.ownership.checking import CheckResult, check
from dashboard_api.ownership.claims import Check, Verdict
from dashboard_api.ownership.dns import Proof, has_record, look_in_dns
from foundation.outbound.deadline import Deadline
from foundation.outbound.fetch import SECONDS, FetchFailed, fetch
from foundation.outbound.names import origin_of
from signed_api.claims import PROOFS

Method = OwnershipClaim.Method
_BUSY_SECONDS = 5  # to wait while this process checks another claim
_HOUR = timedelta(hours=1)
_one_at_a_time = threading.Semaphore(1)  # a check holds a thread of the server for seconds


class TooSoon(Exception):
    """No check by hand is possible for another ``seconds``."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(seconds)


def check_by_hand(claim: OwnershipClaim, *, method: str, now: datetime) -> OwnershipClaim:
    """Check the claim in one place or in all; raise TooSoon, also while this process checks a claim."""
    if not _one_at_a_time.acquire(blocking=False):
        raise TooSoon(_BUSY_SECONDS)
    try:
        _count_check(claim, now)
        return check_claim(claim, (method,) if method else (), now=now)
    finally:
        _one_at_a_time.release()


@transaction.atomic
def _count_check(claim: OwnershipClaim, now: datetime) -> None:
    """Count the check; raise TooSoon during the pause of the claim or after too many checks in an hour."""
    stored = OwnershipClaim.objects.select_for_update().get(pk=claim.pk)
    times = (stored.check_allowed_at, _account_may_check_at(stored.account_id, now))
    allowed_at = max(filter(None, times), default=now)
    if now < allowed_at:
        raise TooSoon(ceil((allowed_at - now).total_seconds()))
    stored.count_check(now)


def _account_may_check_at(account_id: int, now: datetime) -> datetime | None:
    """Return when an account with too many checks may check again."""
    recent = OwnershipClaim.objects.filter(account=account_id, asked_since__gt=now - _HOUR)
    checks = recent.aggregate(count=Sum("asked_count", default=0), since=Min("asked_since"))
    return checks["since"] + _HOUR if checks["count"] >= limits.ACCOUNT_CHECKS_AN_HOUR else None


def check_claim(
    claim: OwnershipClaim,
    methods: Collection[str] = (),
    *,
    now: datetime,
    deadline: Deadline | None = None,
) -> OwnershipClaim:
    """Look for the token until it is found, and record the result; return the claim as it is now.

    DNS comes first: deep scans and names below the host need its record, which may be new or back. With
    ``methods``, only these places are checked, and the place of the last proof, because another proof
    replaces it only if it is gone. Such a check can find the token, but not prove that it is missing. A
    website that staff confirmed depends on DNS alone. All places share one deadline, because the portal
    waits for the response.

    Before a claim takes over a website, this also checks the claims of its holders.
    """
    results: dict[str, CheckResult] = {}
    deadline = deadline or Deadline(SECONDS)
    for method in _places(claim, methods):
        is_found = any(result.verdict is Verdict.FOUND for result in results.values())
        if is_found and method not in methods:
            continue
        if method != Method.DNS:
            results[method] = check(claim.host, claim.token, method, now=now, deadline=deadline)
        elif has_record(claim.host):
            parents = [Proof(each.host, each.token) for each in claims.proven_parents(claim)]
            results[method] = look_in_dns(claim.host, claim.token, deadline=deadline, parents=parents)
    missed = [each for each in results if each != Method.DNS and results[each].verdict is Verdict.MISSING]
    if missed and _shows_another_page(claim, deadline):
        for method in missed:
            advice = advice_for(method, "page_changed", "")
            results[method] = replace(
                results[method], outcome="page_changed", verdict=Verdict.NOT_ASKED, advice=advice
            )
    summary = _summary(results)._replace(is_whole=not methods)
    if summary.verdict is Verdict.FOUND and not claims.holds(claim):
        for holder in claims.proofs_of_holders(claim).exclude(method=Method.MANUAL):
            check_claim(holder, now=now, deadline=deadline)
    return claims.record_check(claim, summary, now=now, checks=_results_for_response(results, now))


def _shows_another_page(claim: OwnershipClaim, deadline: Deadline) -> bool:
    """Return whether the home page differs from the known page; a missing token is then no evidence.

    A claim without a proof has no known page.
    """
    website = Website.objects.filter(host=claim.host).first()
    known = known_page(website.pk) if website and claim.state in OwnershipClaim.HOLDING else None
    if known is None:
        return False
    for url in (f"{origin_of(claim.host)}/", f"http://{claim.host}/"):
        with suppress(FetchFailed):
            page = fetch(url, max_bytes=MAX_BYTES, deadline=deadline, verify=False)
            return not known.looks_like(home_page_of(page, claim.host))
    return False


def _places(claim: OwnershipClaim, methods: Collection[str]) -> list[str]:
    """Return the places to check: DNS first, then the place of the last proof, then the others."""
    if not methods and claim.method == Method.MANUAL:
        return [Method.DNS]
    checked = [method for method in PROOFS if not methods or method in methods or method == claim.method]
    return sorted(checked, key=lambda method: (method != Method.DNS, method != claim.method))


def _summary(results: dict[str, CheckResult]) -> Check:
    """Return the found proof, in DNS before others; without a proof, whether the token is missing."""
    verdicts = {method: result.verdict for method, result in results.items()}
    for method in PROOFS:
        if verdicts.get(method) is Verdict.FOUND:
            return Check(Verdict.FOUND, method, results[method].strength, verdicts)
    is_missing = set(verdicts.values()) == {Verdict.MISSING}
    return Check(Verdict.MISSING if is_missing else Verdict.NOT_ASKED, places=verdicts)


def _results_for_response(results: dict[str, CheckResult], now: datetime) -> list[dict[str, Any]]:
    """Return the results as the response shows them."""
    return [
        {
            "method": method,
            "at": f"{now.replace(microsecond=0):%Y-%m-%dT%H:%M:%SZ}",
            "outcome": result.outcome,
            "asked": list(result.asked),
            "expected": result.expected,
            "found": list(result.found),
            "advice": result.advice,
        }
        for method, result in results.items()
    ]
