"""Actions on a claim: add, record a check, decide, withdraw. Each is one transaction.

An action locks the website's claims first, then the website, then the account, as links do.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from enum import Enum
from statistics import fmean
from types import MappingProxyType
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q

from audit.recording import record as audit
from dashboard_api.crawler import queue, schedules
from dashboard_api.models import Account, LinkEvent, OwnershipClaim, ScanJob, SiteLink, Website
from dashboard_api.models.accounts import AlreadyRevoked
from dashboard_api.models.ownership import OwnershipClaimQuerySet, new_token
from dashboard_api.models.sites import (
    Archived,
    PlanInactive,
    SiteLinkQuerySet,
    SitesLimitReached,
    check_has_one_owner,
)
from dashboard_api.ownership import calendar
from dashboard_api.ownership.staff_mail import tell_contested, tell_taken_over
from foundation.addresses.domains import parents_of

State = OwnershipClaim.State
Ended = OwnershipClaim.EndedReason
Method = OwnershipClaim.Method
LinkProblem = OwnershipClaim.LinkProblem
MAX_OPEN_CLAIMS = 20  # claims that wait for a proof or a link
MAX_ENDED_A_DAY = 100  # claims that began and ended within 24 hours: they are never deleted
# If more of the last hour's checks got no answer, missing tokens do not count: our network may be the cause.
MAX_UNASKED_SHARE = 0.2
MIN_JUDGED = 5  # with fewer checks in the hour, the share says little
SYSTEM = "ownership check"  # who links, revokes and scans
_TAKEN_OVER = "Another account has proven the website, and the token of this one was missing."
_DECIDED = "Staff decided for another account that has proven the website."


class TooManyClaims(ValidationError):
    """The account has too many claims that wait for a proof or a link, or has given up too many."""


class WrongState(ValidationError):
    """The claim's state does not allow the action; the message says which state it has."""


class Verdict(Enum):
    """The result of a check: the token is there, is certainly missing, or could not be looked for."""

    FOUND = "found"
    MISSING = "missing"
    NOT_ASKED = "not_asked"


class Check(NamedTuple):
    """A check; ``method`` and ``strength`` describe the proof, if it was found.

    ``places`` has the verdict of each checked place; ``is_whole`` means that no place was left out.
    """

    verdict: Verdict
    method: str = ""
    strength: str = ""
    places: Mapping[str, Verdict] = MappingProxyType({})
    is_whole: bool = True

    def of_dns(self, claim: OwnershipClaim) -> Verdict | None:
        """Return the verdict of DNS if it had the last proof and the token was found elsewhere."""
        had_last_proof = claim.method == Method.DNS and self.method != Method.DNS
        if self.verdict is not Verdict.FOUND or not had_last_proof:
            return None
        return self.places.get(Method.DNS, Verdict.NOT_ASKED)


def add(account: Account, host: str, *, by: str, now: datetime) -> OwnershipClaim:
    """Return the account's open claim to ``host`` (in stored form), or a new claim.

    A claim that lapsed recently begins again with its token, which may still be in place. A host below a
    name that the account has proven by DNS is verified at once, unless another account has it. Raises
    NoWebsite and TooManyClaims.
    """
    check_has_one_owner(host)
    claim = _add_waiting(account, host, by=by, now=now)
    is_new = claim.state == State.PENDING and claim.checked_at is None
    is_free = is_new and not _links_of_others(claim).exists()
    if is_free and any(
        parent.state == State.VERIFIED and not parent.misses and parent.unasked_at is None
        for parent in proven_parents(claim)
    ):
        proof = Check(Verdict.FOUND, Method.DNS, OwnershipClaim.Strength.DNS)
        return record_check(claim, proof, now=now)
    return claim


@transaction.atomic
def _add_waiting(account: Account, host: str, *, by: str, now: datetime) -> OwnershipClaim:
    account = Account.objects.select_for_update().get(pk=account.pk)
    check_room(account, host, now=now)
    newest = OwnershipClaim.objects.filter(account=account, host=host).order_by("pk").last()
    if newest is not None and newest.ended_at is None:
        return newest
    claim = OwnershipClaim(account=account, host=host, token=new_token())
    if newest is not None and newest.has_lapsed_since(now - calendar.RESTORED_WITHIN):
        claim = newest
        claim.state, claim.ended_at, claim.ended_reason = State.PENDING, None, ""
        claim.checked_at = None
    claim.by, claim.created_at = by.strip(), now
    claim.next_check_at = calendar.next_check(claim, now)
    claim.save()
    audit("ownership.claimed", claim, by=by, host=host)
    return claim


