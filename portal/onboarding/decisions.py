"""Contested claims of an account that were decided since the portal last read them.

Claims that have ended are in no list of the service, so contested ones are noted as rows of e-mails.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import QuerySet

from portal import service
from portal.gateway import WebsiteClaim
from portal.models import Account, ClaimEmail
from portal.onboarding.actions import LINKED
from portal.owner_emails import owners

_AWAITED = "awaited:"
_REFUSED = ("refused", "expired")


def read(
    account: Account, claims: Sequence[WebsiteClaim], now: datetime
) -> tuple[list[WebsiteClaim], list[WebsiteClaim]]:
    """Note the contested claims; return those accepted and those refused since then; raises GatewayError."""
    contested = {claim.claim_id for claim in claims if claim.state == "contested"}
    _note(account, contested, now)
    accepted, refused = [], []
    found = {claim.claim_id: claim for claim in claims}
    for claim_id in sorted(_awaited(account) - contested):
        claim = found.get(claim_id) or service.get_claim(account, claim_id)
        if claim is not None and claim.state in LINKED:
            accepted.append(claim)
        elif claim is not None and claim.state in _REFUSED:
            refused.append(claim)
        else:  # withdrawn: no news
            _notes(account, claim_id).delete()
    return accepted, refused


def forget(account: Account, claim: WebsiteClaim, *, key: str) -> None:
    """Delete the note about a decided claim once every e-mail about it, with this key, was sent."""
    if not ClaimEmail.objects.filter(membership__account=account, key=key, sent_at=None).exists():
        _notes(account, claim.claim_id).delete()


def _note(account: Account, ids: Iterable[str], now: datetime) -> None:
    """Note contested claims for every owner; a note is never sent."""
    rows = [
        ClaimEmail(membership=owner, key=f"{_AWAITED}{claim_id}", sent_at=now)
        for owner in owners().filter(account=account)
        for claim_id in ids
    ]
    ClaimEmail.objects.bulk_create(rows, ignore_conflicts=True)


def _awaited(account: Account) -> set[str]:
    rows = ClaimEmail.objects.filter(membership__account=account, key__startswith=_AWAITED)
    return {key.removeprefix(_AWAITED) for key in rows.values_list("key", flat=True)}


def _notes(account: Account, claim_id: str) -> QuerySet[ClaimEmail]:
    return ClaimEmail.objects.filter(membership__account=account, key=f"{_AWAITED}{claim_id}")
