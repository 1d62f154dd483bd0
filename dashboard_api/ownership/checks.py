"""Checks of claims: look for the token, and record what follows."""

import threading
from collections.abc import Iterable
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.db import transaction
from django.db.models import Min, Sum

from dashboard_api import limits
from dashboard_api.contract.fields import PROOFS
from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership import claims
from dashboard_api.ownership.checking import CheckResult, check
from dashboard_api.ownership.claims import Check, Verdict
from dashboard_api.ownership.dns import Proof, has_record, look_in_dns
from foundation.deadline import Deadline
from foundation.outbound.fetch import SECONDS

Method = OwnershipClaim.Method
_BUSY_SECONDS = 5
_HOUR = timedelta(hours=1)
_one_at_a_time = threading.Semaphore(1)  # a check holds a thread of the server for seconds


class TooSoon(Exception):
    """No check by hand is possible now; the next is in ``seconds``."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(seconds)


def check_by_hand(claim: OwnershipClaim, *, method: str, now: datetime) -> OwnershipClaim:
    """Check the claim, in one place or in all; raise TooSoon, also while this process checks another.

    DNS is asked first: a website that is proved by a file could otherwise never get that proof as well. One
    that staff confirmed is asked for in DNS alone, because it does not depend on the other places.
    """
    if not _one_at_a_time.acquire(blocking=False):
        raise TooSoon(_BUSY_SECONDS)
    try:
        _count(claim, now)
        places = (Method.DNS,) if claim.method == Method.MANUAL else PROOFS
        return check_claim(claim, (method,) if method else places, now=now)
    finally:
        _one_at_a_time.release()


@transaction.atomic
def _count(claim: OwnershipClaim, now: datetime) -> None:
    """Count the check; raise TooSoon before the pause or, after many checks, the hour is over."""
    counted = OwnershipClaim.objects.select_for_update().get(pk=claim.pk)
    allowed_at = max(filter(None, (counted.check_allowed_at, _room_at(counted.account_id, now))), default=now)
    if now < allowed_at:
        raise TooSoon(ceil((allowed_at - now).total_seconds()))
    counted.count_check(now)


def _room_at(account_id: int, now: datetime) -> datetime | None:
    """Return when the account may check again after many checks of its claims; None: it may now."""
    recent = OwnershipClaim.objects.filter(account=account_id, asked_since__gt=now - _HOUR)
    counted = recent.aggregate(count=Sum("asked_count", default=0), since=Min("asked_since"))
    return counted["since"] + _HOUR if counted["count"] >= limits.ACCOUNT_CHECKS_AN_HOUR else None


def check_claim(claim: OwnershipClaim, methods: Iterable[str] = (), *, now: datetime) -> OwnershipClaim:
    """Look for the token until it is found, and record the result; return the claim as it is now.

    Without ``methods``, every place is asked: that of the last proof first, where the account holds the
    website. All places share one limit of time, because the portal waits for the answer.
    """
    results: dict[str, CheckResult] = {}
    deadline = Deadline(SECONDS)
    first = claim.method if claim.state in OwnershipClaim.HOLDING else Method.DNS
    for method in methods or sorted(PROOFS, key=lambda method: method != first):
        if method != Method.DNS:
            results[method] = check(claim.host, claim.token, method, now=now, deadline=deadline)
        elif has_record(claim.host):
            parents = [Proof(each.host, each.token) for each in claims.proven_parents(claim)]
            results[method] = look_in_dns(claim.host, claim.token, deadline=deadline, parents=parents)
        if method in results and results[method].verdict is Verdict.FOUND:
            break
    return claims.record_check(claim, _summary(claim, results), now=now, checks=_stored(results, now))


def _summary(claim: OwnershipClaim, results: dict[str, CheckResult]) -> Check:
    """Return the proof if there is one; otherwise whether the token is certainly missing.

    The place of the last proof decides that, because the others never had the token. What DNS says counts
    where it had the last proof: deep scans and names below the host depend on it. The other places prove
    nothing about a website that staff confirmed, which does not depend on them.
    """
    for method, result in results.items():
        if result.verdict is Verdict.FOUND:
            if claim.method == Method.MANUAL and method != Method.DNS:
                return Check(Verdict.NOT_ASKED)
            dns = None
            if claim.method == Method.DNS != method:
                dns = results[Method.DNS].verdict if Method.DNS in results else Verdict.NOT_ASKED
            return Check(Verdict.FOUND, method, result.strength, dns)
    if claim.method in results:
        return Check(results[claim.method].verdict)
    verdicts = {result.verdict for result in results.values()}
    return Check(Verdict.MISSING if verdicts == {Verdict.MISSING} else Verdict.NOT_ASKED)


def _stored(results: dict[str, CheckResult], now: datetime) -> list[dict[str, Any]]:
    """Return the results in the form of the response."""
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
