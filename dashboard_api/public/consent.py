"""Consent: what may be published about the websites of an account."""

from django.db import transaction

from audit.recording import record as audit
from dashboard_api.errors import UnknownLink
from dashboard_api.models import Account, Publicity, SiteLink
from foundation.texts.regions import proposed_region
from signed_api import account as contract
from signed_api.account import AS_ACCOUNT, PublicityRequest

_STRICTEST_FIRST = (Publicity.NOTHING, Publicity.COUNTED, Publicity.SHOWN)


def stricter(of_account: str, own: str) -> str:
    """Return the publicity in force for a website: its own if it is stricter than the account's."""
    return min(of_account, own or of_account, key=rank)


def rank(publicity: str) -> int:
    """Return the rank of a publicity; 0 is the strictest."""
    return _STRICTEST_FIRST.index(Publicity(publicity))


@transaction.atomic
def change(account: Account, request: PublicityRequest, *, by: str) -> None:
    """Store the changes of ``request`` and record an audit event; raises UnknownLink.

    The next run of publish_telemetry applies the change.
    """
    if request.host:
        links = SiteLink.objects.select_for_update(of=("self",)).not_revoked()
        link = links.filter(account=account, website__host=request.host).select_related("website").first()
        if link is None:
            raise UnknownLink
        own = "" if request.publicity == AS_ACCOUNT else request.publicity
        _store(link, by, {"publicity": own if request.publicity else None, "region": request.region or None})
    elif request.publicity:
        _store(Account.objects.select_for_update().get(pk=account.pk), by, {"publicity": request.publicity})


def _store(row: Account | SiteLink, by: str, values: dict[str, str | None]) -> None:
    """Store the values that are given and differ, and record the change."""
    before = {name: getattr(row, name) for name in values}
    after = {name: value for name, value in values.items() if value is not None and value != before[name]}
    if after:
        type(row)._default_manager.filter(pk=row.pk).update(**after)  # noqa: SLF001 - the documented API
        audit("publicity.changed", row, by=by, before={name: before[name] for name in after}, after=after)


def publicity_response(account_id: int, request: PublicityRequest) -> contract.PublicityResponse:
    """Return the publicity of the account and of its linked websites, sorted by host."""
    of_account = Account.objects.get(pk=account_id).publicity
    links = SiteLink.objects.not_revoked().filter(account=account_id).order_by("website__host")
    if request.host:
        links = links.filter(website__host=request.host)
    start = (request.page - 1) * request.page_size
    rows = links.values_list("website__host", "publicity", "region")
    return contract.PublicityResponse(
        ok=True,
        publicity=of_account,
        websites=[
            contract.WebsitePublicity(
                host=host,
                publicity=own or AS_ACCOUNT,
                effective=stricter(of_account, own),
                region=region or proposed_region(host),
            )
            for host, own, region in rows[start : start + request.page_size]
        ],
        total=links.count(),
    )
