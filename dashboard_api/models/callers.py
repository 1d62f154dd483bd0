"""Who calls, and what they may see, as SQL: one statement each.

tests/dashboard_api/models/test_callers.py proves each equal to its twin by the ORM. Decision record 0013.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from dashboard_api.models.accounts import Secret
from dashboard_api.models.entitlements import Terms
from dashboard_api.models.revisions import TAGS, Tags
from dashboard_api.models.sites import SiteLink
from dashboard_api.models.statements import moment, rows, stored


class Signer(NamedTuple):
    """A secret that may have signed a call, like ``Secret``."""

    pk: int
    account_id: int
    sealed: str


@dataclass(slots=True)
class Paid(Terms):
    """What an account has paid for, like ``Entitlement``."""

    plan: str
    status: str
    starts_on: date
    ends_on: date
    past_due_since: date | None
    sites_limit: int
    features: list[str]


class Seen(NamedTuple):
    """A website as an account sees it, like ``SiteLink`` with all that belongs to its two sides."""

    pk: int
    account_id: int
    website_id: int
    host: str
    revoked_at: datetime | None
    tags: Tags
    sites_used: int
    entitlement: Paid | None


_SECRETS = """
SELECT secret.id, account_id, sealed
FROM dashboard_api_secret AS secret JOIN dashboard_api_account AS account ON account.id = account_id
WHERE ref = %s AND (state = 'active' OR (state = 'retiring' AND retires_at > %s))
ORDER BY secret.created_at DESC, secret.id DESC
"""


def usable_secrets(account_ref: str, now: datetime) -> list[Signer]:
    """The secrets that may have signed a call of this account, the newest first."""
    return [Signer._make(row) for row in rows(Secret, _SECRETS, [account_ref, stored(now)])]


_LINK = f"""
SELECT link.id, link.account_id, website_id, host, revoked_at,
{TAGS.format(website="link.website_id")},
(SELECT COUNT(*) FROM dashboard_api_sitelink AS used
WHERE used.account_id = link.account_id AND used.revoked_at IS NULL),
plan, status, starts_on, ends_on, past_due_since, sites_limit, features
FROM dashboard_api_sitelink AS link
JOIN dashboard_api_website AS website ON website.id = website_id
LEFT JOIN dashboard_api_entitlement AS entitlement ON entitlement.account_id = link.account_id
WHERE link.account_id = %s AND link_id = %s AND host = %s
"""  # noqa: S608  # names of ours


def find_link(account_id: int, link_id: str, host: str) -> Seen | None:
    """The account's link with exactly this id and normalised host."""
    found = rows(SiteLink, _LINK, [account_id, link_id, host])
    if not found:
        return None
    pk, account_id, website_id, host, revoked_at, own_tag, every_tag, sites_used, *terms = found[0]
    paid = None
    if terms[0] is not None:
        terms[-1] = json.loads(terms[-1])
        paid = Paid(*terms)
    return Seen(pk, account_id, website_id, host, moment(revoked_at), (own_tag, every_tag), sites_used, paid)