def check_room(account: Account, host: str, *, now: datetime) -> None:
    """Raise TooManyClaims if the account may not claim ``host``; an open claim may always be repeated."""
    claims = OwnershipClaim.objects.open().filter(account=account)
    if claims.filter(host=host).exists():
        return
    waiting = Q(state__in=(State.PENDING, State.CONTESTED)) | ~Q(link_problem="")
    if claims.filter(waiting).count() >= MAX_OPEN_CLAIMS:
        raise TooManyClaims(
            f"{MAX_OPEN_CLAIMS} websites wait for their proof, or for room in the plan: prove one of "
            "them first, or remove one."
        )
    ended = OwnershipClaim.objects.filter(account=account, created_at__gt=now - timedelta(days=1))
    if ended.exclude(ended_at=None).count() >= MAX_ENDED_A_DAY:
        raise TooManyClaims("You removed many websites today. Add others tomorrow.")


def proven_parents(claim: OwnershipClaim) -> list[OwnershipClaim]:
    """Return the account's claims to names above the host that DNS proves, topmost first.

    Their tokens also prove this host, because the owner of a domain owns all names below it. The topmost
    name often proved the names in between, which have no record.
    """
    above = OwnershipClaim.objects.open().filter(
        account=claim.account_id,
        host__in=parents_of(claim.host),
        method=Method.DNS,
        state__in=OwnershipClaim.HOLDING,
    )
    return sorted(above, key=lambda parent: len(parent.host))


@transaction.atomic
def record_check(
    claim: OwnershipClaim, check: Check, *, now: datetime, checks: Sequence[dict[str, Any]] = ()
) -> OwnershipClaim:
    """Record the result of a check and its consequences; return the claim as it is now.

    ``checks`` are the results for each place, as the response shows them. A claim that was confirmed by hand
    does not depend on a token. A check of some places cannot show that the token is missing, because other
    places may have it, and does not postpone the next check of all places.
    """
    claim = _lock_and_reload(claim)
    planned_at = claim.next_check_at
    has_later_proof = claim.found_at is not None and claim.found_at > now  # of a check that began later
    is_outdated = check.verdict is Verdict.MISSING and has_later_proof
    if claim.ended_at is None and not is_outdated:
        check = _check_that_counts(claim, check)
        claim.checked_at = now
        if check.verdict is not Verdict.NOT_ASKED:
            claim.found_at = now if check.verdict is Verdict.FOUND else None
        checked_methods = {each["method"] for each in checks}
        others = [each for each in claim.checks if each["method"] not in checked_methods]
        claim.checks = [*others, *checks]
        is_found = check.verdict is Verdict.FOUND
        if is_found or (check.is_whole and claim.method != Method.MANUAL):
            if claim.state in OwnershipClaim.HOLDING:
                _after_verified(claim, check, now)
            else:
                _after_waiting(claim, check, now)
        _save(claim, now, latest=None if check.is_whole else planned_at)
    return claim


def _check_that_counts(claim: OwnershipClaim, check: Check) -> Check:
    """Return the check as it counts for the claim, which may have changed while the check ran.

    The place of the last proof decides whether the token is missing, because other places never had it. For
    a website that staff confirmed, only a proof by DNS counts.
    """
    if claim.method == Method.MANUAL and check.method != Method.DNS and check.verdict is Verdict.FOUND:
        return Check(Verdict.NOT_ASKED)
    if check.verdict is not Verdict.FOUND and claim.method in check.places:
        return Check(check.places[claim.method], is_whole=check.is_whole)
    return check


@transaction.atomic
def decide(claim: OwnershipClaim, *, accept: bool, by: str, reason: str, now: datetime) -> OwnershipClaim:
    """Record the decision by staff about a contested claim; raise WrongState, or refuse an empty reason.

    An accepted claim takes the website over from its holders. A refusal confirms the holders: while one of
    them has the website, every other claim needs a decision by staff.
    """
    claim = _lock_and_reload(claim)
    if claim.state != State.CONTESTED:
        raise _wrong_state(claim)
    _require_reason(reason)
    claim.reason = reason.strip()
    if accept:
        _take_over(claim, now, is_decided=True)
    else:
        _end(claim, Ended.REFUSED, now)
    audit("ownership.decided", claim, by=by, host=claim.host, reason=reason, after={"accept": accept})
    _save(claim, now)
    return claim


