"""Websites over a plan's limit: owners choose which to keep; the default is the oldest."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from audit.recording import record as audit
from dashboard_api.errors import InvalidRequest, UnknownLink
from dashboard_api.models import Account, BillingNotice, Entitlement, SiteLink
from signed_api import billing as contract

TIME_TO_CHOOSE = timedelta(days=14)  # from the notice until websites are paused
SYSTEM = "billing"  # who pauses and resumes


def accounts_to_settle() -> set[int]:
    """Return the ids of accounts with paused links or a notice about too many websites."""
    paused = SiteLink.objects.exclude(paused_at=None).values_list("account", flat=True)
    return {*paused, *_notices().values_list("account", flat=True)}


@transaction.atomic
def settle(account: Account, now: datetime) -> int:
    """Pause links above the plan's limit, and resume the others; return how many changed.

    Owners are notified first, and choose which websites to keep. The others are paused after 14 days.
    """
    Account.objects.select_for_update().get(pk=account.pk)  # only for the lock
    limit, links = _websites_limit(account), _links(account)
    over = links[limit:] if limit is not None else []
    # Each value of the limit has a notice of its own; without a period, all notices are deleted.
    period = f"of {limit}" if over else None
    _notices().filter(account=account).exclude(period=period).delete()
    if not over:
        SiteLink.objects.filter(account=account).exclude(chosen_at=None).update(chosen_at=None)
    is_time_over = False
    if period:
        values = {"limit": "websites", "days": TIME_TO_CHOOSE.days, "at": now}
        keys = {"account": account, "kind": BillingNotice.Kind.WEBSITES_OVER, "period": period}
        notice, _is_new = BillingNotice.objects.get_or_create(**keys, defaults=values)
        is_time_over = now - notice.at >= TIME_TO_CHOOSE
    return sum(_pause_or_resume(link, over, is_time_over=is_time_over, now=now) for link in links)


@transaction.atomic
def choose(account: Account, hosts: Collection[str], *, by: str, now: datetime) -> None:
    """Store which websites the owner keeps in a plan that includes fewer than the account has.

    The choice can change at any time; if websites are paused already, it applies at once. Within the limit,
    no choice is stored. Raises UnknownLink and InvalidRequest.
    """
    Account.objects.select_for_update().get(pk=account.pk)  # only for the lock
    limit, links = _websites_limit(account), _links(account)
    if limit is None or len(links) <= limit:
        return
    chosen = [link for link in links if link.website.host in hosts]
    if len(chosen) < len(hosts):
        raise UnknownLink
    if len(chosen) > limit:
        message = f"must name at most {limit} websites, as many as the plan includes"
        raise InvalidRequest([{"field": "stay", "message": message}])
    before = [link for link in links if link.chosen_at]
    if {link.pk for link in before} != {link.pk for link in chosen}:
        SiteLink.objects.filter(account=account).update(chosen_at=None)
        SiteLink.objects.filter(pk__in=[link.pk for link in chosen]).update(chosen_at=now)
        audit("websites.chosen", account, by=by, before=_hosts(before), after=_hosts(chosen))
    settle(account, now)


def websites_response(account: Account) -> contract.WebsitesResponse:
    """Return the account's websites, and which of them the plan includes."""
    limit, links = _websites_limit(account), _links(account)
    stay = {link.pk for link in links[:limit]}  # all without a limit
    notice = _notices().filter(account=account).order_by("-at").first()
    return contract.WebsitesResponse(
        ok=True,
        limit=limit,
        pauses_at=notice.at + TIME_TO_CHOOSE if notice else None,
        websites=[
            contract.AccountWebsite(
                host=link.website.host,
                link_id=link.link_id,
                stays=link.pk in stay,
                is_paused=link.paused_at is not None,
            )
            for link in sorted(links, key=lambda link: link.website.host)
        ],
    )


def _websites_limit(account: Account) -> int | None:
    return Entitlement.objects.filter(account=account).values_list("sites_limit", flat=True).first()


def _links(account: Account) -> list[SiteLink]:
    """Return the account's links in order of preference: chosen ones, then the oldest."""
    own = SiteLink.objects.not_revoked().filter(account=account).select_related("website")
    return sorted(own, key=lambda link: (link.chosen_at is None, link.created_at, link.pk))


def _hosts(links: Collection[SiteLink]) -> dict[str, str]:
    return {"websites": ", ".join(sorted(link.website.host for link in links))}


def _notices() -> QuerySet[BillingNotice]:
    return BillingNotice.objects.filter(kind=BillingNotice.Kind.WEBSITES_OVER)


def _pause_or_resume(
    link: SiteLink, over: Collection[SiteLink], *, is_time_over: bool, now: datetime
) -> bool:
    """Pause or resume the link, and return whether it changed; paused links over the limit do not resume."""
    was_paused = link.paused_at is not None
    is_paused = link in over and (is_time_over or was_paused)
    if is_paused == was_paused:
        return False
    SiteLink.objects.filter(pk=link.pk).update(paused_at=now if is_paused else None)
    reason = "The plan includes fewer websites." if is_paused else "The plan includes it again."
    action = "link.paused" if is_paused else "link.resumed"
    audit(action, link, by=SYSTEM, host=link.website.host, reason=reason)
    return True
