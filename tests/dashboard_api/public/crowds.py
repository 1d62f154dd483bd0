"""Rows of many websites, made in bulk."""

from datetime import timedelta

from django.utils import timezone

from dashboard_api import models as api
from tests import factories


def make_crowd(number=20, *, accounts=6, suffix="de", region="", publicity="", prefix="shop", shown=False):
    """Return verified, linked and scanned websites of several accounts with plans."""
    now = timezone.now()
    owners = []
    for each in range(accounts):
        publicity_of_account = {"publicity": "shown" if shown else "counted"}
        account, is_new = api.Account.objects.get_or_create(publicity_of_account, ref=f"acct_{suffix}_{each}")
        owners.append(account)
        if is_new:
            factories.make_entitlement(account)
    source = factories.make_source()
    websites = api.Website.objects.bulk_create(
        api.Website(
            host=f"{prefix}{each}.{suffix}", verified_at=now, verified_by="tests", verification_method="dns"
        )
        for each in range(number)
    )
    api.SiteLink.objects.bulk_create(
        api.SiteLink(
            account=owners[number % accounts],
            website=website,
            link_id=f"{suffix}-{website.pk}",
            publicity=publicity,
            region=region,
        )
        for number, website in enumerate(websites)
    )
    api.Coverage.objects.bulk_create(
        api.Coverage(website=website, source=source, state="ok", last_run_at=now, completed_at=now)
        for website in websites
    )
    return websites


def make_found(website, *, days_ago=0, **fields):
    """Return a confirmed finding."""
    seen = timezone.now() - timedelta(days=days_ago)
    return factories.make_finding(website, first_seen=seen, last_seen=seen, **fields)