@transaction.atomic
def withdraw(claim: OwnershipClaim, *, by: str, reason: str, now: datetime) -> OwnershipClaim:
    """End the claim and revoke the account's link; raise WrongState, or refuse an empty reason."""
    claim = _lock_and_reload(claim)
    if claim.ended_at is not None:
        raise _wrong_state(claim)
    _require_reason(reason)
    _revoke_link(claim, by=by, reason=reason, now=now)
    claim.reason = reason.strip()
    _end(claim, Ended.WITHDRAWN, now)
    audit("ownership.withdrawn", claim, by=by, host=claim.host, reason=reason)
    _save(claim, now)
    return claim


def _after_waiting(claim: OwnershipClaim, check: Check, now: datetime) -> None:
    """Let a claim with a found token take the website over; end a claim that has waited too long."""
    if check.verdict is Verdict.FOUND:
        claim.method, claim.strength = check.method, check.strength
        _take_over(claim, now)
    elif now - claim.created_at >= calendar.PENDING_FOR and (
        claim.state == State.PENDING or check.verdict is Verdict.MISSING
    ):
        _end(claim, Ended.EXPIRED, now)


def _after_verified(claim: OwnershipClaim, check: Check, now: datetime) -> None:
    """Keep a claim with a found token; otherwise let it fail after misses, and end later.

    If only another place has the token, a proof by DNS is kept for a day of misses, or for 30 days without
    a response.
    """
    if check.verdict is Verdict.FOUND:
        dns = check.of_dns(claim)
        if dns is None or _record_is_gone(claim, dns, now):
            claim.method, claim.strength = check.method, check.strength
            claim.misses, claim.missed_at, claim.unasked_at = 0, None, None
        claim.state = State.VERIFIED
        if claim.link_problem:
            _connect_later(claim, now)
        return
    if check.verdict is Verdict.NOT_ASKED:
        claim.unasked_at = _earlier(claim.unasked_at, now)
        if now - claim.unasked_at < calendar.UNASKED_FOR:
            return
    else:
        claim.unasked_at = None
    claim.missed_at = _earlier(claim.missed_at, now)
    since = now - claim.missed_at
    if since < calendar.UNASKED_FOR and judging_pauses(now):  # after 30 days, our network is not the cause
        return
    claim.misses += 1
    if claim.state == State.FAILING and since >= calendar.LAPSES_AFTER:
        _end(claim, Ended.LAPSED, now)
        audit("ownership.lapsed", claim, host=claim.host)
        _revoke_link(claim, by=SYSTEM, reason="The proof of ownership is missing.", now=now)
    elif (
        claim.state == State.VERIFIED and claim.misses >= calendar.MISSES and since >= calendar.FAILING_AFTER
    ):
        claim.state = State.FAILING
        # After a pause of judging, the owner still gets the e-mail days before the claim ends.
        claim.missed_at = max(claim.missed_at, now - 2 * calendar.FAILING_AFTER)
        audit("ownership.failing", claim, host=claim.host)


def _record_is_gone(claim: OwnershipClaim, dns: Verdict, now: datetime) -> bool:
    """Note that DNS does not show the token; return whether it was missing long enough to end the proof."""
    if claim.state == State.FAILING:
        return True
    if dns is Verdict.NOT_ASKED:
        claim.unasked_at = _earlier(claim.unasked_at, now)
        return now - claim.unasked_at >= calendar.UNASKED_FOR
    claim.misses += 1
    claim.missed_at, claim.unasked_at = _earlier(claim.missed_at, now), None
    return claim.misses >= calendar.MISSES and now - claim.missed_at >= calendar.FAILING_AFTER


def _earlier(at: datetime | None, now: datetime) -> datetime:
    """Return ``at``, or ``now`` if it is missing or in the future, because a clock was ahead."""
    return min(at or now, now)


def _take_over(claim: OwnershipClaim, now: datetime, *, is_decided: bool = False) -> None:
    """Verify a claim with a proof, or contest it if another account holds the website.

    Former holders keep the website and its findings in the archive; this account begins a new website,
    unless it was the last holder.
    """
    # Only for the lock: staff may change the website.
    list(Website.objects.select_for_update(no_key=True).filter(host=claim.host))
    former = _active_website(claim)
    if not _links_of_others(claim).exists():
        if former is not None and not _held_last(claim, former):
            former.retire(now=now)
    elif is_decided or _has_lost_proofs(claim, now):
        _end_holders(claim, now)
        if former is not None:
            former.retire(now=now, reason=_DECIDED if is_decided else _TAKEN_OVER)
    else:
        if claim.state != State.CONTESTED:
            claim.state, claim.contested_at = State.CONTESTED, now
            audit("ownership.contested", claim, host=claim.host)
            tell_contested(claim)
        return
    claim.mark_verified(now=now)
    _connect(claim, now)


def proofs_of_holders(claim: OwnershipClaim) -> OwnershipClaimQuerySet:
    """Return the proofs of the other accounts that hold the website, including proofs by hand."""
    proofs = OwnershipClaim.objects.open().filter(host=claim.host, state__in=OwnershipClaim.HOLDING)
    return proofs.filter(account__in=_links_of_others(claim).values("account")).order_by("pk")


def _has_lost_proofs(claim: OwnershipClaim, now: datetime) -> bool:
    """Return whether the token of each holder has been missing for a day, so that the claim may take over.

    Otherwise the claim waits for staff: if a token is there, could not be looked for or has been missing for
    less than a day, if this account has no room, if staff confirmed a holder by hand, or if staff refused a
    claim since a holder proved the website.
    """
    proofs = list(proofs_of_holders(claim))
    are_missed = all(proof.state == State.FAILING and proof.is_missed_at(now) for proof in proofs)
    if judging_pauses(now) or not _has_room(claim):
        return False
    if not are_missed or len(proofs) < _links_of_others(claim).count():
        return False
    refused = OwnershipClaim.objects.filter(host=claim.host, ended_reason=Ended.REFUSED)
    return not refused.filter(ended_at__gte=min(proof.verified_at or now for proof in proofs)).exists()


def _has_room(claim: OwnershipClaim) -> bool:
    """Return whether the account may link another website: without a link, nobody would hold the website."""
    try:
        SiteLink.objects.check_may_grow(claim.account)
        SiteLink.objects.check_sites_limit(claim.account)
    except (PlanInactive, SitesLimitReached):
        return False
    return True


def _end_holders(claim: OwnershipClaim, now: datetime) -> None:
    """End the claims of the other accounts that hold the website; their links end with the website."""
    tell_taken_over(claim)
    for proof in proofs_of_holders(claim):
        _end(proof, Ended.TAKEN_OVER, now)
        _save(proof, now)
        audit("ownership.taken_over", proof, host=proof.host)


def _save(claim: OwnershipClaim, now: datetime, *, latest: datetime | None = None) -> None:
    """Store the claim with the time of its next check, at the latest ``latest``."""
    next_at = calendar.next_check(claim, now)
    claim.next_check_at = min(next_at, latest or next_at) if next_at else None
    claim.save()


def _connect(claim: OwnershipClaim, now: datetime) -> None:
    """Link the account to its website; if that is impossible, store why in ``link_problem``."""
    website, _is_new = Website.objects.get_or_create(host=claim.host)
    claim.link_problem = ""
    try:
        with transaction.atomic():
            if website.verified_at is None:
                website.verify(method=claim.method, by=claim.account.ref, at=now)
            _link(claim, website, now)
    except (SitesLimitReached, PlanInactive):
        claim.link_problem = LinkProblem.NO_ROOM
    except Archived:
        claim.link_problem = LinkProblem.ARCHIVED
    except ValidationError:
        claim.link_problem = LinkProblem.OTHER
    else:
        _scan_first(website, claim.account, now)


def _connect_later(claim: OwnershipClaim, now: datetime) -> None:
    """Try the link of a verified claim again; the website may have other holders since the first try."""
    events = LinkEvent.objects.filter(link__website__host=claim.host, at__gt=claim.verified_at)
    by_others = events.exclude(action=LinkEvent.Action.REVOKED).exclude(link__account=claim.account)
    is_back = claim.link_problem == LinkProblem.ARCHIVED and _active_website(claim) is not None
    if is_back or by_others.exists():
        _take_over(claim, now)
    else:
        _connect(claim, now)


def _scan_first(website: Website, account: Account, now: datetime) -> None:
    """Queue the first scan ahead of all others, and plan weekly ones, if this deployment scans."""
    if not settings.CRAWLER_ENABLED:
        return
    schedules.add_defaults(now, SiteLink.objects.filter(account=account, website=website))
    if not website.scan_jobs.exists():
        with suppress(ValidationError):  # it may not be scanned now
            queue.add(website, by=SYSTEM, account=account, trigger=ScanJob.Trigger.FIRST)


def _link(claim: OwnershipClaim, website: Website, now: datetime) -> None:
    link = SiteLink.objects.filter(account=claim.account, website=website).first()
    if link is None:
        SiteLink.objects.link(claim.account, website, by=SYSTEM)
    elif link.revoked_at is not None:
        link.restore(by=SYSTEM, reason="The proof of ownership was found again.", now=now)


def _revoke_link(claim: OwnershipClaim, *, by: str, reason: str, now: datetime) -> None:
    link = SiteLink.objects.not_revoked().filter(account=claim.account, website__host=claim.host).first()
    if link is not None:
        with suppress(AlreadyRevoked):  # staff revoked it at the same time
            link.revoke(by=by, reason=reason, now=now)


def judging_pauses(now: datetime) -> bool:
    """Return whether so many checks of the last hour got no answer that our network may be the cause."""
    share, checked = unasked_share(now)
    return checked >= MIN_JUDGED and share > MAX_UNASKED_SHARE


def unasked_share(now: datetime) -> tuple[float, int]:
    """Return the share of the last hour's checked claims without an answer, and the number of checked claims.

    The share is the mean of the accounts' shares. It is 0 if only one of several accounts is affected: then
    its own servers are the cause.
    """
    recent = OwnershipClaim.objects.open().filter(
        state__in=OwnershipClaim.HOLDING, checked_at__gt=now - calendar.JUDGED_BY
    )
    counts = recent.values_list("account").annotate(unasked=Count("unasked_at"), checked=Count("pk"))
    accounts = list(counts.order_by())  # another order would split the groups
    shares = [unasked / checked for _account, unasked, checked in accounts]
    affected = sum(share > 0 for share in shares)
    share = fmean(shares) if affected > 1 or len(shares) == 1 else 0.0
    return share, sum(checked for _account, _unasked, checked in accounts)


def holds(claim: OwnershipClaim) -> bool:
    """Return whether the account holds the website, with both a proof and a link."""
    links = SiteLink.objects.not_revoked().filter(account=claim.account_id, website__host=claim.host)
    return claim.state in OwnershipClaim.HOLDING and links.exists()


def contested_of(claims: Sequence[OwnershipClaim]) -> OwnershipClaimQuerySet:
    """Return the contested claims of other accounts to these websites of one account."""
    contested = OwnershipClaim.objects.filter(host__in=[each.host for each in claims], state=State.CONTESTED)
    return contested.exclude(account__in={each.account_id for each in claims}).order_by("pk")


def _links_of_others(claim: OwnershipClaim) -> SiteLinkQuerySet:
    """Return the active links of other accounts to the website."""
    return SiteLink.objects.not_revoked().filter(website__host=claim.host).exclude(account=claim.account)


def _held_last(claim: OwnershipClaim, website: Website) -> bool:
    """Return whether this account held the website last, or no account ever had it or its findings."""
    if website.links.filter(account=claim.account_id).exists():
        return not website.former_holders(claim.account)
    return not (website.links.exists() or website.findings.exists())


def _active_website(claim: OwnershipClaim) -> Website | None:
    """Return the website, unless staff archived it."""
    return Website.objects.filter(host=claim.host, archived_at=None).first()


def _lock_and_reload(claim: OwnershipClaim) -> OwnershipClaim:
    """Lock all claims to the host until the end of the transaction; return this one, read again."""
    return next(each for each in OwnershipClaim.objects.lock_all(claim.host) if each.pk == claim.pk)


def _end(claim: OwnershipClaim, reason: str, now: datetime) -> None:
    claim.state, claim.ended_reason, claim.ended_at = State.ENDED, reason, now


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise ValidationError({"reason": "Say why."})


def _wrong_state(claim: OwnershipClaim) -> WrongState:
    state = claim.get_ended_reason_display() or claim.get_state_display()
    return WrongState(f"The claim to {claim.host} is {state}.")
